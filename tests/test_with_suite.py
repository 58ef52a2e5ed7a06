"""The suite on the reference with its controls, as `make conformance` runs it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kueue_dra_controls.controls import CONTROLS
from kueue_dra_controls.with_suite import ControlsOnTheWay
from kueue_dra_suites.wiring import HOME
from tests.commands import ROOT


def started(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start a run in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "kueue_dra_controls.with_suite", str(folder), "-q", "--forks", "2", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_the_report_of_the_suite_has_the_controls(tmp_path: Path) -> None:
    """One line for each in the output, too."""
    process = started(tmp_path, str(HOME / "quota" / "test_fits.py"))
    output, _ = process.communicate(timeout=120)

    assert process.returncode == 0, output
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert [each["verdict"] for each in report["controls"]] == ["caught" for _ in CONTROLS]
    assert output.count(": caught (") == len(CONTROLS)


def test_controls_count_only_if_every_case_passed(tmp_path: Path) -> None:
    """A failed suite has no controls in its report, and keeps its exit code."""
    process = started(tmp_path, str(HOME / "quota" / "test_fits.py"), "--sabotage", "quota-doubled")
    output, _ = process.communicate(timeout=120)

    assert process.returncode == 1, output
    assert "controls" not in json.loads((tmp_path / "report.json").read_text("utf-8"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_every_process_of_a_run(tmp_path: Path, number: signal.Signals) -> None:
    """The forks too, although one process gets the signal; the report has what did not run."""
    process = started(tmp_path, str(HOME))
    assert process.stdout
    while process.stdout.read(1) != ".":
        assert process.poll() is None
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)

    assert process.returncode == 2, output
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["statistics"]["notRun"] > 0
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_the_help_of_pytest_has_no_controls(tmp_path: Path) -> None:
    """Nothing is collected then, and nothing waits for results."""
    process = started(tmp_path, "--help")
    output, _ = process.communicate(timeout=120)

    assert process.returncode == 0
    assert "--forks" in output
    assert "control " not in output.splitlines()[-1]


def test_controls_that_exit_early_are_one_line() -> None:
    """The line has their exit code, and the command that shows why."""
    controls = ControlsOnTheWay()
    controls.process = multiprocessing.Process(target=sys.exit, args=(7,))
    controls.pytest_collection()

    with pytest.raises(SystemExit, match="the controls exited early, with code 7; run: kueue-dra controls"):
        controls.results()
