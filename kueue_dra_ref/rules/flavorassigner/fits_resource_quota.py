"""Flavors and quota of one ClusterQueue (Workload Processing Flow, step 6, Queue Admission).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors, fitsResourceQuota, findFlavorForPodSets)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.types import ClusterQueue, FlavorQuota, PodSet, ResourceGroup
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.resource_node import UNLIMITED, minus, plus
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import First


class FlavorAssignmentMode(IntEnum):
    """Whether an amount fits a flavor, worst first: never, after quota is released, now."""

    NO_FIT = auto()
    PREEMPT = auto()
    FIT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRequest:
    """The request of a workload for one resource in one flavor, in Kueue's units.

    ``assumed`` is the request of its earlier pod sets, ``capacity`` the maximum capacity, ``available`` the quota that
    is available now.
    """

    resource: str
    flavor: str
    assumed: int
    asked: int
    capacity: int
    available: int
    in_bytes: frozenset[str] = frozenset()
    """Resources that Kueue prints in bytes."""
    in_message: First[[int], str] = First()
    """The text of a sum or a quota that is not printed as an amount."""

    @property
    def total(self) -> int:
        """Give the request of all pod sets so far, saturating at the largest integer."""
        return plus(self.assumed, self.asked)

    def show(self, amount: int) -> str:
        """Print an amount of this resource as Kueue does."""
        return printed(self.resource, amount, self.in_bytes)

    def show_in_message(self, amount: int) -> str:
        """Give a sum or a quota of this resource as Kueue's messages do."""
        return self.in_message(amount) or self.show(amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Why an amount does not fit, and whether it ever can."""

    fit: FlavorAssignmentMode
    message: str
    cause: QuotaReservedReason


@rule("QUOTA-030")
def pods_resource_when_covered(queue: ClusterQueue, count: int) -> Mapping[str, int]:
    """Kueue charges one of the resource pods for each pod when the ClusterQueue covers pods.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors)
    """
    return {"pods": count} if queue.group_of("pods") else {}


@rule("QUOTA-004", "QUOTA-013", "STATUS-007")
def exceeds_maximum_capacity(need: ResourceRequest) -> Status | None:
    """A workload that requests more than the maximum capacity of a flavor never fits it.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota)
    """
    if need.total <= need.capacity:
        return None
    message = (
        f"insufficient quota for {need.resource} in flavor {need.flavor}, previously considered podsets requests "
        f"({need.show_in_message(need.assumed)}) + current podset request ({need.show(need.asked)}) > maximum capacity "
        f"({need.show_in_message(need.capacity)})"
    )
    return Status(
        fit=FlavorAssignmentMode.NO_FIT,
        message=message,
        cause=QuotaReservedReason.TOO_MUCH,
    )


@rule("QUOTA-004", "QUOTA-013", "STATUS-007", "QUOTA-028")
def exceeds_maximum_capacity_in_one_sum(
    need: ResourceRequest,
) -> Status | None:
    """A workload whose pod sets together request more than the maximum capacity of a flavor never fits it.

    Kueue 0.14: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota)
    """
    if need.total <= need.capacity:
        return None
    message = (
        f"insufficient quota for {need.resource} in flavor {need.flavor}, request > maximum capacity "
        f"({need.show(need.total)} > {need.show(need.capacity)})"
    )
    return Status(
        fit=FlavorAssignmentMode.NO_FIT,
        message=message,
        cause=QuotaReservedReason.TOO_MUCH,
    )


@rule("QUOTA-002", "QUOTA-011", "QUOTA-012", "QUOTA-015", "SCOPE-002")
def insufficient_unused_quota(need: ResourceRequest) -> Status | None:
    """A workload that requests more than the unused quota of a flavor does not fit it now.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota)
    """
    if need.total <= need.available:
        return None
    short = need.show_in_message(minus(need.total, need.available))
    message = f"insufficient unused quota for {need.resource} in flavor {need.flavor}, {short} more needed"
    return Status(
        fit=FlavorAssignmentMode.PREEMPT,
        message=message,
        cause=QuotaReservedReason.HELD,
    )


@rule("QUOTA-043")
def unlimited_in_message(amount: int) -> str | None:
    """Kueue shows a sum or a quota of the largest 64-bit integer as <unlimited>.

    Kueue: pkg/resources/resource_formatter.go (AmountQuantityString); pkg/resources/amount.go (Unlimited)
    """
    return "<unlimited>" if amount == UNLIMITED else None


@rule("QUOTA-005", "KIND-025")
def uncovered_resources_are_unavailable(resource: str) -> str:
    """A resource that the ClusterQueue does not cover keeps the workload pending.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return f"resource {resource} unavailable in ClusterQueue"


@rule("QUOTA-026")
def zero_of_uncovered_is_ignored(amount: int) -> bool:
    """Kueue ignores a request of zero of a resource that the ClusterQueue does not cover.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors)
    """
    return amount == 0


@rule("QUOTA-035")
def ignore_undeclared_resources(strategy: str) -> bool:
    """Kueue ignores resources that the ClusterQueue does not cover with quotaCheckStrategy IgnoreUndeclared.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (IgnoreUndeclaredResources, assignFlavors)
    """
    return strategy == "IgnoreUndeclared"


@rule("QUOTA-029")
def empty_pod_set_stops_assignment(flavors: int) -> bool:
    """Kueue assigns no flavors to later pod sets after one that requests only ignored resources.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors)
    """
    return flavors == 0


@rule("QUOTA-007", "QUOTA-008", "QUOTA-009", "QUOTA-010", "QUOTA-017", "STATUS-002")
def flavors_in_listed_order(group: ResourceGroup) -> Sequence[FlavorQuota]:
    """Kueue tries the flavors of a resource group in the order in which the ClusterQueue lists them.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return group.flavors


@rule("PARTIAL-001")
def partial_admission(pod_sets: Sequence[PodSet]) -> bool:
    """Kueue admits a workload with a minCount with as many pods as fit.

    Kueue: pkg/scheduler/scheduler.go (getInitialAssignments);
        pkg/scheduler/flavorassigner/podset_reducer.go (PodSetReducer, Search);
        pkg/workload/workload.go (CanBePartiallyAdmitted)
    """
    return any(
        pod_set.least is not None and pod_set.count > pod_set.least
        for pod_set in pod_sets
    )
