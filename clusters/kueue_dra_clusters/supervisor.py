"""Runs processes for one owner, and stops them and removes its directory when the owner is gone.

Run as a program: ``python -m kueue_dra_clusters.supervisor RUN_DIRECTORY``.  It reads one JSON command a line from
standard input and answers each with one JSON line.  End of input means that the owner is gone, kill -9 included.
Standard library only, so that it starts fast: each control plane starts one.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kueue_dra_clusters import linux_namespaces

GRACE_SECONDS = 0.5
"""The time between SIGTERM and SIGKILL."""

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Make the calling process exit with its parent, kill -9 included (Linux only; elsewhere nothing)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Children:
    """The processes of one owner, by name."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        name: str,
        argv: list[str],
        env: dict[str, str],
        cwd: str,
        log: str,
        etc: str | None,
    ) -> int:
        """Start a process with its output in ``log`` and, if given, ``etc`` as its /etc; give its pid."""

        def prepare() -> None:
            if etc is not None:
                linux_namespaces.see_as_etc(etc)
            die_with_parent()  # last: changing namespaces forgets it

        with Path(log).open("ab") as output:
            child = subprocess.Popen(
                argv,
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=prepare,
            )
        self._running[name] = child
        return child.pid

    def code(self, name: str) -> int | None:
        """Give the exit code of a process, None while it runs."""
        return self._running[name].poll()

    def stop(self, *names: str) -> None:
        """Stop processes: SIGTERM to all, SIGKILL to those that remain after the grace period."""
        ending = [self._running.pop(name) for name in reversed(names)]
        for child in ending:
            child.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        for child in ending:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, deadline - time.monotonic()))
            child.kill()
            child.wait()

    def stop_all(self) -> None:
        """Stop every process, the last started first."""
        self.stop(*self._running)


def answer(children: Children, command: dict[str, Any]) -> dict[str, Any]:
    """Run one command."""
    match command:
        case {
            "start": str(name),
            "argv": argv,
            "env": env,
            "cwd": cwd,
            "log": log,
            "etc": etc,
        }:
            try:
                return {"pid": children.start(name, argv, env, cwd, log, etc)}
            except (OSError, subprocess.SubprocessError) as trouble:
                return {"error": f"{argv[0]}: {trouble}"}
        case {"own etc": str(folder)}:
            return {"possible": linux_namespaces.possible(folder)}
        case {"stop": str(name)}:
            children.stop(name)
            return {}
        case {"code": str(name)}:
            return {"code": children.code(name)}
    return {"error": f"unknown command {command}"}


@contextlib.contextmanager
def leaving_nothing(directory: Path) -> Iterator[Children]:
    """Stop all children and remove the directory, however the block ends."""
    children = Children()
    try:
        yield children
    finally:
        children.stop_all()
        shutil.rmtree(directory, ignore_errors=True)


def leave(*_: object) -> None:
    """Exit through the ``finally`` clauses."""
    raise SystemExit(0)


def main(directory: str) -> None:
    """Run commands until the owner closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's to answer
    signal.signal(signal.SIGTERM, leave)
    with (
        contextlib.suppress(BrokenPipeError),
        leaving_nothing(Path(directory)) as children,
    ):
        for line in sys.stdin:
            print(json.dumps(answer(children, json.loads(line))), flush=True)
    os._exit(0)  # nothing is left to do; flushing a broken pipe would only complain


if __name__ == "__main__":
    main(sys.argv[1])
