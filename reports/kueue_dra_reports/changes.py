"""What changed from one report to another, the important first: the verdict, requirements by level, then cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from kueue_dra_reports.compare import ABSENT, differences
from kueue_dra_reports.document import CheckEntry, Report, RequirementEntry
from kueue_dra_reports.kubernetes_form import differing

LEVELS = ("MUST", "SHOULD", "MAY", "INFERRED")
LONGEST = 300
"""Characters of both sides of a failed case."""
DERIVED = ("profiles", "statistics", "verdict", "integrity")
"""Parts that follow from the checks; they are listed only if nothing else changed."""
RANKS = {
    "failed": 0,
    "error": 0,
    "notTestable": 0,
    "failure": 0,
    "questioned": 1,
    "notRun": 2,
    "untested": 2,
    "partial": 2,
    ABSENT: 3,
    "notApplicable": 3,
    "leftOut": 3,
    "excluded": 3,
    "passed": 4,
    "proven": 4,
    "success": 4,
}
"""How good a result is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change; ``kind`` is worse, better or other, ``what`` a requirement, a case, the verdict or a place."""

    kind: str
    what: str
    id: str
    level: str = ""
    old: str = ""
    new: str = ""
    text: str = ""

    @property
    def line(self) -> str:
        """The change in one line."""
        if self.what == "place":
            return self.text
        level = f" ({self.level})" if self.level else ""
        text = f": {self.text}" if self.text else ""
        name = f"{self.what} {self.id}".strip()
        return f"{self.kind}: {name}{level}: {self.old} -> {self.new}{text}"

    @property
    def as_values(self) -> Mapping[str, str]:
        """The change for programs."""
        return asdict(self)


def changes(old: Report, new: Report) -> Sequence[Change]:
    """List what changed; the target, dates, durations and what else belongs to the machine do not count."""
    found = [*_verdict(old, new), *_requirements(old, new), *_cases(old, new)]
    order = {"worse": 0, "better": 1, "other": 2}
    found.sort(key=lambda one: order[one.kind])
    return [*found, *_rest(old, new, found)]


def _kind(old: str, new: str) -> str:
    before, after = RANKS[old], RANKS[new]
    if before == after:
        return "other"
    return "worse" if after < before else "better"


def _verdict(old: Report, new: Report) -> Iterator[Change]:
    before, after = old["verdict"]["result"], new["verdict"]["result"]
    if before != after:
        yield Change(
            kind=_kind(before, after), what="verdict", id="", old=before, new=after
        )


def _requirements(old: Report, new: Report) -> Sequence[Change]:
    before = {one["id"]: one for one in old["requirements"]}
    after = {one["id"]: one for one in new["requirements"]}
    found = []
    for name in sorted({*before, *after}):
        change = _requirement(before.get(name), after.get(name))
        if change is not None:
            found.append(change)
    return sorted(found, key=lambda one: (LEVELS.index(one.level), one.id))


def _requirement(
    old: RequirementEntry | None, new: RequirementEntry | None
) -> Change | None:
    known = new or old
    assert known is not None
    before = old["verdict"] if old else ABSENT
    after = new["verdict"] if new else ABSENT
    if before == after:
        return None
    return Change(
        kind=_kind(before, after),
        what="requirement",
        id=known["id"],
        level=known["level"],
        old=before,
        new=after,
        text=known["text"],
    )


def _cases(old: Report, new: Report) -> Iterator[Change]:
    before, after = _outcomes(old), _outcomes(new)
    checks = {one["id"]: one for one in new["checks"]}
    for case in sorted({*before, *after}):
        was, now = before.get(case, ABSENT), after.get(case, ABSENT)
        if was != now:
            text = _observed(checks.get(case))
            yield Change(
                kind=_kind(was, now), what="case", id=case, old=was, new=now, text=text
            )


def _outcomes(report: Report) -> Mapping[str, str]:
    found = {one["id"]: one["outcome"] for one in report["checks"]}
    found |= {one["id"]: "notApplicable" for one in report["notApplicable"]}
    return found | {one["id"]: "leftOut" for one in report["leftOut"]}


def _observed(check: CheckEntry | None) -> str:
    """Give both sides of a failed case in one line."""
    if check is None or "expected" not in check or "observed" not in check:
        return ""
    return differing(check["expected"], check["observed"])[:LONGEST]


def _rest(old: Report, new: Report, found: Sequence[Change]) -> Iterator[Change]:
    """Give each other place that differs; a place of a requirement or a case that is listed is known."""
    listed = tuple(f"{one.id}]" for one in found if one.id)
    for line in differences(cast(Any, old), cast(Any, new)):
        part, _, name = line.partition("[")
        head = part.partition(".")[0]
        if name and name.startswith(listed):
            continue
        if found and head in (*DERIVED, "gate"):
            continue
        yield Change(kind="other", what="place", id=line.partition(": ")[0], text=line)
