"""Who contends for quota that is short (Kueue 0.19): the workload that waits, and whom it may take from.

Kueue: pkg/scheduler/preemption/preemption.go (preemptionCtx);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (HierarchicalPreemptionCtx)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.phases_scheduling import PreemptionRules
from kueue_dra_ref.cache.snapshot import Amounts, ReservedWorkload, Snapshot
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.preemption.preemption_policies import (
    PreemptorAndCandidate,
)
from kueue_dra_ref.scheduler.preemption.trace import PreemptionTrace, name

_USELESS = ("PREEMPT-005",)
"""Says that whoever could not free anything of what is short is left alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionTarget:
    """Somebody to be preempted, and the reason."""

    hold: ReservedWorkload
    reason: str
    cites: tuple[str, ...] = ()
    """The requirements that let it be preempted, as far as rules of priority do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSearch:
    """Whom a search found, the first choice first, and how it came to that."""

    victims: tuple[PreemptionTarget, ...] = ()
    steps: tuple[Step, ...] = ()


def told(victims: Iterable[PreemptionTarget]) -> tuple[Step, ...]:
    """Say who is preempted, the first choice first, and what lets it be."""
    return tuple(
        Step(
            requirements=victim.cites,
            text=f"preempts {'/'.join(victim.hold.key)} of ClusterQueue {victim.hold.cluster_queue}, priority "
            f"{victim.hold.priority}: {victim.reason}",
        )
        for victim in victims
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionContext:
    """A workload that asks for more than is left: what of it is short, and where."""

    snapshot: Snapshot
    queue: ClusterQueue
    priority: int
    created: int
    asked: Amounts
    short: frozenset[FlavorResource]
    trace: PreemptionTrace = field(default_factory=PreemptionTrace)

    @property
    def node(self) -> ResourceNode:
        """The place of its ClusterQueue in the tree."""
        return self.snapshot.node(self.queue.name)

    def rivals(self, hold: ReservedWorkload) -> PreemptorAndCandidate:
        """Compare with a workload that holds quota."""
        return PreemptorAndCandidate(
            policy=self.queue.preemption,
            priority=self.priority,
            created=self.created,
            other_priority=hold.priority,
            other_created=hold.created,
        )

    def allowed(
        self,
        rules: Sequence[Rule[[PreemptorAndCandidate], bool]],
        hold: ReservedWorkload,
        policy: str,
    ) -> Sequence[Rule[..., bool]]:
        """The rules that let a workload be preempted; whoever would free nothing of what is short is left alone."""
        if self.short.isdisjoint(hold.amounts):
            self.trace.record_skipped(
                name(hold), "nothing of it would be freed", _USELESS
            )
            return ()
        rivals = self.rivals(hold)
        if found := [rule for rule in rules if rule(rivals)]:
            return found
        age = (
            f" that is {'newer' if self.created < hold.created else 'older'}"
            if hold.priority == self.priority
            else ""
        )
        why = f"{policy} does not let priority {self.priority} take from priority {hold.priority}{age}"
        self.trace.record_skipped(name(hold), why, cited(rules))
        return ()

    def protecting_rule(
        self, rules: PreemptionRules, node: ResourceNode
    ) -> Rule[..., bool] | None:
        """The rule by which a ClusterQueue or cohort does not give back now."""
        return next(
            (rule for rule in rules.borrowers if not rule(node, self.short)), None
        )

    def fits(self, *, borrowing: bool) -> bool:
        """Whether it fits now, with or without borrowing."""
        node = self.node
        if not borrowing and any(
            node.borrows(of, amount) for of, amount in self.asked.items()
        ):
            return False
        return self.snapshot.fits(self.queue.name, self.asked)

    def fill_back(
        self,
        rules: PreemptionRules,
        victims: Sequence[PreemptionTarget],
        *,
        borrowing: bool,
    ) -> tuple[PreemptionTarget, ...]:
        """Let go of victims that are not needed after all, and take every removal back."""

        def fits_without(victim: PreemptionTarget) -> bool:
            self.snapshot.restore(victim.hold)
            if self.fits(borrowing=borrowing):
                back.append(victim)
                return True
            self.snapshot.remove(victim.hold)
            return False

        for rule in rules.fill_back:
            back = list[PreemptionTarget]()
            victims = rule(victims, fits_without)
            for victim in back:
                self.trace.record(
                    f"{name(victim.hold)} is put back: {rule.sentence}", cited([rule])
                )
        self.restore(victims)
        return tuple(victims)

    def restore(self, victims: Iterable[PreemptionTarget]) -> None:
        """Take removals back."""
        for victim in victims:
            self.snapshot.restore(victim.hold)
