"""A process that has imported the libraries but nothing of the project: its forks import a changed module.

For a mutant that changes what runs at the import, such as a table; each fork collects all cases of a behaviour.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module

import pytest

from kueue_dra_differential.mutants.imported import put
from kueue_dra_differential.mutants.places import ROOT
from tests.mutants.arguments import SCENARIOS, arguments
from tests.mutants.messages import Answer, Try
from tests.mutants.serving import limit, opened, serve

LIBRARIES = (
    "allure_commons",
    "cel_expr_python",
    "cryptography.x509",
    "jinja2",
    "jsonschema",
    "tenacity",
    "yaml",
)
"""What takes long to import, and imports nothing of the project."""
ENDED = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)
"""How a run ends whose cases could be collected; one of a part of the cases is no proof, and so fails as a whole."""
CANNOT_RUN = "it cannot be run"


TO_COLLECT = 60
"""Seconds of processor time for the import of the suites, whose every case is collected."""


class Cases:
    """Puts the cases that are most likely to fail first, and notes the first failure."""

    def __init__(self, asked: Try) -> None:
        places = enumerate(asked.cases)
        self.first = {case: place for place, case in places}
        self.every = asked.every
        self.failed = ""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Order the cases; without others if they are not wanted, and without other recorded scenarios."""
        last = len(self.first)

        def place(item: pytest.Item) -> int:
            return self.first.get(item.nodeid, last)

        session.items.sort(key=place)
        session.items[:] = [item for item in session.items if place(item) < last or self._is_wanted(item)]

    def _is_wanted(self, item: pytest.Item) -> bool:
        return self.every and not item.nodeid.startswith(SCENARIOS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Limit each case."""
        limit()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure in any phase of a case."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


def answer(stories: str, asked: Try) -> Answer:
    """Import the changed module, and run all cases of a behaviour until one fails, then the recordings."""
    limit(TO_COLLECT)
    put(ROOT, asked.file, asked.source)
    cases = Cases(asked)
    code = pytest.main(["-x", *arguments(asked.behaviour, stories)], plugins=[cases])
    if cases.failed or code not in ENDED:
        return Answer(cases.failed or CANNOT_RUN)
    from tests.mutants.replays import differing  # it imports the reference

    limit()
    return Answer("", tuple(differing(asked.recordings)))


def main(stories: str) -> None:
    """Import the libraries, and serve."""
    for library in LIBRARIES:
        import_module(library)
    with opened() as door:
        serve(door, partial(answer, stories))


if __name__ == "__main__":
    main(sys.argv[3])
