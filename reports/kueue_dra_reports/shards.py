"""Parts of the cases for several machines: the same on each machine, balanced by recorded durations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

Durations = Mapping[str, float]
"""Seconds by the ID of a case."""
FULL = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
NONE_RECORDED = 1.0
"""The duration of every case if no report is given; all cases count the same."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of the cases; ``index`` counts from 1."""

    index: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read I/N.

        Raises:
            ValueError: it is no part of a whole.

        """
        found = FULL.fullmatch(text)
        if found:
            index, of = map(int, found.groups())
            if index <= of:
                return cls(index, of)
        raise ValueError(f"found {text!r}; expected I/N with I from 1 to N, as in 2/4")

    def __str__(self) -> str:
        """Give it as I/N."""
        return f"{self.index}/{self.of}"

    def of_list(self, whole: Sequence[T]) -> Sequence[T]:
        """Give each N-th thing of a list."""
        return whole[self.index - 1 :: self.of]

    @property
    def reason(self) -> str:
        """Why a case of another shard is left out; `kueue_dra_reports.merge` reads it."""
        return f"it belongs to another shard than {self.index} of {self.of}"


def parts(rows: Iterable[str], number: int, durations: Durations) -> Sequence[set[str]]:
    """Divide cases: the longest first, each into the part with the least work so far.

    A case without a recorded duration counts as much as the mean of the others.
    """
    mean = NONE_RECORDED
    if durations:
        mean = sum(durations.values()) / len(durations)
    seconds = {row: durations.get(row, mean) for row in rows}
    longest_first = sorted(seconds, key=lambda row: (-seconds[row], row))
    work = [0.0] * number
    found: list[set[str]] = [set() for _ in range(number)]
    for row in longest_first:
        least = work.index(min(work))
        found[least].add(row)
        work[least] += seconds[row]
    return found
