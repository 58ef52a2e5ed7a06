"""What happens in some batches of generated worlds only."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from kueue_dra_ref.behaviours.behaviour import Behaviour

NOW_AND_THEN = st.sampled_from((False, False, True))
PANICS = frozenset({"0.14", "0.15", "0.16", "0.17"})
"""Minors that end where, under fair sharing, a queue without a cohort preempts (docs/explanation/differences.md)."""
WITHOUT_PREFERENCE = frozenset({"0.14"})
"""Minors whose queues cannot prefer borrowing or preemption."""
QUEUED_TWICE = frozenset({"0.14", "0.15"})
"""Minors in which work with claims that waits and moves is in both queues (docs/explanation/differences.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwarmConfig:
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
    shaped: bool
    """Pods have initial containers, some of which stay, or requests of their own."""
    broad: bool
    """Trees are deep and wide: more cohorts, queues and flavors, CPU is limited too, every search for a flavor."""
    rivals: bool
    """Nothing else happens than that jobs of the same kind come, and queues borrow and take back."""
    preferring: bool
    """Queues of broad trees may prefer borrowing or preemption."""
    rebuilt: bool
    """ClusterQueues, flavors and cohorts are written once more, go and come again, while work holds them.

    Not flavors where Kueue starts anew: it may forget then that they are in use (docs/explanation/differences.md).
    """
    restarts: bool
    """Kueue starts anew, for all worlds at once."""


@st.composite
def a_mood(
    draw: DrawFn, *, behaviour: Behaviour, fair: bool, extended: bool, told_apart: bool
) -> SwarmConfig:
    """Draw what happens in a batch; ``told_apart`` is whether each reason of waiting has a name of its own."""
    rivals = draw(NOW_AND_THEN)
    also = st.just(False) if rivals else NOW_AND_THEN
    often = st.just(False) if rivals else st.booleans()
    ranges = draw(also)
    at_rest = not behaviour.random_map_order and not (ranges and told_apart)
    return SwarmConfig(
        rivals=rivals,
        stops=draw(often),
        strict=not draw(st.integers(0, 3)) and at_rest and not rivals,
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
        # A new Kueue takes extended resources for others (docs/explanation/differences.md).
        restarts=not extended and draw(often),
    )
