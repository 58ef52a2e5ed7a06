"""Allure results of a report: one file for each case, with requirements, level, and both sides of a failure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import attr
from allure_commons.model2 import Label, Link, Parameter, StatusDetails, TestResult
from allure_commons.types import LabelType, LinkType, Severity

from kueue_dra_reports.document import (
    CheckEntry,
    ExpectedFailureEntry,
    Report,
    RequirementEntry,
    RowEntry,
)
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.repeat import command_of

SEVERITY = {
    "MUST": Severity.CRITICAL,
    "SHOULD": Severity.NORMAL,
    "MAY": Severity.MINOR,
    "INFERRED": Severity.TRIVIAL,
}
STRENGTH = tuple(SEVERITY)
STATUS = {
    "passed": "passed",
    "failed": "failed",
    "error": "broken",
    "notTestable": "broken",
    "notRun": "unknown",
}
REQUIREMENT = "requirement"
KEP = "https://github.com/kubernetes-sigs/kueue/issues/2941"


def write(report: Report, folder: Path) -> int:
    """Write the results into a folder, and give their number; Allure 2 and 3 read it."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {one["id"]: one for one in report["requirements"]}
    known = dict(_known(report))
    results = [_checked(one, report, texts, known) for one in report["checks"]]
    for row in [*report["notApplicable"], *report["leftOut"]]:
        skipped = _skipped(row, report, texts)
        results.append(skipped)
    for result in results:
        path = folder / f"{result.uuid}-result.json"
        text = json.dumps(_plain(result), ensure_ascii=False)
        path.write_text(text, "utf-8")
    return len(results)


def _plain(result: TestResult) -> object:
    return attr.asdict(result, filter=lambda _, value: bool(value) or value is False)


def _known(report: Report) -> Iterator[tuple[str, ExpectedFailureEntry]]:
    gate = report.get("gate")
    entries = gate["expectedFailures"] if gate else ()
    for entry in entries:
        if entry["verdict"] == "knownFailure":
            for case in entry["cases"]:
                yield case, entry


Texts = dict[str, RequirementEntry]


def _checked(
    check: CheckEntry,
    report: Report,
    texts: Texts,
    known: dict[str, ExpectedFailureEntry],
) -> TestResult:
    result = _result(check["id"], check["requirements"], report, texts)
    result.name = check.get("title") or result.name
    result.status = STATUS[check["outcome"]]
    result.stop = result.start + round(check["durationSeconds"] * 1000)
    if check["outcome"] == "passed":
        return result
    command = command_of(check["id"], report)
    result.parameters.append(Parameter("repeat", command))
    message = check.get("message", "it did not run")
    result.statusDetails = StatusDetails(message=message, trace=_sides(check))
    entry = known.get(check["id"])
    if entry:
        _accept(result, entry)
    return result


def _accept(result: TestResult, entry: ExpectedFailureEntry) -> None:
    details = result.statusDetails
    details.known = True
    details.message = f"known failure until {entry['until']}: {entry['reason']}"
    link = entry.get("link")
    if link:
        issue = Link(LinkType.ISSUE, link, entry["id"])
        result.links.append(issue)


def _sides(check: CheckEntry) -> str:
    lines = []
    if "expected" in check and "observed" in check:
        lines = ["--- expected", "+++ observed"]
        for sign, line in compared(check["expected"], check["observed"]):
            lines.append(f"{sign} {line}")
    lines += check.get("explanation", ())
    lines += check.get("log", ())
    return "\n".join(lines)


def _skipped(row: RowEntry, report: Report, texts: Texts) -> TestResult:
    result = _result(row["id"], row["requirements"], report, texts)
    result.status, result.stop = "skipped", result.start
    result.statusDetails = StatusDetails(message=row["reason"])
    return result


def _result(
    case: str, cited: Iterable[str], report: Report, texts: Texts
) -> TestResult:
    """Give what every result has; the same case has the same history in each run."""
    file, _, name = case.partition("::")
    behaviour = report["specification"]["behaviour"]
    history = uuid5(NAMESPACE_URL, f"{behaviour} {report['target']['name']} {case}")
    date = datetime.strptime(report["date"], "%Y-%m-%dT%H:%M:%SZ")
    began = date.replace(tzinfo=UTC).timestamp()
    requirements = [texts[one] for one in cited]
    sentences = [f"{one['id']}: {one['text']}" for one in requirements]
    links = []
    for one in requirements:
        url = _url(one)
        if url:
            links.append(Link(LinkType.LINK, url, one["id"]))
    return TestResult(
        uuid=str(uuid5(history, report["date"])),
        historyId=str(history),
        testCaseId=str(history),
        fullName=case,
        name=name,
        start=round(began * 1000),
        stage="finished",
        titlePath=file.split("/"),
        description="\n".join(sentences),
        labels=list(_labels(file, requirements)),
        links=links,
    )


def _url(requirement: RequirementEntry) -> str:
    """Give where a requirement comes from; empty if its source has no page."""
    source = requirement["source"]
    if source.startswith("KEP-2941"):
        return KEP
    return source if source.startswith("https://") else ""


def _labels(file: str, requirements: list[RequirementEntry]) -> Iterator[Label]:
    suite, _, rest = file.partition("/")
    cited = {one["level"] for one in requirements}
    strongest = min(cited, key=STRENGTH.index)
    yield Label(LabelType.PARENT_SUITE, suite)
    yield Label(LabelType.SUITE, rest)
    yield Label(LabelType.FRAMEWORK, "pytest")
    yield Label(LabelType.SEVERITY, SEVERITY[strongest])
    for one in requirements:
        yield Label(LabelType.STORY, f"{one['id']}: {one['text']}")
        yield Label(LabelType.TAG, one["id"])
        yield Label(REQUIREMENT, one["id"])
        yield Label("level", one["level"])
