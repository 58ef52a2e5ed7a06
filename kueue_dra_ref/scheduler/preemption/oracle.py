"""The preemption oracle: whether preemption in a ClusterQueue can free an amount, and with which targets.

Kueue: pkg/scheduler/preemption/preemption_oracle.go (PreemptionOracle, SimulatePreemption);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (FindHeightOfLowestSubtreeThatFits)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.snapshot import (
    FlavorResourceQuantities,
    ReservedPodSet,
    Snapshot,
)
from kueue_dra_ref.cache.topology_placement import PlacementRequest
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.resource_node import (
    FlavorResource,
    ResourceNode,
    height_of_lowest_subtree_that_fits,
)
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.preemption.preemption_policies import (
    PreemptionNeed,
)
from kueue_dra_ref.scheduler.flavorassigner.topology import TopologyPlacer
from kueue_dra_ref.scheduler.preemption.classical import ClassicalPreemption
from kueue_dra_ref.scheduler.preemption.context import (
    PreemptionContext,
    Targets,
    TargetSearch,
)
from kueue_dra_ref.scheduler.preemption.fairsharing import FairSharingPreemption
from kueue_dra_ref.scheduler.preemption.trace import PreemptionTrace
from kueue_dra_ref.workload.map_order import MapOrderDraw


class SimulatedPreemption(NamedTuple):
    """The mode that preemption gives a flavor and resource, and the steps of the search."""

    mode: GranularMode
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionOracle:
    """Answers for one workload in one ClusterQueue."""

    behaviour: Behaviour
    snapshot: Snapshot
    queue: ClusterQueue
    priority: int
    created: int
    strategies: tuple[str, ...] | None = None
    """The fair sharing strategies; None if fair sharing is disabled."""
    ignore_undeclared: bool
    """Whether resources that the ClusterQueue does not cover are ignored."""
    draw: MapOrderDraw = field(default_factory=MapOrderDraw)
    """The order in which Go iterates over maps for the workload."""
    skip_flavor: Callable[[str], Answer[str] | None] = lambda _: None
    """Gives why the workload may not get a flavor, or None."""
    replaced: Mapping[str, ReservedPodSet] = field(default_factory=dict)
    """The pod sets of the slice that the workload replaces, by name."""

    @property
    def placer(self) -> TopologyPlacer:
        """Places the pods of the workload on nodes."""
        return TopologyPlacer(
            rules=self.behaviour.topology, snapshot=self.snapshot, queue=self.queue
        )

    @property
    def node(self) -> ResourceNode:
        """The resource node of the ClusterQueue."""
        return self.snapshot.node(self.queue.name)

    def flavor(self, name: str) -> Mapping[str, object]:
        """Give the spec of a ResourceFlavor; a ClusterQueue is active only if its flavors are there."""
        spec = self.snapshot.flavor(name)
        assert spec is not None
        return spec

    def borrowing_level(self, of: FlavorResource, amount: int) -> int:
        """Give the height of the lowest subtree that an additional amount fits; 0 if it needs no borrowing."""
        height, _ = height_of_lowest_subtree_that_fits(self.node, of, amount)
        return height

    def simulate_preemption(
        self, of: FlavorResource, amount: int
    ) -> SimulatedPreemption:
        """Find out whether preemption can free an amount that is not available now."""
        level, is_smaller = height_of_lowest_subtree_that_fits(self.node, of, amount)
        need = PreemptionNeed(
            within_nominal=self.node.quota_for(of).nominal >= amount,
            inside=is_smaller,
            policy=self.queue.preemption,
            fair=self.strategies is not None,
        )
        if not self.behaviour.preempting.can_preempt(need):
            mode = GranularMode(mode=PreemptionMode.NO_FIT, level=level)
            return SimulatedPreemption(mode, self._cannot_preempt(of))
        found = self.search({of: amount}, frozenset([of]))
        if not found.targets:
            mode = GranularMode(mode=PreemptionMode.NO_CANDIDATES, level=level)
            return SimulatedPreemption(mode, found.steps)
        workloads = [target.workload for target in found.targets]
        with self.snapshot.simulate_workload_removal(workloads):
            level = self.borrowing_level(of, amount)
        mode = GranularMode(mode=self._preemption_mode(found.targets), level=level)
        return SimulatedPreemption(mode, found.steps)

    def _cannot_preempt(self, of: FlavorResource) -> tuple[Step, ...]:
        rules = self.behaviour.preempting.can_preempt.rules
        conditions = "; ".join(rule.sentence for rule in rules)
        trace = PreemptionTrace()
        text = f"no preemption, because none of these conditions holds: {conditions}"
        trace.record(text, cited(rules))
        return trace.steps([of])

    def _preemption_mode(self, targets: Targets) -> PreemptionMode:
        for target in targets:
            if target.workload.cluster_queue == self.queue.name:
                return PreemptionMode.PREEMPT
        return PreemptionMode.RECLAIM

    def search(
        self,
        usage: FlavorResourceQuantities,
        frs_need_preemption: frozenset[FlavorResource],
        to_place: Sequence[PlacementRequest] = (),
    ) -> TargetSearch:
        """Find the workloads to preempt so that additional usage fits, and pods can be placed."""
        placer = self.placer

        def has_room() -> bool:
            return not to_place or placer.place(to_place).failure is None

        ignored = self.behaviour.preempting.ignore_zero_request
        counted = {of: amount for of, amount in usage.items() if not ignored(amount)}
        context = PreemptionContext(
            snapshot=self.snapshot,
            queue=self.queue,
            priority=self.priority,
            created=self.created,
            usage=counted,
            frs_need_preemption=frs_need_preemption,
            has_room=has_room,
        )
        targets = self._preemption(context).targets()
        steps = context.trace.steps(frs_need_preemption)
        return TargetSearch(targets=targets, steps=steps)

    def _preemption(
        self, context: PreemptionContext
    ) -> ClassicalPreemption | FairSharingPreemption:
        rules = self.behaviour.preempting
        if self.strategies is None:
            return ClassicalPreemption(rules=rules, context=context)
        return FairSharingPreemption(
            rules=rules,
            sharing=self.behaviour.fair_sharing,
            strategies=self.strategies,
            context=context,
        )
