"""Write the ConformanceReport (kueue-dra.dev/v1alpha1): one sorted document, as YAML and as JSON."""

from __future__ import annotations

import hashlib
import json
import platform
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kueue_dra_ref.api.yaml_text import written
from kueue_dra_ref.explain.step import named
from kueue_dra_ref.requirements.catalogue import Requirement
from kueue_dra_reports import adequacy, results
from kueue_dra_reports.document import (
    API_VERSION,
    KIND,
    CheckEntry,
    IntegrityEntry,
    ProfileEntry,
    Report,
    ReportHead,
    RequirementEntry,
    RowEntry,
)
from kueue_dra_reports.gate import Settings, gate_of
from kueue_dra_reports.ledger import Ledger
from kueue_dra_reports.outcome import CaseRecord
from kueue_dra_reports.results import Outcomes

DISTRIBUTION = "kueue-dra-conformance"
LEFT_OUT = "left out by the user's selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a report has in addition to the cases; ``target`` is all that depends on the target and the machine."""

    date: datetime
    seconds: float
    intent: str
    behaviour: str
    target: Mapping[str, Any] = field(default_factory=dict)
    gate: Settings = field(default_factory=Settings)


def report_of(ledger: Ledger, catalogue: Mapping[str, Requirement], run: Run) -> Report:
    """Build the document from the ledger; the order of the cases in the run does not matter."""
    listed = [catalogue[name] for name in sorted(catalogue)]
    checks = [_check(ledger, case) for case in sorted(ledger.planned)]
    absent = _rows(ledger, ledger.not_applicable)
    left = _rows(ledger, dict.fromkeys(ledger.left_out, LEFT_OUT) | ledger.elsewhere)
    outcomes = Outcomes.from_lists(checks, absent, left)
    requirements = [_requirement(one, run.behaviour, outcomes) for one in listed]
    profiles = results.profiles(requirements, outcomes)
    integrity = _integrity(ledger, checks, run)
    head = _head(run, profiles, integrity)
    report: Report = {
        **head,  # type: ignore[typeddict-item]  # mypy takes into account that a head could have "controls"
        "specification": _specification(run, listed),
        "suite": _suite(ledger),
        "target": dict(run.target),
        "profiles": profiles,
        "statistics": outcomes.count(outcomes.of),
        "requirements": requirements,
        "checks": checks,
        "notApplicable": absent,
        "leftOut": left,
        "integrity": integrity,
        "adequacy": adequacy.published(),
    }
    return {**report, "gate": gate_of(report, run.gate)}


def _rows(ledger: Ledger, reasons: Mapping[str, str]) -> list[RowEntry]:
    return [_row(ledger, case, reason) for case, reason in sorted(reasons.items())]


def _head(
    run: Run, profiles: list[ProfileEntry], integrity: IntegrityEntry
) -> ReportHead:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "date": run.date.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "durationSeconds": round(run.seconds, 3),
        "mode": "count",
        "intent": run.intent,
        "verdict": results.verdict(profiles, integrity, run.intent),
    }


def _specification(run: Run, listed: list[Requirement]) -> dict[str, Any]:
    return {
        "kep": 2941,
        "milestone": "2025-09",
        "behaviour": run.behaviour,
        "catalogueDigest": _named(tuple(listed)),
    }


def _suite(ledger: Ledger) -> dict[str, Any]:
    rows = [[row.id, row.requirements] for _, row in sorted(ledger.rows.items())]
    return {
        "name": DISTRIBUTION,
        "version": suite_version(),
        "caseListDigest": digest(rows),
        "python": platform.python_version(),
    }


def write(report: Report, folder: Path) -> list[Path]:
    """Write ``report.yaml`` and ``report.json`` into a folder, which is created if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    as_json = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    plain = json.loads(as_json)  # YAML has no tuples
    paths = [folder / "report.yaml", folder / "report.json"]
    for path, text in zip(paths, (written([plain]), as_json), strict=True):
        path.write_text(text, "utf-8")
    return paths


def digest(values: Iterable[Any]) -> str:
    """Give the digest of a list of plain values."""
    text = json.dumps(
        list(values), sort_keys=True, separators=(",", ":"), ensure_ascii=True
    )
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


@cache
def _named(requirements: tuple[Requirement, ...]) -> str:
    """Give the digest of a catalogue; runs in one process share it."""
    return digest(asdict(replace(requirement, file="")) for requirement in requirements)


@cache
def suite_version() -> str:
    """Give the version of this suite: that of the checkout, or of the installed package."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
    return version(DISTRIBUTION)


def _check(ledger: Ledger, case: str) -> CheckEntry:
    row, note = ledger.rows[case], ledger.notes.get(case, CaseRecord())
    entry: CheckEntry = {
        "id": case,
        "requirements": list(row.requirements),
        "outcome": note.outcome.value if note.finished else "notRun",
        "durationSeconds": round(note.seconds, 3),
    }
    if row.title:
        entry["title"] = row.title
    entry.update(note.details)  # type: ignore[typeddict-item]  # the keys are those of CheckEntry, see checks.py
    return entry


def _row(ledger: Ledger, case: str, reason: str) -> RowEntry:
    return {
        "id": case,
        "requirements": list(ledger.rows[case].requirements),
        "reason": reason,
    }


def _requirement(
    one: Requirement, behaviour: str, outcomes: Outcomes
) -> RequirementEntry:
    cases = outcomes.citing.get(one.id, ())
    entry: RequirementEntry = {
        "id": one.id,
        "text": one.text,
        "source": one.source_in(behaviour),
        "level": one.level_in(behaviour).value,
        "profile": one.profile,
        "verdict": results.verdict_on(
            one.level_in(behaviour), (outcomes.of[case] for case in cases)
        ),
        "cases": [case for case in cases if outcomes.of[case] != "notApplicable"],
    }
    if behaviour not in one.holds:
        entry |= {"verdict": "notApplicable", "reason": f"does not hold in {behaviour}"}
    elif one.excluded:
        entry |= {"verdict": "excluded", "reason": one.excluded}
    return entry


def _integrity(
    ledger: Ledger, checks: Iterable[CheckEntry], run: Run
) -> IntegrityEntry:
    faults = ledger.faults()
    if run.intent == "certify" and ledger.left_out:
        excluded = named(len(ledger.left_out), "case")
        faults.append(
            f"intent certify needs the whole suite, but the user's selection excludes {excluded}"
        )
    if run.intent == "certify" and not run.target.get("about"):
        faults.append(
            "intent certify needs the version of the target, but no target reported it"
        )
    return {
        "planned": len(ledger.planned),
        "collected": len(ledger.collected),
        "executed": len(ledger.executed),
        "reported": sum(one["outcome"] != "notRun" for one in checks),
        "faults": faults,
    }
