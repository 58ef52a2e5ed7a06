"""Runs a control: the suite's own cases against a sabotaged judge, and what came out held against what is named."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kueue_dra_controls.controls import Control
from kueue_dra_fixtures.fault_injection import SABOTAGES
from kueue_dra_fixtures.plugin import LENT
from kueue_dra_fixtures.targets import TargetFactory, judges
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_reports.document import CheckEntry, ControlEntry
from kueue_dra_reports.in_process import run_inside
from kueue_dra_suites.wiring import HOME, pytest_options

RED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTarget:
    """Who is sabotaged: ``lent`` once a real Kueue has been brought up, to serve all controls."""

    kind: str
    behaviour: Behaviour
    lent: TargetFactory | None = None


@contextlib.contextmanager
def a_judge(kind: str, behaviour: Behaviour) -> Iterator[ControlTarget]:
    """Have a real Kueue for all controls; a reference is made anew for each case anyway."""
    if kind == "reference":
        yield ControlTarget(kind=kind, behaviour=behaviour)
        return
    with judges(kind, "", behaviour) as found:
        yield ControlTarget(kind=kind, behaviour=behaviour, lent=found)


def judged(control: Control, judge: ControlTarget) -> ControlEntry:
    """Run the rows of a control and say whether exactly the named ones went red."""
    with tempfile.TemporaryDirectory(prefix="kueue-dra-control-") as folder:
        said = _run(control, judge, Path(folder))
        report = Path(folder) / "report.json"
        document = json.loads(report.read_text("utf-8")) if report.is_file() else {}
    if not document:
        return _entry(
            control, {}, [f"the run ended before anything was judged: {said[-1000:]}"]
        )
    checks: Mapping[str, CheckEntry] = {each["id"]: each for each in document["checks"]}
    absent = {each["id"] for each in document["notApplicable"]}
    return _entry(
        control,
        checks,
        [*_faults(control, checks, absent), *document["integrity"]["faults"]],
    )


def _run(control: Control, judge: ControlTarget, folder: Path) -> str:
    """Run the rows inside this process, so that all controls share a Kueue; give what is printed."""
    words = [
        *pytest_options(),
        "-q",
        f"--report-dir={folder}",
        f"--target={judge.kind}",
    ]
    words += [f"--behaviour={judge.behaviour.name}", f"--sabotage={control.sabotage}"]
    plugins: Sequence[object] = [_LendTarget(judge.lent)] if judge.lent else []
    _, said = run_inside([*words, *(str(HOME / row) for row in control.rows)], plugins)
    return said


class _LendTarget:
    """A plugin that has a run use the judge that is there."""

    def __init__(self, lent: TargetFactory) -> None:
        self.lent = lent

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Lend it."""
        config.pluginmanager.register(self.lent, LENT)


def _faults(
    control: Control, checks: Mapping[str, CheckEntry], absent: Iterable[str]
) -> Iterator[str]:
    """Name each row that did not come out as it should have."""
    for name in control.red:
        if not any(_is(name, each) for each in (*checks, *absent)):
            yield f"{name}: is named, but there is no such row"
    for row, check in sorted(checks.items()):
        named, outcome = any(_is(name, row) for name in control.red), check["outcome"]
        if named and outcome != RED:
            yield f"{row}: {'stayed green' if outcome == 'passed' else outcome}, expected red"
        if not named and outcome != "passed":
            yield f"{row}: {outcome}, expected green; {_why(check)}"


def _why(check: CheckEntry) -> str:
    if "observed" in check and "expected" in check:
        return f"observed {check['observed']}, expected {check['expected']}"
    return check.get("message", "nothing is told of it")


def _is(name: str, row: str) -> bool:
    return name in (row, row.partition("[")[0])


def _entry(
    control: Control, checks: Mapping[str, CheckEntry], faults: Sequence[str]
) -> ControlEntry:
    outcomes = [each["outcome"] for each in checks.values()]
    counted = {word: outcomes.count(word) for word in (RED, "passed")}
    return {
        "name": control.sabotage,
        "breaks": SABOTAGES[control.sabotage].breaks,
        "verdict": "missed" if faults else "caught",
        "red": counted[RED],
        "green": counted["passed"],
        "faults": list(faults),
    }
