"""What became of the mutants, by package and by profile; the list of equivalents is strict both ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from tabulate import tabulate

from kueue_dra_differential.mutants.mutant import Mutant
from kueue_dra_reports.document import AdequacyCounts, AdequacyEntry, AdequacyProfile
from tests.mutants.equivalents import Equivalent, equivalents, stale
from tests.mutants.trial import CAUGHT, SURVIVED, UNREACHED, Result

EQUIVALENT = "equivalent"
KINDS = (CAUGHT, EQUIVALENT, SURVIVED, UNREACHED)
HEADERS = ("package", *KINDS)


@dataclass(slots=True)
class Table:
    """The outcomes by package, and the entries of the list that are wrong."""

    packages: dict[str, Counter[str]] = field(default_factory=dict)
    profiles: dict[str, Counter[str]] = field(default_factory=dict)
    total: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, mutant: Mutant, result: Result, outcome: str) -> None:
        """Count one mutant."""
        package = "/".join(mutant.file.split("/")[1:-1])
        self.packages.setdefault(package, Counter())[outcome] += 1
        for profile in result.profiles:
            self.profiles.setdefault(profile, Counter())[outcome] += 1
        self.total[outcome] += 1

    @property
    def expected(self) -> int:
        """How many mutants are no equivalents."""
        return self.total.total() - self.total[EQUIVALENT]

    @property
    def text(self) -> str:
        """The table, and the sentence that sums it up."""
        rows = []
        for name in sorted(self.packages):
            row = _row(name, self.packages[name])
            rows.append(row)
        rows.append(_row("all", self.total))
        printed = tabulate(rows, headers=HEADERS)
        caught = self.total[CAUGHT]
        summed = f"caught: {caught} of {self.expected} ({self.share:.1%}) that are no equivalents"
        return f"{printed}\n{summed}"

    @property
    def share(self) -> float:
        """The part that is caught of those that are no equivalents, from 0 to 1."""
        return self.total[CAUGHT] / max(self.expected, 1)

    def adequacy(self, command: str, today: date) -> AdequacyEntry:
        """Give the figures as a report has them."""
        profiles: list[AdequacyProfile] = []
        for name in sorted(self.profiles):
            profiles.append({"name": name, **_counts(self.profiles[name])})
        return {
            "date": today.isoformat(),
            "command": command,
            **_counts(self.total),
            "profiles": profiles,
        }

    def is_good(self, least: int) -> bool:
        """Whether at least so many percent are caught, and no entry of the list is wrong."""
        return not self.wrong and 100 * self.share >= least


def _counts(outcomes: Counter[str]) -> AdequacyCounts:
    return {
        "mutants": outcomes.total(),
        "caught": outcomes[CAUGHT],
        "equivalent": outcomes[EQUIVALENT],
        "survived": outcomes[SURVIVED],
        "unreached": outcomes[UNREACHED],
    }


def _row(name: str, counts: Mapping[str, int]) -> list[str | int]:
    row: list[str | int] = [name]
    for kind in KINDS:
        number = counts.get(kind, 0)
        row.append(number)
    return row


def table_of(drawn: Sequence[Mutant], results: Mapping[str, Result]) -> Table:
    """Sum up the results of mutants."""
    table, known = Table(), equivalents()
    for each in stale():
        table.wrong.append(f"{each.file} has no mutant {each.after!r} of {each.before!r}")
    for mutant in drawn:
        result = results[mutant.name]
        entry = Equivalent(
            mutant.file,
            result.before,
            result.after,
        )
        if entry not in known:
            table.add(mutant, result, result.outcome)
            continue
        table.add(mutant, result, EQUIVALENT)
        if result.outcome == CAUGHT:
            table.wrong.append(f"{result.case} catches {result.name}")
    return table
