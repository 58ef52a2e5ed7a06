"""The events of a generated scenario that are about jobs, and those in common to all scenarios of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_differential.queue_events import QueueEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Submit:
    """Submit a Job of some pods, each with the same claims, or a Workload with a second, small pod set."""

    queue: int
    asks: tuple[str, ...]
    """What a pod requests, by the names of the theme; empty: CPU only."""
    pods: int
    cpu: int
    priority: int
    least: int | None
    as_workload: bool
    place: str
    """The node constraints of its pods (`PLACES`)."""
    heavy: bool
    """Whether its pods have an overhead."""
    shape: str
    """The shape of its pods, by the names of the theme."""
    twice: bool
    """Whether the small pod set has the same requests."""
    kind: str = "Job"
    """The kind of work, unless a Workload is submitted."""
    elastic: bool = False
    """Whether a Job is elastic."""
    near: str = ""
    """What its pods request of the topology, by the names of the requests."""
    gates: str = ""
    """Its admission gates, as they are written; none of work that Kueue queues through its pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Finish one of the earlier jobs, if it is a Job."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Report one more succeeded pod of an earlier job, if it is a Job with several pods; never the last pod."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Report how many pods of an earlier job are ready, if it is a Job."""

    job: int
    missing: int | None
    """How many of its pods are not ready; None: none is left."""
    every: bool
    """Whether it is so for all earlier Jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndPod:
    """End or delete one pod of an earlier job, if Kueue queues that through its pods."""

    job: int
    pod: int
    how: str
    """The phase of the pod, or that it is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollOut:
    """Create the pods that an earlier job lacks, or one more pod of a group."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Set the state of an admission check of an earlier job, as the controller of the check does."""

    job: int
    check: int
    state: str
    message: str
    every: bool
    """Whether a check that is Ready is so for all earlier jobs, and the other check too."""
    update: str
    """What a check that is Ready adds to the pods of a Job, by the names of the updates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Activate:
    """Deactivate or activate one of the earlier jobs, if it is a Workload."""

    job: int
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Move one of the earlier jobs to another LocalQueue."""

    job: int
    queue: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """Change the number of pods of an earlier job: the parallelism of a Job, the last pod set of a Workload."""

    job: int
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """Change the priority of an earlier job: of a Job by its priority class, or without one."""

    job: int
    priority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """Leave these admission gates to an earlier job."""

    job: int
    left: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Change classes or devices, in all scenarios of the Kueue at once."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Restart Kueue with another Configuration, for all scenarios at once."""

    configuration: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """Change the value of a priority class, in all scenarios at once."""

    priority: int
    """Its first value."""
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Create a claim template with the spec of another one, or delete it, in all scenarios at once."""

    name: str
    like: str | None
    """None: delete it."""


Common = Change | Restart | Worth | Offer


def class_of(priority: int) -> str:
    """Give the name of the priority class with this first value."""
    return f"priority-{priority}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete one of the earlier jobs."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """Trigger a reconcile of one of the earlier jobs."""

    job: int


Edit = Activate | Move | Resize | Rank | Open
PodEvent = EndPod | RollOut
JobEvent = (
    Submit | Delete | Finish | Progress | Ready | Touch | Answer | Edit | PodEvent
)
Event = JobEvent | QueueEvent | Common
