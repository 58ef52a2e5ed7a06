"""Compare the reports of two targets by the cases that both can serve: one may lack an API server that a case needs."""

from __future__ import annotations

from collections.abc import Mapping, Set

from kueue_dra_reports.document import IntegrityEntry, Report, RequirementEntry
from kueue_dra_reports.merge import recomputed
from kueue_dra_reports.results import Outcomes


def not_served(old: Report, new: Report) -> Mapping[str, str]:
    """Give the cases that one of two targets ran, or left to another shard, and the other cannot serve; with reasons.

    Empty for one target, and for two behaviours: what does not hold there is a difference.
    """
    if old["target"]["name"] == new["target"]["name"]:
        return {}
    if _behaviour(old) != _behaviour(new):
        return {}
    return _unserved(old, new) | _unserved(new, old)


def _behaviour(report: Report) -> object:
    return report["specification"]["behaviour"]


def _unserved(here: Report, there: Report) -> dict[str, str]:
    ran = {one["id"] for one in (*there["checks"], *there["leftOut"])}
    found = {}
    for row in here["notApplicable"]:
        case = row["id"]
        if case in ran:
            found[case] = row["reason"]
    return found


def without(report: Report, cases: Set[str]) -> Report:
    """Give a report as if some cases did not exist: their requirements, profiles and sums are computed again."""
    if not cases:
        return report
    checks = [one for one in report["checks"] if one["id"] not in cases]
    absent = [one for one in report["notApplicable"] if one["id"] not in cases]
    left = [one for one in report["leftOut"] if one["id"] not in cases]
    outcomes = Outcomes.from_lists(checks, absent, left)
    requirements = []
    for one in report["requirements"]:
        requirement = _citing(one, cases)
        requirements.append(requirement)
    kept: Report = {
        **report,
        "requirements": requirements,
        "checks": checks,
        "notApplicable": absent,
        "leftOut": left,
        "integrity": _integrity(report, cases),
    }
    return recomputed(kept, outcomes)


def _citing(requirement: RequirementEntry, cases: Set[str]) -> RequirementEntry:
    kept = [case for case in requirement["cases"] if case not in cases]
    return {**requirement, "cases": kept}


def _integrity(report: Report, cases: Set[str]) -> IntegrityEntry:
    gone = [one for one in report["checks"] if one["id"] in cases]
    ended = [one for one in gone if one["outcome"] != "notRun"]
    entry = report["integrity"]
    return {
        "planned": entry["planned"] - len(gone),
        "collected": entry["collected"] - len(gone),
        "executed": entry["executed"] - len(ended),
        "reported": entry["reported"] - len(ended),
        "faults": entry["faults"],
    }
