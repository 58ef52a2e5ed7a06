"""The gate: which failures turn the exit code of a run red, and what became of each known failure.

The verdict of a report never depends on it: an accepted failure of a MUST is still a violation.
`kueue_dra_reports.validate` computes the gate again from a written report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.explain.step import named
from kueue_dra_reports.document import (
    CheckEntry,
    ExpectedFailureEntry,
    GateEntry,
    Report,
)
from kueue_dra_reports.known_failures import Known, KnownFailure
from kueue_dra_reports.names import few
from kueue_dra_reports.results import FAILED

LEVELS = ("must", "should", "inferred")
"""From the strongest: each includes the ones before it."""
GATE_OF: Mapping[str, str] = {
    "MUST": "must",
    "SHOULD": "should",
    "MAY": "should",
    "INFERRED": "inferred",
}
RED_ENTRIES = ("unexpectedPass", "expired", "unknown")
"""Verdicts on an entry that turn the gate red."""
SENTENCES = {
    "unexpectedPass": "{id}: is expected to fail, but every case passed: remove the entry",
    "expired": "{id}: the entry was valid until {until}: remove it, or give a later day",
    "unknown": "{id}: no requirement and no case has this ID",
}
FileExists = Callable[[str], bool]
"""Whether the suite has a file of cases, such as quota/test_fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user accepts: the weakest level that counts, and known failures."""

    level: str = LEVELS[-1]
    known: Known = ()
    has_file: FileExists = lambda _: False


def gate_of(report: Report, settings: Settings) -> GateEntry:
    """Compute the gate of a report; days are those of the report, in UTC."""
    entries = [_entry(one, report, settings) for one in settings.known]
    accepted = set[str]()
    for entry in entries:
        if entry["verdict"] == "knownFailure":
            accepted.update(entry["cases"])
    levels = {one["id"]: one["level"] for one in report["requirements"]}
    red, below = list[str](), list[str]()
    for check in report["checks"]:
        if check["outcome"] in FAILED and check["id"] not in accepted:
            counts = _level_of(check, levels) <= LEVELS.index(settings.level)
            (red if counts else below).append(check["id"])
    because = [*_reasons(red, entries), *report["integrity"]["faults"]]
    return {
        "level": settings.level,
        "result": "failed" if because else "passed",
        "because": because,
        "red": red,
        "below": below,
        "expectedFailures": entries,
    }


def _level_of(check: CheckEntry, levels: Mapping[str, str]) -> int:
    """Give the position of the strongest level that a case cites; an unknown requirement counts as a MUST."""
    positions = [
        LEVELS.index(GATE_OF[levels.get(one, "MUST")]) for one in check["requirements"]
    ]
    return min(positions)


def _reasons(
    red: Sequence[str], entries: Sequence[ExpectedFailureEntry]
) -> Iterator[str]:
    if red:
        yield f"{named(len(red), 'case')} did not pass: {few(red)}"
    for entry in entries:
        if entry["verdict"] in RED_ENTRIES:
            yield SENTENCES[entry["verdict"]].format(**entry)


def _entry(
    known: KnownFailure, report: Report, settings: Settings
) -> ExpectedFailureEntry:
    mine = [
        one for one in report["checks"] if known.names(one["id"], one["requirements"])
    ]
    entry: ExpectedFailureEntry = {
        "id": known.id,
        "reason": known.reason,
        "until": known.until,
        "verdict": _verdict(known, mine, report, settings.has_file),
        "cases": [one["id"] for one in mine if one["outcome"] == "failed"],
    }
    if known.link:
        entry["link"] = known.link
    return entry


def _verdict(
    known: KnownFailure,
    mine: Sequence[CheckEntry],
    report: Report,
    has_file: FileExists,
) -> str:
    if _is_unknown(known, report, has_file):
        return "unknown"
    if known.expired(report["date"][:10]):
        return "expired"
    outcomes = {one["outcome"] for one in mine}
    if "failed" in outcomes:
        return "knownFailure"
    everything_ran = not any(
        known.names(one["id"], one["requirements"]) for one in report["leftOut"]
    )
    if outcomes == {"passed"} and everything_ran:
        return "unexpectedPass"
    return "notChecked"


def _is_unknown(known: KnownFailure, report: Report, has_file: FileExists) -> bool:
    """Whether nothing has the ID; a case in a file that this run did not collect is known if the file exists."""
    if not known.is_case:
        return known.id not in {one["id"] for one in report["requirements"]}
    rows = [one["id"] for one in report["checks"]]
    rows += [one["id"] for one in report["notApplicable"]]
    rows += [one["id"] for one in report["leftOut"]]
    if any(known.names(row, ()) for row in rows):
        return False
    file, _, _ = known.id.partition("::")
    collected = {row.partition("::")[0] for row in rows}
    return file in collected or not has_file(file)
