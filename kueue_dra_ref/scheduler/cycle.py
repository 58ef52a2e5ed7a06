"""One scheduling cycle (Kueue 0.19): nominate every head, then process the entries in order.

Kueue: pkg/scheduler/scheduler.go (schedule, processEntry, updateAssignmentIfNeeded, makeClassicalIterator)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.api.variants import has_closed_gate
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Nominee, ReservedCapacity
from kueue_dra_ref.scheduler.entry import Entry, RequeueReason
from kueue_dra_ref.scheduler.fair_sharing_iterator import pop
from kueue_dra_ref.scheduler.nominate import Nominator
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget

Head = tuple[ClusterQueue, WorkloadInfo]
Refusal = tuple[RequeueReason, str, tuple[Step, ...]]
"""Why a ClusterQueue does not nominate a workload: the reason, its message and its steps."""


@dataclass(slots=True, kw_only=True)
class Cycle:
    """One cycle over a snapshot."""

    behaviour: Behaviour
    snapshot: Snapshot
    nominator: Nominator
    fair_sharing: bool
    """Whether fair sharing orders the entries."""
    refused: Callable[[ClusterQueue, WorkloadInfo], Refusal | None]
    """Gives why a workload is not nominated, or None."""
    less_preferred: Callable[[Entry], Key | None] = lambda _: None
    """Gives the admitted variant from which a variant migrates, or None."""
    just_admitted: Collection[Key] = ()
    """The workloads that the last cycle admitted, and whose admission is not written yet."""
    processed: list[Entry] = field(default_factory=list)
    """The nominated entries in the order in which they were processed."""
    _preempted: dict[Key, PreemptionTarget] = field(default_factory=dict)
    """The targets of the entries processed so far."""

    def run(self, heads: Sequence[Head]) -> list[Entry]:
        """Decide every head; the caller carries the decisions out."""
        entries = []
        for queue, info in heads:
            entries.append(Entry(info=info, queue=queue))
        with self.snapshot.rollback():
            nominated = []
            for entry in entries:
                if not self._is_refused(entry):
                    self.nominator.nominate(entry)
                    nominated.append(entry)
            for entry in self._in_order(nominated):
                self._process(entry)
                self.processed.append(entry)
        return entries

    def _is_refused(self, entry: Entry) -> bool:
        refusal = self.refused(entry.queue, entry.info)
        if refusal is None:
            return False
        entry.requeue_reason, entry.message, entry.steps = refusal
        return True

    def _in_order(self, entries: list[Entry]) -> Iterator[Entry]:
        if not self.fair_sharing:
            yield from sorted(entries, key=self._sort_key)
            return
        rules = self.behaviour.fair_sharing
        left = {entry.queue.name: entry for entry in entries}
        while left:
            name = pop(rules, self.snapshot, left)
            yield left.pop(name)

    def _sort_key(self, entry: Entry) -> tuple[Any, ...]:
        nominee = Nominee(
            level=entry.assignment.borrowing,
            priority=entry.info.workload.priority,
            created=entry.info.created,
        )
        return self.behaviour.cycle.order(nominee)

    def _process(self, entry: Entry) -> None:
        """Assume an entry that fits, issue its preemptions, or requeue it."""
        if self._is_deferred(entry):
            return
        mode = entry.assignment.representative_mode
        queue = entry.queue.name
        if mode is FlavorAssignmentMode.NO_FIT:
            entry.requeue_reason = RequeueReason.NO_FIT
            return
        if mode is FlavorAssignmentMode.PREEMPT and not entry.targets:
            entry.requeue_reason = RequeueReason.NO_FIT
            self._reserve_capacity(entry)
            return
        if self._is_gated(entry) or self._is_skipped(entry):
            return
        for target in entry.targets:
            self._preempted[target.workload.key] = target
        self.snapshot.add_usage(queue, entry.assignment.usage)
        self.snapshot.place(entry.assignment.placed)
        if mode is FlavorAssignmentMode.PREEMPT:
            self._preempt(entry)
        else:
            self._migrate(entry)

    def _is_gated(self, entry: Entry) -> bool:
        """Whether an entry needs preemption, and has a preemption gate that is not open."""
        if entry.assignment.representative_mode is FlavorAssignmentMode.FIT:
            return False
        closed = has_closed_gate(entry.info.obj)
        answer = self.behaviour.concurrent.gated.answer(closed)
        if not answer:
            return False
        entry.requeue_reason = RequeueReason.PREEMPTION_GATED
        entry.message = answer.value
        entry.steps += (Step.by(answer.value, answer.rule),)
        return True

    def _migrate(self, entry: Entry) -> None:
        """Keep a variant pending until the less preferred one that is admitted has released its quota."""
        entry.migrates_from = self.less_preferred(entry)
        if entry.migrates_from is None:
            return
        entry.requeue_reason = RequeueReason.PENDING_MIGRATION
        entry.progress = None
        entry.message += ". Pending the migration of 1 workload(s)"

    def _is_deferred(self, entry: Entry) -> bool:
        """Assign again if targets overlap; whether the entry then fits once the entries before it have preempted."""
        rules = self.behaviour.cycle
        recomputing = rules.recompute.holding(self._overlaps(entry))
        if not recomputing:
            self._find_other_nodes(entry)
            return False
        targets = [target.workload for target in self._preempted.values()]
        with self.snapshot.without_workloads(targets):
            self.nominator.nominate_again(entry)
        text = "its preemption targets overlap with those of another workload: assigned again without these targets"
        entry.steps = (Step.by(text, *recomputing), *entry.steps)
        mode = entry.assignment.representative_mode
        answer = rules.deferred_fit.answer(mode is FlavorAssignmentMode.FIT)
        if not answer:
            return False
        entry.requeue_reason = RequeueReason.PENDING_PREEMPTION
        entry.message = answer.value
        entry.progress = None
        entry.steps += (Step.by(answer.value, answer.rule),)
        self.snapshot.add_usage(entry.queue.name, entry.assignment.usage)
        self.snapshot.place(entry.assignment.placed)
        return True

    def _find_other_nodes(self, entry: Entry) -> None:
        """Assign again if entries before it have taken its nodes."""
        if not entry.assignment.placed:
            return
        rules = self.behaviour.cycle.recompute_places
        with self._simulate_preemptions(entry):
            recomputing = rules.holding(self._lacks_room(entry))
        if recomputing:
            self.nominator.nominate_again(entry)
            text = "another workload of the cycle uses its nodes: assigned again"
            entry.steps = (Step.by(text, *recomputing), *entry.steps)

    def _lacks_room(self, entry: Entry) -> bool:
        """Whether an entry fits the quota that is left, but not the nodes."""
        return self._has_quota(entry) and not self._has_room(entry)

    def _has_quota(self, entry: Entry) -> bool:
        return self.snapshot.fits(entry.queue.name, entry.assignment.usage)

    def _has_room(self, entry: Entry) -> bool:
        return self.snapshot.has_room(entry.assignment.placed)

    def _overlaps(self, entry: Entry) -> bool:
        """Whether an entry processed before preempts one of the targets."""
        return any(each.workload.key in self._preempted for each in entry.targets)

    def _is_skipped(self, entry: Entry) -> bool:
        """Whether an entry processed before uses the quota or the targets of this one; then requeue it."""
        rules = self.behaviour.cycle
        answer = rules.victims_overlap.answer(self._overlaps(entry))
        if not answer:
            answer = rules.no_longer_fits.answer(self._fits(entry))
        if not answer:
            return False
        self._skip(entry, answer)
        return True

    def _skip(self, entry: Entry, answer: Answer[str]) -> None:
        message = answer.value
        entry.requeue_reason = RequeueReason.FAILED_AFTER_NOMINATION
        entry.message = message
        assert entry.progress is not None
        if not self.behaviour.assigning.keep_progress_on_skip(entry.progress):
            entry.progress = None
        entry.steps += (Step.by(message, answer.rule),)

    def _fits(self, entry: Entry) -> bool:
        """Whether an entry fits without its targets and those of the entries before it."""
        with self._simulate_preemptions(entry):
            return self._has_quota(entry) and self._has_room(entry)

    def _simulate_preemptions(self, entry: Entry) -> AbstractContextManager[None]:
        """Remove the usage of its targets, and of those of the entries before it, within a ``with`` block."""
        removed = dict(self._preempted)
        for target in entry.targets:
            removed[target.workload.key] = target
        workloads = [target.workload for target in removed.values()]
        return self.snapshot.simulate_workload_removal(workloads)

    def _preempt(self, entry: Entry) -> None:
        """Keep the targets that can be evicted; without any, requeue the entry as if it had none."""
        rules = self.behaviour.preempting
        targets = []
        for target in entry.targets:
            if target is entry.replaced:
                continue
            key = target.workload.key
            ignoring = rules.ignore_just_admitted.holding(key in self.just_admitted)
            if not ignoring:
                targets.append(target)
                continue
            text = f"{target.workload.name} is not preempted: it has just been admitted"
            entry.steps += (Step.by(text, *ignoring),)
        entry.targets = tuple(targets)
        entry.progress = None
        if not targets:
            entry.requeue_reason = RequeueReason.NO_FIT
            return
        entry.requeue_reason = RequeueReason.PENDING_PREEMPTION
        pending = rules.pending.or_else("", len(targets))
        entry.message += pending

    def _reserve_capacity(self, entry: Entry) -> None:
        """Keep what an entry without targets needs from those after it, unless its ClusterQueue always reclaims."""
        if self.behaviour.cycle.reserve_nothing(entry.queue):
            return
        node = self.snapshot.node(entry.queue.name)
        borrows = entry.assignment.borrowing > 0
        rules = self.behaviour.cycle.reserve_capacity
        reserved = {}
        for of, amount in entry.assignment.usage.items():
            capacity = ReservedCapacity(
                asked=amount,
                borrows=borrows,
                used=node.used(of),
                limits=node.quota_for(of),
            )
            reserved[of] = rules.or_else(amount, capacity)
        self.snapshot.add_usage(entry.queue.name, reserved)
        self.snapshot.place(entry.assignment.placed)
