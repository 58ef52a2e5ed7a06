"""Starts and ends the processes that answer as a changed reference."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from kueue_dra_differential.mutants.answering import Changed
from kueue_dra_ref.scenarios.scenario import Observation, Scenario

MODULE = "kueue_dra_differential.mutants.answering"


@dataclass(slots=True)
class ChangedReference:
    """A process with a changed reference; one that a scenario has ended starts again for the next."""

    changed: Changed
    _process: subprocess.Popen[bytes] | None = None
    _line: Connection = field(init=False)

    def ask(self, scenario: Scenario) -> None:
        """Begin to replay a scenario; `answers` waits for the result."""
        if self._process is None:
            self._start()
        with suppress(OSError):
            self._line.send(scenario)

    def answers(self) -> Sequence[Observation] | None:
        """Give the observations of the scenario asked for; None if it raised an error, or did not end."""
        try:
            found: Sequence[Observation] = self._line.recv()
        except (EOFError, OSError):
            self.close()
            return None
        return found

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._line.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, str(number)],
                pass_fds=[number],
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._line = Connection(ours.detach())
        with suppress(OSError):
            self._line.send(self.changed)
