"""What the page shows of a report, as plain values for its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kueue_dra_reports import adequacy
from kueue_dra_reports.document import CheckEntry, Report, RequirementEntry, RowEntry
from kueue_dra_reports.kubernetes_form import compared
from kueue_dra_reports.repeat import command_of
from kueue_dra_reports.summary import integrity_line
from kueue_dra_reports.wording import failures, meaning, subject, verdict_sentence

LEVELS = ("MUST", "SHOULD", "MAY", "INFERRED")
SHOWN_VERDICTS = ("proven", "failed", "questioned", "untested")
WORDS = {
    "notApplicable": "not applicable",
    "notTestable": "not testable",
    "knownFailure": "known failure",
    "unexpectedPass": "unexpected pass",
    "notChecked": "not checked",
}
View = dict[str, Any]
Texts = Mapping[str, RequirementEntry]


def view(report: Report) -> View:
    """Collect everything that the template prints."""
    texts = {one["id"]: one for one in report["requirements"]}
    accepted = _accepted(report)
    return {
        "words": WORDS,
        "title": subject(report),
        "result": report["verdict"]["result"],
        "sentence": verdict_sentence(report),
        "meaning": meaning(report),
        "because": report["verdict"]["because"],
        "facts": _facts(report),
        "levels": _levels(report),
        "gate": report.get("gate"),
        "failures": [
            _failure(one, texts, accepted) | {"repeat": command_of(one["id"], report)}
            for one in failures(report)
        ],
        "requirements": [_requirement(one) for one in report["requirements"]],
        "choices": _choices(report),
        "absences": _absences(report),
        "controls": report.get("controls", ()),
    }


def _facts(report: Report) -> Sequence[tuple[str, str]]:
    """Give what was run, where, and when."""
    target, suite = report["target"], report["suite"]
    seconds = report["durationSeconds"]
    facts = [
        ("Target", subject(report)),
        ("Date", f"{report['date']}, {seconds:.0f} s"),
        ("Suite", f"{suite['name']} {suite['version']}, intent {report['intent']}"),
        ("Integrity", integrity_line(report["integrity"]).removeprefix("integrity: ")),
        ("To repeat it", target["reproduce"]["command"]),
    ]
    if tried := report.get("adequacy"):
        facts.insert(-1, ("Adequacy", adequacy.sentence(tried)))
    return facts


def _levels(report: Report) -> Sequence[View]:
    """Give a row of numbers for each level that holds in the behaviour."""
    rows = []
    for level in LEVELS:
        mine = [one for one in report["requirements"] if one["level"] == level]
        counts = Counter(one["verdict"] for one in mine)
        numbers = {verdict: counts[verdict] for verdict in SHOWN_VERDICTS}
        if any(numbers.values()):
            rows.append(
                {"level": level, "numbers": numbers, "all": sum(numbers.values())}
            )
    return rows


def _accepted(report: Report) -> Mapping[str, View]:
    """Give the known failure that accepts each case."""
    found: dict[str, View] = {}
    gate = report.get("gate")
    for entry in gate["expectedFailures"] if gate else ():
        if entry["verdict"] == "knownFailure":
            for case in entry["cases"]:
                found[case] = dict(entry)
    return found


def _failure(check: CheckEntry, texts: Texts, accepted: Mapping[str, View]) -> View:
    lines = None
    if "expected" in check and "observed" in check:
        lines = compared(check["expected"], check["observed"])
    return {
        "id": check["id"],
        "title": check.get("title", ""),
        "outcome": _word(check["outcome"]),
        "requirements": [texts[one] for one in check["requirements"]],
        "lines": lines,
        "message": check.get("message", ""),
        "explanation": check.get("explanation", ()),
        "evidence": "\n".join(check.get("evidence", ())),
        "log": "\n".join(check.get("log", ())),
        "known": accepted.get(check["id"]),
    }


def _requirement(one: RequirementEntry) -> View:
    return {
        **one,
        "reason": one.get("reason", ""),
        "heading": heading(one["id"]),
        "word": _word(one["verdict"]),
    }


def heading(requirement: str) -> str:
    """Give the heading of a requirement, which its ID begins with."""
    return requirement.rpartition("-")[0]


def _choices(report: Report) -> Mapping[str, Sequence[str]]:
    """Give the values of each filter, in the order of their meaning."""
    requirements = report["requirements"]
    verdicts = {one["verdict"] for one in requirements}
    levels = {one["level"] for one in requirements}
    order = (*SHOWN_VERDICTS, "excluded", "notApplicable")
    return {
        "level": [level for level in LEVELS if level in levels],
        "result": [verdict for verdict in order if verdict in verdicts],
        "heading": sorted({heading(one["id"]) for one in requirements}),
    }


def _absences(report: Report) -> Sequence[tuple[str, Sequence[tuple[str, int]]]]:
    """Give why cases did not run, the most frequent reason first."""
    lists = {"Not applicable": report["notApplicable"], "Left out": report["leftOut"]}
    return [(name, _reasons(rows)) for name, rows in lists.items() if rows]


def _reasons(rows: Iterable[RowEntry]) -> Sequence[tuple[str, int]]:
    return Counter(one["reason"] for one in rows).most_common()


def _word(name: str) -> str:
    return WORDS.get(name, name)
