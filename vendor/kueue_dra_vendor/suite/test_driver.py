"""One test for each check, and one for the known findings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kueue_dra_vendor.catalogue import ALL
from kueue_dra_vendor.check import Check, Level
from kueue_dra_vendor.report import VendorReport

IDS = [each.id for each in ALL]
Record = Callable[[str, object], None]


@pytest.mark.parametrize("check", ALL, ids=IDS)
def test_driver(
    check: Check, vendor_report: VendorReport, record_property: Record
) -> None:
    """Fail on errors, expect what is known, skip what files cannot decide; a warning is a property."""
    _record(check, vendor_report, record_property)
    errors = vendor_report.lines_of(check, Level.ERROR)
    known = vendor_report.known_lines_of(check)
    undecided = vendor_report.lines_of(check, Level.OPEN)
    if errors:
        _fail(*errors, check.title, check.effect, check.remedy)
    if known:
        reason = "; ".join(known)
        pytest.xfail(reason)
    if undecided:
        text = "\n".join(undecided)
        pytest.skip(f"{text}\n{check.remedy}")


def test_known_findings_are_still_found(vendor_report: VendorReport) -> None:
    """Fail on an entry of the known findings that nothing matches any more."""
    lines = [str(each) for each in vendor_report.gone]
    if lines:
        _fail(*lines, "take the entries out")


def _record(check: Check, vendor_report: VendorReport, record: Record) -> None:
    warnings = vendor_report.lines_of(check, Level.WARNING)
    advice = vendor_report.lines_of(check, Level.ADVICE)
    for line in warnings:
        record("warning", line)
    for line in advice:
        record("advice", line)


def _fail(*lines: str) -> None:
    text = "\n".join(lines)
    pytest.fail(text, pytrace=False)
