"""Writes a report as JUnit XML: one test case for each check."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from kueue_dra_reports.junit_writer import Case, Result, Suite, junit_text
from kueue_dra_vendor.check import Check, Level
from kueue_dra_vendor.report import VendorReport

SUITE = "kueue-dra vendor check"
CLASS = "kueue_dra_vendor"
GONE = "Take the entries out of the list of known findings."


def junit(report: VendorReport) -> str:
    """Give the XML: an error fails its check, what cannot be decided skips it, everything else is output."""
    properties = {
        "driver": report.title,
        "kubernetes": report.context.kubernetes,
        "summary": report.summary,
    }
    cases = [_case(report, check) for check in report.checks]
    suite = Suite(
        name=SUITE,
        cases=[*cases, _gone(report)],
        properties=properties,
        output=list(_output(report)),
    )
    return junit_text([suite], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _case(report: VendorReport, check: Check) -> Case:
    return Case(
        place=CLASS, name=f"{check.id} {check.title}", result=_result(report, check)
    )


def _result(report: VendorReport, check: Check) -> Result | None:
    errors = report.lines_of(check, Level.ERROR)
    undecided = report.lines_of(check, Level.OPEN)
    if errors:
        message = f"{check.effect} {check.remedy}"
        return Result(kind="failure", message=message, type=check.id, lines=errors)
    if undecided:
        message = f"cannot be decided from files: {check.remedy}"
        return Result(kind="skipped", message=message, lines=undecided)
    return None


def _output(report: VendorReport) -> Iterator[str]:
    for check in report.checks:
        yield from report.lines_of(check, Level.WARNING)
        yield from report.lines_of(check, Level.ADVICE)
        yield from report.known_lines_of(check)


def _gone(report: VendorReport) -> Case:
    lines = [str(each) for each in report.gone]
    result = Result(kind="failure", message=GONE, type="gone", lines=lines)
    return Case(
        place=CLASS,
        name="every known finding is still found",
        result=result if lines else None,
    )
