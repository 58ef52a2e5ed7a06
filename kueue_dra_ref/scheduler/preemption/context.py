"""The context of a preemption: the preemptor, its usage, and the flavors and resources that need preemption.

Kueue: pkg/scheduler/preemption/preemption.go (preemptionCtx);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (HierarchicalPreemptionCtx)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.phases_scheduling import PreemptionRules
from kueue_dra_ref.cache.snapshot import (
    FlavorResourceQuantities,
    ReservedWorkload,
    Snapshot,
)
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.creation_order import second_of
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import AnyOf
from kueue_dra_ref.rules.preemption.preemption_policies import (
    PreemptorAndCandidate,
)
from kueue_dra_ref.scheduler.preemption.trace import PreemptionTrace

_USES_NOTHING_SHORT = ("PREEMPT-005",)
"""The requirement that a workload that uses none of the short resources is no candidate."""
AnyRule = Rule[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionTarget:
    """A workload to preempt, and the reason."""

    workload: ReservedWorkload
    reason: str
    cites: tuple[str, ...] = ()
    """The requirements of the policies that allow preempting it."""


Targets = tuple[PreemptionTarget, ...]
REPLACED = ""
"""The reason of the target that is not preempted, but finished: the slice that a larger one replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSearch:
    """The targets that a search found, in the order of preemption, and its steps."""

    targets: Targets = ()
    steps: tuple[Step, ...] = ()


def target_steps(targets: Iterable[PreemptionTarget]) -> tuple[Step, ...]:
    """Give a step for each target, with the policies that allow preempting it."""
    steps = []
    for target in targets:
        workload = target.workload
        text = (
            f"preempts {workload.name} of ClusterQueue {workload.cluster_queue}, "
            f"priority {workload.priority}: {target.reason}"
        )
        steps.append(Step(requirements=target.cites, text=text))
    return tuple(steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionContext:
    """A preemptor that does not fit now."""

    snapshot: Snapshot
    queue: ClusterQueue
    priority: int
    created: int
    usage: FlavorResourceQuantities
    """The usage that the preemptor adds."""
    frs_need_preemption: frozenset[FlavorResource]
    """The flavors and resources whose available quota is too small."""
    has_room: Callable[[], bool]
    """Whether the nodes have room for the preemptor's pods now."""
    trace: PreemptionTrace = field(default_factory=PreemptionTrace)

    @property
    def node(self) -> ResourceNode:
        """The resource node of the preemptor's ClusterQueue."""
        return self.snapshot.node(self.queue.name)

    def compared_with(self, workload: ReservedWorkload) -> PreemptorAndCandidate:
        """Give the preemptor with a candidate, for the policies to compare."""
        return PreemptorAndCandidate(
            policy=self.queue.preemption,
            priority=self.priority,
            created=second_of(self.created),
            other_priority=workload.priority,
            other_created=second_of(workload.created),
        )

    def allowing(
        self,
        rules: AnyOf[[PreemptorAndCandidate]],
        workload: ReservedWorkload,
        policy: str,
    ) -> Sequence[AnyRule]:
        """Give the rules that make a workload a candidate; none if none of its resources is short."""
        if self.frs_need_preemption.isdisjoint(workload.amounts):
            reason = "none of its resources is short"
            self.trace.record_skipped(workload, reason, _USES_NOTHING_SHORT)
            return ()
        allowing = rules.holding(self.compared_with(workload))
        if not allowing:
            reason = f"{policy} does not allow {self._preempting(workload)}"
            self.trace.record_skipped(workload, reason, cited(rules))
        return allowing

    def _preempting(self, workload: ReservedWorkload) -> str:
        text = f"priority {self.priority} to preempt priority {workload.priority}"
        if workload.priority != self.priority:
            return text
        pair = self.compared_with(workload)
        if pair.created == pair.other_created:
            return f"{text} of an equally old workload"
        age = "a newer" if pair.created < pair.other_created else "an older"
        return f"{text} of {age} workload"

    def protecting_rule(
        self, rules: PreemptionRules, node: ResourceNode
    ) -> AnyRule | None:
        """Give the rule that protects a ClusterQueue or cohort in its current state, or None."""
        failed = rules.borrowers.failed(node, self.frs_need_preemption)
        return failed.rule if failed else None

    def fits(self, *, borrowing: bool) -> bool:
        """Whether the preemptor fits now, with or without borrowing."""
        if not borrowing:
            node = self.node
            if any(node.borrows(of, amount) for of, amount in self.usage.items()):
                return False
        return self.snapshot.fits(self.queue.name, self.usage) and self.has_room()

    def fill_back(
        self,
        rules: PreemptionRules,
        targets: Sequence[PreemptionTarget],
        *,
        borrowing: bool,
    ) -> Targets:
        """Drop the targets that are not needed, and add the workloads of the others to the snapshot again."""

        def fits_without(target: PreemptionTarget) -> bool:
            self.snapshot.add_workload(target.workload)
            if self.fits(borrowing=borrowing):
                filled_back.append(target)
                return True
            self.snapshot.remove_workload(target.workload)
            return False

        filled_back: list[PreemptionTarget] = []
        for step in rules.fill_back.steps(targets, fits_without):
            assert step.value is not None
            targets = step.value
            self._record_filled_back(step.rule, filled_back)
            filled_back.clear()
        self.restore(targets)
        return tuple(targets)

    def _record_filled_back(
        self, rule: AnyRule, targets: Sequence[PreemptionTarget]
    ) -> None:
        for target in targets:
            name = target.workload.name
            text = f"{name} is not needed and no longer a target: {rule.sentence}"
            self.trace.record(text, cited([rule]))

    def restore(self, targets: Iterable[PreemptionTarget]) -> None:
        """Add the workloads of the targets to the snapshot again."""
        for target in targets:
            self.snapshot.add_workload(target.workload)
