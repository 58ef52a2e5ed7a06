"""One case's course through set-up, call and tear-down, and the outcome that follows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest


class Outcome(StrEnum):
    """How a case ended; ``notTestable`` is a missing prerequisite and counts as a failure."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_TESTABLE = "notTestable"
    NOT_RUN = "notRun"


@dataclass(slots=True, kw_only=True)
class CaseRecord:
    """What pytest's reports of the three phases say of one case, so far."""

    outcome: Outcome = Outcome.NOT_RUN
    seconds: float = 0.0
    finished: bool = False
    details: dict[str, Any] = field(default_factory=dict)

    def hear(self, report: pytest.TestReport) -> None:
        """Add the report of one phase."""
        facts = dict(report.user_properties)
        self.seconds += report.duration
        self.finished = self.finished or report.when == "teardown"
        said = Outcome(
            str(
                facts.get("outcome", Outcome.ERROR if report.failed else Outcome.PASSED)
            )
        )
        if report.failed:
            self.details |= _details(facts, message_of(report))
        if self.outcome in (Outcome.NOT_RUN, Outcome.PASSED) and (
            report.failed or report.when == "call"
        ):
            self.outcome = said


def message_of(report: pytest.TestReport) -> str:
    """Give the words of a failure without its traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash else report.longrepr).strip()


def _details(facts: dict[str, Any], message: str) -> dict[str, Any]:
    details: dict[str, Any] = {"message": message}
    details |= {
        key: str(facts[key]) for key in ("expected", "observed") if key in facts
    }
    return details | {
        key: lines(facts[key]) for key in ("explanation", "evidence") if key in facts
    }


def lines(value: object) -> list[str]:
    """Give a fact that a fixture attached as lines of text, whatever its shape."""
    match value:
        case str():
            return value.splitlines()
        case list() | tuple():
            return [line for one in value for line in lines(one)]
        case _:
            return [json.dumps(value, sort_keys=True, default=str)]
