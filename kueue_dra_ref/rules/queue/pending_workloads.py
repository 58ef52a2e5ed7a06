"""Pending workloads: their order, heads that do not fit, inactive queues and evictions.

Kueue: pkg/cache/queue/cluster_queue.go (RequeueIfNotPresent, handleInadmissibleHash, preemptorWorkload);
    pkg/cache/scheduler/clusterqueue.go (inactiveReason)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.conditions import is_false, is_true
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWorkload:
    """A pending workload as the order uses it; ``created`` is the order of creation."""

    priority: int
    created: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueueCheck:
    """A ClusterQueue that may be inactive, and the flavors that it names and that do not exist."""

    queue: ClusterQueue
    missing_flavors: tuple[str, ...]
    missing_checks: tuple[str, ...] = ()
    """AdmissionChecks that do not exist, by name."""
    inactive_checks: tuple[str, ...] = ()
    """AdmissionChecks whose controller has not set them active, by name."""
    missing_topologies: tuple[tuple[str, str], ...] = ()
    """Topologies that do not exist, each with the flavor that names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaHolder:
    """A workload with a quota reservation, as eviction uses it."""

    active: bool
    local_queue_stop: str
    cluster_queue_stop: str
    local_queue: str
    cluster_queue: str
    local_queue_stays: bool
    """Whether its LocalQueue exists and is not being deleted."""
    cluster_queue_stays: bool


@rule("QUEUE-002")
def higher_priority_first(pending: PendingWorkload) -> int:
    """Kueue orders the pending workload with the higher priority first.

    Kueue: pkg/cache/queue/cluster_queue.go (baseCompareFunc, queueOrderingFunc)
    """
    return -pending.priority


@rule("QUEUE-003")
def older_first(pending: PendingWorkload) -> int:
    """Of pending workloads with equal priority, Kueue orders the one created first before the others.

    Kueue: pkg/cache/queue/cluster_queue.go (baseCompareFunc); pkg/workload/workload.go (GetQueueOrderTimestamp)
    """
    return pending.created


@rule("QUEUE-004")
def strict_fifo_requeues_immediately(queue: ClusterQueue) -> bool:
    """A StrictFIFO queue requeues a head that does not fit at once, so later workloads stay pending.

    Kueue: pkg/cache/queue/cluster_queue.go (RequeueIfNotPresent, requeueIfNotPresent)
    """
    return queue.strategy == "StrictFIFO"


@rule("QUEUE-005", "QUEUE-006")
def best_effort_fifo_marks_inadmissible(queue: ClusterQueue) -> bool:
    """A BestEffortFIFO queue marks a head that does not fit as inadmissible and tries the next workload.

    Kueue: pkg/cache/queue/cluster_queue.go (RequeueIfNotPresent, requeueIfNotPresent, insertInadmissible)
    """
    return queue.strategy == "BestEffortFIFO"


@rule("QUEUE-032")
def finished_is_not_queued(done: bool) -> bool:
    """Kueue does not queue the finished workloads of a LocalQueue that is created.

    Kueue: pkg/cache/queue/manager.go (addLocalQueueLocked); pkg/workload/workload.go (IsAdmissible)
    """
    return done


@rule("QUEUE-024", "QUEUE-043", "QUEUE-057")
def scheduling_equivalence_hashing(queue: ClusterQueue) -> bool:
    """A BestEffortFIFO queue marks workloads equivalent to one that did not fit as inadmissible with it.

    Kueue: pkg/cache/queue/cluster_queue.go (handleInadmissibleHash, PushOrUpdate)
    """
    return queue.strategy == "BestEffortFIFO"


@rule("QUEUE-034", "QUEUE-035", "EXT-034")
def requeued_false_is_skipped(workload: Manifest) -> bool:
    """Kueue does not requeue an inadmissible workload whose condition Requeued is False.

    Kueue: pkg/cache/queue/inadmissible_workloads.go (queueInadmissibleWorkloads);
        pkg/cache/queue/cluster_queue.go (backoffWaitingTimeExpired)
    """
    return is_false(workload, "Requeued")


@rule("PREEMPT-026")
def sticky_preemptor(queue: ClusterQueue) -> bool:
    """A BestEffortFIFO queue admits no workload before a preemptor that waits for its victims.

    Kueue: pkg/cache/queue/cluster_queue.go (preemptorWorkload, stickyMatches);
        Kueue 0.18: pkg/cache/queue/cluster_queue.go (stickyWorkload)
    """
    return queue.strategy == "BestEffortFIFO"


@rule("QUEUE-013", "QUEUE-014", "QUEUE-015", "QUEUE-016", "QUEUE-030")
def namespace_must_be_selected(
    queue: ClusterQueue, labels: dict[str, str]
) -> str | None:
    """Kueue admits a workload only when the namespaceSelector of the ClusterQueue matches its namespace.

    Kueue: pkg/workload/resources.go (ValidateAdmissibility, ErrNamespaceMismatch)
    """
    return (
        None
        if _selects_namespace(queue, labels)
        else "workload namespace doesn't match ClusterQueue selector"
    )


@rule("QUEUE-013", "QUEUE-014", "QUEUE-015", "QUEUE-016", "QUEUE-031")
def namespace_must_be_selected_0_18(
    queue: ClusterQueue, labels: dict[str, str]
) -> str | None:
    """Kueue admits only selected namespaces, and its message begins with a capital letter.

    Kueue 0.18: pkg/scheduler/scheduler.go (nominate)
    """
    return (
        None
        if _selects_namespace(queue, labels)
        else "Workload namespace doesn't match ClusterQueue selector"
    )


@rule("QUEUE-050")
def terminating_cluster_queue_is_inactive(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A terminating ClusterQueue is inactive and admits no new workloads.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason); pkg/cache/scheduler/cache.go (TerminateClusterQueue)
    """
    if not check.queue.deleted:
        return None
    return ReasonMessage(reason="Terminating", message="is terminating")


@rule("QUEUE-008", "QUEUE-009", "QUEUE-012", "STATUS-021")
def stopped_cluster_queue_is_inactive(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A ClusterQueue with stopPolicy Hold or HoldAndDrain is inactive and admits no new workloads.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason, updateQueueStatus)
    """
    if check.queue.stop_policy == "None":
        return None
    return ReasonMessage(reason="Stopped", message="is stopped")


@rule("QUEUE-019", "STATUS-022")
def missing_flavors_deactivate_cluster_queue(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A ClusterQueue with a flavor that does not exist is inactive and admits no new workloads.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason, updateQueueStatus)
    """
    what = "missing ResourceFlavor(s)"
    return _references("FlavorNotFound", what, check.missing_flavors)


@rule("CHECK-012")
def missing_admission_checks_deactivate_cluster_queue(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A ClusterQueue with an AdmissionCheck that does not exist is inactive.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason, updateWithAdmissionChecks)
    """
    what = "missing AdmissionCheck(s)"
    return _references("AdmissionCheckNotFound", what, check.missing_checks)


@rule("CHECK-013")
def inactive_admission_checks_deactivate_cluster_queue(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A ClusterQueue with an AdmissionCheck that is not active is inactive.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason, updateWithAdmissionChecks)
    """
    what = "inactive AdmissionCheck(s)"
    return _references("AdmissionCheckInactive", what, check.inactive_checks)


def _references(reason: str, what: str, names: Sequence[str]) -> ReasonMessage | None:
    if not names:
        return None
    message = f"references {what}: {','.join(names)}"
    return ReasonMessage(reason=reason, message=message)


@rule("TAS-024")
def missing_topologies_deactivate_cluster_queue(
    check: ClusterQueueCheck,
) -> ReasonMessage | None:
    """A ClusterQueue with a flavor whose Topology does not exist is inactive.

    Kueue: pkg/cache/scheduler/clusterqueue.go (inactiveReason, isTASViolated)
    """
    if not check.missing_topologies:
        return None
    missing = [
        f'there is no Topology "{topology}" for TAS flavor "{flavor}"'
        for topology, flavor in check.missing_topologies
    ]
    return ReasonMessage(reason="TopologyNotFound", message=", ".join(missing))


@rule("QUEUE-020", "QUEUE-021", "STATUS-027")
def evict_on_deactivation(holder: QuotaHolder) -> ReasonMessage | None:
    """Kueue evicts an admitted workload with active false.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile)
    """
    return (
        None
        if holder.active
        else ReasonMessage(reason="Deactivated", message="The workload is deactivated")
    )


@rule("QUEUE-011")
def hold_and_drain_evicts_local_queue(holder: QuotaHolder) -> ReasonMessage | None:
    """Kueue evicts the admitted workloads of a LocalQueue with stopPolicy HoldAndDrain.

    Kueue: pkg/controller/core/workload_controller.go (reconcileOnLocalQueueActiveState)
    """
    if holder.local_queue_stop != "HoldAndDrain":
        return None
    return ReasonMessage(
        reason="LocalQueueStopped", message="The LocalQueue is stopped"
    )


@rule("QUEUE-009", "QUEUE-052")
def hold_and_drain_evicts_cluster_queue(holder: QuotaHolder) -> ReasonMessage | None:
    """Kueue evicts the admitted workloads of a ClusterQueue with stopPolicy HoldAndDrain.

    Kueue: pkg/controller/core/workload_controller.go (reconcileOnClusterQueueActiveState)
    """
    if holder.cluster_queue_stop != "HoldAndDrain":
        return None
    return ReasonMessage(
        reason="ClusterQueueStopped", message="The ClusterQueue is stopped"
    )


@rule("CHECK-017")
def local_queue_takes_reservation_back(holder: QuotaHolder) -> NotAdmissible | None:
    """A workload that waits for its checks loses its quota when its LocalQueue is stopped or gone.

    Kueue: pkg/controller/core/workload_controller.go (reconcileOnLocalQueueActiveState)
    """
    name = f"LocalQueue {holder.local_queue}"
    return _taken_back(name, holder.local_queue_stays, holder.local_queue_stop)


@rule("CHECK-017")
def cluster_queue_takes_reservation_back(holder: QuotaHolder) -> NotAdmissible | None:
    """A workload that waits for its checks loses its quota when its ClusterQueue is stopped or gone.

    Kueue: pkg/controller/core/workload_controller.go (reconcileOnClusterQueueActiveState)
    """
    name = f"ClusterQueue {holder.cluster_queue}"
    return _taken_back(name, holder.cluster_queue_stays, holder.cluster_queue_stop)


def _taken_back(name: str, stays: bool, stop: str) -> NotAdmissible | None:
    if not stays:
        message = f"{name} is terminating or missing"
        return NotAdmissible(cause=QuotaReservedReason.MISPLACED, message=message)
    if stop == "None":
        return None
    message = f"{name} is stopped"
    return NotAdmissible(cause=QuotaReservedReason.STOPPED, message=message)


@rule("POD-023")
def requeue_uses_adjusted_requests(counted: Workload) -> Workload:
    """Kueue checks the adjusted requests of a workload each time it tries the workload.

    Kueue: pkg/cache/queue/manager.go (RequeueWorkload)
    """
    return counted


@rule("POD-017")
def requeue_keeps_adjusted_requests(counted: Workload) -> Workload:
    """Kueue compares a new version of a workload with the adjusted requests of the old one.

    Kueue: pkg/cache/queue/manager.go (RequeueWorkload); pkg/cache/queue/cluster_queue.go (PushOrUpdate)
    """
    return counted


@rule("QUEUE-062")
def counted_pods_requeue_on_update(added: Mapping[str, int]) -> bool:
    """The search for a flavor adds the counted pods to the requests, so any later version of the workload differs.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (assignFlavors);
        pkg/cache/queue/cluster_queue.go (draRequestsChanged)
    """
    return bool(added)


@rule("QUEUE-028")
def inactive_is_not_cached_on_start(active: bool) -> bool:
    """Kueue does not count the quota reservation of a deactivated workload when it starts.

    Kueue: pkg/cache/scheduler/cache.go (AddClusterQueue); pkg/workload/workload.go (HasActiveQuotaReservation)
    """
    return active


@rule("QUEUE-056")
def deleted_pending_triggers_no_requeue(gone: Manifest) -> bool:
    """Kueue requeues no inadmissible workloads when a pending workload is deleted.

    Kueue 0.15: pkg/controller/core/workload_controller.go (Delete)
    """
    return not (is_true(gone, "QuotaReserved") or is_true(gone, "Finished"))


@rule("QUEUE-067", "QUEUE-068")
def moved_work_with_devices_stays_queued(devices: bool) -> bool:
    """Kueue leaves a workload with devices that names another queue in the queue that it has left as well.

    Kueue 0.15: pkg/controller/core/workload_controller.go (Update);
        pkg/cache/queue/manager.go (AddOrUpdateWorkloadWithoutLock)
    """
    return devices


def _selects_namespace(queue: ClusterQueue, labels: dict[str, str]) -> bool:
    selector: dict[str, Any] | None = queue.namespace_selector
    return selector is not None and selects(selector, labels)
