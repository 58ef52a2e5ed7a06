"""Large inputs: the work for a Job does not grow with their number, and Ctrl-C ends a command at any moment."""

from __future__ import annotations

import contextlib
import cProfile
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.target import Manifest
from tests import bench_inputs
from tests.bench_size import HEAD, manifests
from tests.commands import kueue_dra

FEW, TIMES = 100, 4
GENEROUS = 2
"""How many times the calls for a Job may grow."""
KILLED = """\
import os, signal, sys
import kueue_dra_cli
from {module} import {owner} as owner

calls = 0
before = owner.{name}

def counted(*args, **kwargs):
    global calls
    calls += 1
    if calls == {calls}:
        os.kill(os.getpid(), signal.SIGINT)
    return before(*args, **kwargs)

owner.{name} = counted
kueue_dra_cli.main(prog_name="kueue-dra")
"""
READING = ("kueue_dra_ref.api.yaml_text", "_Reader", "_mapping")
DECIDING = ("kueue_dra_ref.controllers.scheduler", "Scheduler", "cycle")
PRINTING = ("kueue_dra_ref.api.yaml_text", "_Dumper", "represent_data")


T = TypeVar("T")


def counted(act: Callable[[], T]) -> tuple[int, T]:
    """Count the calls of functions, which do not depend on how busy the machine is."""
    profile = cProfile.Profile()
    found = profile.runcall(act)
    return sum(each.callcount for each in profile.getstats()), found


def _file(path: Path, objects: list[Manifest]) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), "utf-8")
    return path


def _simulated(path: Path, jobs: int) -> list[Manifest]:
    result = kueue_dra("simulate", _file(path, manifests(jobs)), "-o", "json")
    assert result.exit_code == 0, result.stderr
    items: list[Manifest] = json.loads(result.stdout)["items"]
    return items


def _calls(path: Path, jobs: int) -> list[int]:
    """Count the calls of simulating manifests, of going on from the dump that they lead to, and of auditing it."""
    simulating, objects = counted(lambda: _simulated(path, jobs))
    dump = _file(path, [HEAD, bench_inputs.configuration(), *objects])
    going_on, _ = counted(lambda: kueue_dra("simulate", dump, "-o", "table"))
    auditing, result = counted(lambda: kueue_dra("audit", dump))
    assert result.exit_code == 0, result.stdout
    return [simulating, going_on, auditing]


def test_the_calls_for_a_job_do_not_grow_with_the_number_of_jobs(tmp_path: Path) -> None:
    """The work for a Job is the same among many others."""
    few = _calls(tmp_path / "few.json", FEW)
    many = _calls(tmp_path / "many.json", TIMES * FEW)

    growth = [more / TIMES / fewer for fewer, more in zip(few, many, strict=True)]

    assert max(growth) < GENEROUS, growth


@pytest.mark.parametrize(
    ("place", "after"),
    [
        pytest.param(READING, 1, id="reading-begins"),
        pytest.param(READING, 300, id="reading"),
        pytest.param(DECIDING, 1, id="deciding-begins"),
        pytest.param(DECIDING, 25, id="deciding"),
        pytest.param(PRINTING, 1, id="printing"),
        pytest.param(PRINTING, 500, id="in-the-middle-of-an-object"),
    ],
)
def test_ctrl_c_ends_a_simulation_at_any_moment(place: tuple[str, str, str], after: int, tmp_path: Path) -> None:
    """The exit code is that of a shell, and there is one line instead of a traceback."""
    file = tmp_path / "jobs.yaml"
    file.write_text(written(manifests(30)), "utf-8")
    module, owner, name = place
    script = KILLED.format(module=module, owner=owner, name=name, calls=after)

    command = [sys.executable, "-c", script, "simulate", "-f", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert (result.returncode, result.stderr) == (130, "kueue-dra: interrupted\n")


def test_a_terminal_shows_what_is_done_now(tmp_path: Path) -> None:
    """Errors that go to a file have nothing of it."""
    file = _file(tmp_path / "jobs.json", manifests(6))
    script = "import kueue_dra_cli; from kueue_dra_ref.simulation import run; run.MANY = 2; kueue_dra_cli.main()"
    command = [sys.executable, "-c", script, "simulate", "-f", str(file)]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs):
        os.close(theirs)
        shown = _all_of(ours)

    assert f"simulate: reading {file}" in shown
    assert "simulate: decided about 4 of 6 Jobs and Workloads" in shown
    assert kueue_dra("simulate", file).stderr == ""


def _all_of(descriptor: int) -> str:
    """Read a terminal until the program on it has ended."""
    found = b""
    with contextlib.suppress(OSError), os.fdopen(descriptor, "rb", buffering=0) as terminal:
        while some := terminal.read(1000):
            found += some
    return found.decode()


def test_ctrl_c_after_the_work_is_ignored(tmp_path: Path) -> None:
    """The interpreter frees the memory of a large simulation for a while; the exit code is that of the simulation."""
    file = _file(tmp_path / "jobs.json", manifests(6))
    script = (
        "import atexit, os, signal, kueue_dra_cli; atexit.register(os.kill, os.getpid(), signal.SIGINT);"
        "kueue_dra_cli.main(prog_name='kueue-dra')"
    )

    command = [sys.executable, "-c", script, "simulate", "-f", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert (result.returncode, result.stderr) == (0, "")
