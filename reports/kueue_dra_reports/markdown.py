"""A report as short Markdown, for the summary of a job and a comment on a pull request."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kueue_dra_ref.explain.step import named
from kueue_dra_reports.document import CheckEntry, GroupEntry, Report
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.repeat import command_of
from kueue_dra_reports.results import GROUPS
from kueue_dra_reports.summary import LEVEL
from kueue_dra_reports.wording import failures, subject, verdict_sentence

SIGNS = {"success": "✅", "partial": "⚠️", "failure": "❌"}
MOST_FAILURES = 10
MOST_LINES = 40
LONGEST = 200
SPECIAL = re.compile(r"([\\`*_\[\]#|~])")


def as_markdown(report: Report) -> str:
    """Give the verdict, the numbers, and the first failures with both sides."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    result = report["verdict"]["result"]
    yield f"## {SIGNS[result]} {_plain(verdict_sentence(report))}"
    yield ""
    yield f"Checked: {_plain(subject(report))}. Verdict: **{result}**, intent {report['intent']}."
    yield ""
    yield from _table(report)
    yield from _gate(report)
    found = failures(report)
    if found:
        yield f"### {named(len(found), 'case')} did not pass"
        yield ""
    for check in found[:MOST_FAILURES]:
        yield from _failure(check, report)
    rest = len(found) - MOST_FAILURES
    if rest > 0:
        yield f"{rest} more {'is' if rest == 1 else 'are'} in the report."


def _table(report: Report) -> Iterator[str]:
    yield "| Requirements | proven | failed | untested | cases passed | cases failed | not run |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for group in GROUPS:
        numbers = _numbers(
            [profile[group] for profile in report["profiles"] if group in profile]
        )
        if any(numbers):
            cells = " | ".join(map(str, numbers))
            yield f"| {LEVEL[group]} | {cells} |"
    yield ""


def _numbers(groups: Sequence[GroupEntry]) -> Sequence[int]:
    """Give the numbers of a row: requirements proven, failed, untested; cases passed, failed, not run."""
    requirements, cases = Counter[str](), Counter[str]()
    red = 0
    for group in groups:
        requirements.update(group["requirements"])
        cases.update(group["statistics"])
        red += len(group["notPassed"])
    failed = requirements["failed"] + requirements["questioned"]
    return (
        requirements["proven"],
        failed,
        requirements["untested"],
        cases["passed"],
        red,
        cases["notRun"],
    )


def _gate(report: Report) -> Iterator[str]:
    gate = report.get("gate")
    if gate is None:
        return
    known = [
        one for one in gate["expectedFailures"] if one["verdict"] == "knownFailure"
    ]
    accepted = named(len(known), "known failure")
    yield f"Gate `{gate['level']}`: **{gate['result']}**, {accepted}"
    yield ""
    for reason in gate["because"]:
        yield f"- {_plain(reason)}"
    for one in known:
        parts = [one["id"], one["reason"], one.get("link", "")]
        text = ": ".join(filter(None, parts))
        yield f"- known until {one['until']}: {_plain(text)}"
    if gate["because"] or known:
        yield ""


def _failure(check: CheckEntry, report: Report) -> Iterator[str]:
    texts = {one["id"]: one["text"] for one in report["requirements"]}
    cited = ", ".join(check["requirements"])
    yield f"<details><summary><b>{html.escape(cited)}</b> {html.escape(check['id'])}: {check['outcome']}</summary>"
    yield ""
    for one in check["requirements"]:
        yield f"- {one}: {_plain(texts[one])}"
    yield ""
    lines = list(_sides(check))
    fence = _fence(lines)
    yield f"{fence}diff"
    yield from lines[:MOST_LINES]
    yield fence
    yield ""
    yield f"To repeat it: `{command_of(check['id'], report)}`"
    yield ""
    yield "</details>"
    yield ""


def _sides(check: CheckEntry) -> Iterator[str]:
    if "expected" not in check or "observed" not in check:
        yield from check.get("message", "no message").splitlines()
        return
    yield "--- expected"
    yield "+++ observed"
    for sign, line in compared(check["expected"], check["observed"]):
        yield f"{sign}{line[:LONGEST]}"


def _fence(lines: Sequence[str]) -> str:
    """Give a fence that no line ends."""
    longest = max(
        (len(run) for line in lines for run in re.findall("`+", line)), default=0
    )
    return "`" * max(3, longest + 1)


def _plain(text: str) -> str:
    """Escape what Markdown or HTML would read, in one line."""
    line = " ".join(text.split())
    return html.escape(SPECIAL.sub(r"\\\1", line), quote=False)
