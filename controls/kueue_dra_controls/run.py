"""Runs a control: cases of the suite against a target with a fault, and compares the failures with the named rows."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kueue_dra_controls.controls import Control
from kueue_dra_fixtures.fault_injection import FAULTS
from kueue_dra_fixtures.targets import LENT, TargetFactory, running_target
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_reports.document import CheckEntry, ControlEntry
from kueue_dra_reports.in_process import run_inside
from kueue_dra_reports.kubernetes_form import differing
from kueue_dra_suites.wiring import HOME, pytest_options

RED = "failed"
Checks = Mapping[str, CheckEntry]
"""The checks of a report by ID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTarget:
    """The target of the controls; ``lent`` gives the one real Kueue that serves all of them."""

    kind: str
    behaviour: Behaviour
    lent: TargetFactory | None = None


@contextlib.contextmanager
def a_control_target(kind: str, behaviour: Behaviour) -> Iterator[ControlTarget]:
    """Start a real Kueue for all controls; each case creates its own reference."""
    if kind == "reference":
        yield ControlTarget(kind=kind, behaviour=behaviour)
        return
    with running_target(kind, behaviour) as found:
        yield ControlTarget(kind=kind, behaviour=behaviour, lent=found)


def run_control(control: Control, target: ControlTarget) -> ControlEntry:
    """Run the rows of a control and check whether exactly the named ones fail."""
    with tempfile.TemporaryDirectory(prefix="kueue-dra-control-") as name:
        folder = Path(name)
        output = _run(control, target, folder)
        report = folder / "report.json"
        document = json.loads(report.read_text("utf-8")) if report.is_file() else {}
    if not document:
        fault = f"the run ended before any case ran: {output[-1000:]}"
        return _entry(control, {}, [fault])
    checks: Checks = {each["id"]: each for each in document["checks"]}
    absent = {each["id"] for each in document["notApplicable"]}
    faults = [*_faults(control, checks, absent), *document["integrity"]["faults"]]
    return _entry(control, checks, faults)


def _run(control: Control, target: ControlTarget, folder: Path) -> str:
    """Run the rows inside this process, so that all controls share a Kueue; give the output."""
    arguments = [
        *pytest_options(),
        "-q",
        f"--report-dir={folder}",
        f"--target={target.kind}",
        f"--behaviour={target.behaviour.name}",
        f"--sabotage={control.fault}",
    ]
    arguments += [str(HOME / row) for row in control.rows]
    plugins: list[object] = []
    if target.lent:
        plugins.append(_LendTarget(target.lent))
    _, output = run_inside(arguments, plugins)
    return output


class _LendTarget:
    """A plugin that makes a run use a target that runs already."""

    def __init__(self, lent: TargetFactory) -> None:
        self.lent = lent

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Register the target."""
        config.pluginmanager.register(self.lent, LENT)


def _faults(control: Control, checks: Checks, absent: Iterable[str]) -> Iterator[str]:
    """Give the rows whose outcome is not the expected one."""
    for name in control.red:
        if not _matches(name, checks) and not _matches(name, absent):
            yield f"{name}: is named, but there is no such row"
    for row, check in sorted(checks.items()):
        outcome = check["outcome"]
        is_named = _names(control, row)
        if is_named and outcome != RED:
            shown = "stayed green" if outcome == "passed" else outcome
            yield f"{row}: {shown}, expected red"
        if not is_named and outcome != "passed":
            yield f"{row}: {outcome}, expected green; {_why(check)}"


def _names(control: Control, row: str) -> bool:
    """Whether a row has to fail."""
    return any(_is(name, row) for name in control.red)


def _matches(name: str, rows: Iterable[str]) -> bool:
    return any(_is(name, row) for row in rows)


def _why(check: CheckEntry) -> str:
    if "observed" in check and "expected" in check:
        return differing(check["expected"], check["observed"])
    return check.get("message", "no message")


def _is(name: str, row: str) -> bool:
    return name in (row, row.partition("[")[0])


def _entry(control: Control, checks: Checks, faults: Sequence[str]) -> ControlEntry:
    outcomes = [each["outcome"] for each in checks.values()]
    return {
        "name": control.fault,
        "breaks": FAULTS[control.fault].breaks,
        "verdict": "missed" if faults else "caught",
        "red": outcomes.count(RED),
        "green": outcomes.count("passed"),
        "faults": list(faults),
    }
