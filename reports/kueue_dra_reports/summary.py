"""Print the summary of a run: a table, the target, the integrity numbers, the verdict and the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from kueue_dra_ref.behaviours import marked
from kueue_dra_ref.explain.step import named
from kueue_dra_reports.adequacy import sentence
from kueue_dra_reports.controls import line
from kueue_dra_reports.document import (
    CheckEntry,
    GroupEntry,
    IntegrityEntry,
    Report,
    RowEntry,
)
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.results import GROUPS

HEADERS = (
    "profile",
    "level",
    "passed",
    "failed",
    "n/a",
    "not run",
    "proven",
    "untested",
    "excluded",
    "result",
)
LEVEL = {"core": "MUST", "extended": "SHOULD, MAY", "questions": "INFERRED"}
WORDS = {
    "success": "success: every case passed and no requirement of the core is untested",
    "partial": "partial: nothing is violated, but not everything is proven",
    "failure": "failure",
}


def rendered(report: Report, files: Iterable[str] = ()) -> str:
    """Give the summary of a report as text."""
    parts = [
        _table(report),
        "",
        _target_line(report),
        integrity_line(report["integrity"]),
        *_verdict_lines(report),
    ]
    parts += [f"{name}: {text}" for name, text in _absences(report)]
    parts += map(line, report.get("controls", ()))
    if tried := report.get("adequacy"):
        parts.append(f"adequacy: {sentence(tried)}")
    if written := ", ".join(files):
        parts.append(f"files: {written}")
    parts += gate_lines(report)
    return "\n".join(parts)


def _table(report: Report) -> str:
    rows = []
    for profile in report["profiles"]:
        for name in GROUPS:
            entry = profile.get(name)
            if entry and _has_content(entry):
                rows.append(_row(profile["name"], name, entry))
    return tabulate(rows, headers=HEADERS, tablefmt="simple")


def _has_content(entry: GroupEntry) -> bool:
    statistics = entry["statistics"]
    return any(statistics.values()) or bool(entry["untested"])


def _row(profile: str, group: str, entry: GroupEntry) -> tuple[object, ...]:
    cases = entry["statistics"]
    requirements = entry["requirements"]
    red = cases["failed"] + cases["error"] + cases["notTestable"]
    return (
        profile,
        LEVEL[group],
        cases["passed"],
        red,
        cases["notApplicable"],
        cases["notRun"],
        requirements["proven"],
        requirements["untested"],
        requirements["excluded"],
        entry["result"],
    )


def _target_line(report: Report) -> str:
    target: Mapping[str, Any] = report["target"]
    about: Mapping[str, Any] = target.get("about", {})
    details = ", ".join(
        f"{key} {_short(value)}" for key, value in about.items() if key != "kind"
    )
    name = target["name"]
    if details:
        name += f" ({details})"
    behaviour = marked(report["specification"]["behaviour"])
    return f"target: {name}, checked as {behaviour}, intent {report['intent']}"


def _short(value: object) -> str:
    match value:
        case dict():
            return " ".join(f"{key}={_short(one)}" for key, one in value.items())
        case list() | tuple():
            return "/".join(map(str, value))
        case _:
            return str(value)


def integrity_line(integrity: IntegrityEntry) -> str:
    """Give the four numbers that must be equal, with = or ≠ between them."""
    numbers = {
        "planned": integrity["planned"],
        "collected": integrity["collected"],
        "executed": integrity["executed"],
        "reported": integrity["reported"],
    }
    all_equal = len(set(numbers.values())) == 1
    sign = " = " if all_equal else " ≠ "
    parts = [f"{name} {number}" for name, number in numbers.items()]
    return f"integrity: {sign.join(parts)}"


KNOWN_LINE = "{verdict}: {id}: {failed} failed; until {until}: {reason}"
REASONS = 4
"""The number of reasons for skipped cases that the terminal shows."""


def _verdict_lines(report: Report) -> list[str]:
    verdict = report["verdict"]
    claim = ""
    if verdict["result"] == "success" and not verdict["claimsConformance"]:
        claim = f" (intent {report['intent']}: only a run with --intent certify may be shown as a conformance claim)"
    return [
        f"verdict: {WORDS[verdict['result']]}{claim}",
        *(f"  - {reason}" for reason in verdict["because"]),
    ]


def gate_lines(report: Report) -> list[str]:
    """Give the result of the gate, each known failure and each reason for red; nothing if nothing was accepted."""
    gate = report.get("gate")
    if gate is None or not (gate["expectedFailures"] or gate["level"] != "inferred"):
        return []
    lines = [
        KNOWN_LINE.format(failed=named(len(one["cases"]), "case"), **one)
        for one in gate["expectedFailures"]
        if one["verdict"] in ("knownFailure", "notChecked")
    ]
    if gate["below"]:
        lines.append(
            f"below the gate: {named(len(gate['below']), 'case')} did not pass"
        )
    lines.append(f"gate: {gate['result']} (--gate {gate['level']})")
    return [*lines, *(f"  - {reason}" for reason in gate["because"])]


def _absences(report: Report) -> Iterator[tuple[str, str]]:
    """List how many cases did not run, with the most frequent reasons."""
    for reason in _reasons(report["notApplicable"]):
        yield "not applicable", reason
    for reason in _reasons(report["leftOut"]):
        yield "left out", reason


def _reasons(entries: Sequence[RowEntry]) -> Iterator[str]:
    counted = Counter(one["reason"] for one in entries)
    shown = counted.most_common(REASONS)
    rest = len(entries)
    for reason, number in sorted(shown):
        yield f"{named(number, 'case')}, {reason}"
        rest -= number
    if rest:
        yield f"{named(rest, 'case')} more for other reasons, each in the report"


def explained(check: CheckEntry, repeat: str = "") -> str:
    """Give one failed check as text: requirements, both sides of the comparison, explanation, command to repeat it."""
    cited = ", ".join(check["requirements"])
    parts = [f"{check['id']}  [{cited}]  {check['outcome']}"]
    if check.get("title"):
        parts.append(f"  title: {check['title']}")
    if "expected" in check and "observed" in check:
        parts.append("  - expected, + observed:")
        for sign, text in compared(check["expected"], check["observed"]):
            parts.append(f"  {sign} {text}")
    elif check.get("message"):
        first_line, *_ = check["message"].splitlines()
        parts.append(f"  message: {first_line}")
    parts += [f"    {text}" for text in check.get("explanation", [])]
    if repeat:
        parts.append(f"  repeat: {repeat}")
    return "\n".join(parts)
