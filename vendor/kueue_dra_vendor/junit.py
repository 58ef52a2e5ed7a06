"""Writes a report as JUnit XML: one test case for each check."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kueue_dra_vendor.check import Check, Level
from kueue_dra_vendor.report import VendorReport

SUITE = "kueue-dra vendor check"
CLASS = "kueue_dra_vendor"
GONE = "Take the entries out of the list of known findings."


def junit(report: VendorReport) -> str:
    """Give the XML: an error fails its check, what cannot be decided skips it, everything else is output."""
    suite = Element("testsuite", name=SUITE)
    _add_properties(suite, report)
    for check in report.checks:
        case = _case(report, check)
        suite.append(case)
    known = _gone(report)
    suite.append(known)
    _count(suite)
    suites = Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)


def _add_properties(suite: Element, report: VendorReport) -> None:
    values = {
        "driver": report.title,
        "kubernetes": report.context.kubernetes,
        "summary": report.summary,
    }
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", name=name, value=value)


def _count(suite: Element) -> None:
    paths = {
        "tests": "testcase",
        "failures": "testcase/failure",
        "skipped": "testcase/skipped",
        "errors": "testcase/error",
    }
    for name, path in paths.items():
        found = suite.findall(path)
        count = len(found)
        suite.set(name, str(count))


def _case(report: VendorReport, check: Check) -> Element:
    case = _empty(f"{check.id} {check.title}")
    errors = report.lines_of(check, Level.ERROR)
    undecided = report.lines_of(check, Level.OPEN)
    if errors:
        message = f"{check.effect} {check.remedy}"
        _add(case, "failure", message, errors)
    elif undecided:
        message = f"cannot be decided from files: {check.remedy}"
        _add(case, "skipped", message, undecided)
    output = [
        *report.lines_of(check, Level.WARNING),
        *report.lines_of(check, Level.ADVICE),
        *report.known_lines_of(check),
    ]
    if output:
        part = ElementTree.SubElement(case, "system-out")
        part.text = "\n".join(output)
    return case


def _empty(name: str) -> Element:
    return Element("testcase", classname=CLASS, name=name, time="0")


def _add(case: Element, tag: str, message: str, lines: Sequence[str]) -> None:
    part = ElementTree.SubElement(case, tag, message=message)
    part.text = "\n".join(lines)


def _gone(report: VendorReport) -> Element:
    case = _empty("every known finding is still found")
    lines = [str(each) for each in report.gone]
    if lines:
        _add(case, "failure", GONE, lines)
    return case
