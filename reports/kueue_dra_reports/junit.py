"""JUnit XML of a report, for CI systems: expected and observed as text, known failures as skipped.

The elements and attributes are those that the schemas of Ant, Jenkins and GitLab have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from kueue_dra_reports.document import CheckEntry, ExpectedFailureEntry, Report
from kueue_dra_reports.kubernetes_form import compared

FILE = "junit.xml"
HOST = "kueue-dra"
"""Schemas ask for a host; the name of the machine would differ from run to run."""
NOT_IN_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
KINDS = {"failed": "failure", "error": "error", "notTestable": "error"}


def as_junit(report: Report) -> str:
    """Give a report as JUnit XML: a suite for each folder of cases, and one for the run itself."""
    known = _known(report)
    root = Element("testsuites", name=HOST)
    folders: dict[str, list[Element]] = {}
    for check in report["checks"]:
        folder = check["id"].partition("/")[0]
        case = _case(check, known.get(check["id"]))
        folders.setdefault(folder, []).append(case)
    folders["run"] = [_run(report)]
    for name, cases in folders.items():
        _suite(root, name, cases, report)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _known(report: Report) -> dict[str, ExpectedFailureEntry]:
    """Give the entry that accepts each case."""
    found: dict[str, ExpectedFailureEntry] = {}
    if "gate" in report:
        for entry in report["gate"]["expectedFailures"]:
            if entry["verdict"] == "knownFailure":
                found |= dict.fromkeys(entry["cases"], entry)
    return found


def write(report: Report, path: Path) -> None:
    """Write the XML to a file, whose folder is created if it does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_junit(report), "utf-8")


def _suite(root: Element, name: str, cases: Sequence[Element], report: Report) -> None:
    seconds = sum(float(case.attrib["time"]) for case in cases)
    suite = SubElement(
        root,
        "testsuite",
        name=name,
        timestamp=report["date"].removesuffix("Z"),
        hostname=HOST,
        tests=str(len(cases)),
        failures=_number(cases, "failure"),
        errors=_number(cases, "error"),
        skipped=_number(cases, "skipped"),
        time=f"{seconds:.3f}",
    )
    suite.extend(cases)


def _number(cases: Iterable[Element], kind: str) -> str:
    return str(sum(case.find(kind) is not None for case in cases))


def _case(check: CheckEntry, known: ExpectedFailureEntry | None) -> Element:
    file, _, name = check["id"].partition("::")
    case = _element(file.replace("/", "."), name, check["durationSeconds"])
    outcome = check["outcome"]
    if known is not None:
        SubElement(case, "skipped", message=_text(f"known failure: {known['reason']}"))
    elif outcome == "notRun":
        SubElement(case, "error", message="it did not run", type=outcome)
    elif outcome in KINDS:
        title = check.get("title", "")
        cited = ", ".join(check["requirements"])
        found = SubElement(
            case, KINDS[outcome], message=_text(f"[{cited}] {title}"), type=outcome
        )
        found.text = _text("\n".join(_details(check)))
    return case


def _details(check: CheckEntry) -> Iterable[str]:
    if "expected" in check and "observed" in check:
        yield "--- expected"
        yield "+++ observed"
        for sign, line in compared(check["expected"], check["observed"]):
            yield f"{sign} {line}"
    else:
        yield check.get("message", "")
    yield from check.get("explanation", ())


def _run(report: Report) -> Element:
    """Give the case that fails if the run itself did: less than planned, or a known failure out of date."""
    case = _element("run", "gate", 0.0)
    gate = report.get("gate")
    if gate and gate["because"] and not gate["red"]:
        found = SubElement(case, "failure", message="the gate failed", type="gate")
        found.text = _text("\n".join(gate["because"]))
    return case


def _element(place: str, name: str, seconds: float) -> Element:
    return Element(
        "testcase", classname=_text(place), name=_text(name), time=f"{seconds:.3f}"
    )


def _text(text: str) -> str:
    """Replace the characters that XML does not have."""
    return NOT_IN_XML.sub("\ufffd", text)
