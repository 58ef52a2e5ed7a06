"""JUnit XML in the one form that the schemas of Jenkins, Ant and pytest have in common.

Ant asks for properties, output and host of each suite, and for one result of a case at most; Jenkins reads no other
attributes than these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

HOST = "kueue-dra"
"""Schemas ask for a host; the name of the machine would differ from run to run."""
NOT_IN_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a case ended if it did not pass: a failure, an error or skipped."""

    kind: str
    message: str
    type: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A test case; ``result`` is None if it passed."""

    place: str
    name: str
    seconds: float = 0.0
    result: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite with its cases, in order; ``output`` is for people."""

    name: str
    cases: Sequence[Case]
    properties: Mapping[str, str] = field(default_factory=dict)
    output: Sequence[str] = ()


def junit_text(suites: Iterable[Suite], date: str) -> str:
    """Give the document; ``date`` has seconds, in UTC, such as 2026-01-31T12:00:00Z."""
    root = Element("testsuites")
    for number, suite in enumerate(suites):
        made = _suite(suite, number)
        made.set("timestamp", date.removesuffix("Z"))
        root.append(made)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(suite: Suite, number: int) -> Element:
    seconds = sum(case.seconds for case in suite.cases)
    made = Element("testsuite", name=_text(suite.name), package=HOST, id=str(number))
    made.set("hostname", HOST)
    made.set("tests", str(len(suite.cases)))
    for kind, attribute in COUNTED.items():
        found = [one for one in suite.cases if one.result and one.result.kind == kind]
        made.set(attribute, str(len(found)))
    made.set("time", f"{seconds:.3f}")
    properties = SubElement(made, "properties")
    for name, value in suite.properties.items():
        SubElement(properties, "property", name=name, value=_text(value))
    made.extend(map(_case, suite.cases))
    SubElement(made, "system-out").text = _lines(suite.output)
    SubElement(made, "system-err")
    return made


def _case(case: Case) -> Element:
    made = Element(
        "testcase",
        classname=_text(case.place),
        name=_text(case.name),
        time=f"{case.seconds:.3f}",
    )
    if case.result is not None:
        found = SubElement(made, case.result.kind, message=_text(case.result.message))
        if case.result.kind != "skipped":
            found.set("type", case.result.type or case.result.kind)
        found.text = _lines(case.result.lines)
    return made


def _lines(lines: Sequence[str]) -> str | None:
    return _text("\n".join(lines)) or None


def _text(text: str) -> str:
    """Replace the characters that XML does not have."""
    return NOT_IN_XML.sub("\ufffd", text)
