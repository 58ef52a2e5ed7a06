"""The ledger of one run: the planned, collected, executed and reported cases must be the same."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import Any

from kueue_dra_reports.names import few
from kueue_dra_reports.outcome import CaseRecord

Facts = dict[str, Any]
Cases = set[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case of the suite: each parametrized row is a separate case."""

    id: str
    requirements: tuple[str, ...]
    title: str = ""


@dataclass(slots=True, kw_only=True)
class Ledger:
    """What one process recorded; the workers of a parallel run send theirs to the controller."""

    rows: dict[str, Row] = field(default_factory=dict)
    """Every row that pytest collected, before any selection."""
    repeated: Cases = field(default_factory=set)
    left_out: Cases = field(default_factory=set)
    """Rows that the user's selection (-k, -m, --deselect, --lf) excludes."""
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Rows of other shards, with the reason."""
    not_applicable: dict[str, str] = field(default_factory=dict)
    collected: Cases = field(default_factory=set)
    executed: Cases = field(default_factory=set)
    uncollectable: Cases = field(default_factory=set)
    others_failed: bool = False
    """Whether a test failed that is no case of the suite."""
    notes: dict[str, CaseRecord] = field(default_factory=dict)
    abouts: list[Facts] = field(default_factory=list)
    configurations: list[Facts] = field(default_factory=list)

    @property
    def planned(self) -> Cases:
        """Rows that must run: all except those left out by the user, not applicable, or of another shard."""
        excluded = self.left_out.union(self.not_applicable, self.elsewhere)
        return set(self.rows) - excluded

    @property
    def reported(self) -> Cases:
        """Rows of which each phase (set-up, call, tear-down) reached the process that writes the report."""
        return {case for case, note in self.notes.items() if note.finished}

    def enter(self, row: Row) -> None:
        """Record one row as pytest collects it."""
        if row.id in self.rows:
            self.repeated.add(row.id)
        self.rows[row.id] = row

    def record(self, about: Facts, configuration: Facts) -> None:
        """Record the target and its Kueue Configuration, each once."""
        if about not in self.abouts:
            self.abouts.append(about)
        if configuration not in self.configurations:
            self.configurations.append(configuration)

    def hand_over(self) -> Facts:
        """Give the ledger of a worker as values that can be sent to another process."""
        facts: Facts = {
            "rows": [astuple(row) for row in self.rows.values()],
            "notApplicable": dict(self.not_applicable),
            "elsewhere": dict(self.elsewhere),
            "abouts": self.abouts,
            "configurations": self.configurations,
        }
        for name in _SETS:
            facts[name] = sorted(getattr(self, name))
        return facts

    def take_over(self, facts: Facts) -> None:
        """Add the ledger of a worker."""
        for case, requirements, title in facts["rows"]:
            self.rows[case] = Row(
                id=case,
                requirements=tuple(requirements),
                title=title,
            )
        self.not_applicable |= facts["notApplicable"]
        self.elsewhere |= facts["elsewhere"]
        for name in _SETS:
            own = getattr(self, name)
            own.update(facts[name])
        for about in facts["abouts"]:
            self.record(about, {})
        for configuration in facts["configurations"]:
            self.record({}, configuration)

    def faults(self) -> list[str]:
        """List where the run did other work than planned."""
        found = _named("these cases share their id with another one", self.repeated)
        found += _named("these files could not be collected", self.uncollectable)
        found += _gap("collected", self.planned, self.collected)
        found += _gap("executed", self.planned, self.executed)
        found += _gap("reported", self.planned, self.reported)
        if not self.executed:
            found.append("no case was executed, so nothing was checked")
        targets = [about for about in self.abouts if about]
        if len(targets) > 1:
            found.append("the workers of this run used different targets")
        return found


_SETS = (
    "repeated",
    "left_out",
    "collected",
    "executed",
    "uncollectable",
)


def _gap(action: str, planned: Cases, done: Cases) -> list[str]:
    """List the cases that were planned but not done, and those that were done but not planned."""
    counts = f"planned {len(planned)}, {action} {len(done)}"
    missing = planned - done
    extra = done - planned
    return [
        *_named(f"{counts}; planned but not {action}", missing),
        *_named(f"{counts}; {action} but not planned", extra),
    ]


def _named(text: str, cases: Cases) -> list[str]:
    return [f"{text}: {few(sorted(cases))}"] if cases else []
