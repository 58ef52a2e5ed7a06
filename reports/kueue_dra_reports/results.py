"""From single checks to requirements, profiles and one verdict: pure functions over a report's own lists.

`kueue_dra_reports.validate` computes them again from a written report, so that a report cannot claim more than its
checks show.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kueue_dra_reports.document import (
    CheckEntry,
    GroupEntry,
    IntegrityEntry,
    ProfileEntry,
    RequirementEntry,
    RowEntry,
    Statistics,
    VerdictEntry,
)

Group = Literal["core", "extended", "questions"]
GROUP_OF: Mapping[str, Group] = {
    "MUST": "core",
    "SHOULD": "extended",
    "MAY": "extended",
    "INFERRED": "questions",
}
GROUPS: tuple[Group, ...] = ("core", "extended", "questions")
OUTCOMES = ("passed", "failed", "error", "notTestable", "notRun", "notApplicable")
VERDICTS = ("proven", "failed", "questioned", "untested", "excluded", "notApplicable")
RAN = ("passed", "failed", "error", "notTestable")
BROKEN = {"error", "notTestable"}
"""Outcomes that say that the case could not be judged; they are never a question to the texts."""


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """How every case ended, by id; what the user left out counts as not run."""

    of: Mapping[str, str]
    cites: Mapping[str, Sequence[str]]

    @classmethod
    def from_lists(
        cls,
        checks: Iterable[CheckEntry],
        absent: Iterable[RowEntry],
        left: Iterable[RowEntry],
    ) -> Outcomes:
        """Join the three lists of a report."""
        parts = [(one["id"], one["outcome"], one["requirements"]) for one in checks]
        parts += [(one["id"], "notApplicable", one["requirements"]) for one in absent]
        parts += [(one["id"], "notRun", one["requirements"]) for one in left]
        return cls(
            of={case: outcome for case, outcome, _ in parts},
            cites={case: requirements for case, _, requirements in parts},
        )

    @cached_property
    def citing(self) -> Mapping[str, Sequence[str]]:
        """The cases of each requirement that any cites, by name."""
        found = defaultdict[str, list[str]](list)
        for case in sorted(self.cites):
            for one in dict.fromkeys(self.cites[case]):
                found[one].append(case)
        return found

    def count(self, cases: Iterable[str]) -> Statistics:
        """Count outcomes; every kind is named, also those that did not occur."""
        found = Counter(self.of[case] for case in cases)
        return {outcome: found[outcome] for outcome in OUTCOMES}


def verdict_on(level: str, outcomes: Iterable[str]) -> str:
    """Judge one requirement, which holds and is not excluded, by the outcomes of the cases that cite it."""
    seen = set(outcomes) - {"notApplicable"}
    if seen & BROKEN or ("failed" in seen and level != "INFERRED"):
        return "failed"
    if "failed" in seen:
        return "questioned"
    return "proven" if seen == {"passed"} else "untested"


def profiles(
    requirements: Sequence[RequirementEntry], outcomes: Outcomes
) -> list[ProfileEntry]:
    """Group everything by profile and strength."""
    return [
        _profile(name, requirements, outcomes)
        for name in sorted({one["profile"] for one in requirements})
    ]


def _profile(
    name: str, requirements: Sequence[RequirementEntry], outcomes: Outcomes
) -> ProfileEntry:
    mine = {one["id"]: one for one in requirements if one["profile"] == name}
    strongest = {
        case: group
        for case, ids in outcomes.cites.items()
        if (group := _strongest(ids, mine))
    }
    found: dict[Group, GroupEntry] = {}
    for group in GROUPS:
        asked = [one for one in mine.values() if GROUP_OF[one["level"]] == group]
        cases = sorted(case for case, its in strongest.items() if its == group)
        if asked:
            found[group] = _group(group, asked, cases, outcomes)
    entry: ProfileEntry = {"name": name, "result": _profile_result(found)}
    entry.update(found)  # type: ignore[typeddict-item]  # the keys are GROUPS, which mypy cannot follow here
    return entry


def _strongest(
    ids: Iterable[str], mine: Mapping[str, RequirementEntry]
) -> Group | None:
    groups = {GROUP_OF[mine[one]["level"]] for one in ids if one in mine}
    return next((group for group in GROUPS if group in groups), None)


def _group(
    group: Group,
    asked: Sequence[RequirementEntry],
    cases: Sequence[str],
    outcomes: Outcomes,
) -> GroupEntry:
    statistics = outcomes.count(cases)
    found = Counter(one["verdict"] for one in asked)
    verdicts = {verdict: found[verdict] for verdict in VERDICTS}
    return {
        "result": _group_result(group, statistics, verdicts),
        "statistics": statistics,
        "requirements": verdicts,
        "notPassed": [
            case for case in cases if outcomes.of[case] in BROKEN | {"failed"}
        ],
        "untested": sorted(one["id"] for one in asked if one["verdict"] == "untested"),
    }


def _group_result(group: Group, cases: Statistics, verdicts: Statistics) -> str:
    """Judge a group; a failing question is open, not a violation, and untested questions do not weigh.

    The verdicts count beside the cases: a case that cites a MUST and a MAY is one of the core's, but judges both.
    """
    weighs = group != "questions"
    if not (
        sum(cases[one] for one in RAN)
        or verdicts["proven"]
        or verdicts["failed"]
        or verdicts["questioned"]
    ):
        return (
            "untested" if verdicts["untested"] or cases["notRun"] else "notApplicable"
        )
    if (
        sum(cases[one] for one in BROKEN)
        or verdicts["failed"]
        or (weighs and cases["failed"])
    ):
        return "failure"
    unsure = (
        cases["failed"]
        or cases["notRun"]
        or verdicts["questioned"]
        or (weighs and verdicts["untested"])
    )
    return "partial" if unsure else "success"


def _profile_result(groups: Mapping[Group, GroupEntry]) -> str:
    """Judge a profile: its core decides, everything else can only make it partial, except what broke."""
    results = {group: entry["result"] for group, entry in groups.items()}
    broken = any(
        entry["statistics"][outcome] for entry in groups.values() for outcome in BROKEN
    )
    if broken or results.get("core") == "failure":
        return "failure"
    if results.get("questions") == "untested":
        del results["questions"]  # what the texts do not say need not be proven
    said = set(results.values()) - {"notApplicable"}
    if said <= {"untested"}:
        return "untested" if said else "notApplicable"
    return "success" if said == {"success"} else "partial"


def verdict(
    profiles: Sequence[ProfileEntry], integrity: IntegrityEntry, intent: str
) -> VerdictEntry:
    """Judge the run: numbers that do not match fail it; profiles that did not run do not weigh."""
    because = [
        *integrity["faults"],
        *(reason for one in profiles if (reason := _reason(one))),
    ]
    results = {one["result"] for one in profiles}
    result = "success"
    if integrity["faults"] or "failure" in results:
        result = "failure"
    elif "partial" in results or "success" not in results:
        result = "partial"
    return {
        "result": result,
        "claimsConformance": result == "success" and intent == "certify",
        "because": because,
    }


def _reason(profile: ProfileEntry) -> str:
    parts = [
        text
        for group in GROUPS
        if (entry := profile.get(group)) and (text := _shortfall(group, entry))
    ]
    return f"{profile['name']}: {'; '.join(parts)}" if parts else ""


def _shortfall(group: Group, entry: GroupEntry) -> str:
    counts = {
        outcome: number for outcome, number in entry["statistics"].items() if number
    }
    parts = [
        f"{counts[one]} {one}"
        for one in ("failed", "error", "notTestable", "notRun")
        if one in counts
    ]
    if entry["untested"] and group != "questions":
        parts.append(f"{len(entry['untested'])} requirements untested")
    return f"{group}: {', '.join(parts)}" if parts else ""
