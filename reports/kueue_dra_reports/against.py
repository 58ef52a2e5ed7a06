"""What a build of Kueue does otherwise than a release: the rows that changed color, grouped by requirement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_reports.document import CheckEntry, Report

GREEN = "passed"
NOT_RUN = "notRun"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """A row that passed on one of the two and not on the other."""

    case: str
    requirements: tuple[str, ...]
    outcome: str
    """Of the build."""
    before: str
    """Of the release."""
    why: str
    """Why it did not pass, where it did not."""

    @property
    def is_worse(self) -> bool:
        """Whether it passed on the release only."""
        return self.before == GREEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All rows that changed color, and how many were compared."""

    compared: int
    not_compared: int
    """The rows that only one of the two ran."""
    rows: tuple[ChangedRow, ...]
    texts: Mapping[str, str]
    """The sentence of each requirement."""
    still_red: int

    @property
    def worse(self) -> int:
        """How many rows passed on the release only."""
        return sum(1 for row in self.rows if row.is_worse)


def difference(build: Report, release: Report) -> Difference:
    """Compare the rows that both reports ran."""
    ours, theirs = _by_id(build), _by_id(release)
    both = [name for name in ours if name in theirs]
    rows = []
    still_red = 0
    for name in both:
        now, before = ours[name], theirs[name]
        if (now["outcome"] == GREEN) != (before["outcome"] == GREEN):
            rows.append(_changed(now, before))
        elif now["outcome"] != GREEN:
            still_red += 1
    return Difference(
        compared=len(both),
        not_compared=len(ours.keys() ^ theirs.keys()),
        rows=tuple(rows),
        texts={one["id"]: one["text"] for one in build["requirements"]},
        still_red=still_red,
    )


def shown(found: Difference, release: str, files: Mapping[str, str]) -> Iterator[str]:
    """Give the lines for a terminal: each requirement once, with its rows and their scenarios."""
    yield f"against {release}: {_sum(found)}"
    for requirement, rows in sorted(_by_requirement(found.rows).items()):
        yield f"{requirement}: {found.texts.get(requirement, '')}".rstrip(": ")
        for row in rows:
            yield from _row(row, files.get(row.case, ""))


def as_document(
    found: Difference, release: str, files: Mapping[str, str]
) -> Mapping[str, Any]:
    """Give the difference as plain values for JSON."""
    return {
        "against": release,
        "compared": found.compared,
        "notCompared": found.not_compared,
        "redInBoth": found.still_red,
        "changed": [
            {
                "case": row.case,
                "requirements": list(row.requirements),
                "build": row.outcome,
                "release": row.before,
                "message": row.why,
                "scenario": files.get(row.case, ""),
            }
            for row in found.rows
        ],
    }


def _sum(found: Difference) -> str:
    better = len(found.rows) - found.worse
    parts = [
        f"{found.compared} rows compared",
        f"{found.worse} red only on this build",
        f"{better} red only on the release",
        f"{found.still_red} red on both",
    ]
    if found.not_compared:
        parts.append(f"{found.not_compared} not compared, because one run lacks them")
    return ", ".join(parts)


def _row(row: ChangedRow, file: str) -> Iterator[str]:
    change = "red, was green" if row.is_worse else "green, was red"
    yield f"  {change}: {row.case}"
    if row.why:
        yield f"    {row.why}"
    if file:
        yield f"    scenario: {file}"


def _by_requirement(rows: Sequence[ChangedRow]) -> dict[str, list[ChangedRow]]:
    found: dict[str, list[ChangedRow]] = {}
    for row in rows:
        for requirement in row.requirements:
            found.setdefault(requirement, []).append(row)
    return found


def _by_id(report: Report) -> dict[str, CheckEntry]:
    checks = (one for one in report["checks"] if one["outcome"] != NOT_RUN)
    return {one["id"]: one for one in checks}


def _changed(now: CheckEntry, before: CheckEntry) -> ChangedRow:
    red = before if now["outcome"] == GREEN else now
    return ChangedRow(
        case=now["id"],
        requirements=tuple(now["requirements"]),
        outcome=now["outcome"],
        before=before["outcome"],
        why=_why(red),
    )


def _why(check: CheckEntry) -> str:
    """Give the reason why a row is red, in one line."""
    if "expected" in check and "observed" in check:
        text = f"expected {check['expected']}, observed {check['observed']}"
    else:
        text = check.get("message", "")
    lines = text.splitlines() or [""]
    return lines[0]
