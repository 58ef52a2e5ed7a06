"""Validate a written report: its shape with the JSON Schema, and its totals with its own checks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from kueue_dra_ref.api.files import DocumentError, text_of
from kueue_dra_ref.api.yaml_text import parsed
from kueue_dra_reports import gate, results
from kueue_dra_reports.compare import differences
from kueue_dra_reports.document import (
    AdequacyCounts,
    GateEntry,
    Report,
    RequirementEntry,
)
from kueue_dra_reports.json_schema import ValidationError, published, violations
from kueue_dra_reports.known_failures import KnownFailure
from kueue_dra_reports.results import Outcomes


def schema() -> Mapping[str, Any]:
    """Give the published JSON Schema of a report."""
    return published("kueue_dra_reports", "conformance-report")


def read(path: Path) -> Any:
    """Read the one document of a file, YAML or JSON.

    Raises:
        DocumentError: the file cannot be read, or does not hold exactly one document.

    """
    found = [each.value for each in parsed(text_of(path), str(path))]
    if len(found) != 1:
        raise DocumentError(
            file=str(path),
            found=f"{len(found) or 'no'} documents",
            expected="one report",
        )
    return found[0]


def faults(path: Path) -> list[str]:
    """List the errors in a report file (YAML or JSON)."""
    try:
        return [f"{path}: {fault}" for fault in document_faults(read(path))]
    except DocumentError as fault:
        return [fault.worded]


def document_faults(document: object) -> list[str]:
    """List the errors in a report: those of its shape, or if there are none, those of its totals."""
    wrong = violations(document, schema())
    return [_worded(one) for one in wrong] or inconsistencies(cast(Report, document))


def inconsistencies(report: Report) -> list[str]:
    """Compute verdicts, statistics and profiles from the checks of the report, and list where it differs."""
    outcomes = Outcomes.from_lists(
        report["checks"], report["notApplicable"], report["leftOut"]
    )
    wrong = [
        *_doubled(report),
        *_unknown(report, outcomes),
        *_unsorted(report),
        *_integrity_faults(report),
        *_adequacy_faults(report),
    ]
    if wrong:
        return wrong
    changes = differences(_written(report), _computed(report, outcomes))
    return [f"written -> computed from the checks: {change}" for change in changes]


def _written(report: Report) -> dict[str, Any]:
    """Give what a report claims of that which follows from its checks."""
    verdicts = [
        {"id": one["id"], "verdict": one["verdict"]} for one in report["requirements"]
    ]
    return {
        "requirements": verdicts,
        "statistics": report["statistics"],
        "profiles": report["profiles"],
        "verdict": report["verdict"],
        "gate": report.get("gate"),
    }


def _computed(report: Report, outcomes: Outcomes) -> dict[str, Any]:
    """Compute the same from the checks."""
    requirements = report["requirements"]
    profiles = results.profiles(requirements, outcomes)
    verdicts = [
        {"id": one["id"], "verdict": verdict_of(one, outcomes)} for one in requirements
    ]
    return {
        "requirements": verdicts,
        "statistics": outcomes.count(outcomes.of),
        "profiles": profiles,
        "verdict": results.verdict(profiles, report["integrity"], report["intent"]),
        "gate": _computed_gate(report),
    }


def _computed_gate(report: Report) -> GateEntry | None:
    if "gate" not in report:
        return None
    return gate.gate_of(report, gate_settings(report["gate"]))


def gate_settings(written: GateEntry) -> gate.Settings:
    """Give the settings of a gate; which files the suite has is taken from its verdicts on unknown cases."""
    known = []
    unknown = set[str]()
    for one in written["expectedFailures"]:
        known.append(
            KnownFailure(
                id=one["id"],
                reason=one["reason"],
                until=one["until"],
                link=one.get("link", ""),
            )
        )
        if one["verdict"] == "unknown":
            unknown.add(one["id"].partition("::")[0])
    return gate.Settings(
        level=written["level"],
        known=known,
        has_file=lambda file: file not in unknown,
    )


def verdict_of(requirement: RequirementEntry, outcomes: Outcomes) -> str:
    """Compute the verdict on a requirement of a report."""
    if "reason" in requirement:
        # Excluded or not applicable by the catalogue, whatever the run did.
        return str(requirement["verdict"])
    cases = outcomes.citing.get(requirement["id"], ())
    return results.verdict_on(
        requirement["level"], (outcomes.of[case] for case in cases)
    )


def _doubled(report: Report) -> list[str]:
    ids = [
        one["id"]
        for entries in (report["checks"], report["notApplicable"], report["leftOut"])
        for one in entries
    ]
    return [
        f"the case {one} is listed more than once"
        for one in sorted({one for one in ids if ids.count(one) > 1})
    ]


def _unknown(report: Report, outcomes: Outcomes) -> list[str]:
    known = {one["id"] for one in report["requirements"]}
    pairs = (
        (case, one)
        for case, ids in outcomes.cites.items()
        for one in ids
        if one not in known
    )
    return [
        f"{case} cites {one}, which the report does not list"
        for case, one in sorted(pairs)
    ]


def _unsorted(report: Report) -> list[str]:
    lists = {
        key: [one["id"] for one in report[key]]
        for key in ("requirements", "checks", "notApplicable", "leftOut")
    }
    return [
        f"{key} is not sorted by id" for key, ids in lists.items() if ids != sorted(ids)
    ]


def _adequacy_faults(report: Report) -> list[str]:
    """Check that each mutant has one outcome."""
    tried = report.get("adequacy")
    if tried is None:
        return []
    wrong = []
    named: list[tuple[str, AdequacyCounts]] = [("adequacy", tried)]
    for profile in tried["profiles"]:
        named.append((f"adequacy of {profile['name']}", profile))
    for name, counts in named:
        done = (
            counts["caught"]
            + counts["equivalent"]
            + counts["survived"]
            + counts["unreached"]
        )
        if done != counts["mutants"]:
            wrong.append(f"{name}: {done} outcomes of {counts['mutants']} mutants")
    return wrong


def _integrity_faults(report: Report) -> list[str]:
    integrity = report["integrity"]
    numbers = {key: value for key, value in integrity.items() if key != "faults"}
    done = sum(one["outcome"] != "notRun" for one in report["checks"])
    wrong = []
    if numbers["planned"] != len(report["checks"]):
        wrong.append(
            f"integrity.planned is {numbers['planned']}, but {len(report['checks'])} checks are listed"
        )
    if numbers["reported"] != done:
        wrong.append(
            f"integrity.reported is {numbers['reported']}, but {done} checks have an outcome"
        )
    if len(set(numbers.values())) != 1 and not integrity["faults"]:
        wrong.append(
            f"the numbers of integrity differ ({numbers}) and no fault is named"
        )
    return wrong


def _worded(error: ValidationError) -> str:
    found = repr(error.instance)
    shown = (
        error.message.replace(found, f"{found[:80]}...")
        if len(found) > 100
        else error.message
    )
    return f"{error.json_path}: {shown}"
