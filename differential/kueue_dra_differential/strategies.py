"""What happens in generated worlds, as strategies: how queues are, what is asked for, what comes after what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.cohort_tree import (
    MAY_STOP,
    TRY_NEXT,
    FungibilityPolicy,
    LocalQueueLine,
    ParentCohort,
    QuotaLimits,
)
from kueue_dra_differential.config_profiles import ConfigProfile
from kueue_dra_differential.events import (
    Activate,
    Delete,
    Event,
    Finish,
    Move,
    Progress,
    Rank,
    Resize,
    Submit,
    Touch,
)
from kueue_dra_differential.limitranges import FREE, RANGES
from kueue_dra_differential.node_fields import ANYWHERE, PLACES
from kueue_dra_differential.pod_shapes import SINGLE
from kueue_dra_differential.queue_events import (
    Bound,
    Gate,
    QueueEvent,
    Quota,
    Recast,
    Regroup,
    Reroute,
    Shelf,
    Stop,
    Supply,
    Team,
    Way,
)
from kueue_dra_differential.swarm import NOW_AND_THEN, SwarmConfig

T = TypeVar("T")
POLICIES = ("LowerPriority", "LowerOrNewerEqualPriority", "Never")
RECLAIM = ("Any", "LowerPriority", "Never")
PRIORITIES = (0, 10, 100)
WORTH = (0, 10, 50, 200)
"""What priority classes are worth later."""
WEIGHTS = (None, "2", "500m")
MOST_QUEUES = 4
MOST_COHORTS = 3
EARLIER = st.integers(0, 5)
"""Which of the earlier jobs an event is about, counted round."""
_LIMIT = st.none() | st.integers(0, 3)
_LIMITS = st.builds(QuotaLimits, borrowing=_LIMIT, lending=_LIMIT)
_SEARCHES = (
    FungibilityPolicy(),
    FungibilityPolicy(when_can_borrow=TRY_NEXT, when_can_preempt=MAY_STOP),
    *(
        FungibilityPolicy(when_can_borrow=each, when_can_preempt=each)
        for each in (TRY_NEXT, MAY_STOP)
    ),
)
_PREFERRING = tuple(
    FungibilityPolicy(
        when_can_borrow=TRY_NEXT, when_can_preempt=TRY_NEXT, preference=each
    )
    for each in ("BorrowingOverPreemption", "PreemptionOverBorrowing")
)


def lines(
    *, cohorts: int, flavors: int, mood: SwarmConfig
) -> SearchStrategy[LocalQueueLine]:
    """Queues of a world with so many cohorts and flavors."""
    amounts = st.lists(
        st.sampled_from((1, 2, 1, 0) if mood.crowded else (2, 3, 1, 0)),
        min_size=1 if mood.broad else flavors,
        max_size=flavors,
    ).map(tuple)
    found = st.builds(
        LocalQueueLine,
        cohort=st.sampled_from([*range(cohorts)] * (8 if mood.crowded else 2) + [None]),
        nominal=amounts,
        limits=_some(not mood.crowded, _LIMITS, QuotaLimits()) | _LIMITS,
        cpu=st.sampled_from(
            (3, 3, 20) if mood.broad and not mood.crowded else (20, 20, 3)
        ),
        cpu_limits=_some(mood.broad and not mood.crowded, _LIMITS, QuotaLimits()),
        apart=st.booleans(),
        aside=_some(mood.broad, st.booleans(), False),
        bare=_some(mood.broad, NOW_AND_THEN, False),
        backwards=_some(mood.broad, NOW_AND_THEN, False),
        # Among several flavors the first of a StrictFIFO queue is tried for ever (docs/explanation/differences.md).
        strict=_some(mood.strict and flavors == 1, st.booleans(), False),
        within=st.sampled_from(POLICIES[:2] if mood.crowded else POLICIES),
        reclaim=st.sampled_from(RECLAIM[:2] if mood.crowded else RECLAIM),
        borrow_within=st.booleans(),
        threshold=_some(mood.broad, st.sampled_from((None, 0, 10, 100)), 50),
        search=_searches(mood),
        selects=_some(mood.teams, st.booleans(), False),
        weight=_some(
            mood.fair, st.sampled_from((*WEIGHTS, "0") if mood.broad else WEIGHTS), None
        ),
        # Whoever waits goes on asking for pods that are covered no more (docs/explanation/differences.md).
        pods=_some(
            mood.progress,
            _some(not mood.rebuilt, st.none(), 4) | st.integers(2, 4),
            None,
        ),
    )
    return found if mood.alone else found.map(_calm)


def _searches(mood: SwarmConfig) -> SearchStrategy[FungibilityPolicy]:
    if not mood.broad:
        return st.sampled_from(_SEARCHES[:2])
    ways = st.sampled_from(_SEARCHES)
    return ways | st.sampled_from(_PREFERRING) if mood.preferring else ways


def _calm(line: LocalQueueLine) -> LocalQueueLine:
    """A queue without a cohort preempts nobody."""
    return line if line.cohort is not None else replace(line, within="Never")


def _some(wanted: bool, strategy: SearchStrategy[T], otherwise: T) -> SearchStrategy[T]:
    return strategy if wanted else st.just(otherwise)


def above(parent: int | None, mood: SwarmConfig) -> SearchStrategy[ParentCohort]:
    """A cohort, below another one or not."""
    shared = st.none() | st.none() | st.integers(0, 3)
    return st.builds(
        ParentCohort,
        parent=_some(not mood.broad, st.none(), parent) | st.just(parent),
        shared=_some(not mood.broad, shared, 1) | shared,
        limits=_some(mood.broad, _LIMITS, QuotaLimits()),
        cpu=_some(mood.broad, st.none() | st.integers(0, 3), None),
        everywhere=_some(mood.broad, st.booleans(), False),
        weight=_some(mood.broad and mood.fair, st.sampled_from(WEIGHTS), None),
    )


def events(
    theme: ConfigProfile, mood: SwarmConfig, line: SearchStrategy[LocalQueueLine]
) -> SearchStrategy[Event]:
    """What happens to a world, mostly submissions; much of it in some moods only; ``line`` draws its queues."""
    queue = st.integers(0, MOST_QUEUES - 1)
    submit = st.builds(
        Submit,
        queue=queue,
        asks=st.just(theme.asked[:1]) if mood.crowded else _asks(theme.asked),
        pods=st.sampled_from((1, 1, 1, 2) if mood.crowded else (1, 1, 2, 3)),
        cpu=st.integers(0 if mood.ranges else 1, 2),
        priority=st.sampled_from(PRIORITIES),
        least=st.none() | st.none() | st.just(1),
        as_workload=st.sampled_from((False, False, False, True)),
        place=_some(mood.nodes, st.sampled_from((ANYWHERE, *PLACES)), ANYWHERE),
        heavy=_some(mood.nodes, st.booleans(), False),
        shape=_some(mood.shaped, st.sampled_from([*theme.shapes]), SINGLE),
        twice=_some(mood.broad, st.booleans(), False),
    )
    quota = st.builds(Quota, queue=queue, nominal=st.integers(0, 6))
    policies = st.sampled_from(("Hold", "HoldAndDrain", "None", "None"))
    stop = st.builds(Stop, queue=queue, local=st.booleans(), policy=policies)
    delete, touch, finish, progress = (
        st.builds(kind, job=EARLIER) for kind in (Delete, Touch, Finish, Progress)
    )
    team, way = (
        st.builds(Team, joined=st.booleans()),
        st.builds(Way, queue=queue, open=st.booleans()),
    )
    activate = st.builds(Activate, job=EARLIER, active=st.booleans())
    often: dict[SearchStrategy[Any], int] = {
        submit: 40 if mood.crowded else 14,
        delete: 2,
        finish: 1,
        activate: 1,
        quota: 2,
        touch: 2,
    }
    often |= {stop: 4} if mood.stops else {}
    often |= {st.builds(Supply): 2} if mood.nodes else {}
    often |= {team: 2, way: 2} if mood.teams else {}
    often |= (
        {st.builds(Bound, kind=st.sampled_from((FREE, *RANGES))): 4}
        if mood.ranges
        else {}
    )
    often |= {progress: 4} if mood.progress else {}
    often |= {_edit(queue, mood): 8} if mood.edits else {}
    often |= {way: 2, _rebuilt(queue, line, mood): 10} if mood.rebuilt else {}
    return weighted(often)


def _edit(queue: SearchStrategy[int], mood: SwarmConfig) -> SearchStrategy[Event]:
    """One of the jobs is written once more."""
    resize = st.builds(Resize, job=EARLIER, pods=st.integers(1, 3))
    found = resize | st.builds(Rank, job=EARLIER, priority=st.sampled_from(PRIORITIES))
    return found | st.builds(Move, job=EARLIER, queue=queue) if mood.moves else found


def _rebuilt(
    queue: SearchStrategy[int], line: SearchStrategy[LocalQueueLine], mood: SwarmConfig
) -> SearchStrategy[QueueEvent]:
    """The tree changes under its workloads, never into a cycle (docs/explanation/differences.md)."""
    higher = {0: MOST_COHORTS, 1: 0, 2: 1}
    regroup = st.sampled_from([*higher]).flatmap(
        lambda index: st.builds(
            Regroup, cohort=st.just(index), above=above(higher[index], mood)
        )
    )
    gate = st.builds(Gate, queue=queue, open=st.booleans())
    shelf = st.builds(Shelf, flavor=st.integers(0, 2), there=st.booleans())
    reroute = st.builds(Reroute, queue=queue, to=queue)
    found = st.builds(Recast, queue=queue, line=line) | gate | regroup | reroute
    return found if mood.restarts else found | shelf


def _asks(asked: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    """What a job asks for: one thing or two, or nothing."""
    return st.lists(st.sampled_from(asked), min_size=1, max_size=2).map(
        tuple
    ) | st.just(())


def weighted(often: Mapping[SearchStrategy[Any], int]) -> SearchStrategy[Any]:
    """Draw from one of some strategies, from each as often as is said."""
    kinds = [kind for kind, times in often.items() for _ in range(times)]
    return st.integers(0, len(kinds) - 1).flatmap(kinds.__getitem__)
