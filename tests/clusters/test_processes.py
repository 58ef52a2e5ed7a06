"""Processes and their directory are gone when their owner is, whatever ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kueue_dra_clusters.errors import ClusterError, ProcessError
from kueue_dra_clusters.processes import PREFIX, Processes, gc_settings
from kueue_dra_clusters.waiting import NotYet, eventually

ROOT = Path(__file__).parents[2]
SLEEPER = ["/bin/sh", "-c", "echo asleep; exec sleep 300"]
STUBBORN = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); print(1); time.sleep(300)"]

OWNER = f"""
import sys
from kueue_dra_clusters.processes import Processes
with Processes() as processes:
    processes.start("sleeper", {SLEEPER})
    processes.start("stubborn", {STUBBORN})
    print(processes.directory, processes.pid("sleeper"), processes.pid("stubborn"), flush=True)
    if sys.stdin.readline() == "fail\\n":
        raise RuntimeError
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A Python process of its own that owns processes."""

    process: subprocess.Popen[str]
    directory: Path
    children: list[int]

    def tell(self, word: str) -> None:
        """Let the owner continue, and fail if requested."""
        assert self.process.stdin is not None
        print(word, file=self.process.stdin, flush=True)


@pytest.fixture
def owner() -> Iterator[Owner]:
    """Have an owner with two processes, one of which does not end when asked to."""
    words = [sys.executable, "-c", OWNER]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        words, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        directory, *pids = process.stdout.readline().split()
        yield Owner(process=process, directory=Path(directory), children=[int(pid) for pid in pids])
        process.kill()


def lives(pid: int) -> bool:
    """Tell whether a process runs; one that ended and waits to be collected does not."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            return stat.read_text().rpartition(")")[2].split()[0] != "Z"
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def nothing_left(directory: Path, pids: list[int]) -> None:
    """Wait till no process and no directory is left."""

    def look() -> None:
        left = [pid for pid in pids if lives(pid)]
        if left or directory.exists():
            raise NotYet(f"processes {left}, directory {directory.exists()}")

    eventually(look, within=10, every=0.02, what="nothing to be left")


def test_kill_9_of_the_owner_leaves_nothing(owner: Owner) -> None:
    """An owner that cannot clean up is cleaned up after."""
    owner.process.kill()

    nothing_left(owner.directory, owner.children)


def test_ctrl_c_leaves_nothing(owner: Owner) -> None:
    """An interrupt ends the owner, and with it everything."""
    os.killpg(owner.process.pid, signal.SIGINT)

    nothing_left(owner.directory, owner.children)


@pytest.mark.parametrize("word", ["end", "fail"])
def test_an_end_or_an_exception_leaves_nothing(owner: Owner, word: str) -> None:
    """When the owner's block ends, nothing is left by the time it has ended."""
    owner.tell(word)
    owner.process.wait()

    assert not owner.directory.exists()
    assert not any(lives(pid) for pid in owner.children)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has died")
def test_kill_9_of_the_supervisor_ends_its_processes() -> None:
    """Without its supervisor no process goes on; the owner learns of it and still removes the directory."""
    with Processes() as processes:
        processes.start("stubborn", STUBBORN)
        pid = processes.pid("stubborn")
        processes.supervisor.kill()
        processes.supervisor.wait()

        with pytest.raises(ClusterError, match="supervisor"):
            processes.code("stubborn")
    nothing_left(processes.directory, [pid])


def test_a_stopped_process_has_ended() -> None:
    """Stopping returns when the process is no more, also when it does not want to end."""
    with Processes() as processes:
        processes.start("stubborn", STUBBORN)
        pid = processes.pid("stubborn")
        processes.stop("stubborn")

        assert not lives(pid)


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        pytest.param("echo no more disk; exit 3", r"brief ended with exit code 3[^$]*no more disk", id="last-words"),
        pytest.param(
            "seq 100; echo 'panic: no queue'; seq 200 300; exit 2",
            r"end of its log:\n +panic: no queue\n +200",
            id="how-its-panic-begins",
        ),
    ],
)
def test_a_process_that_ended_shows_why(script: str, shown: str) -> None:
    """Its exit code and the end of its log; of a panic the beginning, which says more than the stack behind it."""
    with Processes() as processes:
        processes.start("brief", ["/bin/sh", "-c", script])
        eventually(lambda: ended(processes, "brief"), within=5, what="the process to end")

        with pytest.raises(ProcessError, match=shown):
            processes.insist("brief")


def ended(processes: Processes, name: str) -> None:
    """Pass once a process has ended."""
    if processes.code(name) is None:
        raise NotYet("it runs")


def test_a_program_that_cannot_be_started_is_told() -> None:
    """The path is named."""
    with Processes() as processes, pytest.raises(ClusterError, match="/nowhere/etcd"):
        processes.start("etcd", ["/nowhere/etcd"])


def test_the_environment_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the user for other programs do not reach these."""
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    with Processes() as processes:
        processes.start("env", ["/usr/bin/env"], env={"MINE": "1"})
        eventually(lambda: ended(processes, "env"), within=5, what="the process to end")
        names = {line.split("=")[0] for line in processes.log("env").read_text().splitlines()}

    assert "MINE" in names
    assert "KUBECONFIG" not in names


@pytest.mark.parametrize(("mine", "left"), [(False, False), (True, True)], ids=["owner-gone", "owner-lives"])
def test_a_leftover_directory_is_swept(mine: bool, left: bool) -> None:
    """A directory whose owner is gone is removed when the next owner starts, others are not."""
    gone = subprocess.Popen(["/bin/sh", "-c", "exit"])
    gone.wait()
    directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid() if mine else gone.pid}-"))
    try:
        with Processes():
            assert directory.exists() is left
    finally:
        if directory.exists():
            directory.rmdir()


@pytest.mark.parametrize(("gigabytes", "bound"), [(4, "800MiB"), (15, "1280MiB"), (24, "2048MiB"), (256, "2048MiB")])
def test_programs_keep_within_a_part_of_the_memory(gigabytes: int, bound: str) -> None:
    """No less than an API server takes, and no more than it has use for."""
    assert gc_settings(gigabytes << 30)["GOMEMLIMIT"] == bound
