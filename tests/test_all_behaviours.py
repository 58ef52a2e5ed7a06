"""Run every behaviour: a line for each, a report for each, and the whole output of a failed one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_ref.behaviours import NAMES
from kueue_dra_reports.all_behaviours import BehaviourRun
from tests.commands import ROOT

CASES = str(ROOT / "suites" / "kueue_dra_suites" / "conformance" / "quota")


def every(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a part of the suite for all behaviours, from another folder."""
    wiring = ("-q", "-p", "no:hypothesispytest", f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"))
    plugins = ("-p", "kueue_dra_reports.plugin", "-p", "kueue_dra_fixtures.plugin", f"--confcutdir={ROOT / 'suites'}")
    command = [sys.executable, "-m", "kueue_dra_reports.all_behaviours", *wiring, *plugins, CASES, *words]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def test_each_behaviour_has_a_line_and_a_report(tmp_path: Path) -> None:
    """The lines come as the runs end, in whatever order."""
    found = every(tmp_path, "-k", "test_fits")

    assert found.returncode == 0, found.stdout + found.stderr
    assert {line.partition(":")[0] for line in found.stdout.splitlines()} == set(NAMES)
    assert all(" passed, " in line for line in found.stdout.splitlines())
    assert {path.parent.name for path in tmp_path.glob("out/*/report.json")} == {f"reference-{one}" for one in NAMES}


def test_a_run_that_does_not_end_well_is_told_in_full(tmp_path: Path) -> None:
    """Nothing chosen is no success."""
    found = every(tmp_path, "-k", "no_such_case_anywhere")

    assert found.returncode == 1
    lines = [line.partition(": ") for line in found.stdout.splitlines()]
    assert {name for name, _, _ in lines} == set(NAMES)
    assert all(text.startswith("kueue-dra: no case matches -k no_such_case_anywhere (") for _, _, text in lines)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(0, "a: 1 passed", id="well"),
        pytest.param(1, "F\n1 passed\na: 1 passed", id="badly"),
    ],
)
def test_what_is_told(code: int, expected: str) -> None:
    """The last line alone says enough of a run that ended well."""
    assert BehaviourRun(name="a", code=code, output="F\n1 passed\n").text == expected
