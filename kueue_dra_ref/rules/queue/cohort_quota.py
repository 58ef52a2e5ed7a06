"""Borrowing and lending (KEP-2941, Risks and Mitigations; Kueue 0.19): who shares with whom, and how much at most.

Kueue: pkg/cache/scheduler/resource_node.go (available, potentialAvailable, localQuota);
    pkg/cache/hierarchy/cycle.go (HasCycle)
"""

from __future__ import annotations

from kueue_dra_ref.api.types import ClusterQueue, Cohort, FlavorQuota, ResourceGroup
from kueue_dra_ref.model.resource_node import UNLIMITED
from kueue_dra_ref.model.rule import rule


@rule("COHORT-001", "COHORT-002", "COHORT-012")
def queues_of_a_cohort_share(queue: ClusterQueue) -> str:
    """A ClusterQueue that names a cohort lends what it does not use to the others that name it, and borrows theirs.

    Kueue: pkg/cache/scheduler/resource_node.go (available, accumulateFromChild)
    """
    return queue.cohort


@rule("COHORT-003")
def a_limit_bounds_borrowing(quota: FlavorQuota, resource: str) -> int | None:
    """A borrowing limit is the most that is taken from the cohort beyond the nominal quota.

    Kueue: pkg/cache/scheduler/resource_node.go (available, potentialAvailable)
    """
    return quota.borrowing_limits.get(resource)


@rule("COHORT-004")
def a_limit_bounds_lending(quota: FlavorQuota, resource: str) -> int | None:
    """A lending limit is the most of its nominal quota that others may take; the rest is kept.

    Kueue: pkg/cache/scheduler/resource_node.go (localQuota, accumulateFromChild)
    """
    return quota.lending_limits.get(resource)


@rule("QUOTA-046")
def cpu_beyond_64_bits_is_counted_as_none(resource: str, quota: int) -> int:
    """Up to 0.16: a quota or a limit of CPU whose thousandths 64 bits do not hold is none at all.

    Kueue 0.17: pkg/cache/scheduler/resource.go (createResourceQuotas); pkg/resources/requests.go (ResourceValue)
    """
    return 0 if resource == "cpu" and quota == UNLIMITED else quota


@rule("COHORT-005")
def cohort_objects_are_read() -> bool:
    """What a Cohort says matters; without it, a cohort is only what ClusterQueues call one.

    Kueue: pkg/cache/scheduler/cache.go (AddOrUpdateCohort)
    """
    return True


@rule("COHORT-005")
def cohorts_form_a_tree(cohort: Cohort) -> str:
    """A cohort that names a parent borrows from it and lends to it, on behalf of its members.

    Kueue: pkg/cache/hierarchy/manager.go (UpdateCohortEdge)
    """
    return cohort.parent


@rule("COHORT-006", "COHORT-007")
def a_cohort_may_bring_quota(cohort: Cohort) -> tuple[ResourceGroup, ...]:
    """Quota of a cohort itself is there for all of its members, within the limits that it sets towards its parent.

    Kueue: pkg/cache/scheduler/resource_node.go (updateCohortResourceNode);
        pkg/cache/scheduler/cohort.go (updateCohort)
    """
    return cohort.groups


@rule("COHORT-008")
def a_loop_of_cohorts_stops_its_queues(queue: ClusterQueue) -> str:
    """While cohorts are their own ancestors, nothing below them is admitted.

    Kueue: pkg/cache/hierarchy/cycle.go (HasCycle);
        pkg/cache/scheduler/snapshot.go (Snapshot, inactiveCQReasonHasCycle)
    """
    return f"ClusterQueue {queue.name} is inactive"


@rule("COHORT-009", "STATUS-016")
def use_above_nominal_quota_is_borrowed(used: int, nominal: int) -> int:
    """What a member of a cohort uses beyond its nominal quota is shown as borrowed.

    Kueue: pkg/cache/scheduler/cache.go (getUsage)
    """
    return max(0, used - nominal)
