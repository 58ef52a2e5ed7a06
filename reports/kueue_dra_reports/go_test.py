"""A report in the forms of ``go test -v`` and ``go test -json``, which the AI conformance programme takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from kueue_dra_reports.document import CheckEntry, Report, RowEntry
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.results import FAILED

PACKAGE = "kueue-dra-conformance"
Event = dict[str, Any]
"""An event of `go test -json`, with its names."""


def as_log(report: Report) -> str:
    """Give the log: each case with its result, and what was expected and observed of a failure."""
    text = ""
    for event in _events(report):
        text += event.get("Output", "")
    return text


def as_events(report: Report) -> str:
    """Give one JSON object for each event, a line each."""
    text = ""
    for event in _events(report):
        line = json.dumps(event)
        text += f"{line}\n"
    return text


def _events(report: Report) -> Iterator[Event]:
    """Give the events in the order of the cases; the times are those of a run one after another."""
    now = datetime.strptime(report["date"], "%Y-%m-%dT%H:%M:%SZ")
    now = now.replace(tzinfo=UTC)
    for check in report["checks"]:
        yield from _case(now, check)
        now += timedelta(seconds=check["durationSeconds"])
    for row in report["notApplicable"]:
        yield from _skipped(now, row)
    for row in report["leftOut"]:
        yield from _skipped(now, row)
    failed = report["gate"]["result"] == "failed"
    seconds = report["durationSeconds"]
    yield _event(now, "fail" if failed else "pass", Elapsed=seconds)


def _case(now: datetime, check: CheckEntry) -> Iterator[Event]:
    case = check["id"]
    seconds = check["durationSeconds"]
    result = _result(check)
    yield _event(now, "run", Test=case)
    yield _output(now, case, f"=== RUN   {case}")
    end = now + timedelta(seconds=seconds)
    for line in _details(check):
        yield _output(end, case, f"    {line}")
    yield _output(end, case, f"--- {result.upper()}: {case} ({seconds:.2f}s)")
    yield _event(end, result, Test=case, Elapsed=seconds)


def _result(check: CheckEntry) -> str:
    if check["outcome"] == "passed":
        return "pass"
    return "fail" if check["outcome"] in FAILED else "skip"


def _details(check: CheckEntry) -> Iterator[str]:
    if check["outcome"] == "passed":
        return
    if "expected" in check and "observed" in check:
        yield "--- expected"
        yield "+++ observed"
        for sign, line in compared(check["expected"], check["observed"]):
            yield f"{sign} {line}"
        return
    text = check.get("message", "it did not run")
    yield from text.splitlines()


def _skipped(now: datetime, row: RowEntry) -> Iterator[Event]:
    case = row["id"]
    reason = row["reason"]
    yield _output(now, case, f"--- SKIP: {case} (0.00s)")
    yield _output(now, case, f"    {reason}")
    yield _event(now, "skip", Test=case, Elapsed=0)


def _output(now: datetime, case: str, line: str) -> Event:
    return _event(now, "output", Test=case, Output=f"{line}\n")


def _event(now: datetime, action: str, **more: Any) -> Event:
    return {
        "Time": now.isoformat(),
        "Action": action,
        "Package": PACKAGE,
        **more,
    }
