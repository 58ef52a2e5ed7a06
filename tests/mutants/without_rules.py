"""A process that has collected the cases of one behaviour, and forks to run some without a rule of the reference."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence

import pytest

from kueue_dra_reports.collection import cited
from tests.mutants.arguments import cases_of
from tests.mutants.messages import Answer, KnockOut
from tests.mutants.serving import limit, opened, serve

LONG = 120
"""Seconds of processor time for one case: those of usage over time wait long for what a rule no longer does."""


class Server:
    """A plugin that serves in place of running the collected cases."""

    def __init__(self, door: socket.socket) -> None:
        self.door = door
        self.failed: list[str] = []
        self.items: Sequence[pytest.Item] = ()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve until the process that started this one ends."""
        manager = session.config.pluginmanager
        manager.unregister(manager.get_plugin("terminalreporter"))
        self.items = session.items
        serve(self.door, self.answer)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure in any phase of a case."""
        if report.failed:
            self.failed.append(report.nodeid)

    def answer(self, asked: KnockOut) -> Answer:
        """Run cases without a rule, in this process."""
        items = [item for item in self.items if asked.citing.intersection(cited(item))]
        for item in items:
            item.config.option.knock_out = asked.rule
            limit(LONG)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failed:
                return Answer(self.failed[0])
        return Answer("")


def main(behaviour: str) -> int:
    """Collect the cases of a behaviour, and serve."""
    with opened() as door:
        code = pytest.main(list(cases_of(behaviour)), plugins=[Server(door)])
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
