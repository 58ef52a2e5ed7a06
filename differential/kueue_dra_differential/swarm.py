"""The kinds of events and queues that only some batches of scenarios have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from kueue_dra_differential.swarm_features import FEATURES
from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.behaviours.behaviour import Behaviour

NOW_AND_THEN = st.sampled_from((False, False, True))
OFTEN = st.sampled_from((True, True, False))
PANICS = frozenset({"0.14", "0.15", "0.16", "0.17"})
"""Minors that panic if, under fair sharing, a queue without a cohort preempts (docs/explanation/differences.md)."""
WITHOUT_PREFERENCE = frozenset({"0.14"})
"""Minors whose queues cannot prefer borrowing or preemption."""
QUEUED_TWICE = frozenset({"0.14", "0.15"})
"""Minors in which pending work with claims is in both queues after a move (docs/explanation/differences.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmConfig:
    """Which features a batch has."""

    stops: bool
    """Queues are stopped and resumed."""
    strict: bool
    """Queues may be StrictFIFO: Kueue retries the first pending workload some 70 times a second.

    Not if successive tries may report different messages, at random or alternately: such a queue never settles.
    """
    crowded: bool
    """Jobs request little, and the same resource, so that they contend for it and preempt each other."""
    alone: bool
    """Queues without a cohort preempt."""
    fair: bool
    """Queues have weights."""
    nodes: bool
    """Flavors and pods have node constraints, flavors may be created late, and pods have an overhead."""
    teams: bool
    """Queues select namespaces, and namespaces change; LocalQueues are deleted and created."""
    ranges: bool
    """LimitRanges are created, changed and deleted, and some pods request no CPU."""
    progress: bool
    """Pods of Jobs succeed, and queues may have quota of pods."""
    edits: bool
    """Jobs, Workloads and priority classes are updated: another queue, other pods, another priority."""
    moves: bool
    """Updated Jobs and Workloads may name another queue."""
    shaped: bool
    """Pods have init containers, sidecars among them, or requests of their own."""
    broad: bool
    """Trees are deep and wide: more cohorts, queues and flavors, scarce CPU, and every flavor search."""
    rivals: bool
    """Jobs of one kind are submitted and nothing else happens, so that queues borrow and reclaim."""
    preferring: bool
    """Queues of broad trees may prefer borrowing or preemption."""
    rebuilt: bool
    """ClusterQueues, flavors and cohorts are updated, deleted and created again while work uses them.

    Not flavors if Kueue restarts: it may then lose track of their use (docs/explanation/differences.md).
    """
    restarts: bool
    """Kueue restarts, for all scenarios at once.

    Not with extended resources, which it then confuses (docs/explanation/differences.md).
    """
    checks: bool = False
    """ClusterQueues have admission checks, whose controllers answer."""
    placed: bool = False
    """Flavors have a topology, and pods request a placement on its nodes.

    Only of kinds that are suspended, since pods start with a gate of their own, and always with CPU: Kueue tries pods
    that request nothing but claims for ever (TAS-033). Only if a run asks for it.
    """
    elastic: bool = False
    """Jobs may be elastic, and grow and shrink while they run. Only if a run asks for it."""
    used: bool = False
    """ClusterQueues have two LocalQueues and may order their work by what each has used.

    Only if a run asks for it.
    """
    waits: bool = False
    """Kueue waits for pods, which become ready or are lost. Only if a run asks for it."""
    blocks: bool = False
    """Kueue admits nothing while it waits, so that each scenario has a Kueue of its own.

    Then there are Jobs only: nothing reports that the pods of other work are ready.
    """
    retained: bool = False
    """Finished Workloads, and work that Kueue has deactivated, is deleted. Only if a run asks for it."""
    varied: bool = False
    """ClusterQueues have variants of their work for each flavor. Only if a run asks for it."""
    gated: bool = False
    """Work has admission gates, which are opened. Only if a run asks for it.

    Then no queue stops and no LocalQueue goes: Kueue writes gated work there for ever (see differences.md).
    """
    kinds: tuple[str, ...] = ("Job",)
    """The kinds of work that are submitted."""

    @property
    def has_jobs_alone(self) -> bool:
        """Whether there is no work of other kinds."""
        return self.rivals or self.elastic or self.blocks or self.varied

    @property
    def is_owned(self) -> bool:
        """Whether each Workload has an owner: one without never migrates (docs/explanation/differences.md)."""
        return self.blocks or self.varied

    @property
    def is_busy(self) -> bool:
        """Whether most events are submissions."""
        return self.crowded or self.waits or self.retained or self.varied

    @property
    def is_long(self) -> bool:
        """Whether scenarios have more events than usual."""
        return self.rivals or self.checks or self.waits or self.varied


def with_features(swarm: SwarmConfig, wanted: Collection[str]) -> SwarmConfig:
    """Give a batch the features that a run asks for, in addition to its own."""
    fields: dict[str, Any] = {}
    for name in wanted:
        fields |= dict.fromkeys(FEATURES[name], True)
    if "gated" in fields:
        fields |= dict.fromkeys(("stops", "teams", "rebuilt"), False)
    return replace(swarm, **fields)


@st.composite
def in_focus(draw: DrawFn, swarm: SwarmConfig) -> SwarmConfig:
    """Mostly leave out what keeps work from being admitted, if what follows is what the batch is about."""
    if not (swarm.waits or swarm.retained or swarm.varied):
        return swarm
    blocks = swarm.waits and not swarm.rivals and draw(st.booleans())
    # An update of a Job would undo what its report has written.
    found = replace(swarm, blocks=blocks, edits=swarm.edits and not swarm.waits)
    if not draw(OFTEN):
        return found
    return replace(found, stops=False, teams=False, ranges=False, rebuilt=False)


@st.composite
def with_kinds(
    draw: DrawFn,
    swarm: SwarmConfig,
    kinds: tuple[str, ...],
    through_pods: tuple[str, ...],
) -> SwarmConfig:
    """Draw which kinds of work a batch has: Jobs alone, as rivals have, every kind, or those made of pods."""
    jobs = swarm.kinds
    choices = [jobs, kinds, kinds, kinds, through_pods, through_pods]
    if swarm.ranges:
        choices += [jobs] * 3
    drawn = draw(st.sampled_from(choices))
    if swarm.has_jobs_alone or (swarm.waits and draw(OFTEN)):
        return swarm
    if swarm.placed:
        drawn = tuple(kind for kind in drawn if kind not in through_pods[:-1])
    # The API server applies a LimitRange to pods itself, which the reference does not.
    ranges = swarm.ranges and POD.name not in drawn
    return replace(swarm, kinds=drawn, ranges=ranges and not swarm.placed)


@st.composite
def a_swarm(
    draw: DrawFn,
    *,
    behaviour: Behaviour,
    fair: bool,
    extended: bool,
    distinct_reasons: bool,
) -> SwarmConfig:
    """Draw the features of a batch; ``distinct_reasons`` is whether pending workloads have distinct reasons."""
    rivals = draw(NOW_AND_THEN)
    also = st.just(False) if rivals else NOW_AND_THEN
    often = st.just(False) if rivals else st.booleans()
    ranges = draw(also)
    is_random = behaviour.random_map_order or (ranges and distinct_reasons)
    return SwarmConfig(
        rivals=rivals,
        stops=draw(often),
        strict=not draw(st.integers(0, 3)) and not (rivals or is_random),
        crowded=rivals or draw(also),
        alone=not fair or behaviour.kueue not in PANICS,
        fair=fair,
        nodes=draw(also),
        teams=draw(also),
        ranges=ranges,
        progress=draw(also),
        edits=draw(also),
        moves=behaviour.kueue not in QUEUED_TWICE,
        shaped=draw(also),
        broad=draw(NOW_AND_THEN),
        preferring=behaviour.kueue not in WITHOUT_PREFERENCE,
        rebuilt=draw(also),
        restarts=not extended and draw(often),
        checks=draw(also),
    )
