"""Status: conditions, admission and counts of queues (Workload Processing Flow, step 7; Kueue 0.19).

Kueue: pkg/workload/workload.go (SetQuotaReservation, UnsetQuotaReservationWithCondition, PropagateResourceRequests);
    pkg/cache/scheduler/cache.go (Usage, LocalQueueUsage)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.jobs import job_uid_of
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.topology_assignment import TopologyAssignment, written
from kueue_dra_ref.api.types import ResourceGroup
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import InadmissibleReason, NotAdmissible
from kueue_dra_ref.model.resource_node import FlavorResource
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_CLUSTER_QUEUE_PROBLEMS = {
    "missing": "ClusterQueueDoesNotExist",
    "inactive": "ClusterQueueIsInactive",
}
"""The reason of Active by the state of the ClusterQueue; no entry for an active one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetAssignment:
    """The assignment of one pod set: flavors by resource, usage by resource in Kueue's units, and its pods."""

    name: str
    count: int
    flavors: Mapping[str, str]
    usage: Mapping[str, int]
    in_bytes: frozenset[str] = frozenset()
    """Resources that Kueue prints in bytes."""
    topology: TopologyAssignment | None = None
    """The domains of its pods, if they are placed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """The totals of a queue: counts of workloads, and amounts by flavor and resource in Kueue's units."""

    pending: int
    reserving: int
    admitted: int
    reserved: Mapping[FlavorResource, int]
    used: Mapping[FlavorResource, int]
    groups: Sequence[ResourceGroup]
    borrowed: Mapping[str, Mapping[FlavorResource, int]] = field(default_factory=dict)
    """The borrowed part of ``reserved`` and of ``used``."""
    in_bytes: frozenset[str] = frozenset()
    """Resources that Kueue prints in bytes."""
    flavor: Callable[[str], Mapping[str, Any] | None] = lambda _: None
    """Give the spec of a ResourceFlavor, or None if it does not exist."""


@rule("STATUS-056")
def orphaned_workload_finishes(workload: Manifest) -> tuple[str, str] | None:
    """Kueue finishes a Workload that has the UID of its work in a label, and no owner any more.

    Kueue: pkg/controller/core/workload_controller.go (isOrphanedWorkload);
        pkg/workload/workload.go (FinalizeOrphanedWorkload)
    """
    if owners_of(workload) or not job_uid_of(workload):
        return None
    return "OwnerNotFound", "The workload's owner no longer exists"


@rule("STATUS-005", "QUEUE-001")
def quota_reserved_condition(cluster_queue: str) -> Condition:
    """Kueue sets QuotaReserved True with the name of the ClusterQueue on a workload with quota.

    Kueue: pkg/workload/workload.go (SetQuotaReservation)
    """
    return Condition(
        type="QuotaReserved",
        value=True,
        reason="QuotaReserved",
        message=f"Quota reserved in ClusterQueue {cluster_queue}",
    )


@rule("STATUS-006")
def admitted_condition() -> Condition:
    """Kueue sets Admitted True on a workload that it admits.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    return Condition(
        type="Admitted",
        value=True,
        reason="Admitted",
        message="The workload is admitted",
    )


@rule("STATUS-007")
def pending_condition(pending: NotAdmissible) -> Condition:
    """Kueue sets QuotaReserved False with reason Pending when a workload does not fit.

    Kueue: pkg/scheduler/scheduler.go (requeueAndUpdate);
        pkg/workload/workload.go (UnsetQuotaReservationWithCondition)
    """
    return Condition(
        type="QuotaReserved", value=False, reason="Pending", message=pending.message
    )


@rule("STATUS-032", "STATUS-033")
def inadmissible_queue_condition(pending: NotAdmissible) -> Condition:
    """Kueue sets QuotaReserved False with reason Inadmissible when a queue is missing or inactive.

    Kueue: pkg/controller/core/workload_controller.go (resolveLegacyUnadmittedQuotaReservedCondition, getQueueBlocker)
    """
    return Condition(
        type="QuotaReserved",
        value=False,
        reason="Inadmissible",
        message=pending.message,
    )


@rule("STATUS-008")
def inadmissible_condition(refused: InadmissibleReason) -> Condition:
    """Kueue sets QuotaReserved False with reason Inadmissible on an inadmissible DRA workload.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile);
        pkg/workload/workload.go (UnsetQuotaReservationWithCondition)
    """
    return Condition(
        type="QuotaReserved",
        value=False,
        reason="Inadmissible",
        message=refused.message,
    )


@rule("STATUS-009", "STATUS-030", "STATUS-034")
def requeued_false_condition(refused: InadmissibleReason) -> Condition:
    """Kueue sets Requeued False with reason Inadmissible on an inadmissible DRA workload.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile); pkg/workload/workload.go (SetRequeuedCondition)
    """
    return Condition(
        type="Requeued",
        value=False,
        reason="Inadmissible",
        message=refused.requeued or refused.message,
    )


@rule("STATUS-026")
def unset_quota_reservation_condition(pending: NotAdmissible) -> Condition:
    """Kueue sets QuotaReserved False with reason Pending on an evicted workload without pods.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob);
        pkg/workload/workload.go (UnsetQuotaReservationWithCondition)
    """
    return Condition(
        type="QuotaReserved", value=False, reason="Pending", message=pending.message
    )


@rule("STATUS-027")
def evicted_condition(reason: str, message: str) -> Condition:
    """Kueue sets Evicted True with the reason of the eviction on an evicted workload.

    Kueue: pkg/workload/evict/evict.go (Evict, SetEvictedCondition)
    """
    return Condition(type="Evicted", value=True, reason=reason, message=message)


@rule("PREEMPT-024")
def preempted_condition(reason: str, message: str) -> Condition:
    """Kueue sets Preempted True with the reason of the preemption on a preempted workload.

    Kueue: pkg/workload/workload.go (SetPreemptedCondition); pkg/scheduler/preemption/preemption.go (IssuePreemptions)
    """
    return Condition(type="Preempted", value=True, reason=reason, message=message)


@rule("STATUS-001", "STATUS-002", "STATUS-003", "STATUS-004")
def admission_status(
    cluster_queue: str, assigned: Sequence[PodSetAssignment]
) -> Mapping[str, Any]:
    """The admission of a workload lists the ClusterQueue and, per pod set, count, flavors and usage.

    Kueue: pkg/scheduler/scheduler.go (admit, assumeWorkload);
        pkg/scheduler/flavorassigner/flavorassigner.go (ToAPI, toAPI)
    """
    return {
        "clusterQueue": cluster_queue,
        "podSetAssignments": [_assignment(pod_set) for pod_set in assigned],
    }


@rule("STATUS-040")
def pods_resource_in_requests(counted: Mapping[str, int]) -> Mapping[str, int]:
    """The resourceRequests of a pending workload include the pods that the ClusterQueue counts.

    Kueue 0.17: pkg/workload/workload.go (PropagateResourceRequests);
        pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors)
    """
    return counted


@rule("STATUS-011")
def pending_workload_resource_requests(
    asked: Sequence[tuple[str, Mapping[str, int]]], in_bytes: frozenset[str]
) -> list[dict[str, Any]]:
    """The resourceRequests of a tried workload list what each pod set requests, devices included.

    Kueue: pkg/workload/workload.go (PropagateResourceRequests)
    """
    return [
        {
            "name": name,
            **({"resources": _printed(amounts, in_bytes)} if amounts else {}),
        }
        for name, amounts in asked
    ]


@rule("STATUS-013", "STATUS-014")
def pending_workloads_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The pendingWorkloads of a ClusterQueue counts its pending workloads.

    Kueue: pkg/cache/queue/cluster_queue.go (Pending, PendingTotal);
        pkg/controller/core/clusterqueue_controller.go (updateCqStatusIfChanged)
    """
    return {"pendingWorkloads": counts.pending}


@rule("STATUS-015")
def reserving_and_admitted_workloads_status(
    counts: QueueCounts,
) -> Mapping[str, Any]:
    """The status of a ClusterQueue counts its reserving and admitted workloads.

    Kueue: pkg/cache/scheduler/cache.go (Usage);
        pkg/controller/core/clusterqueue_controller.go (updateCqStatusIfChanged)
    """
    return {
        "reservingWorkloads": counts.reserving,
        "admittedWorkloads": counts.admitted,
    }


@rule("STATUS-016", "STATUS-028", "SCOPE-001")
def flavors_reservation_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The flavorsReservation of a ClusterQueue lists the reserved total of every flavor and resource.

    Kueue: pkg/cache/scheduler/cache.go (Usage, getUsage)
    """
    return {
        "flavorsReservation": _listed(
            counts, counts.reserved, counts.borrowed.get("reserved", {})
        )
    }


@rule("STATUS-017", "STATUS-028")
def flavors_usage_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The flavorsUsage of a ClusterQueue lists the total used by admitted workloads.

    Kueue: pkg/cache/scheduler/cache.go (Usage, getUsage)
    """
    return {
        "flavorsUsage": _listed(counts, counts.used, counts.borrowed.get("used", {}))
    }


@rule("STATUS-018", "STATUS-014")
def local_queue_workloads_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The status of a LocalQueue counts its own pending, reserving and admitted workloads.

    Kueue: pkg/controller/core/localqueue_controller.go (updateStatusIfChanged);
        pkg/cache/queue/manager.go (PendingWorkloads)
    """
    return {
        "pendingWorkloads": counts.pending,
        "reservingWorkloads": counts.reserving,
        "admittedWorkloads": counts.admitted,
    }


@rule("STATUS-019", "STATUS-028")
def local_queue_flavors_usage_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The status of a LocalQueue lists what its own workloads reserve and use, nothing without a ClusterQueue.

    Kueue: pkg/cache/scheduler/cache.go (LocalQueueUsage, filterLocalQueueUsage)
    """
    shown = {
        "flavorsReservation": _listed(counts, counts.reserved),
        "flavorsUsage": _listed(counts, counts.used),
    }
    return {name: listed for name, listed in shown.items() if listed}


@rule("STATUS-053")
def local_queue_flavors_status(counts: QueueCounts) -> Mapping[str, Any]:
    """The status of a LocalQueue lists the flavors of its ClusterQueue with resources, labels and taints.

    Kueue 0.14: pkg/cache/scheduler/cache.go (LocalQueueUsage);
        pkg/controller/core/localqueue_controller.go (UpdateStatusIfChanged)
    """
    shown = [
        {
            "name": flavor.name,
            "resources": sorted(group.covered),
            **_nodes(counts.flavor(flavor.name) or {}),
        }
        for group in counts.groups
        for flavor in group.flavors
    ]
    return {"flavors": shown} if shown else {}


@rule("STATUS-020", "STATUS-021", "STATUS-022")
def cluster_queue_active_condition(
    reasons: Sequence[str], messages: Sequence[str]
) -> Condition:
    """A ClusterQueue has Active True with reason Ready, or False with the first reason why it is inactive.

    Kueue: pkg/cache/scheduler/cache.go (ClusterQueueReadiness); pkg/cache/scheduler/clusterqueue.go (inactiveReason)
    """
    if not reasons:
        return Condition(
            type="Active", value=True, reason="Ready", message="Can admit new workloads"
        )
    first, *_ = reasons
    message = f"Can't admit new workloads: {', '.join(messages)}."
    return Condition(type="Active", value=False, reason=first, message=message)


@rule("STATUS-048")
def cluster_queue_terminating_condition() -> Condition:
    """A terminating ClusterQueue has Active False with reason Terminating.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason)
    """
    message = "Can't admit new workloads; clusterQueue is terminating"
    return Condition(type="Active", value=False, reason="Terminating", message=message)


@rule("STATUS-023")
def local_queue_active_condition(stopped: bool, cluster_queue: str) -> Condition:
    """A LocalQueue has Active False when it is stopped or its ClusterQueue is missing or inactive.

    Kueue: pkg/controller/core/localqueue_controller.go (Reconcile)
    """
    if stopped:
        return Condition(
            type="Active",
            value=False,
            reason="Stopped",
            message="LocalQueue is stopped",
        )
    reason = _CLUSTER_QUEUE_PROBLEMS.get(cluster_queue)
    if reason:
        message = "Can't submit new workloads to clusterQueue"
        return Condition(type="Active", value=False, reason=reason, message=message)
    return Condition(
        type="Active",
        value=True,
        reason="Ready",
        message="Can submit new workloads to localQueue",
    )


def _nodes(flavor: Mapping[str, Any]) -> dict[str, Any]:
    shown = {}
    for key in ("nodeLabels", "nodeTaints"):
        if flavor.get(key):
            shown[key] = flavor[key]
    return shown


def _assignment(pod_set: PodSetAssignment) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": pod_set.name,
        "count": pod_set.count,
        "flavors": dict(sorted(pod_set.flavors.items())),
        "resourceUsage": _printed(
            {name: pod_set.usage[name] for name in pod_set.flavors}, pod_set.in_bytes
        ),
    }
    if pod_set.topology is not None:
        found["topologyAssignment"] = written(pod_set.topology)
    return found


def _printed(amounts: Mapping[str, int], in_bytes: frozenset[str]) -> dict[str, str]:
    return {
        name: printed(name, amount, in_bytes)
        for name, amount in sorted(amounts.items())
    }


def _listed(
    counts: QueueCounts,
    amounts: Mapping[FlavorResource, int],
    borrowed: Mapping[FlavorResource, int] | None = None,
) -> list[dict[str, Any]]:
    flavors = [flavor for group in counts.groups for flavor in group.flavors]
    listed = []
    for flavor in sorted(flavors, key=lambda flavor: flavor.name):
        resources = []
        for name in sorted(flavor.nominal):
            of = (flavor.name, name)
            total = printed(name, amounts.get(of, 0), counts.in_bytes)
            resource = {"name": name, "total": total}
            if borrowed is not None:
                over = borrowed.get(of, 0)
                resource["borrowed"] = printed(name, over, counts.in_bytes)
            resources.append(resource)
        listed.append({"name": flavor.name, "resources": resources})
    return listed
