"""Nomination in a scheduling cycle (Kueue 0.19): flavors for a head, as many of its pods as can be had, and victims.

Kueue: pkg/scheduler/scheduler.go (nominate, getAssignments, getInitialAssignments);
    pkg/scheduler/flavorassigner/podset_reducer.go (PodSetReducer)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import Amounts, Snapshot
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.scheduler.ambiguous_classes import (
    Demands,
    Victims,
    best,
    interpretations,
)
from kueue_dra_ref.scheduler.entry import Entry
from kueue_dra_ref.scheduler.flavorassigner.assigner import assigned
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment
from kueue_dra_ref.scheduler.preemption.oracle import PreemptionOracle
from kueue_dra_ref.workload.map_order import MapOrder, MapOrderDraw
from kueue_dra_ref.workload.total_requests import scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominator:
    """Nominates in the cycle of a number, over its snapshot."""

    behaviour: Behaviour
    snapshot: Snapshot
    number: int
    moves: int
    """How often anything has changed that a decision depends on; what was found at the same count still holds."""
    strategies: tuple[str, ...] | None
    ignore_undeclared: bool
    chance: MapOrder

    def nominate(self, entry: Entry) -> None:
        """Give a head its flavors, or what it lacks, and whom it would preempt."""
        entry.assignment, entry.victims = self._last_assignment(
            entry
        ) or self._assignment(entry)
        entry.progress = FlavorScanState(
            tried=entry.assignment.tried, cycle=self.number
        )
        entry.message, entry.steps = entry.assignment.message, entry.assignment.steps

    def _last_assignment(self, entry: Entry) -> tuple[Assignment, Victims] | None:
        """What a try from the first flavor on finds, kept while nothing changes; None when one goes on instead."""
        queued = entry.queued
        if queued.progress and queued.progress.is_unfinished:
            return None
        now = (self.moves, self._draw(queued))
        if (
            queued.found is None
            or queued.found[0] != now
            or queued.found[1] is not entry.queue
        ):
            queued.found = (now, entry.queue, self._assignment(entry))
        found: tuple[Assignment, Victims] = queued.found[2]
        return found

    def _assignment(self, entry: Entry) -> tuple[Assignment, Victims]:
        """Flavors for the whole workload, or for as many of its pods as are worth it."""
        whole = self._try(entry, entry.queued.demands)
        assignment, victims = whole
        if (
            assignment.fit is FlavorAssignmentMode.NOW
            or victims
            or not self._may_be_reduced(entry)
        ):
            return whole
        return self._fewer(entry) or (assignment, ())

    def _may_be_reduced(self, entry: Entry) -> bool:
        return any(
            rule(entry.queued.workload.pod_sets)
            for rule in self.behaviour.assigning.partial_admission
        )

    def _try(self, entry: Entry, demands: Demands) -> tuple[Assignment, Victims]:
        """The best of all that the workload's charges could mean."""
        rules = self.behaviour.assigning
        meant = interpretations(rules, entry.queue, entry.queued.choices, demands)
        return best(self._one(entry, each) for each in meant)

    def _one(self, entry: Entry, demands: Demands) -> tuple[Assignment, Victims]:
        room = self._room(entry.queue, entry.queued)
        found = assigned(self.behaviour.assigning, room, demands, self._resumed(entry))
        if found.fit is not FlavorAssignmentMode.LATER:
            return found, ()
        search = room.search(self._search(found.usage), found.short)
        steps = dict.fromkeys((*found.steps, *search.steps))
        return replace(found, steps=tuple(steps)), search.victims

    def _search(self, usage: Amounts) -> Amounts:
        """What preemption is to make room for."""
        left_out = {
            name for rule in self.behaviour.preempting.skip_search for name in rule()
        }
        return {of: amount for of, amount in usage.items() if of[1] not in left_out}

    def _resumed(self, entry: Entry) -> FlavorScanState | None:
        progress, rules = (
            entry.queued.progress,
            self.behaviour.assigning.resume_from_last_tried,
        )
        return (
            progress
            if progress and any(rule(progress, self.number) for rule in rules)
            else None
        )

    def _fewer(self, entry: Entry) -> tuple[Assignment, Victims] | None:
        """Search, by halves, for the largest number of pods that can be had, all pod sets shrinking in step."""
        pod_sets = entry.queued.workload.pod_sets
        deltas = [p.count - (p.count if p.least is None else p.least) for p in pod_sets]
        total, low, best = sum(deltas), 0, None
        high = total + 1
        while low < high:
            middle = (low + high) // 2
            counts = [
                p.count - delta * middle // total
                for p, delta in zip(pod_sets, deltas, strict=True)
            ]
            found = self._try(entry, scaled(entry.queued.demands, counts))
            if found[0].fit is FlavorAssignmentMode.NOW or found[1]:
                best, high = found, middle
            else:
                low = middle + 1
        return best

    def _room(self, queue: ClusterQueue, queued: WorkloadInfo) -> PreemptionOracle:
        """A ClusterQueue as one workload sees it."""
        return PreemptionOracle(
            behaviour=self.behaviour,
            snapshot=self.snapshot,
            queue=queue,
            priority=queued.workload.priority,
            created=queued.created,
            strategies=self.strategies,
            ignore_undeclared=self.ignore_undeclared,
            draw=self._draw(queued),
        )

    def _draw(self, queued: WorkloadInfo) -> MapOrderDraw:
        return self.chance.for_workload(queued.obj)
