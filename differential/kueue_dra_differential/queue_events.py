"""What can happen to the queues of a generated world, to what they are made of, and to the namespace they serve."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_differential.cohort_tree import LocalQueueLine, ParentCohort


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Nominal quota of a queue's first flavor is set, in devices."""

    queue: int
    nominal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A ClusterQueue, or the LocalQueue before it, is stopped or set going again."""

    queue: int
    local: bool
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """The flavors that were not there at first are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """The namespace is given to the team that some queues select, or taken from it."""

    joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The namespace has a LimitRange of some kind (`RANGES`), or none any more."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The LocalQueue before a ClusterQueue is deleted, or is there again."""

    queue: int
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reroute:
    """The LocalQueue before a ClusterQueue is written once more before another one: refused, unless it was deleted."""

    queue: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recast:
    """A ClusterQueue is written once more as another one: in another cohort, with other quota and other policies."""

    queue: int
    line: LocalQueueLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A ClusterQueue is deleted, or is there again; what it holds keeps it until then."""

    queue: int
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """A flavor is deleted, or is there again."""

    flavor: int
    there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Regroup:
    """A cohort gets another parent or other quota of its own; with neither, its object is deleted."""

    cohort: int
    above: ParentCohort


QueueEvent = (
    Quota
    | Stop
    | Supply
    | Team
    | Bound
    | Way
    | Reroute
    | Recast
    | Gate
    | Shelf
    | Regroup
)
