"""Join the reports of all shards of a run; the result is that of the whole run, but for target and durations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from kueue_dra_ref.explain.step import named
from kueue_dra_reports import gate, results
from kueue_dra_reports.document import (
    CheckEntry,
    IntegrityEntry,
    Report,
    RequirementEntry,
    RowEntry,
)
from kueue_dra_reports.names import few
from kueue_dra_reports.report import LEFT_OUT
from kueue_dra_reports.results import Outcomes
from kueue_dra_reports.shards import Shard
from kueue_dra_reports.validate import gate_settings, verdict_of

SAME = ("apiVersion", "mode", "intent", "specification")
SAME_OF_SUITE = ("name", "version", "caseListDigest")
SHARD_OPTIONS = ("--shard", "--durations-of")
Reports = Mapping[str, Report]
"""Reports by the name of their file."""


class CannotMerge(Exception):
    """The reports are no shards of one run; the message names the file."""


def merged(reports: Reports) -> Report:
    """Join reports of `run --shard I/N`, one for each I; a shard that is missing fails the result.

    Raises:
        CannotMerge: they are of different runs, a shard is given twice, or a case ran in two of them.

    """
    shards = _shards(reports)
    _check_same(reports)
    every = [reports[name] for name in shards.values()]
    checks, missing = _checks(every)
    first = every[0]
    left = [one for one in first["leftOut"] if one["reason"] == LEFT_OUT]
    outcomes = Outcomes.from_lists(checks, first["notApplicable"], left)
    report: Report = {
        **first,
        "date": max(one["date"] for one in every),
        "durationSeconds": max(one["durationSeconds"] for one in every),
        "target": _target(every),
        "checks": checks,
        "leftOut": left,
        "integrity": _integrity(every, checks, _lost(shards, missing)),
    }
    return recomputed(report, outcomes)


def recomputed(report: Report, outcomes: Outcomes) -> Report:
    """Give a report whose verdicts, profiles, sums and gate follow from other outcomes."""
    requirements = []
    for one in report["requirements"]:
        entry: RequirementEntry = {**one, "verdict": verdict_of(one, outcomes)}
        requirements.append(entry)
    profiles = results.profiles(requirements, outcomes)
    verdict = results.verdict(profiles, report["integrity"], report["intent"])
    found: Report = {
        **report,
        "verdict": verdict,
        "profiles": profiles,
        "statistics": outcomes.count(outcomes.of),
        "requirements": requirements,
    }
    return {**found, "gate": gate.gate_of(found, gate_settings(report["gate"]))}


def _check_same(reports: Reports) -> None:
    """Reject reports of different suites, behaviours, selections or gates."""
    first, *others = reports
    for name, report in reports.items():
        if "gate" not in report:
            raise CannotMerge(f"{name}: it has no gate, so an older release wrote it")
    wanted = _identity(reports[first])
    for name in others:
        found = _identity(reports[name])
        for key, value in found.items():
            if value != wanted[key]:
                raise CannotMerge(f"{name}: {key} differs from that of {first}")


def _identity(report: Report) -> Mapping[str, Any]:
    found: dict[str, Any] = {key: cast(Any, report)[key] for key in SAME}
    found |= {f"suite.{key}": report["suite"][key] for key in SAME_OF_SUITE}
    found["target.name"] = report["target"]["name"]
    found["gate.level"] = report["gate"]["level"]
    entries = report["gate"]["expectedFailures"]
    found["gate.expectedFailures"] = [(one["id"], one["until"]) for one in entries]
    rows: set[str] = set()
    for key in ("checks", "notApplicable", "leftOut"):
        for row in cast(Any, report)[key]:
            rows.add(row["id"])
    found["the list of cases"] = rows
    return found


def _shards(reports: Reports) -> Mapping[Shard, str]:
    """Give the file of each shard, in order."""
    found: dict[Shard, str] = {}
    for name, report in reports.items():
        text = report["target"]["environment"].get("shard", "")
        if not text:
            raise CannotMerge(
                f"{name}: found the report of a whole run; expected one of run --shard I/N"
            )
        shard = Shard.read(text)
        if shard in found:
            raise CannotMerge(f"{name}: shard {text} is in {found[shard]} too")
        found[shard] = name
    numbers = {shard.of for shard in found}
    if len(numbers) > 1:
        listed = " and ".join(map(str, sorted(numbers)))
        raise CannotMerge(f"{name}: found shards of {listed}; expected one number")
    return {shard: found[shard] for shard in sorted(found, key=lambda one: one.index)}


def _checks(reports: Sequence[Report]) -> tuple[list[CheckEntry], list[str]]:
    """Give the checks of all shards, and the cases that belong to none of them, which did not run."""
    found = _ran(reports)
    elsewhere: dict[str, RowEntry] = {}
    for report in reports:
        for row in report["leftOut"]:
            if row["reason"] != LEFT_OUT:
                elsewhere[row["id"]] = row
    missing = sorted(set(elsewhere) - set(found))
    for case in missing:
        found[case] = _not_run(elsewhere[case])
    return [found[case] for case in sorted(found)], missing


def _ran(reports: Sequence[Report]) -> dict[str, CheckEntry]:
    """Give the check of each case that a shard ran."""
    found: dict[str, CheckEntry] = {}
    twice: list[str] = []
    for report in reports:
        for check in report["checks"]:
            if check["id"] in found:
                twice.append(check["id"])
            found[check["id"]] = check
    if twice:
        named_cases = few(sorted(twice))
        raise CannotMerge(
            f"these cases ran in two shards, so their parts differ: {named_cases}"
        )
    return found


def _not_run(row: RowEntry) -> CheckEntry:
    return {
        "id": row["id"],
        "requirements": row["requirements"],
        "outcome": "notRun",
        "durationSeconds": 0.0,
    }


def _lost(shards: Mapping[Shard, str], missing: Sequence[str]) -> list[str]:
    """Give a fault for each shard without a report, and for cases that no shard ran."""
    of = next(iter(shards)).of
    absent = [index for index in range(1, of + 1) if Shard(index, of) not in shards]
    faults = [f"shard {index} of {of} is missing" for index in absent]
    if missing:
        faults.append(
            f"{named(len(missing), 'case')} of no given shard did not run: {few(missing)}"
        )
    return faults


def _integrity(
    reports: Sequence[Report], checks: Sequence[CheckEntry], lost: Sequence[str]
) -> IntegrityEntry:
    faults = dict.fromkeys(lost)
    for report in reports:
        faults |= dict.fromkeys(report["integrity"]["faults"])
    if any(one["target"]["about"] != reports[0]["target"]["about"] for one in reports):
        faults["the shards ran against different targets"] = None
    entries = [one["integrity"] for one in reports]
    return {
        "planned": len(checks),
        "collected": sum(one["collected"] for one in entries),
        "executed": sum(one["executed"] for one in entries),
        "reported": sum(one["reported"] for one in entries),
        "faults": list(faults),
    }


def _target(reports: Sequence[Report]) -> dict[str, Any]:
    """Give the target of the first shard, with what all of them add up to."""
    first = reports[0]["target"]
    environments = [one["target"]["environment"] for one in reports]
    environment = dict(environments[0])
    del environment["shard"]
    environment["parallelism"] = sum(one["parallelism"] for one in environments)
    configurations: dict[str, Any] = {}
    for report in reports:
        for one in report["target"]["kueue"]["configurations"]:
            configurations[one["digest"]] = one
    in_order = [configurations[digest] for digest in sorted(configurations)]
    return {
        **first,
        "kueue": {"configurations": in_order},
        "environment": environment,
        "reproduce": {"command": _without_shard(first["reproduce"]["command"])},
    }


def _without_shard(command: str) -> str:
    words = []
    for word in command.split(" "):
        if word.partition("=")[0] not in SHARD_OPTIONS:
            words.append(word)
    return " ".join(words)
