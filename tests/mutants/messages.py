"""What a server is asked, and what it answers; plain data that a pipe carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_reports.shards import Shard


@dataclass(frozen=True, slots=True)
class Record:
    """Run a part of the cases unchanged, and write to a file which lines each of them runs."""

    file: str
    part: Shard
    """One of several runs of neighbours, since those share what a module sets up."""


@dataclass(frozen=True, slots=True)
class Profiles:
    """Name the profiles of the requirements that each case cites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """Run cases, one after another until one fails, and then recorded scenarios, with one module changed."""

    file: str
    source: str
    cases: Sequence[str] = ()
    recordings: Sequence[str] = ()
    behaviour: str = ""
    """Only for a server that imports everything: the behaviour whose cases it runs, the named ones first."""
    every: bool = True
    """Whether it runs the other cases too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnockOut:
    """Run the cases that cite one of some requirements, until one fails, without a rule of the behaviour."""

    rule: str
    citing: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """The first case that failed, the steps of recorded scenarios that differ, or the profiles of cases."""

    failed: str
    differing: Sequence[str] = ()
    profiles: Mapping[str, frozenset[str]] = field(default_factory=dict)
