"""Run one case: a skip is a failure, and a failure carries the expected and the observed value."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from kueue_dra_reports.collection import LEDGER, ROW
from kueue_dra_reports.kubernetes_form import form
from kueue_dra_reports.outcome import CaseRecord, Outcome

Comparison = dict[str, str]
COMPARISON = pytest.StashKey[Comparison]()
Phase = Generator[None, Any, Any]
"""The rest of a phase of a case, as pluggy runs it."""
LONGEST = 4000


class NotTestable(pytest.fail.Exception):  # type: ignore[misc, name-defined]  # a class, but typed as an attribute
    """A prerequisite of a conformance case is missing; the case fails, because a skip would look like success."""


def _phase(item: pytest.Item) -> Phase:
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
def pytest_runtest_setup(item: pytest.Item) -> Phase:
    """Fail a case that skips in its set-up."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Phase:
    """Fail a case that skips in its body."""
    return (yield from _phase(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Phase:
    """Fail a case that skips in its tear-down."""
    return (yield from _phase(item))


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> None:
    """Keep the two sides of a failing comparison as YAML; cases write ``assert observed == expected``."""
    expected = form(right) if op == "==" else f"{op}\n{form(right)}"
    observed = form(left)
    config.stash[COMPARISON] = {
        "expected": expected[:LONGEST],
        "observed": observed[:LONGEST],
    }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the outcome, and the two sides of a failing comparison, to the properties of the report."""
    report = yield
    if ROW not in item.stash:
        return report
    stash = item.config.stash
    if report.when == "call" or report.failed:
        row = item.stash[ROW]
        stash[LEDGER].executed.add(row.id)
        outcome = _outcome(call)
        report.user_properties.append(("outcome", outcome.value))
    if report.failed and _is_assertion(call):
        _add_comparison(report, stash[COMPARISON])
    return report


def _is_assertion(call: pytest.CallInfo[None]) -> bool:
    if call.excinfo is None:
        return False
    return call.excinfo.errisinstance(AssertionError)


def _add_comparison(report: pytest.TestReport, comparison: Comparison) -> None:
    """Add the two sides of a comparison, unless a fixture has added them."""
    known = {name for name, _ in report.user_properties}
    for name, text in comparison.items():
        if name not in known:
            report.user_properties.append((name, text))


def _outcome(call: pytest.CallInfo[None]) -> Outcome:
    """Distinguish a failure from an error: only an assertion in the case itself is a failure."""
    if call.excinfo is None:
        return Outcome.PASSED
    raised = call.excinfo.value
    if isinstance(raised, NotTestable):
        return Outcome.NOT_TESTABLE
    in_the_case = call.when == "call"
    if in_the_case and isinstance(raised, AssertionError | pytest.fail.Exception):
        return Outcome.FAILED
    return Outcome.ERROR


class Listener:
    """Collects every result, also in the process that writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self.ledger = config.stash[LEDGER]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add one phase of one case to its record."""
        case = dict(report.user_properties).get("case")
        if not case:
            self.ledger.others_failed |= report.failed
            return
        record = self.ledger.notes.setdefault(str(case), CaseRecord())
        record.add(report)
        if report.when == "call" or report.failed:
            self.ledger.executed.add(str(case))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that could not be collected, because its cases are missing from the plan."""
        if report.failed:
            self.ledger.uncollectable.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the ledger of a worker of a parallel run."""
        output = getattr(node, "workeroutput", {})
        facts = output.get("kueue_dra")
        if facts:
            self.ledger.take_over(facts)
