"""The run of one case: a skip is a failure, and each result carries what was expected and observed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from kueue_dra_reports.collection import LEDGER, ROW
from kueue_dra_reports.outcome import CaseRecord, Outcome

COMPARISON = pytest.StashKey[dict[str, str]]()
LONGEST = 4000


class NotTestable(pytest.fail.Exception):  # type: ignore[misc, name-defined]  # a class, but typed as an attribute
    """A prerequisite of a conformance case is missing: it fails, for a skip would read as green."""


def _phase(item: pytest.Item) -> Generator[None, Any, Any]:
    """Turn a skip or an expected failure inside a case into a failure."""
    item.config.stash[COMPARISON] = {}
    try:
        return (yield)
    except (pytest.skip.Exception, pytest.xfail.Exception) as given_up:
        if ROW not in item.stash:
            raise
        raise NotTestable(
            f"a missing prerequisite fails a conformance case: {given_up}",
            pytrace=False,
        ) from None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """Guard the set-up of a case."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Guard the case itself."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    """Guard the tear-down of a case."""
    return (yield from _phase(item))


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> None:
    """Keep the two sides of a failing comparison; cases write ``assert observed == expected``."""
    expected = repr(right) if op == "==" else f"{op} {right!r}"
    config.stash[COMPARISON] = {
        "expected": expected[:LONGEST],
        "observed": repr(left)[:LONGEST],
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the outcome, and for a failing comparison its two sides, to what the report carries."""
    report = yield
    if ROW not in item.stash:
        return report
    if report.when == "call" or report.failed:
        item.config.stash[LEDGER].executed.add(item.stash[ROW].id)
        report.user_properties.append(("outcome", _outcome(call).value))
    if report.failed and call.excinfo and call.excinfo.errisinstance(AssertionError):
        told = {name for name, _ in report.user_properties}
        report.user_properties += [
            pair
            for pair in item.config.stash[COMPARISON].items()
            if pair[0] not in told
        ]
    return report


def _outcome(call: pytest.CallInfo[None]) -> Outcome:
    """Tell a judged failure from a broken case: only an assertion in the case itself judges."""
    match call.excinfo.value if call.excinfo else None:
        case None:
            return Outcome.PASSED
        case NotTestable():
            return Outcome.NOT_TESTABLE
        case AssertionError() | pytest.fail.Exception() if call.when == "call":
            return Outcome.FAILED
        case _:
            return Outcome.ERROR


class Listener:
    """Hears every result, in the process that writes the report too."""

    def __init__(self, config: pytest.Config) -> None:
        self.ledger = config.stash[LEDGER]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one case to the notes."""
        if case := dict(report.user_properties).get("case"):
            self.ledger.notes.setdefault(str(case), CaseRecord()).hear(report)
            if report.when == "call" or report.failed:
                self.ledger.executed.add(str(case))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected: its cases are missing from the plan."""
        if report.failed:
            self.ledger.uncollectable.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of a parallel run wrote down."""
        if facts := getattr(node, "workeroutput", {}).get("kueue_dra"):
            self.ledger.take_over(facts)
