"""A plugin that serves in place of running the cases that pytest has collected."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from typing import Any

import pytest

from tests.mutants.messages import Answer
from tests.mutants.serving import serve


class Collected(ABC):
    """Answers each question in a fork, and notes the cases that fail there."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.failed: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve until the process that started this one ends."""
        manager = session.config.pluginmanager
        manager.unregister(manager.get_plugin("terminalreporter"))
        self.begin(session)
        serve(self.door, self.answer)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure in any phase of a case."""
        if report.failed:
            self.failed.append(report.nodeid)

    @abstractmethod
    def begin(self, session: pytest.Session) -> None:
        """Take what was collected."""

    @abstractmethod
    def answer(self, asked: Any) -> Answer:
        """Answer a question, in this process."""
