"""What can be in a generated world and what can happen to it; and what goes on in some worlds only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_differential.queue_events import QueueEvent


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
    shape: str
    """What its pods have beside the regular container, by the names of the theme."""
    twice: bool
    """Whether the small pod set of a Workload asks for the same."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A claim template is made with what another one asks for, or deleted, in all worlds at once."""

    name: str
    like: str | None
    """None: it is deleted."""


Common = Change | Restart | Worth | Offer


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


Edit = Activate | Move | Resize | Rank
JobEvent = Submit | Delete | Finish | Progress | Touch | Edit
Event = JobEvent | QueueEvent | Common
