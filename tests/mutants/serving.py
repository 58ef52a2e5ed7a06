"""The loop of a server: each question is answered by a fork of its own."""

from __future__ import annotations

import gc
import os
import resource
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from kueue_dra_differential.mutants.answering import MEMORY
from tests.mutants.messages import Answer

LONGEST = 8
"""Seconds of processor time after which a case counts as one that never ends."""


def serve(door: socket.socket, answer: Callable[[Any], Answer]) -> NoReturn:
    """Answer until the process that started this one ends."""
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while _is_wanted(door):
        talk, _ = door.accept()
        if os.fork() == 0:
            _talk(Connection(talk.detach()), answer)
        talk.close()
    os._exit(0)


def _is_wanted(door: socket.socket) -> bool:
    """Wait for a question, or for the end of the standard input."""
    with selectors.DefaultSelector() as waiting:
        waiting.register(door, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        ready = [key.fileobj for key, _ in waiting.select()]
    return sys.stdin not in ready


def _talk(talk: Connection, answer: Callable[[Any], Answer]) -> NoReturn:
    """Answer one question in this fork, and end it; without an answer if it fails."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        talk.send(answer(talk.recv()))
    finally:
        os._exit(0)


def limit(seconds: float = LONGEST) -> None:
    """Let the system end this process if what begins now takes more processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def opened() -> socket.socket:
    """Give the socket that the process that started this one listens with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return socket.socket(fileno=int(sys.argv[1]))
