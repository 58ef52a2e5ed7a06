"""The outcome of a case, from the reports of its set-up, call and tear-down."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

Facts = dict[str, Any]


class Outcome(StrEnum):
    """How a case ended; ``notTestable`` is a missing prerequisite and counts as a failure."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_TESTABLE = "notTestable"
    NOT_RUN = "notRun"


@dataclass(slots=True, kw_only=True)
class CaseRecord:
    """The result of one case, from the phases that pytest reported so far."""

    outcome: Outcome = Outcome.NOT_RUN
    seconds: float = 0.0
    finished: bool = False
    details: Facts = field(default_factory=dict)

    def add(self, report: pytest.TestReport) -> None:
        """Add the report of one phase."""
        facts: Facts = dict(report.user_properties)
        self.seconds += report.duration
        if report.when == "teardown":
            self.finished = True
        if report.failed:
            self.details |= _details(facts, message_of(report))
        if self.outcome not in (Outcome.NOT_RUN, Outcome.PASSED):
            return
        if report.failed:
            self.outcome = Outcome(facts.get("outcome", Outcome.ERROR))
        elif report.when == "call":
            self.outcome = Outcome(facts.get("outcome", Outcome.PASSED))


def message_of(report: pytest.TestReport) -> str:
    """Give the message of a failure without its traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash else report.longrepr
    return str(message).strip()


def _details(facts: Facts, message: str) -> Facts:
    details: Facts = {"message": message}
    for key in ("expected", "observed"):
        if key in facts:
            details[key] = str(facts[key])
    for key in ("explanation", "evidence", "log"):
        if facts.get(key):
            details[key] = lines(facts[key])
    return details


def lines(value: object) -> list[str]:
    """Turn a value that a fixture attached into lines of text."""
    match value:
        case str():
            return value.splitlines()
        case list() | tuple():
            found = []
            for one in value:
                found += lines(one)
            return found
        case _:
            return [json.dumps(value, sort_keys=True, default=str)]
