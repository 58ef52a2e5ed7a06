"""The end of a run on the terminal: one table, the target, the integrity numbers, the verdict, the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tabulate import tabulate

from kueue_dra_ref.behaviours import marked
from kueue_dra_reports.controls import line
from kueue_dra_reports.document import CheckEntry, GroupEntry, IntegrityEntry, Report
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
    """Give the summary of a report as text that a newcomer can read."""
    parts = [
        _table(report),
        "",
        _target_line(report),
        integrity_line(report["integrity"]),
        *_verdict_lines(report),
    ]
    parts += [f"{name}: {text}" for name, text in _absences(report)]
    parts += map(line, report.get("controls", ()))
    if written := ", ".join(files):
        parts.append(f"files: {written}")
    return "\n".join(parts)


def _table(report: Report) -> str:
    rows = [
        _row(profile["name"], name, entry)
        for profile in report["profiles"]
        for name in GROUPS
        if (entry := profile.get(name))
        and (any(entry["statistics"].values()) or entry["untested"])
    ]
    return tabulate(rows, headers=HEADERS, tablefmt="simple")


def _row(profile: str, group: str, entry: GroupEntry) -> tuple[object, ...]:
    cases, requirements = entry["statistics"], entry["requirements"]
    red = cases["failed"] + cases["error"] + cases["notTestable"]
    counts = (cases["passed"], red, cases["notApplicable"], cases["notRun"])
    piles = (requirements["proven"], requirements["untested"], requirements["excluded"])
    return (profile, LEVEL[group], *counts, *piles, entry["result"])


def _target_line(report: Report) -> str:
    target: Mapping[str, Any] = report["target"]
    about = ", ".join(
        f"{key} {_short(value)}"
        for key, value in target.get("about", {}).items()
        if key != "kind"
    )
    behaviour = marked(report["specification"]["behaviour"])
    return f"target: {target['name']}{f' ({about})' if about else ''}, judged as {behaviour}, intent {report['intent']}"


def _short(value: object) -> str:
    match value:
        case dict():
            return " ".join(f"{key}={_short(one)}" for key, one in value.items())
        case list() | tuple():
            return "/".join(map(str, value))
        case _:
            return str(value)


def integrity_line(integrity: IntegrityEntry) -> str:
    """Give the four numbers that must be equal, with the sign that says whether they are."""
    numbers = [
        integrity[key] for key in ("planned", "collected", "executed", "reported")
    ]
    sign = "=" if len(set(numbers)) == 1 else "≠"
    names = ("planned", "collected", "executed", "reported")
    return f"integrity: {f' {sign} '.join(f'{name} {number}' for name, number in zip(names, numbers, strict=True))}"


REASONS = 4
"""How many reasons for leaving cases aside the terminal shows."""


def _verdict_lines(report: Report) -> list[str]:
    verdict = report["verdict"]
    claim = ""
    if verdict["result"] == "success" and not verdict["claimsConformance"]:
        claim = f" (intent {report['intent']}: only a run with --intent certify may be shown as a conformance claim)"
    return [
        f"verdict: {WORDS[verdict['result']]}{claim}",
        *(f"  - {reason}" for reason in verdict["because"]),
    ]


def _absences(report: Report) -> Iterator[tuple[str, str]]:
    """Say what was left aside and why; where there are many reasons, the report has the rest."""
    for name, entries in (
        ("not applicable", report["notApplicable"]),
        ("left out", report["leftOut"]),
    ):
        counted = Counter(one["reason"] for one in entries)
        shown = counted.most_common(REASONS)
        for reason, number in sorted(shown):
            yield name, f"{_cases(number)}, {reason}"
        if rest := len(entries) - sum(number for _, number in shown):
            yield name, f"{_cases(rest)} more for other reasons, each in the report"


def _cases(number: int) -> str:
    return "1 case" if number == 1 else f"{number} cases"


def explained(check: CheckEntry) -> str:
    """Give one failed check as text: what was required, expected, observed and how it came about."""
    parts = [f"{check['id']}  [{', '.join(check['requirements'])}]  {check['outcome']}"]
    facts: Mapping[str, Any] = check
    keys = (
        ("title", "expected", "observed")
        if "expected" in facts
        else ("title", "message")
    )
    parts += [
        f"  {key}: {str(facts[key]).splitlines()[0]}" for key in keys if facts.get(key)
    ]
    parts += [f"    {line}" for line in check.get("explanation", [])]
    return "\n".join(parts)
