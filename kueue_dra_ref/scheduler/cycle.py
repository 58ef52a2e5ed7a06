"""One scheduling cycle (Kueue 0.19): every head is assigned flavors, then they are dealt with one after another.

Kueue: pkg/scheduler/scheduler.go (schedule, processEntry, makeClassicalIterator)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import Amounts, Key, Snapshot
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Nominee, ReservedCapacity
from kueue_dra_ref.scheduler.entry import Entry, RequeueReason
from kueue_dra_ref.scheduler.fair_sharing_iterator import pop
from kueue_dra_ref.scheduler.nominate import Nominator
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget


@dataclass(slots=True, kw_only=True)
class Cycle:
    """The cycle of a number over a snapshot; ``refused`` says why a ClusterQueue does not take a workload at all."""

    behaviour: Behaviour
    snapshot: Snapshot
    nominator: Nominator
    fair: bool
    """Whether they are dealt with by their shares instead of by their order."""
    refused: Callable[
        [ClusterQueue, WorkloadInfo], tuple[RequeueReason, str, tuple[Step, ...]] | None
    ]
    fresh: Collection[Key] = ()
    """Who has been admitted in the cycle before, a moment ago."""
    _preempted: dict[Key, PreemptionTarget] = field(default_factory=dict)

    def run(self, heads: Sequence[tuple[ClusterQueue, WorkloadInfo]]) -> list[Entry]:
        """Decide every head; nothing of it has happened yet."""
        entries = [Entry(queued=queued, queue=queue) for queue, queued in heads]
        with self.snapshot.trying():
            nominees = [entry for entry in entries if not self._is_refused(entry)]
            for entry in nominees:
                self.nominator.nominate(entry)
            for entry in self._ordered(nominees):
                self._decide(entry)
        return entries

    def _is_refused(self, entry: Entry) -> bool:
        found = self.refused(entry.queue, entry.queued)
        if found:
            entry.why, entry.message, entry.steps = found
        return found is not None

    def _ordered(self, entries: list[Entry]) -> Iterator[Entry]:
        if not self.fair:
            yield from sorted(entries, key=self._place)
            return
        left = {entry.queue.name: entry for entry in entries}
        while left:
            name = pop(self.behaviour.fair_sharing, self.snapshot, left)
            yield left.pop(name)

    def _place(self, entry: Entry) -> tuple[int, ...]:
        queued = entry.queued
        nominee = Nominee(
            level=entry.assignment.level,
            priority=queued.workload.priority,
            created=queued.created,
        )
        return tuple(rule(nominee) for rule in self.behaviour.cycle.order)

    def _decide(self, entry: Entry) -> None:
        fit = entry.assignment.fit
        if fit is FlavorAssignmentMode.NEVER or (
            fit is FlavorAssignmentMode.LATER and not entry.victims
        ):
            entry.why = RequeueReason.NO_FIT
            if fit is FlavorAssignmentMode.LATER:
                self.snapshot.take(entry.queue.name, self._held(entry))
            return
        freed = {
            **self._preempted,
            **{victim.hold.key: victim for victim in entry.victims},
        }
        if self._is_lost(entry, freed):
            return
        self._preempted = freed
        self.snapshot.take(entry.queue.name, entry.assignment.usage)
        if fit is FlavorAssignmentMode.LATER:
            self._preempt(entry)

    def _is_lost(self, entry: Entry, freed: Mapping[Key, PreemptionTarget]) -> bool:
        """Tell whether another head has taken what this one would have, be it quota or victims, and say so."""
        overlapping = any(
            victim.hold.key in self._preempted for victim in entry.victims
        )
        with self.snapshot.without(victim.hold for victim in freed.values()):
            fits = self.snapshot.fits(entry.queue.name, entry.assignment.usage)
        rules = self.behaviour.cycle
        asked = [
            *((rule, rule(overlapping)) for rule in rules.victims_overlap),
            *((rule, rule(fits)) for rule in rules.no_longer_fits),
        ]
        for rule, message in ((rule, message) for rule, message in asked if message):
            entry.why, entry.message = RequeueReason.LOST, message
            entry.progress = self._kept(entry.progress)
            entry.steps += (Step(requirements=cited([rule]), text=message),)
            return True
        return False

    def _preempt(self, entry: Entry) -> None:
        """Take the victims that can be taken; without any, a head waits as if there were none."""
        rules, entry.progress = self.behaviour.preempting, None
        for victim in entry.victims:
            if missed := [
                rule
                for rule in rules.ignore_just_admitted
                if rule(victim.hold.key in self.fresh)
            ]:
                entry.victims = tuple(
                    each for each in entry.victims if each is not victim
                )
                text = f"{'/'.join(victim.hold.key)} stays: it has been admitted a moment ago"
                entry.steps += (Step(requirements=cited(missed), text=text),)
        entry.why = RequeueReason.PREEMPTING if entry.victims else RequeueReason.NO_FIT
        if entry.victims:
            entry.message += "".join(rule(len(entry.victims)) for rule in rules.pending)

    def _kept(self, progress: FlavorScanState | None) -> FlavorScanState | None:
        """What is remembered of the search of a head that lost its flavor."""
        return (
            progress
            if progress
            and any(
                rule(progress)
                for rule in self.behaviour.assigning.keep_progress_on_skip
            )
            else None
        )

    def _held(self, entry: Entry) -> Amounts:
        """What a head that finds no victims keeps from the others."""
        node, borrows = self.snapshot.node(entry.queue.name), entry.assignment.level > 0
        held = {}
        for of, asked in entry.assignment.usage.items():
            claimed = ReservedCapacity(
                asked=asked,
                borrows=borrows,
                used=node.usage.get(of, 0),
                limits=node.quota_for(of),
            )
            held[of] = sum(
                rule(entry.queue, claimed)
                for rule in self.behaviour.cycle.reserve_capacity
            )
        return held
