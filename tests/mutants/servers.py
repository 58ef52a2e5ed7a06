"""Starts servers, asks them, and ends them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from kueue_dra_differential.mutants.places import ROOT
from tests.mutants.messages import Answer, KnockOut, Profiles, Record, Try
from tests.mutants.settings import Settings

Question = Profiles | Record | Try | KnockOut
BACKLOG = 64
FRESH = "fresh"
"""The name of the server that has imported nothing of the project."""


class ServerEnded(Exception):
    """A server could not collect the cases; the message is its output."""


@dataclass(frozen=True, slots=True)
class Server:
    """A process that has collected the cases of one behaviour."""

    name: str
    """The behaviour."""
    door: Path
    process: subprocess.Popen[bytes]
    log: Path

    def ask(self, question: Question) -> Answer | None:
        """Wait for the answer; None if the process that ran the cases ended without one.

        Raises:
            ServerEnded: the server itself has ended.

        """
        try:
            with socket.socket(socket.AF_UNIX) as talk:
                talk.connect(str(self.door))
                return _answer(Connection(talk.detach()), question)
        except OSError:
            raise ServerEnded(self.log.read_text("utf-8")[-2000:]) from None

    @property
    def has_ended(self) -> bool:
        """Whether the server itself has ended."""
        return self.process.poll() is not None


def _answer(line: Connection, question: Question) -> Answer | None:
    with line:
        line.send(question)
        try:
            answer: Answer = line.recv()
        except EOFError:
            return None
    return answer


@contextmanager
def servers(settings: Settings) -> Iterator[dict[str, Server]]:
    """Start a server for each behaviour, and one for mutants that change an import; all end with the block."""
    started: dict[str, Server] = {}
    with TemporaryDirectory(prefix="kueue-dra-mutants-") as folder:
        try:
            started[FRESH] = a_server("fresh", [FRESH, settings.stories], Path(folder))
            for behaviour in settings.behaviours:
                arguments = [behaviour, settings.stories, *settings.recordings]
                started[behaviour] = a_server("server", arguments, Path(folder))
            yield started
        finally:
            for server in started.values():
                end(server)


def a_server(module: str, arguments: Sequence[str], folder: Path) -> Server:
    """Start a server in a module, which ends with `end`; its socket and its log are in a folder."""
    name = arguments[0]
    door, log = folder / f"{name}.socket", folder / f"{name}.log"
    with socket.socket(socket.AF_UNIX) as opened, log.open("wb") as output:
        opened.bind(str(door))
        opened.listen(BACKLOG)
        number = opened.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", f"tests.mutants.{module}", str(number), *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            pass_fds=[number],
            start_new_session=True,
        )
    return Server(name, door, process, log)


def end(server: Server) -> None:
    """End a server and its forks, which share a session of their own."""
    with suppress(ProcessLookupError):
        os.killpg(server.process.pid, signal.SIGKILL)
    server.process.communicate()
