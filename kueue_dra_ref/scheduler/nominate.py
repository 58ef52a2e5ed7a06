"""Nomination (Kueue 0.19): the assignment of a head, with its preemption targets, and partial admission.

Kueue: pkg/scheduler/scheduler.go (nominate, recordAssignment, getAssignments, getInitialAssignments);
    pkg/scheduler/flavorassigner/podset_reducer.go (PodSetReducer)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import FlavorResourceQuantities, Snapshot
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.scheduler.ambiguous_classes import (
    AssignmentWithTargets,
    best,
    interpretations,
)
from kueue_dra_ref.scheduler.entry import Entry
from kueue_dra_ref.scheduler.flavorassigner.assigner import AllRequests, assign
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment
from kueue_dra_ref.scheduler.nominate_trace import reduced_steps, replacing
from kueue_dra_ref.scheduler.preemption.context import (
    REPLACED,
    PreemptionTarget,
    Targets,
)
from kueue_dra_ref.scheduler.preemption.oracle import PreemptionOracle
from kueue_dra_ref.workload.map_order import MapOrder, MapOrderDraw
from kueue_dra_ref.workload.total_requests import scaled_to


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominator:
    """Nominates the heads of one cycle over its snapshot."""

    behaviour: Behaviour
    snapshot: Snapshot
    number: int
    """The number of the cycle."""
    generation: Callable[[str], int]
    """How often a ClusterQueue has released quota."""
    moves: object
    """Another object after each change that an assignment depends on, which is valid while it is the same."""
    strategies: tuple[str, ...] | None
    ignore_undeclared: bool
    map_order: MapOrder

    def nominate(self, entry: Entry) -> None:
        """Set the assignment and the preemption targets of an entry."""
        found = self._last_assignment(entry)
        if found is None:
            found = self._get_assignments(entry)
        self._record_assignment(entry, found)

    def nominate_again(self, entry: Entry) -> None:
        """Set the assignment of an entry once more, from the first flavor on; it keeps its flavors."""
        entry.info.progress = None
        entry.nominated = entry.assignment.flavors
        found = self._get_assignments(entry)
        entry.nominated = {}
        self._record_assignment(entry, found)

    def _record_assignment(self, entry: Entry, found: AssignmentWithTargets) -> None:
        assignment, targets = found
        entry.assignment = assignment
        entry.targets = targets
        entry.replaced = next(
            (each for each in targets if each.reason == REPLACED), None
        )
        entry.message = assignment.message
        entry.steps = assignment.steps
        entry.progress = FlavorScanState(
            tried=assignment.last_tried,
            cycle=self.number,
            generation=self.generation(entry.queue.name),
        )

    def _last_assignment(self, entry: Entry) -> AssignmentWithTargets | None:
        """Give the assignment from the first flavor on, cached until something changes.

        None if the search has to go on after the last tried flavor.
        """
        info = entry.info
        if info.progress and info.progress.is_unfinished:
            return None
        state = (self.moves, self._draw(info), entry.queue)
        found: AssignmentWithTargets
        known_state, found = info.last_assignment
        if known_state != state:
            found = self._get_assignments(entry)
            info.last_assignment = (state, found)
        return found

    def _get_assignments(self, entry: Entry) -> AssignmentWithTargets:
        """Assign flavors to the whole workload, or else to as many of its pods as possible."""
        assignment, targets = self._try(entry, entry.info.total_requests)
        fits = assignment.representative_mode is FlavorAssignmentMode.FIT
        pod_sets = entry.info.workload.pod_sets
        if fits or targets or not self.behaviour.assigning.partial_admission(pod_sets):
            return self._reserve_places(entry, assignment, targets)
        assignment, targets = self._reduce(entry) or (assignment, ())
        return self._reserve_places(entry, assignment, targets)

    def _reserve_places(
        self, entry: Entry, assignment: Assignment, targets: Targets
    ) -> AssignmentWithTargets:
        """Find the domains of pods that wait for preemption: without the targets, or without all if there are none."""
        if not assignment.to_place:
            return assignment, targets
        placer = self._oracle(entry).placer
        workloads = [target.workload for target in targets]
        with self.snapshot.simulate_workload_removal(workloads):
            places = placer.place(assignment.to_place, empty=not targets)
        return assignment.with_places(places), targets

    def _try(self, entry: Entry, requests: AllRequests) -> AssignmentWithTargets:
        """Give the best assignment over all interpretations of the requests."""
        rules = self.behaviour.assigning
        choices = entry.info.choices
        interpreted = interpretations(rules, entry.queue, choices, requests)
        return best(self._get_initial_assignments(entry, each) for each in interpreted)

    def _get_initial_assignments(
        self, entry: Entry, requests: AllRequests
    ) -> AssignmentWithTargets:
        """Assign flavors; if preemption is needed, search for targets."""
        oracle = self._oracle(entry)
        rules = self.behaviour.assigning
        progress = self._progress(entry)
        assignment = assign(rules, oracle, requests, progress, entry.nominated)
        replaced = self._replaced(entry)
        steps = [replacing(rules, each) for each in replaced]
        assignment = replace(assignment, steps=(*steps, *assignment.steps))
        if assignment.representative_mode is FlavorAssignmentMode.FIT:
            return assignment, replaced
        if assignment.representative_mode is not FlavorAssignmentMode.PREEMPT:
            return assignment, ()
        usage = self._usage_to_free(assignment.needed)
        search = oracle.search(
            usage, assignment.frs_need_preemption, assignment.to_place
        )
        all_steps = dict.fromkeys((*assignment.steps, *search.steps))
        targets = (*replaced, *search.targets) if search.targets else ()
        return replace(assignment, steps=tuple(all_steps)), targets

    def _replaced(self, entry: Entry) -> Targets:
        """Give the slice that a workload replaces while it holds quota in the same ClusterQueue; empty for none."""
        named = self.behaviour.assigning.replaced_slice(entry.info.obj)
        if not named:
            return ()
        namespace, _, name = named.partition("/")
        found = self.snapshot.reserved(entry.queue.name, (namespace, name))
        if found is None:
            return ()
        return (PreemptionTarget(workload=found, reason=REPLACED),)

    def _usage_to_free(
        self, usage: FlavorResourceQuantities
    ) -> FlavorResourceQuantities:
        """Give the usage without the resources that preemption ignores."""
        skipped = set(self.behaviour.preempting.skip_search())
        to_free = {}
        for of, amount in usage.items():
            _, resource = of
            if resource not in skipped:
                to_free[of] = amount
        return to_free

    def _progress(self, entry: Entry) -> FlavorScanState | None:
        """Give where the last search stopped, if this one goes on from there."""
        progress = entry.info.progress
        resume = self.behaviour.assigning.resume_from_last_tried
        generation = self.generation(entry.queue.name)
        if progress and resume(progress, self.number, generation):
            return progress
        return None

    def _reduce(self, entry: Entry) -> AssignmentWithTargets | None:
        """Find the largest number of pods that fits or has targets, by binary search; all pod sets shrink together."""
        pod_sets = entry.info.workload.pod_sets
        total = sum(map(_delta, pod_sets))
        largest = None

        def fits_without(removed: int) -> bool:
            nonlocal largest
            counts = _reduced(pod_sets, total, removed)
            requests = scaled_to(entry.info.total_requests, counts)
            assignment, targets = self._try(entry, requests)
            fits = assignment.representative_mode is FlavorAssignmentMode.FIT
            if fits or targets:
                largest = self._with_counts(assignment, pod_sets, counts), targets
                return True
            return False

        bisect_left(range(total + 1), True, key=fits_without)
        return largest

    def _with_counts(
        self, assignment: Assignment, pod_sets: Sequence[PodSet], counts: Sequence[int]
    ) -> Assignment:
        """Explain first to how many pods each pod set is reduced."""
        steps = reduced_steps(self.behaviour.assigning, pod_sets, counts)
        return replace(assignment, steps=(*steps, *assignment.steps))

    def _oracle(self, entry: Entry) -> PreemptionOracle:
        info = entry.info
        allow_flavor = self.behaviour.concurrent.allow_flavor
        replaced = {}
        for target in self._replaced(entry):
            for pod_set in target.workload.pod_sets:
                replaced[pod_set.name] = pod_set
        return PreemptionOracle(
            behaviour=self.behaviour,
            snapshot=self.snapshot,
            queue=entry.queue,
            priority=info.workload.priority,
            created=info.created,
            strategies=self.strategies,
            ignore_undeclared=self.ignore_undeclared,
            draw=self._draw(info),
            skip_flavor=partial(allow_flavor.answer, info.obj),
            replaced=replaced,
        )

    def _draw(self, info: WorkloadInfo) -> MapOrderDraw:
        return self.map_order.for_workload(info.obj)


def _delta(pod_set: PodSet) -> int:
    """Give how many pods a pod set can do without."""
    if pod_set.least is None:
        return 0
    return pod_set.count - pod_set.least


def _reduced(pod_sets: Sequence[PodSet], total: int, removed: int) -> list[int]:
    """Give the counts of the pod sets if so many pods in all are removed, in proportion to their deltas."""
    return [each.count - _delta(each) * removed // total for each in pod_sets]
