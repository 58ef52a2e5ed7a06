"""Preemption without fair sharing (Kueue 0.19): whom a workload preempts in its ClusterQueue and its cohort tree.

Kueue: pkg/scheduler/preemption/preemption.go (classicalPreemptions, fillBackWorkloads);
    pkg/scheduler/preemption/classical/candidate_generator.go (NewCandidateIterator);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (collectCandidatesForHierarchicalReclaim)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.behaviours.phases_scheduling import PreemptionRules
from kueue_dra_ref.cache.snapshot import Amounts, ReservedWorkload
from kueue_dra_ref.explain.step import cited, listed
from kueue_dra_ref.model.resource_node import ResourceNode, minus
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.preemption.preemption_policies import (
    BORROWING,
    RECLAIM,
    WITHIN,
    Candidate,
)
from kueue_dra_ref.scheduler.preemption.context import (
    PreemptionContext,
    PreemptionTarget,
)
from kueue_dra_ref.scheduler.preemption.trace import Place, name

_NO_POLICY = ("PREEMPT-004",)
"""Says that without a policy nobody in the ClusterQueue is preempted."""


@dataclass(slots=True, kw_only=True)
class CandidateElem:
    """A candidate with its reason; ``below`` is the part of the tree from which it takes."""

    hold: ReservedWorkload
    seen: Candidate
    reason: str
    cites: tuple[str, ...]
    protecting: tuple[Rule[..., bool], ...] = ()
    """The rules that keep it from being preempted for who borrows."""
    below: ResourceNode | None = None


@dataclass(slots=True, kw_only=True)
class ClassicalPreemption:
    """One search for victims."""

    rules: PreemptionRules
    contest: PreemptionContext
    _elements: list[CandidateElem] = field(default_factory=list)

    def victims(self) -> tuple[PreemptionTarget, ...]:
        """Whom to preempt; nobody when that would not help."""
        self._elements = sorted([*self._own(), *self._others()], key=self._place)
        lined_up = (
            (each.hold, self._place(each), each.cites) for each in self._elements
        )
        self.contest.trace.record_order(self.rules.order, lined_up)
        for borrowing in self._attempts() if self._elements else ():
            if found := self._attempt(borrowing):
                return found
        return ()

    def _place(self, element: CandidateElem) -> Place:
        return tuple(rule(element.seen) for rule in self.rules.order), element.hold.uid

    def _attempts(self) -> tuple[bool, ...]:
        """With and without borrowing: while borrowing there are fewer candidates, but more that fits."""
        contest, others = (
            self.contest,
            [element for element in self._elements if not element.seen.same_queue],
        )
        forbidden = contest.queue.preemption.borrow == "Never"
        under = all(
            contest.node.quota_for(of).nominal > contest.node.usage.get(of, 0)
            for of in contest.short
        )
        if not others or (forbidden and not under):
            return (True,)
        return (
            (False, True)
            if forbidden and not any(element.seen.below for element in others)
            else (True, False)
        )

    def _attempt(self, borrowing: bool) -> tuple[PreemptionTarget, ...]:
        taken: list[PreemptionTarget] = []
        how = "borrowing allowed" if borrowing else "without borrowing"
        for element in self._elements:
            if kept := self._protecting(element, borrowing):
                self.contest.trace.record_skipped(
                    name(element.hold), kept[0].sentence, kept[0].requirements, how
                )
                continue
            self.contest.snapshot.remove(element.hold)
            taken.append(
                PreemptionTarget(
                    hold=element.hold, reason=element.reason, cites=element.cites
                )
            )
            if self.contest.fits(borrowing=borrowing):
                self._tell(how, "it fits", taken)
                return self.contest.fill_back(self.rules, taken, borrowing=borrowing)
        self._tell(how, "it does not fit", taken)
        self.contest.restore(taken)
        return ()

    def _tell(self, how: str, outcome: str, taken: Sequence[PreemptionTarget]) -> None:
        gone = listed([name(victim.hold) for victim in taken]) or "nobody"
        cites = dict.fromkeys(one for victim in taken for one in victim.cites)
        where = f", {how}" if self.contest.node.parent else ""
        self.contest.trace.record(f"with {gone} gone, {outcome}{where}", tuple(cites))

    def _protecting(
        self, element: CandidateElem, borrowing: bool
    ) -> Sequence[Rule[..., bool]]:
        """The rules that keep a candidate from being preempted in this attempt."""
        if element.seen.same_queue:
            return ()
        if borrowing and element.protecting:
            return element.protecting
        node = self.contest.snapshot.node(element.hold.cluster_queue)
        path = [node]
        for cohort in node.path_parent_to_root():
            if cohort is element.below:
                break
            path.append(cohort)
        return [
            rule
            for one in path
            if (rule := self.contest.protecting_rule(self.rules, one))
        ]

    def _own(self) -> Iterator[CandidateElem]:
        contest, policy = self.contest, self.contest.queue.preemption.within
        if policy == "Never":
            contest.trace.record_skipped(
                f"everybody in ClusterQueue {contest.queue.name}",
                "withinClusterQueue is Never",
                _NO_POLICY,
            )
            return
        for hold in contest.snapshot.holding(contest.queue.name):
            if allowed := contest.allowed(
                self.rules.within_cluster_queue, hold, f"withinClusterQueue {policy}"
            ):
                yield CandidateElem(
                    hold=hold,
                    seen=seen(hold, same_queue=True),
                    reason=WITHIN,
                    cites=cited(allowed),
                )

    def _others(self) -> Iterator[CandidateElem]:
        contest, skip = self.contest, None
        if contest.queue.preemption.reclaim == "Never":
            if contest.node.parent:
                why = "reclaimWithinCohort is Never"
                contest.trace.record_skipped(
                    "everybody else in the cohort",
                    why,
                    cited(self.rules.reclaim_within_cohort),
                )
            return
        favoured, missing = _fits_quota(contest.node, contest.asked)
        for cohort in contest.node.path_parent_to_root():
            for queue in self._below(cohort, skip):
                yield from self._in(queue, cohort, favoured)
            fits, missing = _fits_quota(cohort, missing)
            favoured, skip = favoured or fits, cohort

    def _below(
        self, cohort: ResourceNode, skip: ResourceNode | None
    ) -> Iterator[ResourceNode]:
        for member in cohort.members:
            if member is skip or member is self.contest.node:
                continue
            if rule := self.contest.protecting_rule(self.rules, member):
                self.contest.trace.record_skipped(
                    member.title, rule.sentence, cited([rule])
                )
            elif not member.is_queue:
                yield from self._below(member, skip)
            elif member.active:
                yield member
            else:
                self.contest.trace.record_skipped(member.title, "it is not active", ())

    def _in(
        self, queue: ResourceNode, below: ResourceNode, favoured: bool
    ) -> Iterator[CandidateElem]:
        policy = f"reclaimWithinCohort {self.contest.queue.preemption.reclaim}"
        for hold in self.contest.snapshot.holding(queue.name):
            allowed = self.contest.allowed(
                self.rules.reclaim_within_cohort, hold, policy
            )
            if not allowed:
                continue
            rivals = self.contest.rivals(hold)
            protecting = tuple(
                rule for rule in self.rules.borrow_within_cohort if not rule(rivals)
            )
            yield CandidateElem(
                hold=hold,
                seen=seen(hold, below=favoured),
                reason=RECLAIM if protecting or favoured else BORROWING,
                cites=cited(allowed),
                protecting=() if favoured else protecting,
                below=below,
            )


def seen(
    hold: ReservedWorkload, *, same_queue: bool = False, below: bool = False
) -> Candidate:
    """A workload that holds quota, as the order of victims sees it."""
    return Candidate(
        evicted=hold.evicted,
        same_queue=same_queue,
        below=below,
        priority=hold.priority,
        reserved=hold.reserved,
    )


def _fits_quota(node: ResourceNode, amounts: Amounts) -> tuple[bool, Amounts]:
    """Whether a node's own subtree has amounts more, and what it would have to get from above."""
    fits = not any(node.exceeds(of, amount) for of, amount in amounts.items())
    return fits, {
        of: max(0, minus(amount, node.local_available(of)))
        for of, amount in amounts.items()
    }
