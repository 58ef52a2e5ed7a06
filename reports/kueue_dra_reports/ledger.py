"""The ledger of one run: what was planned, collected, executed and reported must be the same cases."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_reports.outcome import CaseRecord

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case as written down in the suite: a parametrized row is a case of its own."""

    id: str
    requirements: tuple[str, ...]
    title: str = ""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """Everything that one process saw; the workers of a parallel run hand theirs to the controller."""

    rows: dict[str, Row] = field(default_factory=dict)
    """Every row that pytest made, before anything was left out."""
    repeated: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    """Rows that the user's own selection (-k, -m, --deselect, --lf) left out."""
    not_applicable: dict[str, str] = field(default_factory=dict)
    collected: set[str] = field(default_factory=set)
    executed: set[str] = field(default_factory=set)
    uncollectable: set[str] = field(default_factory=set)
    notes: dict[str, CaseRecord] = field(default_factory=dict)
    abouts: list[Facts] = field(default_factory=list)
    configurations: list[Facts] = field(default_factory=list)

    @property
    def planned(self) -> set[str]:
        """Rows that must run: all of them, less the user's selection and what does not apply."""
        return set(self.rows) - self.left_out - set(self.not_applicable)

    @property
    def reported(self) -> set[str]:
        """Rows whose whole course (set-up, call, tear-down) reached the process that writes the report."""
        return {case for case, note in self.notes.items() if note.finished}

    def enter(self, row: Row) -> None:
        """Write one row down as pytest makes it."""
        if row.id in self.rows:
            self.repeated.add(row.id)
        self.rows[row.id] = row

    def record(self, about: Facts, configuration: Facts) -> None:
        """Write down what was judged and with which Kueue configuration; the same fact counts once."""
        for known, fact in ((self.abouts, about), (self.configurations, configuration)):
            if fact not in known:
                known.append(fact)

    def hand_over(self) -> Facts:
        """Give what a worker knows in values that travel between processes."""
        return {
            "rows": [
                [row.id, list(row.requirements), row.title]
                for row in self.rows.values()
            ],
            "notApplicable": dict(self.not_applicable),
            "targets": {"abouts": self.abouts, "configurations": self.configurations},
        } | {name: sorted(getattr(self, name)) for name in _SETS}

    def take_over(self, facts: Facts) -> None:
        """Add what a worker handed over."""
        for case, requirements, title in facts["rows"]:
            self.rows[case] = Row(
                id=case, requirements=tuple(requirements), title=title
            )
        self.not_applicable |= facts["notApplicable"]
        for name in _SETS:
            getattr(self, name).update(facts[name])
        for about in facts["targets"]["abouts"]:
            self.record(about, {})
        for configuration in facts["targets"]["configurations"]:
            self.record({}, configuration)

    def faults(self) -> list[str]:
        """Say in plain words where the run did other work than planned; empty when all is equal."""
        return [
            *_named("these cases share their id with another one", self.repeated),
            *_named("these files could not be collected", self.uncollectable),
            *_gap("collected", self.planned, self.collected),
            *_gap("executed", self.planned, self.executed),
            *_gap("reported", self.planned, self.reported),
            *([] if self.executed else ["no case was executed, so nothing was judged"]),
            *(
                []
                if len(_told(self.abouts)) < 2
                else ["the workers of this run judged different targets"]
            ),
        ]


_SETS = ("repeated", "left_out", "collected", "executed", "uncollectable")


def _told(facts: Iterable[Facts]) -> list[Facts]:
    return [fact for fact in facts if fact]


def _gap(word: str, planned: Collection[str], done: Collection[str]) -> list[str]:
    missing, extra = set(planned) - set(done), set(done) - set(planned)
    return [
        *_named(
            f"planned {len(planned)}, {word} {len(done)}; planned but not {word}",
            missing,
        ),
        *_named(
            f"planned {len(planned)}, {word} {len(done)}; {word} but not planned", extra
        ),
    ]


def _named(words: str, cases: Collection[str]) -> list[str]:
    return [f"{words}: {', '.join(sorted(cases))}"] if cases else []
