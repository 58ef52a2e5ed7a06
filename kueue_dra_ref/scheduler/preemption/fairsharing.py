"""Preemption with fair sharing (Kueue 0.19): targets from the ClusterQueues with the largest shares.

Kueue: pkg/scheduler/preemption/preemption.go (fairPreemptions, runFirstFsStrategy, runSecondFsStrategy);
    pkg/scheduler/preemption/fairsharing/ordering.go (TargetClusterQueueOrdering);
    pkg/scheduler/preemption/fairsharing/strategy.go (LessThanOrEqualToFinalShare, LessThanInitialShare)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.behaviours.phases_scheduling import FairSharingRules, PreemptionRules
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.explain.step import cited
from kueue_dra_ref.model.dominant_resource_share import (
    DominantResourceShare,
    dominant_resource_share,
)
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import ResourceNode
from kueue_dra_ref.model.slots import AnyOf
from kueue_dra_ref.rules.preemption.fair_sharing import (
    INITIAL,
    StrategyShares,
)
from kueue_dra_ref.rules.preemption.preemption_policies import (
    RECLAIM,
    SHARING,
    WITHIN,
    PreemptorAndCandidate,
)
from kueue_dra_ref.scheduler.preemption.classical import candidate_of
from kueue_dra_ref.scheduler.preemption.context import (
    PreemptionContext,
    PreemptionTarget,
    Targets,
)
from kueue_dra_ref.scheduler.preemption.fairsharing_trace import (
    record_next,
    record_strategy,
    record_target,
    record_within_nominal,
)
from kueue_dra_ref.scheduler.preemption.trace import OrderedCandidate, SortKey


@dataclass(slots=True, kw_only=True)
class TargetClusterQueueOrdering:
    """Gives the ClusterQueue to preempt in next: from the root down, the member with the largest share.

    ClusterQueues without candidates and members that do not borrow are left out.
    """

    context: PreemptionContext
    candidates: dict[str, list[ReservedWorkload]]
    """The candidates of each ClusterQueue, in order."""
    sort_key: Callable[[ReservedWorkload], SortKey]
    skip: AnyOf[[DominantResourceShare]]
    _dropped: set[str] = field(default_factory=set)

    def __iter__(self) -> Iterator[ResourceNode]:
        root = self.context.node.root
        while self._has_targets(root):
            yield self._next_target(root)

    def drop_queue(self, queue: ResourceNode) -> None:
        """Exclude a ClusterQueue from the ordering."""
        self._dropped.add(queue.name)

    def pop_workload(self, queue: ResourceNode) -> ReservedWorkload:
        """Remove and give the next candidate of a ClusterQueue."""
        return self.candidates[queue.name].pop(0)

    def _has_targets(self, node: ResourceNode) -> bool:
        """Whether a node has candidates, and borrows or leads to the preemptor."""
        own = self.context.node
        leads_to_preemptor = node in (own, *own.path_parent_to_root())
        if not leads_to_preemptor and self._is_skipped(node):
            return False
        if node.is_queue:
            has_candidates = bool(self.candidates.get(node.name))
            return has_candidates and node.name not in self._dropped
        return any(map(self._has_targets, node.members))

    def _next_target(self, node: ResourceNode) -> ResourceNode:
        if node.is_queue:
            return node
        members = [member for member in node.members if self._has_targets(member)]
        cohorts = [member for member in members if not member.is_queue]
        queues = [member for member in members if member.is_queue]
        queues.sort(key=self._first_candidate)
        largest = max((*cohorts, *queues), key=_compare_key)
        record_next(self.context.trace, largest)
        return self._next_target(largest)

    def _first_candidate(self, queue: ResourceNode) -> SortKey:
        return self.sort_key(self.candidates[queue.name][0])

    def _is_skipped(self, node: ResourceNode) -> bool:
        """Whether a member does not borrow, or the behaviour skips its share."""
        drs = dominant_resource_share(node)
        return not drs.borrowed or self.skip(drs)


def _compare_key(node: ResourceNode) -> tuple[bool, float]:
    return dominant_resource_share(node).compare_key


@dataclass(slots=True, kw_only=True)
class FairSharingPreemption:
    """One search for targets."""

    rules: PreemptionRules
    sharing: FairSharingRules
    strategies: Sequence[str]
    context: PreemptionContext
    _targets: list[PreemptionTarget] = field(default_factory=list)
    _retry_candidates: list[ReservedWorkload] = field(default_factory=list)
    """The candidates that the first strategy does not allow preempting."""
    _cites: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    """The requirements of the policies that make each workload a candidate."""

    def targets(self) -> Targets:
        """Give the workloads to preempt; none if preempting all that the strategies allow is not enough."""
        context = self.context
        candidates = sorted(self._find_candidates(), key=self._sort_key)
        self._record_order(candidates)
        context.snapshot.add_usage(context.queue.name, context.usage)
        fits = self._run_first_strategy(candidates)
        if not fits and len(self.strategies) > 1:
            fits = self._run_second_strategy()
        context.snapshot.remove_usage(context.queue.name, context.usage)
        if not fits:
            context.restore(self._targets)
            return ()
        return context.fill_back(self.rules, self._targets, borrowing=True)

    def _sort_key(self, workload: ReservedWorkload) -> SortKey:
        name = self.context.queue.name
        same_queue = workload.cluster_queue == name
        snapshot = self.context.snapshot
        candidate = candidate_of(snapshot, workload, same_queue=same_queue)
        return self.rules.order(candidate), workload.uid

    def _record_order(self, candidates: Sequence[ReservedWorkload]) -> None:
        ordered = []
        for workload in candidates:
            key = self._sort_key(workload)
            cites = self._cites[workload.key]
            ordered.append(OrderedCandidate(workload, key, cites))
        self.context.trace.record_order(self.rules.order, ordered)

    def _find_candidates(self) -> Iterator[ReservedWorkload]:
        rules = self.rules
        own = self.context.node
        policies = self.context.queue.preemption
        policy = f"withinClusterQueue {policies.within}"
        yield from self._candidates_in(own, rules.within_cluster_queue, policy)
        policy = f"reclaimWithinCohort {policies.reclaim}"
        for queue in own.root.queues():
            if queue is not own and self._may_have_candidates(queue):
                yield from self._candidates_in(
                    queue, rules.reclaim_within_cohort, policy
                )

    def _may_have_candidates(self, queue: ResourceNode) -> bool:
        trace = self.context.trace
        rule = self.context.protecting_rule(self.rules, queue)
        if rule:
            trace.record_no_candidates(queue.title, rule.sentence, cited([rule]))
            return False
        if not queue.active:
            trace.record_no_candidates(queue.title, "it is not active", ())
        return queue.active

    def _candidates_in(
        self,
        queue: ResourceNode,
        rules: AnyOf[[PreemptorAndCandidate]],
        policy: str,
    ) -> Iterator[ReservedWorkload]:
        for workload in self.context.snapshot.workloads(queue.name):
            allowing = self.context.allowing(rules, workload, policy)
            if allowing:
                self._cites[workload.key] = cited(allowing)
                yield workload

    def _ordering(
        self, candidates: Sequence[ReservedWorkload]
    ) -> TargetClusterQueueOrdering:
        by_queue: dict[str, list[ReservedWorkload]] = {}
        for workload in candidates:
            by_queue.setdefault(workload.cluster_queue, []).append(workload)
        return TargetClusterQueueOrdering(
            context=self.context,
            candidates=by_queue,
            sort_key=self._sort_key,
            skip=self.sharing.skip_zero_share,
        )

    def _run_first_strategy(self, candidates: Sequence[ReservedWorkload]) -> bool:
        """Preempt candidates that the first strategy allows; whether the preemptor fits then."""
        own = self.context.node
        ordering = self._ordering(candidates)
        within_nominal = self.sharing.within_nominal.holding(
            own, self.context.frs_need_preemption
        )
        for queue in ordering:
            if queue is own:
                workload = ordering.pop_workload(queue)
                fits = self._add_target(workload, WITHIN)
            elif within_nominal:
                workload = ordering.pop_workload(queue)
                record_within_nominal(self.context.trace, workload, within_nominal)
                fits = self._add_target(workload, RECLAIM)
            else:
                fits = self._preempt_one_of(ordering, queue)
            if fits:
                return True
        return False

    def _preempt_one_of(
        self, ordering: TargetClusterQueueOrdering, queue: ResourceNode
    ) -> bool:
        """Preempt the first candidate of a ClusterQueue that the first strategy allows; whether that is enough."""
        own_branch, branch = self._almost_lcas(queue)
        preemptor_new = dominant_resource_share(own_branch)
        target_old = dominant_resource_share(branch)
        while ordering.candidates[queue.name]:
            workload = ordering.pop_workload(queue)
            shares = StrategyShares(
                preemptor=preemptor_new,
                before=target_old,
                after=self._share_without(workload, branch),
            )
            if self._is_allowed(self.strategies[0], workload, shares):
                return self._add_target(workload, SHARING)
            self._retry_candidates.append(workload)
        return False

    def _run_second_strategy(self) -> bool:
        """Preempt one candidate of each ClusterQueue that LessThanInitialShare allows; whether that is enough."""
        ordering = self._ordering(self._retry_candidates)
        for queue in ordering:
            own_branch, branch = self._almost_lcas(queue)
            target_old = dominant_resource_share(branch)
            workload = ordering.pop_workload(queue)
            shares = StrategyShares(
                preemptor=dominant_resource_share(own_branch),
                before=target_old,
                after=target_old,
            )
            allowed = self._is_allowed(INITIAL, workload, shares)
            if allowed and self._add_target(workload, SHARING):
                return True
            ordering.drop_queue(queue)
        return False

    def _is_allowed(
        self, strategy: str, workload: ReservedWorkload, shares: StrategyShares
    ) -> bool:
        rules = self.sharing.final_share
        if strategy == INITIAL:
            rules = self.sharing.initial_share
        allowed = rules(shares)
        trace = self.context.trace
        record_strategy(trace, strategy, workload, shares, allowed, cited(rules))
        return allowed

    def _share_without(
        self, workload: ReservedWorkload, branch: ResourceNode
    ) -> DominantResourceShare:
        with self.context.snapshot.simulate_workload_removal([workload]):
            return dominant_resource_share(branch)

    def _add_target(self, workload: ReservedWorkload, reason: str) -> bool:
        """Add a target; whether the preemptor fits then."""
        context = self.context
        cites = self._cites[workload.key]
        context.snapshot.remove_workload(workload)
        target = PreemptionTarget(workload=workload, reason=reason, cites=cites)
        self._targets.append(target)
        fits = self._fits()
        record_target(context.trace, workload, fits, cites)
        return fits

    def _fits(self) -> bool:
        """Whether the preemptor fits, without its simulated usage."""
        context = self.context
        context.snapshot.remove_usage(context.queue.name, context.usage)
        fits = context.fits(borrowing=True)
        context.snapshot.add_usage(context.queue.name, context.usage)
        return fits

    def _almost_lcas(self, queue: ResourceNode) -> tuple[ResourceNode, ResourceNode]:
        """Give the nodes right below the lowest common ancestor, towards the preemptor and towards a ClusterQueue."""
        own = self.context.node
        own_path = [own, *own.path_parent_to_root()]
        path = [queue, *queue.path_parent_to_root()]
        while path[-1] is own_path[-1]:
            own_path.pop()
            path.pop()
        return own_path[-1], path[-1]
