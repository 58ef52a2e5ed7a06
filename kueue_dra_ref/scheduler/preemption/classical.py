"""Classical preemption (Kueue 0.19): targets in the preemptor's ClusterQueue and in its cohort hierarchy.

Kueue: pkg/scheduler/preemption/preemption.go (classicalPreemptions, fillBackWorkloads);
    pkg/scheduler/preemption/classical/candidate_generator.go (NewCandidateIterator);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (collectCandidatesForHierarchicalReclaim)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.behaviours.phases_scheduling import PreemptionRules
from kueue_dra_ref.cache.snapshot import (
    FlavorResourceQuantities,
    ReservedWorkload,
    Snapshot,
)
from kueue_dra_ref.explain.step import cited, listed
from kueue_dra_ref.model.resource_node import ResourceNode, minus
from kueue_dra_ref.rules.preemption.preemption_policies import (
    BORROWING,
    RECLAIM,
    WITHIN,
    Candidate,
    LocalQueueShare,
)
from kueue_dra_ref.scheduler.preemption.context import (
    AnyRule,
    PreemptionContext,
    PreemptionTarget,
    Targets,
)
from kueue_dra_ref.scheduler.preemption.trace import OrderedCandidate, SortKey

_NO_POLICY = ("PREEMPT-004",)
"""The requirement that without a policy the ClusterQueue has no candidates."""


@dataclass(slots=True, kw_only=True)
class CandidateElem:
    """A candidate with the reason for its preemption, and the variant of preemption that applies to it."""

    workload: ReservedWorkload
    candidate: Candidate
    reason: str
    cites: tuple[str, ...]
    protecting: Sequence[AnyRule] = ()
    """The rules that do not allow preempting it while the preemptor borrows."""
    lca: ResourceNode | None = None
    """The lowest common ancestor of the preemptor's ClusterQueue and another one."""


@dataclass(slots=True, kw_only=True)
class ClassicalPreemption:
    """One search for targets."""

    rules: PreemptionRules
    context: PreemptionContext
    _candidates: list[CandidateElem] = field(default_factory=list)

    def targets(self) -> Targets:
        """Give the workloads to preempt; none if preempting all candidates is not enough."""
        candidates = [*self._same_queue_candidates(), *self._cohort_candidates()]
        self._candidates = sorted(candidates, key=self._sort_key)
        self._record_order()
        if not self._candidates:
            return ()
        for borrowing in self._attempts():
            targets = self._attempt(borrowing)
            if targets:
                return targets
        return ()

    def _sort_key(self, element: CandidateElem) -> SortKey:
        return self.rules.order(element.candidate), element.workload.uid

    def _record_order(self) -> None:
        ordered = []
        for each in self._candidates:
            key = self._sort_key(each)
            ordered.append(OrderedCandidate(each.workload, key, each.cites))
        self.context.trace.record_order(self.rules.order, ordered)

    def _attempts(self) -> tuple[bool, ...]:
        """Give the attempts in order, each with or without borrowing.

        Borrowing protects more candidates, but lets the preemptor use more quota.
        """
        others = [each for each in self._candidates if not each.candidate.same_queue]
        forbidden = self.context.queue.preemption.borrow == "Never"
        if not others:
            return (True,)
        if forbidden and not self._is_under_nominal():
            return (True,)
        if forbidden and not any(each.candidate.below for each in others):
            return False, True
        return True, False

    def _is_under_nominal(self) -> bool:
        """Whether the ClusterQueue uses less than its nominal quota of everything that needs preemption."""
        node = self.context.node
        short = self.context.frs_need_preemption
        return all(node.quota_for(of).nominal > node.used(of) for of in short)

    def _attempt(self, borrowing: bool) -> Targets:
        """Remove candidates in order until the preemptor fits, then fill back."""
        context = self.context
        targets: list[PreemptionTarget] = []
        for element in self._candidates:
            protecting = self._protecting(element, borrowing)
            if protecting:
                self._record_protected(element, protecting[0], borrowing)
                continue
            context.snapshot.remove_workload(element.workload)
            target = PreemptionTarget(
                workload=element.workload,
                reason=element.reason,
                cites=element.cites,
            )
            targets.append(target)
            if context.fits(borrowing=borrowing):
                self._record_attempt(targets, "fits", borrowing)
                return context.fill_back(self.rules, targets, borrowing=borrowing)
        self._record_attempt(targets, "does not fit", borrowing)
        context.restore(targets)
        return ()

    def _record_protected(
        self, element: CandidateElem, rule: AnyRule, borrowing: bool
    ) -> None:
        attempt = "with borrowing" if borrowing else "without borrowing"
        workload, cites = element.workload, rule.requirements
        self.context.trace.record_skipped(workload, rule.sentence, cites, attempt)

    def _record_attempt(
        self, targets: Sequence[PreemptionTarget], outcome: str, borrowing: bool
    ) -> None:
        names = [target.workload.name for target in targets]
        cites = dict.fromkeys(one for target in targets for one in target.cites)
        after = f"after preempting {listed(names)}" if names else "without preemption"
        text = f"{after}, the workload {outcome}"
        if self.context.node.parent:
            text += " with borrowing" if borrowing else " without borrowing"
        self.context.trace.record(text, tuple(cites))

    def _protecting(self, element: CandidateElem, borrowing: bool) -> Sequence[AnyRule]:
        """Give the rules that do not allow preempting a candidate in this attempt."""
        if element.candidate.same_queue:
            return ()
        if borrowing and element.protecting:
            return element.protecting
        node = self.context.snapshot.node(element.workload.cluster_queue)
        path = [node]
        for cohort in node.path_parent_to_root():
            if cohort is element.lca:
                break
            path.append(cohort)
        protecting = []
        for node in path:
            rule = self.context.protecting_rule(self.rules, node)
            if rule:
                protecting.append(rule)
        return protecting

    def _same_queue_candidates(self) -> Iterator[CandidateElem]:
        context = self.context
        name = context.queue.name
        policy = context.queue.preemption.within
        if policy == "Never":
            reason = "withinClusterQueue is Never"
            where = f"ClusterQueue {name}"
            context.trace.record_no_candidates(where, reason, _NO_POLICY)
            return
        rules = self.rules.within_cluster_queue
        for workload in context.snapshot.workloads(name):
            allowing = context.allowing(rules, workload, f"withinClusterQueue {policy}")
            if allowing:
                yield CandidateElem(
                    workload=workload,
                    candidate=candidate_of(
                        self.context.snapshot, workload, same_queue=True
                    ),
                    reason=WITHIN,
                    cites=cited(allowing),
                )

    def _cohort_candidates(self) -> Iterator[CandidateElem]:
        """Collect candidates for hierarchical reclaim, from the nearest cohort to the root."""
        context = self.context
        if context.queue.preemption.reclaim == "Never":
            self._record_no_reclaim()
            return
        has_advantage, missing = _fits_quota(context.node, context.usage)
        visited = None
        for cohort in context.node.path_parent_to_root():
            for queue in self._queues_below(cohort, visited):
                yield from self._candidates_in(queue, cohort, has_advantage)
            fits, missing = _fits_quota(cohort, missing)
            has_advantage = has_advantage or fits
            visited = cohort

    def _record_no_reclaim(self) -> None:
        if self.context.node.parent:
            where = "other ClusterQueues of the cohort"
            reason = "reclaimWithinCohort is Never"
            cites = cited(self.rules.reclaim_within_cohort)
            self.context.trace.record_no_candidates(where, reason, cites)

    def _queues_below(
        self, cohort: ResourceNode, visited: ResourceNode | None
    ) -> Iterator[ResourceNode]:
        """Give the ClusterQueues below a cohort that may have candidates, without a subtree visited before."""
        trace = self.context.trace
        for member in cohort.members:
            if member is visited or member is self.context.node:
                continue
            rule = self.context.protecting_rule(self.rules, member)
            if rule:
                cites = cited([rule])
                trace.record_no_candidates(member.title, rule.sentence, cites)
            elif not member.is_queue:
                yield from self._queues_below(member, visited)
            elif member.active:
                yield member
            else:
                trace.record_no_candidates(member.title, "it is not active", ())

    def _candidates_in(
        self, queue: ResourceNode, lca: ResourceNode, has_advantage: bool
    ) -> Iterator[CandidateElem]:
        context, rules = self.context, self.rules
        policy = f"reclaimWithinCohort {context.queue.preemption.reclaim}"
        for workload in context.snapshot.workloads(queue.name):
            allowing = context.allowing(rules.reclaim_within_cohort, workload, policy)
            if not allowing:
                continue
            compared = context.compared_with(workload)
            protecting = rules.borrow_within_cohort.failing(compared)
            reclaims = has_advantage or bool(protecting)
            yield CandidateElem(
                workload=workload,
                candidate=candidate_of(
                    self.context.snapshot, workload, below=has_advantage
                ),
                reason=RECLAIM if reclaims else BORROWING,
                cites=cited(allowing),
                protecting=() if has_advantage else protecting,
                lca=lca,
            )


def candidate_of(
    snapshot: Snapshot,
    workload: ReservedWorkload,
    *,
    same_queue: bool = False,
    below: bool = False,
) -> Candidate:
    """Give the fields of a workload that decide its place among the candidates."""
    return Candidate(
        evicted=workload.evicted,
        same_queue=same_queue,
        below=below,
        priority=workload.priority,
        reserved=workload.reserved,
        usage=_share_of(snapshot, workload),
    )


def _share_of(snapshot: Snapshot, workload: ReservedWorkload) -> LocalQueueShare | None:
    used = snapshot.local_queue_usage(workload)
    if used is None:
        return None
    return LocalQueueShare(cluster_queue=workload.cluster_queue, used=used)


def _fits_quota(
    node: ResourceNode, amounts: FlavorResourceQuantities
) -> tuple[bool, FlavorResourceQuantities]:
    """Whether amounts fit the SubtreeQuota of a node, and the amounts that its parent would have to provide."""
    fits = not any(node.exceeds(of, amount) for of, amount in amounts.items())
    missing = {}
    for of, amount in amounts.items():
        missing[of] = max(0, minus(amount, node.local_available(of)))
    return fits, missing
