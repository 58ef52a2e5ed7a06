"""The owner's side of the supervisor: starts, stops and checks local processes in a directory of their own."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kueue_dra_clusters import supervisor
from kueue_dra_clusters.errors import ClusterError, ProcessError

PREFIX = "kueue-dra-"
CLOSE_SECONDS = 10.0
"""The timeout of the supervisor, which stops all processes within about a second."""
MIB = 1 << 20


def gc_settings(memory: int) -> dict[str, str]:
    """Give the garbage collection settings of Go programs that run for some minutes, by the machine's memory in bytes.

    Memory is cheaper than its collection, up to a twelfth of the machine.  At its limit a program does little else, and
    in a run of generated scenarios an API server holds half a gigabyte of watch events of the last minute.
    """
    bound = min(max(memory // 12, 800 * MIB), 2048 * MIB)
    return {"GOGC": "400", "GOMEMLIMIT": f"{bound // MIB}MiB"}


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


class Processes:
    """A run directory and the processes in it; both end with the owner, however it ends."""

    def __init__(self) -> None:
        sweep()
        self.directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._asking = threading.Lock()
        self._pids: dict[str, int] = {}
        complaints = self.directory / "supervisor.log"
        with (
            (self.directory / "lock").open("w") as lock,
            complaints.open("wb") as output,
        ):
            # The supervisor inherits the lock, and holds it as long as it runs.
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.supervisor = subprocess.Popen(
                [sys.executable, "-S", "-m", supervisor.__name__, str(self.directory)],
                env=os.environ
                | {"PYTHONPATH": str(Path(supervisor.__file__).parents[1])},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                pass_fds=[lock.fileno()],
                start_new_session=True,
                text=True,
            )

    def start(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        etc: Path | None = None,
    ) -> None:
        """Start a process; its environment has only the user's PATH, and what ``env`` adds.

        ``etc`` is a folder that is mounted as its /etc, if `can_give_etc` allows it.
        """
        log = self.log(name)
        log.unlink(missing_ok=True)
        own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.directory)}
        clean = {**own, **gc_settings(_memory()), **(env or {})}
        where = {
            "cwd": str(self.directory),
            "log": str(log),
            "etc": str(etc) if etc else None,
        }
        answer = self._ask(
            {"start": name, "argv": [str(word) for word in argv], "env": clean, **where}
        )
        self._pids[name] = int(answer["pid"])

    def pid(self, name: str) -> int:
        """Give the ID of the process that was last started under a name."""
        return self._pids[name]

    def can_give_etc(self, folder: Path) -> bool:
        """Whether a folder can be mounted as the /etc of a process."""
        possible: bool = self._ask({"own etc": str(folder)})["possible"]
        return possible

    def keep(self, name: str, content: bytes) -> Path:
        """Write a file that only its owner can read, and that is deleted with the directory."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)
        return path

    def stop(self, name: str) -> None:
        """Stop a process, and wait until it has exited."""
        self._ask({"stop": name})

    def code(self, name: str) -> int | None:
        """Give the exit code of a process, None while it runs."""
        code: int | None = self._ask({"code": name})["code"]
        return code

    def insist(self, name: str) -> None:
        """Raise an error with the end of its log if a process that should run has exited."""
        if (code := self.code(name)) is not None:
            raise ProcessError(name, f"ended with exit code {code}", self.log(name))

    def log(self, name: str) -> Path:
        """Give the file with the output of a process since its last start."""
        return self.directory / f"{name}.log"

    def close(self) -> None:
        """Stop every process and remove the directory."""
        for pipe in (self.supervisor.stdin, self.supervisor.stdout):
            with contextlib.suppress(BrokenPipeError):
                if pipe is not None:
                    pipe.close()
        try:
            self.supervisor.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.supervisor.kill()  # its processes follow it
            self.supervisor.wait()
        # The supervisor removes it, unless it was killed.
        shutil.rmtree(self.directory, ignore_errors=True)

    def _ask(self, command: dict[str, Any]) -> dict[str, Any]:
        """Send one command to the supervisor and read its answer."""
        pipe_in, pipe_out = self.supervisor.stdin, self.supervisor.stdout
        assert pipe_in is not None
        assert pipe_out is not None
        with self._asking:
            try:
                print(json.dumps(command), file=pipe_in, flush=True)
                answer: dict[str, Any] = json.loads(pipe_out.readline() or "{}")
            except (BrokenPipeError, ValueError) as trouble:
                raise ClusterError(
                    "the supervisor of the local processes is gone; its processes are too"
                ) from trouble
        if "error" in answer:
            raise ClusterError(answer["error"])
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        trouble: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def sweep() -> None:
    """Remove the directories of owners that were killed with their supervisors."""
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}[0-9]*-*"):
        if _abandoned(directory):
            shutil.rmtree(directory, ignore_errors=True)


def _abandoned(directory: Path) -> bool:
    """Whether no process uses a run directory: its owner is gone and its lock is free."""
    owner = directory.name.removeprefix(PREFIX).split("-")[0]
    try:
        if not owner.isdigit() or _lives(int(owner)):
            return False
        with (directory / "lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _lives(pid: int) -> bool:
    """Whether a process exists, of any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
