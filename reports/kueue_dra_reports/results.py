"""Compute the verdicts on requirements, profiles and the run from single checks.

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
Keys = Iterable[str]
Names = Sequence[str]
Requirements = Sequence[RequirementEntry]
ById = Mapping[str, RequirementEntry]
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
DECIDED = ("proven", "failed", "questioned")
OPEN = ("questioned", "untested")
FAILED = ("failed", "error", "notTestable")
NOT_PASSED = ("failed", "notRun")
BROKEN = ("error", "notTestable")
"""Outcomes of a case that could not check anything; they never question the KEP."""


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """The outcome of each case by id; cases that the user excludes count as not run."""

    of: Mapping[str, str]
    cites: Mapping[str, Names]

    @classmethod
    def from_lists(
        cls,
        checks: Sequence[CheckEntry],
        absent: Sequence[RowEntry],
        left: Sequence[RowEntry],
    ) -> Outcomes:
        """Join the three lists of a report."""
        of = {one["id"]: one["outcome"] for one in checks}
        of |= {one["id"]: "notApplicable" for one in absent}
        of |= {one["id"]: "notRun" for one in left}
        return cls(
            of=of,
            cites={one["id"]: one["requirements"] for one in [*checks, *absent, *left]},
        )

    @cached_property
    def citing(self) -> Mapping[str, Names]:
        """The cases that cite each requirement, by name."""
        found: dict[str, list[str]] = {}
        for case, requirements in sorted(self.cites.items()):
            for one in set(requirements):
                cases = found.setdefault(one, [])
                cases.append(case)
        return found

    def count(self, cases: Keys) -> Statistics:
        """Count the cases with each outcome, zero included."""
        found = Counter(self.of[case] for case in cases)
        return {outcome: found[outcome] for outcome in OUTCOMES}


def verdict_on(level: str, outcomes: Keys) -> str:
    """Give the verdict on a requirement that holds and is not excluded, from the outcomes of its cases."""
    seen = set(outcomes)
    seen.discard("notApplicable")
    if seen.intersection(BROKEN):
        return "failed"
    if "failed" in seen:
        return "questioned" if level == "INFERRED" else "failed"
    return "proven" if seen == {"passed"} else "untested"


def profiles(requirements: Requirements, outcomes: Outcomes) -> list[ProfileEntry]:
    """Group requirements and cases by profile and level."""
    names = {one["profile"] for one in requirements}
    return [_profile(name, requirements, outcomes) for name in sorted(names)]


def _profile(name: str, requirements: Requirements, outcomes: Outcomes) -> ProfileEntry:
    mine = {one["id"]: one for one in requirements if one["profile"] == name}
    cases = _cases_by_group(mine, outcomes)
    found: dict[Group, GroupEntry] = {}
    for group in GROUPS:
        asked = [one for one in mine.values() if GROUP_OF[one["level"]] == group]
        if asked:
            found[group] = _group(group, asked, cases[group], outcomes)
    entry: ProfileEntry = {"name": name, "result": _profile_result(found)}
    entry.update(found)  # type: ignore[typeddict-item]  # the keys are GROUPS, which mypy cannot follow here
    return entry


def _cases_by_group(mine: ById, outcomes: Outcomes) -> Mapping[Group, Names]:
    """Give the cases of a profile, each in the strongest group that it cites."""
    found = defaultdict[Group, list[str]](list)
    for case, ids in sorted(outcomes.cites.items()):
        group = _strongest(ids, mine)
        if group:
            found[group].append(case)
    return found


def _strongest(ids: Keys, mine: ById) -> Group | None:
    groups = set[Group]()
    for one in ids:
        if one in mine:
            level = mine[one]["level"]
            groups.add(GROUP_OF[level])
    for group in GROUPS:
        if group in groups:
            return group
    return None


def _group(
    group: Group,
    asked: Requirements,
    cases: Names,
    outcomes: Outcomes,
) -> GroupEntry:
    statistics = outcomes.count(cases)
    found = Counter(one["verdict"] for one in asked)
    verdicts = {verdict: found[verdict] for verdict in VERDICTS}
    untested = [one["id"] for one in asked if one["verdict"] == "untested"]
    return {
        "result": _group_result(group, statistics, verdicts),
        "statistics": statistics,
        "requirements": verdicts,
        "notPassed": [case for case in cases if outcomes.of[case] in FAILED],
        "untested": sorted(untested),
    }


def _group_result(group: Group, cases: Statistics, verdicts: Statistics) -> str:
    """Give the result of a group from its cases and from the verdicts on its requirements.

    A failed question is open, not a violation, and an untested question has no effect. Both counts matter: a case that
    cites a MUST and a MAY is a case of the core, but decides the verdicts on both.
    """
    if not _any(cases, RAN) and not _any(verdicts, DECIDED):
        missing = verdicts["untested"] or cases["notRun"]
        return "untested" if missing else "notApplicable"
    if group == "questions":
        return _questions_result(cases, verdicts)
    if _any(cases, FAILED) or verdicts["failed"]:
        return "failure"
    if cases["notRun"] or _any(verdicts, OPEN):
        return "partial"
    return "success"


def _questions_result(cases: Statistics, verdicts: Statistics) -> str:
    if _any(cases, BROKEN) or verdicts["failed"]:
        return "failure"
    if _any(cases, NOT_PASSED) or verdicts["questioned"]:
        return "partial"
    return "success"


def _any(counts: Statistics, keys: Keys) -> bool:
    return any(counts[key] for key in keys)


def _profile_result(groups: Mapping[Group, GroupEntry]) -> str:
    """Give the result of a profile: the core decides; another group makes it partial, or fails it by an error."""
    results = {group: entry["result"] for group, entry in groups.items()}
    if results.get("core") == "failure":
        return "failure"
    for entry in groups.values():
        if _any(entry["statistics"], BROKEN):
            return "failure"
    if results.get("questions") == "untested":
        # Where the KEP does not decide, nothing needs to be proven.
        del results["questions"]
    found = set(results.values()) - {"notApplicable"}
    if found == {"success"}:
        return "success"
    if not found:
        return "notApplicable"
    return "untested" if found == {"untested"} else "partial"


def verdict(
    profiles: Sequence[ProfileEntry], integrity: IntegrityEntry, intent: str
) -> VerdictEntry:
    """Give the result of the run: numbers that differ fail it; profiles that did not run have no effect."""
    because = list(integrity["faults"])
    because += filter(None, map(_reason, profiles))
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
    parts = []
    for group in GROUPS:
        entry = profile.get(group)
        if entry:
            parts.append(_shortfall(group, entry))
    listed = "; ".join(filter(None, parts))
    if not listed:
        return ""
    name = profile["name"]
    return f"{name}: {listed}"


def _shortfall(group: Group, entry: GroupEntry) -> str:
    counts = entry["statistics"]
    parts = []
    for outcome in ("failed", "error", "notTestable", "notRun"):
        if counts[outcome]:
            parts.append(f"{counts[outcome]} {outcome}")
    untested = len(entry["untested"])
    if untested and group != "questions":
        parts.append(f"{untested} requirements untested")
    if not parts:
        return ""
    listed = ", ".join(parts)
    return f"{group}: {listed}"
