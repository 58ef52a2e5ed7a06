"""JUnit XML of a report, for CI systems: expected and observed as text, known failures as skipped."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kueue_dra_reports.document import CheckEntry, ExpectedFailureEntry, Report
from kueue_dra_reports.junit_writer import Case, Result, Suite, junit_text
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.wording import subject

FILE = "junit.xml"
KINDS = {"failed": "failure", "error": "error", "notTestable": "error"}


def as_junit(report: Report) -> str:
    """Give a report as JUnit XML: a suite for each folder of cases, and one for the run itself."""
    known = _known(report)
    folders: dict[str, list[Case]] = {}
    for check in report["checks"]:
        folder = check["id"].partition("/")[0]
        case = _case(check, known.get(check["id"]))
        folders.setdefault(folder, []).append(case)
    folders["run"] = [_run(report)]
    properties = {
        "checked": subject(report),
        "verdict": report["verdict"]["result"],
    }
    suites = [
        Suite(name=name, cases=cases, properties=properties)
        for name, cases in folders.items()
    ]
    return junit_text(suites, report["date"])


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


def _case(check: CheckEntry, known: ExpectedFailureEntry | None) -> Case:
    file, _, name = check["id"].partition("::")
    return Case(
        place=file.replace("/", "."),
        name=name,
        seconds=check["durationSeconds"],
        result=_result(check, known),
    )


def _result(check: CheckEntry, known: ExpectedFailureEntry | None) -> Result | None:
    outcome = check["outcome"]
    if known is not None:
        return Result(kind="skipped", message=f"known failure: {known['reason']}")
    if outcome == "notRun":
        return Result(kind="error", message="it did not run", type=outcome)
    if outcome not in KINDS:
        return None
    title = check.get("title", "")
    cited = ", ".join(check["requirements"])
    return Result(
        kind=KINDS[outcome],
        message=f"[{cited}] {title}",
        type=outcome,
        lines=list(_details(check)),
    )


def _details(check: CheckEntry) -> Iterable[str]:
    if "expected" in check and "observed" in check:
        yield "--- expected"
        yield "+++ observed"
        for sign, line in compared(check["expected"], check["observed"]):
            yield f"{sign} {line}"
    else:
        yield check.get("message", "")
    yield from check.get("explanation", ())


def _run(report: Report) -> Case:
    """Give the case that fails if the run itself did: less than planned, or a known failure out of date."""
    gate = report.get("gate")
    result = None
    if gate and gate["because"] and not gate["red"]:
        result = Result(
            kind="failure",
            message="the gate failed",
            type="gate",
            lines=gate["because"],
        )
    return Case(place="run", name="gate", result=result)
