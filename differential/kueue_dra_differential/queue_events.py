"""The events of a generated scenario that are about queues, cohorts, flavors and the namespace."""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_differential.cohort_tree import LocalQueueLine, ParentCohort


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Set the nominal quota of a queue's first flavor, in devices."""

    queue: int
    nominal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Stop or resume a ClusterQueue or its LocalQueue."""

    queue: int
    local: bool
    policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Create the flavors that do not exist at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Label the namespace with the team that some queues select, or with another one."""

    joined: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Create, change or delete the LimitRange of the namespace (`RANGES`)."""

    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Delete the LocalQueue of a ClusterQueue, or create it again."""

    queue: int
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reroute:
    """Point a LocalQueue at another ClusterQueue: rejected, unless the LocalQueue was deleted."""

    queue: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recast:
    """Update a ClusterQueue to another cohort, other quota and other policies."""

    queue: int
    line: LocalQueueLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Delete a ClusterQueue, or create it again; workloads that hold quota delay its removal."""

    queue: int
    open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Delete a flavor, or create it again."""

    flavor: int
    there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Regroup:
    """Change the parent or the own quota of a cohort; with neither, delete its object."""

    cohort: int
    above: ParentCohort


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect:
    """Let the controller of an AdmissionCheck go, or come back."""

    check: int
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """Change what a node can allocate, and whether it is schedulable."""

    node: int
    cpu: int | None
    """None: as it was drawn."""
    cordoned: bool


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
    | Inspect
    | Refit
)
