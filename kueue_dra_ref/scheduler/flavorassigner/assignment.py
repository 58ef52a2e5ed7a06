"""The assignment of flavors to a workload, to its pod sets, and the attempts that lead to it.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (Assignment, PodSetAssignment, FlavorAssignment)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kueue_dra_ref.cache.topology_placement import PlacementRequest
from kueue_dra_ref.cache.topology_tree import PlacedPods
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment
from kueue_dra_ref.scheduler.flavorassigner.topology import Placements
from kueue_dra_ref.workload.map_order import OF_POD_SET

NO_FIT = GranularMode(mode=PreemptionMode.NO_FIT)

FLAVOR_ASSIGNMENT_MODES: Mapping[PreemptionMode, FlavorAssignmentMode] = {
    PreemptionMode.NO_FIT: FlavorAssignmentMode.NO_FIT,
    PreemptionMode.NO_CANDIDATES: FlavorAssignmentMode.PREEMPT,
    PreemptionMode.PREEMPT: FlavorAssignmentMode.PREEMPT,
    PreemptionMode.RECLAIM: FlavorAssignmentMode.PREEMPT,
    PreemptionMode.FIT: FlavorAssignmentMode.FIT,
}
Reasons = list[QuotaReservedReason | None]
Modes = dict[str, GranularMode]
Indexes = Mapping[str, int]
"""The index of a flavor for each resource."""
NominationMapping = Mapping[str, Mapping[str, str]]
"""The flavor of each resource of each pod set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The flavors of a workload, or why it does not fit."""

    representative_mode: FlavorAssignmentMode
    """The worst mode of its pod sets."""
    pod_sets: tuple[PodSetAssignment, ...]
    message: str = ""
    steps: tuple[Step, ...] = ()
    borrowing: int = 0
    """The height of the subtree that it borrows in; 0 if it does not borrow."""
    usage: Mapping[FlavorResource, int] = field(default_factory=dict)
    needed: Mapping[FlavorResource, int] = field(default_factory=dict)
    """What preemption has to free: the usage without what the slice holds that it replaces."""
    frs_need_preemption: frozenset[FlavorResource] = frozenset()
    """The flavors and resources that preemption has to free."""
    last_tried: tuple[Indexes, ...] = ()
    """The last tried flavors of each pod set; -1 after the last flavor of the group."""
    no_fit_reason: QuotaReservedReason | None = None
    """Why it can never fit, if a tried flavor gives a reason."""
    to_place: tuple[PlacementRequest, ...] = ()
    """The pods that need nodes once others are preempted."""
    placed: tuple[PlacedPods, ...] = ()
    """The pods by the domains that they get."""

    @property
    def flavors(self) -> NominationMapping:
        """The flavors of each pod set."""
        return {each.name: each.flavors for each in self.pod_sets}

    def with_places(self, places: Placements) -> Assignment:
        """Give the assignment with the domains of its pods."""
        pod_sets = []
        for each in self.pod_sets:
            topology = places.assignments.get(each.name)
            pod_sets.append(replace(each, topology=topology))
        steps = (*self.steps, *places.steps())
        return replace(
            self, pod_sets=tuple(pod_sets), placed=places.placed, steps=steps
        )


@dataclass(slots=True, kw_only=True)
class FlavorAssignmentAttempt:
    """The result of checking one flavor for the resources of a group, or the best result of several flavors."""

    granular_mode: GranularMode = NO_FIT
    flavor: str = ""
    modes: Modes = field(default_factory=dict)
    """The mode of each resource."""
    last_tried: int = 0
    """The index of the last tried flavor; -1 after the last one of the group."""
    reasons: list[str] = field(default_factory=list)
    cites: tuple[str, ...] = ()
    quota_checked: bool = False
    """Whether the flavor is eligible for the pod set, so that its quota was checked."""
    has_unparsable_label: bool = False
    """Whether the node affinity has a value that cannot be parsed; then no other reason is reported."""
    tried: bool = field(init=False)
    """Whether any flavor was tried."""
    no_fit_reasons: Reasons = field(default_factory=list)
    """Why it does not fit: for each resource of one flavor, or for each of several; read if it can never fit."""
    steps: tuple[Step, ...] = ()
    """The steps of the quota check and of the preemption that it simulates."""

    @property
    def assignable_flavor(self) -> str:
        """The flavor, or an empty string if it can never fit."""
        mode = self.granular_mode.mode
        if mode is PreemptionMode.NO_FIT:
            return ""
        return self.flavor

    def add(self, resource: str, checked: FlavorAssignmentAttempt) -> None:
        """Add the check of one resource."""
        self.modes[resource] = checked.granular_mode
        self.reasons += checked.reasons
        self.no_fit_reasons += checked.no_fit_reasons
        self.steps += checked.steps
        more = [cite for cite in checked.cites if cite not in self.cites]
        self.cites += tuple(more)


@dataclass(slots=True, kw_only=True)
class PodSetAssignmentResult:
    """The attempt for each resource of one pod set, or why the pod set does not fit."""

    flavors: dict[str, FlavorAssignmentAttempt] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    failed: bool = False
    groups: list[FlavorAssignmentAttempt] = field(default_factory=list)
    error: str = ""
    """Why its pods cannot be placed in the flavors that it got."""
    by_topology: FlavorAssignmentMode | None = None
    """The mode that the room on nodes gives it; None if that changes nothing."""

    @property
    def mode(self) -> FlavorAssignmentMode:
        """The worst mode of its resources, or that of its placement."""
        if self.failed or self.error:
            return FlavorAssignmentMode.NO_FIT
        if self.by_topology is not None:
            return self.by_topology
        if not self.reasons:
            return FlavorAssignmentMode.FIT
        modes = []
        for resource, attempt in self.flavors.items():
            granular = attempt.modes[resource]
            mode = FLAVOR_ASSIGNMENT_MODES[granular.mode]
            modes.append(mode)
        return min(modes)

    def messages(self, name: str, before: Sequence[str]) -> list[str]:
        """Give the messages of earlier pod sets and of this one; a label that cannot be parsed replaces them."""
        if self.error:
            return [f"failed to assign flavors to pod set {name}: {self.error}"]
        if not self.reasons and not self.failed:
            return [*before]
        ordered = sorted(self.reasons)
        reasons = ", ".join(ordered)
        for group in self.groups:
            if group.has_unparsable_label:
                return [f"failed to assign flavors to pod set {name}: {reasons}"]
        message = f"{OF_POD_SET}{name}: {reasons}"
        return [*before, message]
