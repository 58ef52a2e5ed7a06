"""One scheduling cycle: the order of the heads of ClusterQueues, and which of them stay pending (Kueue 0.19).

Kueue: pkg/scheduler/scheduler.go (makeClassicalIterator, processEntry, updateAssignmentIfNeeded,
    reserveCapacityForUnreclaimablePreempt)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.model.resource_node import ResourceQuotaLimits, minus, plus
from kueue_dra_ref.model.rule import rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Nominee:
    """The head of a ClusterQueue in a cycle: how far it borrows, its priority and its order of creation."""

    level: int
    priority: int
    created: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedCapacity:
    """The request of a head that cannot reclaim quota, and the limits and usage of its ClusterQueue."""

    asked: int
    borrows: bool
    used: int
    limits: ResourceQuotaLimits


@rule("COHORT-013")
def less_borrowing_first(nominee: Nominee) -> int:
    """Kueue processes the head that borrows nothing, or from nearer in the cohort tree, first.

    Kueue: pkg/scheduler/scheduler.go (makeClassicalIterator)
    """
    return nominee.level


@rule("COHORT-014")
def higher_priority_entry_first(nominee: Nominee) -> int:
    """Of heads that borrow equally far, Kueue processes the one with the higher priority first.

    Kueue: pkg/scheduler/scheduler.go (makeClassicalIterator)
    """
    return -nominee.priority


@rule("COHORT-015")
def older_entry_first(nominee: Nominee) -> int:
    """Of heads with equal priority, Kueue processes the workload created first.

    Kueue: pkg/scheduler/scheduler.go (makeClassicalIterator)
    """
    return nominee.created


@rule("COHORT-016")
def no_longer_fits_after_usage(fits: bool) -> str | None:
    """A head stays pending when it no longer fits after another workload of the same cycle.

    Kueue: pkg/scheduler/scheduler.go (processEntry, fits)
    """
    return None if fits else "Workload no longer fits after processing another workload"


@rule("PREEMPT-017", "PREEMPT-053")
def overlapping_preemption_targets(overlapping: bool) -> str | None:
    """A head stays pending when another head of the same cycle preempts one of its targets.

    Kueue: pkg/scheduler/scheduler.go (processEntry); pkg/scheduler/preemption/preempted_workloads.go (HasAny)
    """
    return (
        "Workload has overlapping preemption targets with another workload"
        if overlapping
        else None
    )


@rule("PREEMPT-050")
def recompute_on_overlapping_targets(overlapping: bool) -> bool:
    """When targets overlap, Kueue assigns again as if the targets of earlier heads were gone.

    Kueue: pkg/scheduler/scheduler.go (updateAssignmentIfNeeded)
    """
    return overlapping


@rule("TAS-041")
def recompute_without_room(short: bool) -> bool:
    """When an earlier head has taken the nodes of a head, Kueue assigns again in the same cycle.

    Kueue: pkg/scheduler/scheduler.go (updateAssignmentIfNeeded)
    """
    return short


@rule("PREEMPT-051")
def deferred_fit_after_preemptions(fits: bool) -> str | None:
    """A head that fits once the targets of earlier heads are gone waits for these preemptions.

    Kueue: pkg/scheduler/scheduler.go (processEntry, updateAssignmentIfNeeded)
    """
    if not fits:
        return None
    return (
        "Workload has overlapping preemption targets with another workload, "
        "but will fit after these preemptions complete"
    )


@rule("PREEMPT-052", "TAS-041")
def nominated_flavor_is_kept(flavor: str, nominated: str, resource: str) -> str | None:
    """An assignment that is computed again keeps its flavors; Kueue reports the others as skipped.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldSkipBasedOnNominationMapping)
    """
    if flavor == nominated:
        return None
    return f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"


@rule("PREEMPT-018")
def can_always_reclaim(queue: ClusterQueue) -> bool:
    """A head without preemption targets reserves nothing if its ClusterQueue can always reclaim its quota.

    Kueue: pkg/scheduler/preemption/policy.go (CanAlwaysReclaim)
    """
    return queue.preemption.reclaim == "Any"


@rule("PREEMPT-018")
def reserve_up_to_limits(reserved: ReservedCapacity) -> int:
    """A head without preemption targets reserves the quota that it requests, up to what its ClusterQueue may use.

    Kueue: pkg/scheduler/scheduler.go (reserveCapacityForUnreclaimablePreempt, quotaResourcesToReserve)
    """
    nominal, limit = reserved.limits.nominal, reserved.limits.borrowing
    if reserved.borrows:
        return (
            reserved.asked
            if limit is None
            else min(reserved.asked, minus(plus(nominal, limit), reserved.used))
        )
    return max(0, min(reserved.asked, minus(nominal, reserved.used)))
