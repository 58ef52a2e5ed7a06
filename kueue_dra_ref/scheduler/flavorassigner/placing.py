"""Placement after quota: pods that fit the quota need room on nodes, now or once other workloads are preempted.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors, updateModeForTASRequests, markFlavorAttempt)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.cache.topology_placement import PlacementRequest
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment
from kueue_dra_ref.scheduler.flavorassigner.assignment import PodSetAssignmentResult
from kueue_dra_ref.scheduler.flavorassigner.topology import (
    PlacementFailure,
    Placements,
    TopologyPlacer,
)

_FIT, _PREEMPT, _NO_FIT = (
    FlavorAssignmentMode.FIT,
    FlavorAssignmentMode.PREEMPT,
    FlavorAssignmentMode.NO_FIT,
)


class TriedPodSet(NamedTuple):
    """A pod set with what the search for its flavors gave."""

    pod_set: PodSet
    result: PodSetAssignmentResult
    assignment: PodSetAssignment


@dataclass(slots=True, kw_only=True)
class Placing:
    """Places the pod sets of one assignment, once."""

    placer: TopologyPlacer
    tried: Sequence[TriedPodSet]
    frs_need_preemption: set[FlavorResource]
    """The flavors and resources that preemption has to free; it may add some."""
    requests: list[PlacementRequest] = field(default_factory=list)
    places: Placements = field(default_factory=Placements)

    def run(self) -> FlavorAssignmentMode:
        """Give the mode of the assignment: the worst of its pod sets, and that of their placement."""
        mode = self._quota_mode()
        if mode is _NO_FIT:
            return mode
        self._collect()
        mode = self._quota_mode()
        if mode is _FIT:
            mode = self._place()
        if mode is _PREEMPT and self.requests:
            mode = self._place_after_preemption()
        return mode

    def _quota_mode(self) -> FlavorAssignmentMode:
        return min((each.result.mode for each in self.tried), default=_FIT)

    def _collect(self) -> None:
        """Collect the pods that need nodes, each pod set in its one flavor with a topology."""
        for pod_set, result, assignment in self.tried:
            if not assignment.count or not self.placer.is_placed(pod_set):
                continue
            flavors = self.placer.flavors(assignment.flavors.values())
            result.error = self.placer.rules.several_flavors.or_else("", flavors)
            if len(flavors) == 1:
                (flavor,) = flavors
                charged = {
                    resource: amount
                    for resource, amount in assignment.usage.items()
                    if assignment.flavors.get(resource) == flavor
                }
                request = self.placer.request(
                    pod_set, flavor, assignment.count, charged
                )
                self.requests.append(request)

    def _place(self) -> FlavorAssignmentMode:
        places = self.placer.place(self.requests)
        if places.failure is None:
            self.places = places
            return _FIT
        failed = self._result(places.failure.pod_set)
        failed.reasons.append(places.failure.reason)
        self._free([places.failure.pod_set])
        return _PREEMPT

    def _place_after_preemption(self) -> FlavorAssignmentMode:
        """Place the pods as if no Workload used the nodes."""
        places = self.placer.place(self.requests, empty=True)
        if places.failure is not None:
            self._fail(places.failure)
            return _NO_FIT
        if self.placer.rules.free_all_flavors():
            self._free(each.pod_set.name for each in self.requests)
        return _PREEMPT

    def _fail(self, failure: PlacementFailure) -> None:
        failed = self._result(failure.pod_set)
        failed.by_topology = _NO_FIT
        for group in failed.groups:
            if group.flavor == failure.flavor:
                group.no_fit_reasons.append(QuotaReservedReason.UNPLACED)

    def _free(self, pod_sets: Iterable[str]) -> None:
        """Have preemption free all flavors of some pod sets."""
        names = set(pod_sets)
        for _, result, assignment in self.tried:
            if assignment.name in names:
                result.by_topology = _PREEMPT
                for resource, flavor in assignment.flavors.items():
                    self.frs_need_preemption.add((flavor, resource))

    def _result(self, name: str) -> PodSetAssignmentResult:
        by_name = {each.assignment.name: each.result for each in self.tried}
        return by_name[name]
