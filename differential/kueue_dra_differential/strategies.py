"""Hypothesis strategies for the queues, the jobs and the events of generated scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential import admission_checks, gated, pods_ready, topologies
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
    EndPod,
    Event,
    Finish,
    Move,
    Progress,
    Rank,
    Resize,
    RollOut,
    Submit,
    Touch,
)
from kueue_dra_differential.limitranges import FREE, RANGES
from kueue_dra_differential.node_fields import ANYWHERE, PLACES
from kueue_dra_differential.pod_shapes import SINGLE
from kueue_dra_differential.pod_work import DELETED, POD_KINDS
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
from kueue_dra_differential.swarm import NOW_AND_THEN, OFTEN, SwarmConfig
from kueue_dra_differential.usage import some_usage
from kueue_dra_differential.variants import patient, some_policy

T = TypeVar("T")
Weights = dict[SearchStrategy[Any], int]
"""Strategies, and how often each is drawn."""
Index = SearchStrategy[int]
Line = SearchStrategy[LocalQueueLine]
POLICIES = ("LowerPriority", "LowerOrNewerEqualPriority", "Never")
RECLAIM = ("Any", "LowerPriority", "Never")
PRIORITIES = (0, 10, 100)
WORTH = (0, 10, 50, 200)
"""Later values of priority classes."""
WEIGHTS = (None, "2", "500m")
MOST_QUEUES = 4
MOST_COHORTS = 3
EARLIER = st.integers(0, 5)
"""Which of the earlier jobs an event is about, modulo their number."""
_HIGHER = {0: MOST_COHORTS, 1: 0, 2: 1}
"""The parent that a cohort may have, so that no cycle comes about."""
_LIMIT = st.none() | st.integers(0, 3)
_LIMITS = st.builds(QuotaLimits, borrowing=_LIMIT, lending=_LIMIT)
_TRY_NEXT = FungibilityPolicy(
    when_can_borrow=TRY_NEXT,
    when_can_preempt=TRY_NEXT,
)
_MAY_STOP = FungibilityPolicy(
    when_can_borrow=MAY_STOP,
    when_can_preempt=MAY_STOP,
)
_SEARCHES = (
    FungibilityPolicy(),
    FungibilityPolicy(when_can_borrow=TRY_NEXT, when_can_preempt=MAY_STOP),
    _TRY_NEXT,
    _MAY_STOP,
)
_PREFERRING = (
    replace(_TRY_NEXT, preference="BorrowingOverPreemption"),
    replace(_TRY_NEXT, preference="PreemptionOverBorrowing"),
)


def lines(*, cohorts: int, flavors: int, swarm: SwarmConfig) -> Line:
    """Queues of a scenario with so many cohorts and flavors."""
    yes_or_no = st.booleans()
    found = st.builds(
        LocalQueueLine,
        **_quotas(cohorts, flavors, swarm),
        # Variants need one resource group, and no order in which one waits for another (CONC-021).
        apart=_some(not swarm.varied, yes_or_no, False),
        aside=_some(swarm.broad, yes_or_no, False),
        bare=_some(swarm.broad, NOW_AND_THEN, False),
        backwards=_some(swarm.broad, NOW_AND_THEN, False),
        # With several flavors, Kueue retries the first workload for ever (docs/explanation/differences.md).
        strict=_some(_may_be_strict(flavors, swarm), yes_or_no, False),
        **_policies(swarm),
        selects=_some(swarm.teams, yes_or_no, False),
        weight=_some(swarm.fair, _weights(swarm), None),
        # Pending workloads still request pods that the queue no longer covers (docs/explanation/differences.md).
        pods=_some(swarm.progress, _pod_quotas(swarm), None),
        checks=_some(swarm.checks, st.sampled_from(admission_checks.PLACES), ()),
        usage=_some(swarm.used, some_usage(), None),
        policy=_some(swarm.varied, some_policy(), None),
    )
    if swarm.varied:
        found = found.map(patient)
    return found if swarm.alone else found.map(_calm)


def _may_be_strict(flavors: int, swarm: SwarmConfig) -> bool:
    return swarm.strict and flavors == 1 and not swarm.varied


def _quotas(
    cohorts: int, flavors: int, swarm: SwarmConfig
) -> Mapping[str, SearchStrategy[Any]]:
    """The cohort, the nominal quotas and their limits."""
    amounts = (1, 2, 1, 0) if swarm.crowded else (2, 3, 1, 0)
    nominal = st.lists(
        st.sampled_from(amounts),
        min_size=1 if swarm.broad else flavors,
        max_size=flavors,
    )
    times = 8 if swarm.crowded else 2
    joined = [*range(cohorts)] * times
    is_cpu_scarce = swarm.broad and not swarm.crowded
    cpu = (3, 3, 20) if is_cpu_scarce else (20, 20, 3)
    unlimited = QuotaLimits()
    limits = _some(not swarm.crowded, _LIMITS, unlimited)
    return {
        "cohort": st.sampled_from([*joined, None]),
        "nominal": nominal.map(tuple),
        "limits": limits | _LIMITS,
        "cpu": st.sampled_from(cpu),
        "cpu_limits": _some(is_cpu_scarce, _LIMITS, unlimited),
    }


def _policies(swarm: SwarmConfig) -> Mapping[str, SearchStrategy[Any]]:
    """The preemption policies and the flavor search."""
    within = POLICIES[:2] if swarm.crowded else POLICIES
    reclaim = RECLAIM[:2] if swarm.crowded else RECLAIM
    thresholds = st.sampled_from((None, 0, 10, 100))
    return {
        "within": st.sampled_from(within),
        "reclaim": st.sampled_from(reclaim),
        "borrow_within": st.booleans(),
        "threshold": _some(swarm.broad, thresholds, 50),
        "search": _searches(swarm),
    }


def _weights(swarm: SwarmConfig) -> SearchStrategy[str | None]:
    weights = (*WEIGHTS, "0") if swarm.broad else WEIGHTS
    return st.sampled_from(weights)


def _pod_quotas(swarm: SwarmConfig) -> SearchStrategy[int | None]:
    usual = _some(not swarm.rebuilt, st.none(), 4)
    return usual | st.integers(2, 4)


def _searches(swarm: SwarmConfig) -> SearchStrategy[FungibilityPolicy]:
    if not swarm.broad:
        return st.sampled_from(_SEARCHES[:2])
    ways = st.sampled_from(_SEARCHES)
    if not swarm.preferring:
        return ways
    return ways | st.sampled_from(_PREFERRING)


def _calm(line: LocalQueueLine) -> LocalQueueLine:
    """Disable preemption in a queue without a cohort."""
    if line.cohort is not None:
        return line
    return replace(line, within="Never")


def _some(wanted: bool, strategy: SearchStrategy[T], otherwise: T) -> SearchStrategy[T]:
    return strategy if wanted else st.just(otherwise)


def above(parent: int | None, swarm: SwarmConfig) -> SearchStrategy[ParentCohort]:
    """A cohort, with a parent or without."""
    amounts = st.integers(0, 3)
    shared = st.none() | st.none() | amounts
    parents = _some(not swarm.broad, st.none(), parent)
    shares = _some(not swarm.broad, shared, 1)
    weights = st.sampled_from(WEIGHTS)
    return st.builds(
        ParentCohort,
        parent=parents | st.just(parent),
        shared=shares | shared,
        limits=_some(swarm.broad, _LIMITS, QuotaLimits()),
        cpu=_some(swarm.broad, st.none() | amounts, None),
        everywhere=_some(swarm.broad, st.booleans(), False),
        weight=_some(swarm.broad and swarm.fair, weights, None),
    )


def events(
    theme: ConfigProfile, swarm: SwarmConfig, line: Line
) -> SearchStrategy[Event]:
    """The events of a scenario, mostly submissions; many kinds only in some batches; ``line`` draws its queues."""
    queue = st.integers(0, MOST_QUEUES * (2 if swarm.used else 1) - 1)
    policies = st.sampled_from(("Hold", "HoldAndDrain", "None", "None"))
    stop = st.builds(Stop, queue=queue, local=st.booleans(), policy=policies)
    way = st.builds(Way, queue=queue, open=st.booleans())
    nominal = st.integers(0, 6)
    submissions = _submissions(queue, theme, swarm)
    often: Weights = {
        submissions: 40 if swarm.is_busy else 14,
        st.builds(Delete, job=EARLIER): 2,
        st.builds(Finish, job=EARLIER): 1,
        st.builds(Activate, job=EARLIER, active=st.booleans()): 1,
        st.builds(Quota, queue=queue, nominal=nominal): 2,
        st.builds(Touch, job=EARLIER): 2,
    }
    if swarm.stops:
        often[stop] = 4
    often |= _of_pods(swarm)
    often |= _surroundings(way, swarm) | _of_nodes_and_checks(swarm)
    often |= _ends_and_starts(swarm)
    often |= _edits(queue, swarm)
    if swarm.rebuilt:
        rebuilt = _rebuilt(queue, line, swarm)
        often |= {way: 2, rebuilt: 10}
    return weighted(often)


def _of_pods(swarm: SwarmConfig) -> Weights:
    """Events of pods: they end, are deleted, or are created again."""
    if set(POD_KINDS).isdisjoint(swarm.kinds):
        return {}
    ways = st.sampled_from(("Succeeded", "Failed", DELETED))
    pods = st.integers(0, 3)
    end = st.builds(EndPod, job=EARLIER, pod=pods, how=ways)
    return {end: 8, st.builds(RollOut, job=EARLIER): 6}


def _ends_and_starts(swarm: SwarmConfig) -> Weights:
    """Events of pods that Kueue waits for, of gates, and of Jobs whose Workloads it deletes when they are finished."""
    often: Weights = {}
    if swarm.waits:
        often[pods_ready.reports(EARLIER)] = 40
    if swarm.retained:
        often[st.builds(Finish, job=EARLIER)] = 10
    if swarm.gated:
        openings = gated.openings(EARLIER)
        often[openings] = 14
    return often


def _of_nodes_and_checks(swarm: SwarmConfig) -> Weights:
    """Events of nodes and of admission checks: their controllers answer, go, and come back."""
    often: Weights = {}
    if swarm.placed:
        often[topologies.refits()] = 4
    if not swarm.checks:
        return often
    answers = admission_checks.answers(EARLIER)
    inspections = admission_checks.inspections()
    return {**often, answers: 40 if swarm.crowded else 20, inspections: 1}


def _submissions(
    queue: Index, theme: ConfigProfile, swarm: SwarmConfig
) -> SearchStrategy[Submit]:
    asks = _asks(theme.asked)
    if swarm.crowded:
        asks = st.just(theme.asked[:1])
    pods = (1, 1, 1, 2) if swarm.crowded else (1, 1, 2, 3)
    least_cpu = 0 if swarm.ranges else 1
    places = st.sampled_from((ANYWHERE, *PLACES))
    shapes = st.sampled_from([*theme.shapes])
    return st.builds(
        Submit,
        queue=queue,
        asks=asks,
        pods=st.sampled_from(pods),
        cpu=st.integers(least_cpu, 2),
        priority=st.sampled_from(PRIORITIES),
        least=st.none() | st.none() | st.just(1),
        as_workload=_some(not swarm.is_owned, _seldom(), False),
        place=_some(swarm.nodes, places, ANYWHERE),
        heavy=_some(swarm.nodes, st.booleans(), False),
        shape=_some(swarm.shaped, shapes, SINGLE),
        twice=_some(swarm.broad, st.booleans(), False),
        kind=st.sampled_from(swarm.kinds),
        near=_some(swarm.placed, topologies.near(), ""),
        elastic=_some(swarm.elastic, OFTEN, False),
        gates=_some(swarm.gated, gated.written(), ""),
    )


def _seldom() -> SearchStrategy[bool]:
    return st.sampled_from((False, False, False, True))


def _surroundings(way: SearchStrategy[Way], swarm: SwarmConfig) -> Weights:
    """Events of nodes, namespaces and LimitRanges, and of pods that succeed."""
    often: Weights = {}
    if swarm.nodes:
        often[st.builds(Supply)] = 2
    if swarm.teams:
        team = st.builds(Team, joined=st.booleans())
        often |= {team: 2, way: 2}
    if swarm.ranges:
        kinds = st.sampled_from((FREE, *RANGES))
        often[st.builds(Bound, kind=kinds)] = 4
    if swarm.progress:
        often[st.builds(Progress, job=EARLIER)] = 4
    return often


def _edits(queue: Index, swarm: SwarmConfig) -> Weights:
    """Updates of jobs; many of elastic ones change their size."""
    if not swarm.edits:
        return {}
    often: Weights = {_edit(queue, swarm): 8}
    return {**often, _resize(): 24} if swarm.elastic else often


def _edit(queue: Index, swarm: SwarmConfig) -> SearchStrategy[Event]:
    """Update one of the jobs."""
    resize = _resize()
    priorities = st.sampled_from(PRIORITIES)
    rank = st.builds(Rank, job=EARLIER, priority=priorities)
    # Work that moves to a queue with variants is tried for ever there (docs/explanation/differences.md).
    if not swarm.moves or swarm.varied:
        return resize | rank
    move = st.builds(Move, job=EARLIER, queue=queue)
    return resize | rank | move


def _resize() -> SearchStrategy[Resize]:
    """Change how many pods one of the jobs has."""
    pods = st.integers(1, 3)
    return st.builds(Resize, job=EARLIER, pods=pods)


def _rebuilt(
    queue: Index, line: Line, swarm: SwarmConfig
) -> SearchStrategy[QueueEvent]:
    """Change the cohort tree while workloads use it, never into a cycle (docs/explanation/differences.md)."""
    regrouped = partial(_regrouped, swarm=swarm)
    cohorts = st.sampled_from([*_HIGHER])
    regroup = cohorts.flatmap(regrouped)
    gate = st.builds(Gate, queue=queue, open=st.booleans())
    shelf = st.builds(Shelf, flavor=st.integers(0, 2), there=st.booleans())
    reroute = st.builds(Reroute, queue=queue, to=queue)
    recast = st.builds(Recast, queue=queue, line=line)
    found = recast | gate | regroup | reroute
    if swarm.restarts:
        return found
    return found | shelf


def _regrouped(index: int, swarm: SwarmConfig) -> SearchStrategy[Regroup]:
    higher = _HIGHER[index]
    parent = above(higher, swarm)
    cohort = st.just(index)
    return st.builds(Regroup, cohort=cohort, above=parent)


def _asks(asked: Sequence[str]) -> SearchStrategy[tuple[str, ...]]:
    """What a job requests: one thing or two, or nothing."""
    one = st.sampled_from(asked)
    some = st.lists(one, min_size=1, max_size=2).map(tuple)
    return some | st.just(())


def weighted(often: Mapping[SearchStrategy[Any], int]) -> SearchStrategy[Any]:
    """Draw from one of some strategies, weighted by the numbers."""
    kinds: list[SearchStrategy[Any]] = []
    for kind, times in often.items():
        kinds += [kind] * times
    last = len(kinds) - 1
    index = st.integers(0, last)
    return index.flatmap(kinds.__getitem__)
