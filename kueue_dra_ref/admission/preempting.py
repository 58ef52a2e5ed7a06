"""Preemption without fair sharing (Kueue 0.19): whom a workload preempts in its ClusterQueue and its cohort tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.snapshot import Amounts, Hold, Snapshot
from kueue_dra_ref.api.nouns import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Preempting
from kueue_dra_ref.quota import FlavorResource, Node, minus
from kueue_dra_ref.rules.preemption import BORROWING, RECLAIM, WITHIN, Candidate, Rivals


@dataclass(frozen=True, slots=True, kw_only=True)
class Victim:
    """Somebody to be preempted, and the reason."""

    hold: Hold
    reason: str
    cites: tuple[str, ...] = ()
    """The requirements that let it be preempted, as far as rules of priority do."""


def told(victims: Iterable[Victim]) -> tuple[Step, ...]:
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
class Contest:
    """A workload that asks for more than is left: what of it is short, and where."""

    snapshot: Snapshot
    queue: ClusterQueue
    priority: int
    created: int
    asked: Amounts
    short: frozenset[FlavorResource]

    @property
    def node(self) -> Node:
        """The place of its ClusterQueue in the tree."""
        return self.snapshot.node(self.queue.name)

    def rivals(self, hold: Hold) -> Rivals:
        """Compare with a workload that holds quota."""
        return Rivals(
            policy=self.queue.preemption,
            priority=self.priority,
            created=self.created,
            other_priority=hold.priority,
            other_created=hold.created,
        )

    def fits(self, *, borrowing: bool) -> bool:
        """Whether it fits now, with or without borrowing."""
        node = self.node
        if not borrowing and any(node.borrows(of, amount) for of, amount in self.asked.items()):
            return False
        return self.snapshot.fits(self.queue.name, self.asked)

    def spare(self, rules: Preempting, victims: Sequence[Victim], *, borrowing: bool) -> tuple[Victim, ...]:
        """Let go of victims that are not needed after all, and take every removal back."""

        def fits_without(victim: Victim) -> bool:
            self.snapshot.restore(victim.hold)
            if self.fits(borrowing=borrowing):
                return True
            self.snapshot.remove(victim.hold)
            return False

        for rule in rules.spared:
            victims = rule(victims, fits_without)
        self.restore(victims)
        return tuple(victims)

    def restore(self, victims: Iterable[Victim]) -> None:
        """Take removals back."""
        for victim in victims:
            self.snapshot.restore(victim.hold)


@dataclass(slots=True, kw_only=True)
class _Element:
    """A candidate with its reason; ``below`` is the part of the tree from which it takes."""

    hold: Hold
    seen: Candidate
    reason: str
    cites: tuple[str, ...]
    may_borrow: bool = True
    below: Node | None = None


@dataclass(slots=True, kw_only=True)
class Classical:
    """One search for victims."""

    rules: Preempting
    contest: Contest
    _elements: list[_Element] = field(default_factory=list)

    def victims(self) -> tuple[Victim, ...]:
        """Whom to preempt; nobody when that would not help."""
        self._elements = sorted([*self._own(), *self._others()], key=self._place)
        for borrowing in self._attempts():
            if found := self._attempt(borrowing):
                return found
        return ()

    def _place(self, element: _Element) -> tuple[tuple[tuple[int, ...], ...], str]:
        return tuple(rule(element.seen) for rule in self.rules.order), element.hold.uid

    def _attempts(self) -> tuple[bool, ...]:
        """With and without borrowing: while borrowing there are fewer candidates, but more that fits."""
        contest, others = self.contest, [element for element in self._elements if not element.seen.same_queue]
        forbidden = contest.queue.preemption.borrow == "Never"
        under = all(contest.node.limit(of).nominal > contest.node.used.get(of, 0) for of in contest.short)
        if not others or (forbidden and not under):
            return (True,)
        return (False, True) if forbidden and not any(element.seen.below for element in others) else (True, False)

    def _attempt(self, borrowing: bool) -> tuple[Victim, ...]:
        taken: list[Victim] = []
        for element in self._elements:
            if self._is_valid(element, borrowing):
                self.contest.snapshot.remove(element.hold)
                taken.append(Victim(hold=element.hold, reason=element.reason, cites=element.cites))
                if self.contest.fits(borrowing=borrowing):
                    return self.contest.spare(self.rules, taken, borrowing=borrowing)
        self.contest.restore(taken)
        return ()

    def _is_valid(self, element: _Element, borrowing: bool) -> bool:
        if element.seen.same_queue:
            return True
        if borrowing and not element.may_borrow:
            return False
        node = self.contest.snapshot.node(element.hold.cluster_queue)
        path = [node]
        for cohort in node.above():
            if cohort is element.below:
                break
            path.append(cohort)
        return all(self._gives_back(one) for one in path)

    def _gives_back(self, node: Node) -> bool:
        return all(rule(node, self.contest.short) for rule in self.rules.borrowers)

    def _own(self) -> Iterator[_Element]:
        if self.contest.queue.preemption.within == "Never":
            return
        for hold in self.contest.snapshot.holding(self.contest.queue.name):
            rivals = self.contest.rivals(hold)
            allowed = [rule for rule in self.rules.within if rule(rivals)]
            if uses(hold, self.contest.short) and allowed:
                yield _Element(hold=hold, seen=seen(hold, same_queue=True), reason=WITHIN, cites=cited(allowed))

    def _others(self) -> Iterator[_Element]:
        if self.contest.queue.preemption.reclaim == "Never":
            return
        contest, skip = self.contest, None
        favoured, missing = _fits_quota(contest.node, contest.asked)
        for cohort in contest.node.above():
            for queue in self._below(cohort, skip):
                yield from self._in(queue, cohort, favoured)
            fits, missing = _fits_quota(cohort, missing)
            favoured, skip = favoured or fits, cohort

    def _below(self, cohort: Node, skip: Node | None) -> Iterator[Node]:
        for member in cohort.members:
            if member is skip or member is self.contest.node or not self._gives_back(member):
                continue
            if not member.is_queue:
                yield from self._below(member, skip)
            elif member.active:
                yield member

    def _in(self, queue: Node, below: Node, favoured: bool) -> Iterator[_Element]:
        for hold in self.contest.snapshot.holding(queue.name):
            rivals = self.contest.rivals(hold)
            allowed = [rule for rule in self.rules.reclaim if rule(rivals)]
            if not uses(hold, self.contest.short) or not allowed:
                continue
            borrowing = all(rule(rivals) for rule in self.rules.while_borrowing)
            yield _Element(
                hold=hold,
                seen=seen(hold, below=favoured),
                reason=BORROWING if borrowing and not favoured else RECLAIM,
                cites=cited(allowed),
                may_borrow=favoured or borrowing,
                below=below,
            )


def uses(hold: Hold, short: frozenset[FlavorResource]) -> bool:
    """Whether a workload could free something of what is short; whoever could not is left alone (PREEMPT-005)."""
    return not short.isdisjoint(hold.amounts)


def seen(hold: Hold, *, same_queue: bool = False, below: bool = False) -> Candidate:
    """A workload that holds quota, as the order of victims sees it."""
    return Candidate(
        evicted=hold.evicted, same_queue=same_queue, below=below, priority=hold.priority, reserved=hold.reserved
    )


def _fits_quota(node: Node, amounts: Amounts) -> tuple[bool, Amounts]:
    """Whether a node's own subtree has amounts more, and what it would have to get from above."""
    fits = not any(node.exceeds(of, amount) for of, amount in amounts.items())
    return fits, {of: max(0, minus(amount, node.unused_here(of))) for of, amount in amounts.items()}
