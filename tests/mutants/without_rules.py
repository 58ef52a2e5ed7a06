"""A process that has collected the cases of one behaviour, and forks to run some without a rule of the reference."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from kueue_dra_reports.collection import cited
from tests.mutants.arguments import cases_of
from tests.mutants.collected import Collected
from tests.mutants.messages import Answer, KnockOut
from tests.mutants.serving import limit, opened

LONG = 120
"""Seconds of processor time for one case: those of usage over time wait long for what a rule no longer does."""


class Server(Collected):
    """Runs cases without a rule."""

    items: Sequence[pytest.Item] = ()

    def begin(self, session: pytest.Session) -> None:
        """Take the cases."""
        self.items = session.items

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
