"""Preemption with fair sharing (Kueue 0.19): workloads give way until the shares of borrowers are fair.

Kueue: pkg/scheduler/preemption/preemption.go (fairPreemptions, runFirstFsStrategy, runSecondFsStrategy);
    pkg/scheduler/preemption/fairsharing/ordering.go (TargetClusterQueueOrdering);
    pkg/scheduler/preemption/fairsharing/strategy.go (LessThanOrEqualToFinalShare, LessThanInitialShare)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.behaviours.phases_scheduling import FairSharingRules, PreemptionRules
from kueue_dra_ref.cache.snapshot import Key, ReservedWorkload
from kueue_dra_ref.explain.step import cited
from kueue_dra_ref.model.resource_node import (
    DominantResourceShare,
    ResourceNode,
    dominant_resource_share,
)
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.preemption.fair_sharing import (
    StrategyShares,
)
from kueue_dra_ref.rules.preemption.preemption_policies import (
    RECLAIM,
    SHARING,
    WITHIN,
)
from kueue_dra_ref.scheduler.preemption.classical import seen
from kueue_dra_ref.scheduler.preemption.context import (
    PreemptionContext,
    PreemptionTarget,
)
from kueue_dra_ref.scheduler.preemption.trace import Place, described, name

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
_NOBODY = (False, -1.0)
"""Ranks below every share."""


@dataclass(slots=True, kw_only=True)
class TargetClusterQueueOrdering:
    """Whose workload is next: down the tree, the member with the largest share that still has a candidate."""

    contest: PreemptionContext
    waiting: dict[str, list[ReservedWorkload]]
    place: Callable[[ReservedWorkload], Any]
    passed_over: Sequence[Rule[[DominantResourceShare], bool]] = ()
    _dropped: set[str] = field(default_factory=set)
    _closed: set[int] = field(default_factory=set)

    def __iter__(self) -> Iterator[ResourceNode]:
        own = self.contest.node
        if own.parent is None:
            while own.name not in self._dropped and self.waiting.get(own.name):
                yield own
            return
        root = own.root
        while id(root) not in self._closed:
            if found := self._next(root):
                yield found

    def drop(self, queue: ResourceNode) -> None:
        """Ask a ClusterQueue no more."""
        self._dropped.add(queue.name)

    def pop(self, queue: ResourceNode) -> ReservedWorkload:
        """The next candidate of a ClusterQueue."""
        return self.waiting[queue.name].pop(0)

    def _next(self, cohort: ResourceNode) -> ResourceNode | None:
        queue, most = self._queue(cohort)
        inner, more = self._cohort(cohort)
        if queue is None and inner is None:
            self._closed.add(id(cohort))
            return None
        if queue is None or (inner is not None and more >= most):
            return self._next(inner) if inner is not None else None
        largest = "infinite" if most[0] else f"{most[1]:g}"
        self.contest.trace.turn(
            f"{queue.title} is next, with the largest share: {largest}"
        )
        return queue

    def _queue(
        self, cohort: ResourceNode
    ) -> tuple[ResourceNode | None, tuple[bool, float]]:
        best, most = None, _NOBODY
        for queue in (
            m
            for m in cohort.members
            if m.is_queue and m.active and m.name not in self._dropped
        ):
            found = dominant_resource_share(queue)
            if not self.waiting.get(queue.name) or (
                queue is not self.contest.node and self._passes(found)
            ):
                self._dropped.add(queue.name)
            elif best is None or found.compare_key > most:
                best, most = queue, found.compare_key
            elif found.compare_key == most and self._is_before(queue, best):
                best = queue
        return best, most

    def _passes(self, found: DominantResourceShare) -> bool:
        """Whether a member has nothing to give back."""
        return not found.borrowed or any(rule(found) for rule in self.passed_over)

    def _is_before(self, queue: ResourceNode, other: ResourceNode) -> bool:
        first, second = self.waiting[queue.name][0], self.waiting[other.name][0]
        return bool(self.place(first) < self.place(second))

    def _cohort(
        self, cohort: ResourceNode
    ) -> tuple[ResourceNode | None, tuple[bool, float]]:
        best, most = None, _NOBODY
        path = list(self.contest.node.path_parent_to_root())
        for inner in (
            m for m in cohort.members if not m.is_queue and id(m) not in self._closed
        ):
            found = dominant_resource_share(inner)
            if self._passes(found) and inner not in path:
                self._closed.add(id(inner))
            elif found.compare_key >= most:
                best, most = inner, found.compare_key
        return best, most


@dataclass(slots=True, kw_only=True)
class FairSharingPreemption:
    """One search for victims."""

    rules: PreemptionRules
    sharing: FairSharingRules
    strategies: Sequence[str]
    contest: PreemptionContext
    _taken: list[PreemptionTarget] = field(default_factory=list)
    _left: list[ReservedWorkload] = field(default_factory=list)
    _cites: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    """What lets each candidate be preempted."""

    def victims(self) -> tuple[PreemptionTarget, ...]:
        """Whom to preempt; nobody when that would not help."""
        candidates, contest = sorted(self._candidates(), key=self._place), self.contest
        lined_up = (
            (hold, self._place(hold), self._cites[hold.key]) for hold in candidates
        )
        contest.trace.record_order(self.rules.order, lined_up)
        if not candidates:
            return ()
        contest.snapshot.take(contest.queue.name, contest.asked)
        enough = self._first_strategy(candidates) or (
            len(self.strategies) > 1 and self._second_strategy()
        )
        contest.snapshot.release(contest.queue.name, contest.asked)
        if not enough:
            contest.restore(self._taken)
            return ()
        return contest.fill_back(self.rules, self._taken, borrowing=True)

    def _place(self, hold: ReservedWorkload) -> Place:
        candidate = seen(hold, same_queue=hold.cluster_queue == self.contest.queue.name)
        return tuple(rule(candidate) for rule in self.rules.order), hold.uid

    def _candidates(self) -> Iterator[ReservedWorkload]:
        own, policy = self.contest.node, self.contest.queue.preemption
        yield from self._allowed(
            own, self.rules.within_cluster_queue, f"withinClusterQueue {policy.within}"
        )
        for queue in own.root.queues() if own.parent else ():
            if queue is own or not self._is_candidate(queue):
                continue
            yield from self._allowed(
                queue,
                self.rules.reclaim_within_cohort,
                f"reclaimWithinCohort {policy.reclaim}",
            )

    def _is_candidate(self, queue: ResourceNode) -> bool:
        rule = self.contest.protecting_rule(self.rules, queue)
        if rule:
            self.contest.trace.record_skipped(queue.title, rule.sentence, cited([rule]))
        elif not queue.active:
            self.contest.trace.record_skipped(queue.title, "it is not active", ())
        return rule is None and queue.active

    def _allowed(
        self, queue: ResourceNode, rules: tuple[Rule[..., bool], ...], policy: str
    ) -> Iterator[ReservedWorkload]:
        for hold in self.contest.snapshot.holding(queue.name):
            if allowed := self.contest.allowed(rules, hold, policy):
                self._cites[hold.key] = cited(allowed)
                yield hold

    def _turns(
        self, candidates: Sequence[ReservedWorkload]
    ) -> TargetClusterQueueOrdering:
        waiting: dict[str, list[ReservedWorkload]] = {}
        for hold in candidates:
            waiting.setdefault(hold.cluster_queue, []).append(hold)
        passed_over = self.sharing.skip_zero_share
        return TargetClusterQueueOrdering(
            contest=self.contest,
            waiting=waiting,
            place=self._place,
            passed_over=passed_over,
        )

    def _first_strategy(self, candidates: Sequence[ReservedWorkload]) -> bool:
        turns, own = self._turns(candidates), self.contest.node
        entitled = [
            rule
            for rule in self.sharing.within_nominal
            if rule(own, self.contest.short)
        ]
        for queue in turns:
            if queue is own or entitled:
                hold = turns.pop(queue)
                if queue is not own:
                    self.contest.trace.turn(
                        f"{described(hold)} goes: {entitled[0].sentence}",
                        cited(entitled),
                    )
                if self._add_target(hold, WITHIN if queue is own else RECLAIM):
                    return True
            elif self._pick(turns, queue):
                return True
        return False

    def _pick(self, turns: TargetClusterQueueOrdering, queue: ResourceNode) -> bool:
        """Preempt the first candidate of a ClusterQueue that the strategy gives away; whether that is enough."""
        mine, theirs = self._branches(queue)
        preemptor, before = (
            dominant_resource_share(mine),
            dominant_resource_share(theirs),
        )
        while turns.waiting[queue.name]:
            hold = turns.pop(queue)
            if self._passes(
                self.strategies[0],
                hold,
                preemptor,
                before,
                self._share_without(hold, theirs),
            ):
                return self._add_target(hold, SHARING)
            self._left.append(hold)
        return False

    def _second_strategy(self) -> bool:
        turns = self._turns(self._left)
        for queue in turns:
            mine, theirs = self._branches(queue)
            before, hold = dominant_resource_share(theirs), turns.pop(queue)
            if self._passes(
                INITIAL, hold, dominant_resource_share(mine), before, before
            ) and self._add_target(hold, SHARING):
                return True
            turns.drop(queue)
        return False

    def _passes(
        self,
        strategy: str,
        hold: ReservedWorkload,
        preemptor: DominantResourceShare,
        before: DominantResourceShare,
        after: DominantResourceShare,
    ) -> bool:
        rules = (
            self.sharing.initial_share
            if strategy == INITIAL
            else self.sharing.final_share
        )
        passes = any(
            rule(StrategyShares(preemptor=preemptor, before=before, after=after))
            for rule in rules
        )
        theirs = (
            f"the {before.precise_weighted_share:g} that the other had"
            if strategy == INITIAL
            else f"{after.precise_weighted_share:g} without it"
        )
        text = f"{described(hold)} {'goes' if passes else 'stays'} by {strategy}: a share of {preemptor.precise_weighted_share:g}"
        self.contest.trace.turn(f"{text} against {theirs}", cited(rules))
        return passes

    def _share_without(
        self, hold: ReservedWorkload, branch: ResourceNode
    ) -> DominantResourceShare:
        with self.contest.snapshot.without([hold]):
            return dominant_resource_share(branch)

    def _add_target(self, hold: ReservedWorkload, reason: str) -> bool:
        contest = self.contest
        contest.snapshot.remove(hold)
        self._taken.append(
            PreemptionTarget(hold=hold, reason=reason, cites=self._cites[hold.key])
        )
        contest.snapshot.release(contest.queue.name, contest.asked)
        enough = contest.fits(borrowing=True)
        contest.snapshot.take(contest.queue.name, contest.asked)
        told = (
            f"with {name(hold)} gone, {'it fits' if enough else 'it does not fit yet'}"
        )
        contest.trace.turn(told, self._cites[hold.key])
        return enough

    def _branches(self, queue: ResourceNode) -> tuple[ResourceNode, ResourceNode]:
        """The two members of the smallest common cohort that lead to the preemptor and to a ClusterQueue."""
        mine, theirs = (
            [self.contest.node, *self.contest.node.path_parent_to_root()],
            [queue, *queue.path_parent_to_root()],
        )
        while mine[-1] is theirs[-1]:
            mine.pop(), theirs.pop()
        return mine[-1], theirs[-1]
