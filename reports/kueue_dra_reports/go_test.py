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


def as_log(report: Report) -> str:
    """Give the log: each case with its result, and what was expected and observed of a failure."""
    lines = [one["Output"] for one in _events(report) if one["Action"] == "output"]
    return "".join(lines)


def as_events(report: Report) -> str:
    """Give one JSON object for each event, a line each."""
    return "".join(json.dumps(one) + "\n" for one in _events(report))


def _events(report: Report) -> Iterator[Event]:
    """Give the events in the order of the cases; the times are those of a run one after another."""
    now = datetime.strptime(report["date"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    for check in report["checks"]:
        seconds = check["durationSeconds"]
        yield _event(now, "run", check["id"])
        yield _output(now, check["id"], f"=== RUN   {check['id']}")
        now += timedelta(seconds=seconds)
        result = _result(check)
        last = f"--- {result.upper()}: {check['id']} ({seconds:.2f}s)"
        for line in [*_details(check), last]:
            yield _output(now, check["id"], line)
        yield {**_event(now, result, check["id"]), "Elapsed": seconds}
    for row in [*report["notApplicable"], *report["leftOut"]]:
        yield from _skipped(now, row)
    result = "fail" if report["gate"]["result"] == "failed" else "pass"
    yield {**_event(now, result), "Elapsed": report["durationSeconds"]}


def _result(check: CheckEntry) -> str:
    if check["outcome"] == "passed":
        return "pass"
    return "fail" if check["outcome"] in FAILED else "skip"


def _details(check: CheckEntry) -> Iterator[str]:
    if check["outcome"] == "passed":
        return
    if "expected" in check and "observed" in check:
        yield "    --- expected"
        yield "    +++ observed"
        for sign, line in compared(check["expected"], check["observed"]):
            yield f"    {sign} {line}"
        return
    text = check.get("message", "it did not run")
    for line in text.splitlines():
        yield f"    {line}"


def _skipped(now: datetime, row: RowEntry) -> Iterator[Event]:
    yield _output(now, row["id"], f"--- SKIP: {row['id']} (0.00s)")
    yield _output(now, row["id"], f"    {row['reason']}")
    yield {**_event(now, "skip", row["id"]), "Elapsed": 0}


def _output(now: datetime, case: str, line: str) -> Event:
    return {**_event(now, "output", case), "Output": f"{line}\n"}


def _event(now: datetime, action: str, case: str = "") -> Event:
    event = {"Time": now.isoformat(), "Action": action, "Package": PACKAGE}
    if case:
        event["Test"] = case
    return event
