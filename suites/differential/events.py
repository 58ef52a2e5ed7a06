"""What can be in a generated world and what can happen to it; and what goes on in some worlds only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A ClusterQueue with its LocalQueue; quota and limits in devices, for each flavor in order."""

    cohort: int | None
    """The cohort of the world that it belongs to; None: it stands alone."""
    nominal: tuple[int, ...]
    borrowing: int | None
    lending: int | None
    cpu: int
    apart: bool
    """Whether CPU has a resource group of its own."""
    strict: bool
    within: str
    reclaim: str
    borrow_within: bool
    stops_early: bool
    """Whether the search for a flavor stops where the queue can borrow, and goes on where it could preempt."""
    selects: bool
    """Whether it takes namespaces of the team only."""
    weight: str | None
    """Its weight in fair sharing."""
    pods: int | None
    """Quota of pods in each flavor, where they are covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """A Job of some pods, each with the same claims; or a Workload with a small pod set more."""

    queue: int
    asks: tuple[str, ...]
    """What a pod asks for by the names of the theme; none: CPU only."""
    pods: int
    cpu: int
    priority: int
    least: int | None
    as_workload: bool
    place: str
    """Where its pods want to be (`PLACES`)."""
    heavy: bool
    """Whether its pods have an overhead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """One of the earlier jobs is done, if it is a Job."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Of one of the earlier jobs, if it is a Job with several pods, one pod more has succeeded; never the last one."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activate:
    """One of the earlier jobs, if it is a Workload, is set inactive or active."""

    job: int
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One of the earlier jobs names another LocalQueue."""

    job: int
    queue: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """One of the earlier jobs wants another number of pods: a Job in parallel, a Workload in its last pod set."""

    job: int
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One of the earlier jobs gets another priority: a Job by the class that it names, or by naming none."""

    job: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Classes or devices change, for all worlds of the Kueue at once."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Kueue starts anew with another Configuration, for all worlds at once."""

    configuration: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """A priority class has another value, for all worlds at once."""

    priority: int
    """What it was made with."""
    value: int


Common = Change | Restart | Worth


def class_of(priority: int) -> str:
    """Name the priority class that was made with a value."""
    return f"priority-{priority}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """One of the earlier jobs goes."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """One of the earlier jobs is reconciled."""

    job: int


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


Edit = Activate | Move | Resize | Rank
JobEvent = Submit | Delete | Finish | Progress | Touch | Edit
QueueEvent = Quota | Stop | Supply | Team | Bound | Way
Event = JobEvent | QueueEvent | Common


@dataclass(frozen=True, slots=True, kw_only=True)
class Mood:
    """What happens in some batches only."""

    stops: bool
    """Queues are stopped and go on."""
    strict: bool
    """Queues may be StrictFIFO: Kueue then tries whoever waits first some 70 times a second, and has less time.

    Not where each try may tell another message, be it by chance or in turns: that never comes to rest.
    """
    crowded: bool
    """Jobs ask for little and for the same, so that they get into each other's way; work that matters more preempts."""
    alone: bool
    """Queues without a cohort preempt."""
    fair: bool
    """Queues have weights."""
    nodes: bool
    """Flavors and pods differ in where they are, flavors may come late, and pods have an overhead."""
    teams: bool
    """Queues select namespaces, and namespaces change; LocalQueues come and go."""
    ranges: bool
    """LimitRanges come, change and go, and some pods ask for no CPU."""
    progress: bool
    """Jobs need fewer pods in the end, and pods are counted."""
    edits: bool
    """Jobs and Workloads are written once more: another queue, other pods, another priority; and priority classes."""
    moves: bool
    """Jobs and Workloads that are written once more may name another queue."""
