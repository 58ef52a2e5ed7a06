"""What a search for flavors comes to: for a workload, for one of its pod sets, for one group and flavor.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (Assignment, PodSetAssignment, FlavorAssignment)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    GranularMode,
    PreemptionMode,
)
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment
from kueue_dra_ref.workload.map_order import OF_POD_SET

NOWHERE = GranularMode(mode=PreemptionMode.NEVER)


AS_FIT: Mapping[PreemptionMode, FlavorAssignmentMode] = {
    PreemptionMode.NEVER: FlavorAssignmentMode.NEVER,
    PreemptionMode.FIT: FlavorAssignmentMode.NOW,
} | dict.fromkeys(
    (PreemptionMode.NO_VICTIMS, PreemptionMode.PREEMPT, PreemptionMode.RECLAIM),
    FlavorAssignmentMode.LATER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The outcome for a workload: whether it fits, each pod set's share, and why not."""

    fit: FlavorAssignmentMode
    pod_sets: tuple[PodSetAssignment, ...]
    message: str = ""
    steps: tuple[Step, ...] = ()
    level: int = 0
    """From how far it borrows; 0: not at all."""
    usage: Mapping[FlavorResource, int] = field(default_factory=dict)
    short: frozenset[FlavorResource] = frozenset()
    """What has to be freed by preemption."""
    tried: tuple[Mapping[str, int], ...] = ()
    """For each pod set and resource the last flavor that was tried, -1 when it was the last one."""
    cause: QuotaReservedReason | None = None
    """Why it can never fit, as far as flavors that were tried say so."""


@dataclass(slots=True, kw_only=True)
class FlavorAssignmentAttempt:
    """How one group fares with one flavor, or the best of several."""

    outlook: GranularMode = NOWHERE
    flavor: str = ""
    each: dict[str, GranularMode] = field(default_factory=dict)
    """What to expect of each resource."""
    tried: int = -1
    reasons: list[str] = field(default_factory=list)
    cites: tuple[str, ...] = ()
    weighed: bool = False
    """Whether quota was looked at."""
    unreadable: bool = False
    """Whether what the pods ask of their nodes cannot be made out, which is all that is told then."""
    attempts: int = 0
    lacking: list[QuotaReservedReason | None] = field(default_factory=list)
    """Why it can never fit: with one flavor for each resource, of several for each flavor."""
    steps: tuple[Step, ...] = ()
    """What was looked at to get what is short."""

    @property
    def name(self) -> str:
        """The flavor, if it can be had at all."""
        return "" if self.outlook.mode is PreemptionMode.NEVER else self.flavor

    def add(self, resource: str, found: FlavorAssignmentAttempt) -> None:
        """Take note of how one resource fares."""
        self.each[resource] = found.outlook
        self.reasons += found.reasons
        self.cites = tuple(dict.fromkeys((*self.cites, *found.cites)))
        self.lacking += found.lacking
        self.steps += found.steps


@dataclass(slots=True, kw_only=True)
class PodSetAssignmentResult:
    """What one pod set gets: a try for each resource, or why not."""

    got: dict[str, FlavorAssignmentAttempt] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    failed: bool = False
    groups: list[FlavorAssignmentAttempt] = field(default_factory=list)

    def told(self, name: str, before: list[str]) -> list[str]:
        """Say why it does not fit, after what was said of pod sets before; what cannot be made out is told alone."""
        reasons = ", ".join(sorted(self.reasons))
        if any(group.unreadable for group in self.groups):
            return [f"failed to assign flavors to pod set {name}: {reasons}"]
        return [*before, f"{OF_POD_SET}{name}: {reasons}"]

    @property
    def fit(self) -> FlavorAssignmentMode:
        """The worst of its resources."""
        if self.failed:
            return FlavorAssignmentMode.NEVER
        if not self.reasons:
            return FlavorAssignmentMode.NOW
        modes = [found.each[resource].mode for resource, found in self.got.items()]
        return min((AS_FIT[mode] for mode in modes), default=FlavorAssignmentMode.NEVER)
