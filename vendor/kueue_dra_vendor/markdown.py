"""Writes a report as Markdown, for the summary of a CI job or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_vendor.check import Finding
from kueue_dra_vendor.report import VendorReport


def markdown(report: VendorReport) -> str:
    """Give the summary as a heading, the findings as a table, and for each check what to do."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: VendorReport) -> Iterator[str]:
    yield f"## {report.summary}"
    if report.findings:
        yield ""
        yield "| Level | Check | Object | Finding | Place |"
        yield "| --- | --- | --- | --- | --- |"
    for each in report.findings:
        yield _row(each.level.value, each)
    if report.known:
        yield ""
        yield "Known:"
        yield ""
    for each, reason in report.known:
        yield f"- {each.check.id} {_cell(each.object)}: {_cell(each.text)} ({_cell(reason)})"
    if report.gone:
        yield ""
        yield "Known, and not found any more:"
        yield ""
    for entry in report.gone:
        yield f"- {entry}"
    yield from _remedies(report)


def _remedies(report: VendorReport) -> Iterator[str]:
    checks = dict.fromkeys(each.check for each in report.findings)
    if checks:
        yield ""
    for check in checks:
        yield f"- **{check.id}** {check.title} {check.effect} *{check.remedy}*"


def _row(level: str, each: Finding) -> str:
    cells = (level, each.check.id, each.object, each.text, f"`{each.place}`")
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """Keep a text on one line, and a bar from ending the cell."""
    one_line = " ".join(text.split())
    return one_line.replace("|", "\\|")
