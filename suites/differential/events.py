"""What can happen in a generated world, as strategies: queues, what is asked for, and a sequence of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

POLICIES = ("LowerPriority", "LowerOrNewerEqualPriority", "Never")
RECLAIM = ("Any", "LowerPriority", "Never")
PRIORITIES = (0, 10, 100)
MOST_QUEUES = 3
EARLIER = st.integers(0, 5)
"""Which of the earlier jobs an event is about, counted round."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """One of the earlier jobs is done, if it is a Job."""

    job: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Activate:
    """One of the earlier jobs, if it is a Workload, is set inactive or active."""

    job: int
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Classes or devices change, for all worlds of the Kueue at once."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Kueue starts anew with another Configuration, for all worlds at once."""

    configuration: Mapping[str, Any]


Common = Change | Restart


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


JobEvent = Submit | Delete | Finish | Activate | Touch
Event = JobEvent | Quota | Stop | Common


def lines(*, cohorts: int, flavors: int, strict: bool, alone: bool) -> SearchStrategy[Line]:
    """Queues of a world with so many cohorts and flavors; ``alone`` if a queue without a cohort may preempt."""
    limit = st.none() | st.integers(0, 3)
    amounts = st.lists(st.sampled_from((2, 3, 1, 0)), min_size=flavors, max_size=flavors).map(tuple)
    found = st.builds(
        Line,
        cohort=st.sampled_from((*range(cohorts), *range(cohorts), None)),
        nominal=amounts,
        borrowing=limit,
        lending=limit,
        cpu=st.sampled_from((20, 20, 3)),
        apart=st.booleans(),
        strict=st.booleans() if strict else st.just(False),
        within=st.sampled_from(POLICIES),
        reclaim=st.sampled_from(RECLAIM),
        borrow_within=st.booleans(),
        stops_early=st.booleans(),
    )
    return (
        found if alone else found.map(lambda line: line if line.cohort is not None else replace(line, within="Never"))
    )


def events(asked: Sequence[str], *, stops: bool) -> SearchStrategy[Event]:
    """What happens to a world, mostly submissions; queues are stopped only where that was asked for."""
    queue = st.integers(0, MOST_QUEUES - 1)
    submit = st.builds(
        Submit,
        queue=queue,
        asks=st.lists(st.sampled_from(asked), min_size=1, max_size=2).map(tuple) | st.just(()),
        pods=st.sampled_from((1, 1, 2, 3)),
        cpu=st.integers(1, 2),
        priority=st.sampled_from(PRIORITIES),
        least=st.none() | st.none() | st.just(1),
        as_workload=st.sampled_from((False, False, False, True)),
    )
    quota = st.builds(Quota, queue=queue, nominal=st.integers(0, 6))
    policies = st.sampled_from(("Hold", "HoldAndDrain", "None", "None"))
    stop = st.builds(Stop, queue=queue, local=st.booleans(), policy=policies)
    delete, touch, finish = (st.builds(kind, job=EARLIER) for kind in (Delete, Touch, Finish))
    activate = st.builds(Activate, job=EARLIER, active=st.booleans())
    often: dict[SearchStrategy[Any], int] = {submit: 14, delete: 2, finish: 1, activate: 1, quota: 2, touch: 2}
    often |= {stop: 4} if stops else {}
    return weighted(often)


def weighted(often: Mapping[SearchStrategy[Any], int]) -> SearchStrategy[Any]:
    """Draw from one of some strategies, from each as often as is said."""
    kinds = [kind for kind, times in often.items() for _ in range(times)]
    return st.integers(0, len(kinds) - 1).flatmap(kinds.__getitem__)
