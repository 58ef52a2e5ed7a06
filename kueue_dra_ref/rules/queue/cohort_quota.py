"""Borrowing and lending in cohorts, and their limits (KEP-2941, Risks and Mitigations; Kueue 0.19).

Kueue: pkg/cache/scheduler/resource_node.go (available, potentialAvailable, localQuota);
    pkg/cache/hierarchy/cycle.go (HasCycle); pkg/controller/core/cohort_controller.go (NotifyClusterQueueUpdate)
"""

from __future__ import annotations

from kueue_dra_ref.api.types import ClusterQueue, Cohort, FlavorQuota, ResourceGroup
from kueue_dra_ref.model.resource_node import UNLIMITED
from kueue_dra_ref.model.rule import rule


@rule("COHORT-001", "COHORT-002", "COHORT-012")
def cohort_of_cluster_queue(queue: ClusterQueue) -> str:
    """A ClusterQueue lends unused quota to its cohort and borrows from it.

    Kueue: pkg/cache/scheduler/resource_node.go (available, accumulateFromChild)
    """
    return queue.cohort


@rule("COHORT-003")
def borrowing_limit(quota: FlavorQuota, resource: str) -> int | None:
    """A ClusterQueue or cohort borrows at most its borrowingLimit above its nominal quota.

    Kueue: pkg/cache/scheduler/resource_node.go (available, potentialAvailable)
    """
    return quota.borrowing_limits.get(resource)


@rule("COHORT-004")
def lending_limit(quota: FlavorQuota, resource: str) -> int | None:
    """A ClusterQueue or cohort lends at most its lendingLimit of its nominal quota and keeps the rest.

    Kueue: pkg/cache/scheduler/resource_node.go (localQuota, accumulateFromChild)
    """
    return quota.lending_limits.get(resource)


@rule("QUOTA-046")
def cpu_overflow_counts_as_zero(resource: str, quota: int) -> int:
    """Kueue counts a quota or limit of CPU whose thousandths exceed 64 bits as zero.

    Kueue 0.17: pkg/cache/scheduler/resource.go (createResourceQuotas); pkg/resources/requests.go (ResourceValue)
    """
    return 0 if resource == "cpu" and quota == UNLIMITED else quota


@rule("COHORT-005")
def cohort_objects_are_read() -> bool:
    """Kueue reads Cohort objects; a cohort may also exist only because a ClusterQueue names it.

    Kueue: pkg/cache/scheduler/cache.go (AddOrUpdateCohort)
    """
    return True


@rule("COHORT-005")
def parent_of_cohort(cohort: Cohort) -> str:
    """A cohort with a parent borrows from it and lends to it for its members.

    Kueue: pkg/cache/hierarchy/manager.go (UpdateCohortEdge)
    """
    return cohort.parent


@rule("COHORT-006", "COHORT-007")
def quota_of_cohort(cohort: Cohort) -> tuple[ResourceGroup, ...]:
    """All members of a cohort can use the quota of the cohort itself.

    Kueue: pkg/cache/scheduler/resource_node.go (updateCohortResourceNode);
        pkg/cache/scheduler/cohort.go (updateCohort)
    """
    return cohort.groups


@rule("COHORT-008")
def cohort_cycle_deactivates_queues(queue: ClusterQueue) -> str:
    """Kueue admits no workload below cohorts that form a cycle.

    Kueue: pkg/cache/hierarchy/cycle.go (HasCycle);
        pkg/cache/scheduler/snapshot.go (Snapshot, inactiveCQReasonHasCycle)
    """
    return f"ClusterQueue {queue.name} is inactive"


@rule("COHORT-009", "STATUS-016")
def borrowed_in_status(used: int, nominal: int) -> int:
    """The status of a ClusterQueue in a cohort shows its usage above the nominal quota as borrowed.

    Kueue: pkg/cache/scheduler/cache.go (getUsage)
    """
    return max(0, used - nominal)


@rule("COHORT-025")
def queue_update_requeues_tree(is_root: bool) -> bool:
    """Any change of a ClusterQueue whose cohort has a parent, even of its status, requeues the whole cohort tree.

    Kueue: pkg/controller/core/cohort_controller.go (NotifyClusterQueueUpdate, cohortCqHandler);
        pkg/cache/scheduler/cache.go (ClusterQueueAncestors); pkg/cache/queue/manager.go (AddOrUpdateCohort)
    """
    return not is_root
