"""Ctrl-C and SIGTERM: the exit code of a shell, one line, no process left, and nothing false in a report."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kueue_dra_reports.in_process import run_inside
from kueue_dra_reports.validate import faults
from kueue_dra_suites.wiring import HOME, pytest_options
from tests.commands import ROOT, kueue_dra

BETWEEN = """
import os, signal, sys, threading, time
from types import SimpleNamespace
import kueue_dra_cli
number = int(sys.argv[1])
timer = threading.Timer
class Early(timer):
    def start(self):
        threading.Timer = timer
        os.kill(os.getpid(), number)
        time.sleep(0.1)
if sys.argv[2] == "early":
    threading.Timer = Early
kueue_dra_cli.MOMENT = 0.3
came = "at once"
with kueue_dra_cli._signals():
    try:
        signal.getsignal(number)(number, SimpleNamespace(f_lineno=None))
        came = "later"
        time.sleep(30)
    except KeyboardInterrupt:
        print(came)
"""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a command in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "kueue_dra_cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(process: subprocess.Popen[str], sign: str) -> Iterator[str]:
    """Read what a process prints until a sign, so that it is in the middle of its work."""
    assert process.stdout
    for line in process.stdout:
        yield line
        if sign in line:
            return
    raise AssertionError(f"{sign} was never printed: {process.stderr and process.stderr.read()}")


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    """Send a signal to the one process, and give its exit code and errors; nothing of it is left."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    return process.returncode, errors


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one-process", "two-processes"])
def test_an_interrupted_run_says_what_did_not_run(
    tmp_path: Path, number: signal.Signals, workers: Sequence[str]
) -> None:
    """The report is valid, its verdict is failure, and what did not run is in it as such."""
    process = started(tmp_path, "run", "-v", *workers)
    list(until(process, "PASSED"))

    code, errors = ended(process, number)

    assert code == CODES[number], errors
    assert "Traceback" not in errors
    assert "INTERNALERROR" not in errors
    file = tmp_path / "out" / "report.json"
    assert faults(file) == []
    report = json.loads(file.read_text("utf-8"))
    assert (report["verdict"]["result"], report["gate"]["result"]) == ("failure", "failed")
    assert report["statistics"]["notRun"] > 0


@pytest.mark.parametrize("number", CODES)
def test_interrupted_controls_write_no_result(tmp_path: Path, number: signal.Signals) -> None:
    """A control that did not end is neither caught nor missed."""
    process = started(tmp_path, "controls", "--report-dir", "mine")
    list(until(process, "caught"))

    code, errors = ended(process, number)

    assert (code, errors.splitlines()[-1]) == (CODES[number], f"kueue-dra: {WORDS[number]}")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("number", CODES)
def test_an_interrupt_in_a_case_ends_all_runs_of_this_process(number: signal.Signals) -> None:
    """Pytest ends its own run only; a command that makes several of them ends too."""

    class Interrupt:
        def pytest_sessionstart(self) -> None:
            raise KeyboardInterrupt(number)

    with pytest.raises(KeyboardInterrupt):
        run_inside([*pytest_options(), "-q", str(HOME / "quota" / "test_fits.py")], [Interrupt()])


LEFT = """
import gc, sys
from kueue_dra_reports.in_process import run_inside
from kueue_dra_suites.wiring import HOME, pytest_options

def hook():
    try:
        yield
    finally:
        raise AssertionError

class Interrupt:
    def pytest_runtest_call(self):
        self.left = hook()
        next(self.left)
        raise KeyboardInterrupt

interrupt = Interrupt()
try:
    run_inside([*pytest_options(), "-q", str(HOME / "quota" / "test_fits.py")], [interrupt])
except KeyboardInterrupt as fault:
    interrupt.left = None
    gc.collect()
    print("interrupted")
"""


@pytest.mark.parametrize("variable", ["", "1"])
def test_what_an_interrupt_leaves_unfinished_is_not_printed(tmp_path: Path, variable: str) -> None:
    """An interrupt within pluggy suspends a hook of pytest, which fails when Python closes it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KUEUE_DRA_TRACEBACK": variable}

    found = subprocess.run(
        [sys.executable, "-c", LEFT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    assert (found.returncode, found.stdout) == (0, "interrupted\n")
    assert ("Traceback" in found.stderr) == bool(variable), found.stderr


@pytest.mark.parametrize("number", CODES)
def test_an_interrupted_matrix_writes_no_table(tmp_path: Path, number: signal.Signals) -> None:
    """Its run ends too."""
    process = started(tmp_path, "matrix", "0.19", "--target", "reference", "--report-dir", "mine")
    list(until(process, "%]"))

    code, errors = ended(process, number)

    assert (code, errors.splitlines()[-1]) == (CODES[number], f"kueue-dra: {WORDS[number]}")
    assert not (tmp_path / "mine" / "matrix.json").exists()


@pytest.mark.parametrize("number", CODES)
def test_an_interrupted_command_that_reads_ends(tmp_path: Path, number: signal.Signals) -> None:
    """SIGTERM has an exit code of its own."""
    process = started(tmp_path, "simulate", "-f", "-")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(3)

    assert ended(process, number) == (CODES[number], f"kueue-dra: {WORDS[number]}\n")


@pytest.mark.parametrize(
    "place", ["kueue_dra_reports.plugin.report_of", "kueue_dra_reports.collection.reason_not_here"]
)
def test_an_internal_error_of_a_run_is_one_line(tmp_path: Path, place: str) -> None:
    """Exit code 3, and the variable that prints the traceback; pytest catches the second error, but not the first."""
    module, _, name = place.rpartition(".")
    words = (
        f"import {module} as m, kueue_dra_cli as c\n"
        "def broken(*_):\n    raise RuntimeError('first\\nsecond ' + 'x' * 999)\n"
        f"m.{name} = broken\n"
        "c.main(['run', 'quota/test_fits'])"
    )
    for variable in ("", "1"):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "KUEUE_DRA_TRACEBACK": variable}
        found = subprocess.run(
            [sys.executable, "-c", words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

        output = found.stdout + found.stderr
        assert "RuntimeError" in output
        assert ("Traceback" in output or "INTERNALERROR" in output) == bool(variable)
        if not variable:
            (line,) = filter(None, found.stderr.splitlines())
            assert (found.returncode, len(line) <= 400) == (3, True)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("run", "quota" * 500), id="suite"),
        pytest.param(("run", "a/" + "b" * 5000), id="case"),
        pytest.param(("run", "-n", "9" * 5000), id="processes"),
        pytest.param(("frobnicate" * 500,), id="command"),
        pytest.param(("report", "render", "x" * 5000), id="file"),
        pytest.param(("requirements", "x" * 5000), id="requirement"),
        pytest.param(("controls", "x" * 5000), id="control"),
        pytest.param(("simulate", "--behaviour", "x" * 5000), id="behaviour"),
    ],
)
def test_no_line_of_a_message_is_longer_than_people_read(arguments: Sequence[str]) -> None:
    """The beginning and the end stay."""
    result = kueue_dra(*arguments)

    assert result.exit_code == 2
    assert all(len(line) <= 400 for line in result.stderr.splitlines())


def test_controls_run_for_a_text(tmp_path: Path) -> None:
    """A text has no release, but the same faults are caught."""
    result = kueue_dra("controls", "quota-doubled", "--behaviour", "kep-2025-09", "--report-dir", tmp_path)

    assert result.exit_code == 0
    assert result.stdout.startswith("control quota-doubled: caught")


@pytest.mark.parametrize("moment", ["in-time", "early"])
@pytest.mark.parametrize("number", CODES)
def test_a_signal_between_two_lines_comes_again(number: signal.Signals, moment: str) -> None:
    """Pytest cannot report an interruption of an instruction that belongs to no line.

    On a busy machine a signal comes again while it is still handled, and then once more.
    """
    process = subprocess.run(
        [sys.executable, "-c", BETWEEN, str(int(number)), moment],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (process.returncode, process.stdout) == (0, "later\n"), process.stderr
