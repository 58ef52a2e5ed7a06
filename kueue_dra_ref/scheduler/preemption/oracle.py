"""What one workload finds in one ClusterQueue: what is left, from how far it borrows, and whom it could preempt.

Kueue: pkg/scheduler/preemption/preemption_oracle.go (PreemptionOracle, SimulatePreemption);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (FindHeightOfLowestSubtreeThatFits)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.snapshot import Amounts, Snapshot
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.resource_node import (
    FlavorResource,
    ResourceNode,
    height_of_lowest_subtree_that_fits,
)
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.preemption.preemption_policies import (
    PreemptionNeed,
)
from kueue_dra_ref.scheduler.preemption.classical import ClassicalPreemption
from kueue_dra_ref.scheduler.preemption.context import PreemptionContext, TargetSearch
from kueue_dra_ref.scheduler.preemption.fairsharing import FairSharingPreemption
from kueue_dra_ref.scheduler.preemption.trace import PreemptionTrace
from kueue_dra_ref.workload.map_order import MapOrderDraw


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionOracle:
    """A ClusterQueue as one workload sees it; ``strategies`` are those of fair sharing, None without it."""

    behaviour: Behaviour
    snapshot: Snapshot
    queue: ClusterQueue
    priority: int
    created: int
    strategies: tuple[str, ...] | None = None
    ignore_undeclared: bool = False
    draw: MapOrderDraw = field(default_factory=MapOrderDraw)
    """How what Kueue leaves to chance falls out for the workload."""

    @property
    def node(self) -> ResourceNode:
        """The place of the ClusterQueue in the cohort tree."""
        return self.snapshot.node(self.queue.name)

    def flavor(self, name: str) -> Mapping[str, object] | None:
        """The spec of a ResourceFlavor, None when there is none."""
        return self.snapshot.flavor(name)

    def level(self, of: FlavorResource, amount: int) -> int:
        """From how far an amount would be borrowed."""
        return height_of_lowest_subtree_that_fits(self.node, of, amount)[0]

    def preemption(
        self, of: FlavorResource, amount: int
    ) -> tuple[GranularMode, tuple[Step, ...]]:
        """Whether preemption could free an amount that cannot be had now, and from how far it is borrowed then."""
        level, inside = height_of_lowest_subtree_that_fits(self.node, of, amount)
        shortage = PreemptionNeed(
            within_nominal=self.node.quota_for(of).nominal >= amount,
            inside=inside,
            policy=self.queue.preemption,
            fair=self.strategies is not None,
        )
        rules = self.behaviour.preempting.can_preempt
        if not any(rule(shortage) for rule in rules):
            trail = PreemptionTrace()
            trail.record(
                f"nobody is preempted: none of these holds: {'; '.join(rule.sentence for rule in rules)}",
                cited(rules),
            )
            return GranularMode(mode=PreemptionMode.NEVER, level=level), trail.steps(
                [of]
            )
        found = self.search({of: amount}, frozenset([of]))
        if not found.victims:
            return GranularMode(
                mode=PreemptionMode.NO_VICTIMS, level=level
            ), found.steps
        with self.snapshot.without(victim.hold for victim in found.victims):
            level = self.level(of, amount)
        own = any(
            victim.hold.cluster_queue == self.queue.name for victim in found.victims
        )
        return GranularMode(
            mode=PreemptionMode.PREEMPT if own else PreemptionMode.RECLAIM, level=level
        ), found.steps

    def search(self, asked: Amounts, short: frozenset[FlavorResource]) -> TargetSearch:
        """Whom the workload would preempt to get what it asks for, of which ``short`` cannot be had now."""
        contest = PreemptionContext(
            snapshot=self.snapshot,
            queue=self.queue,
            priority=self.priority,
            created=self.created,
            asked={
                of: amount
                for of, amount in asked.items()
                if not self._is_immaterial(amount)
            },
            short=short,
        )
        victims = self._searching(contest).victims()
        return TargetSearch(victims=victims, steps=contest.trace.steps(short))

    def _is_immaterial(self, amount: int) -> bool:
        return any(
            rule(amount) for rule in self.behaviour.preempting.ignore_zero_request
        )

    def _searching(
        self, contest: PreemptionContext
    ) -> ClassicalPreemption | FairSharingPreemption:
        rules, sharing = self.behaviour.preempting, self.behaviour.fair_sharing
        if self.strategies is None:
            return ClassicalPreemption(rules=rules, contest=contest)
        return FairSharingPreemption(
            rules=rules, sharing=sharing, strategies=self.strategies, contest=contest
        )
