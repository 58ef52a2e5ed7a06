"""Why a queue does not admit a pending workload; the first rule decides (Kueue 0.19, workload reconcile).

Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition, getQueueBlocker,
    shouldCheckEquivalenceHash)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.rule import rule

_SCHEDULER_REASONS = frozenset(
    {
        "WaitingForQuota",
        "NoMatchingFlavor",
        "ExceedsMaxQuota",
        "TopologyPlacementFailed",
        "WaitingForPreemptedWorkloads",
        "WaitingForPodsReady",
        "PendingEvaluation",
    }
)
"""Reasons that the scheduler gives, and the controller keeps until the scheduler tries the workload again."""
_STALE_REASONS = frozenset({"Deactivated", "PendingEvaluation", "Suspended", "Pending"})
"""Reasons that are out of date once the scheduler can try the workload."""
_PENDING_EVALUATION = NotAdmissible(
    cause=QuotaReservedReason.UNTRIED,
    message="Workload is pending evaluation in the scheduling queue",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePosition:
    """The LocalQueue and ClusterQueue of a workload, and the reason of its condition."""

    local_queue: str
    local_queue_exists: bool
    local_queue_runs: bool
    cluster_queue: str
    cluster_queue_exists: bool
    cluster_queue_is_active: bool
    active: bool
    mismatch: str
    """The message when the ClusterQueue does not select the namespace; empty when it does."""
    unfit: Callable[[], str]
    """Give the message for invalid requests of its pods; computed only when a rule calls it."""
    gates: str
    """The message while its admission gates are closed; empty when they are not."""
    bypassed: QuotaReservedReason | None
    """The reason of an equivalent workload that made this one inadmissible."""
    reason: str
    """The reason of its condition QuotaReserved; empty without the condition."""


@rule("OBSERVE-008")
def inactive_condition(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports a deactivated workload before it checks its queue.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition)
    """
    return (
        None
        if position.active
        else NotAdmissible(
            cause=QuotaReservedReason.DEACTIVATED, message="The workload is deactivated"
        )
    )


@rule("QUEUE-017", "STATUS-032")
def local_queue_must_exist(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports that the LocalQueue of a workload does not exist.

    Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker)
    """
    if position.local_queue_exists:
        return None
    return NotAdmissible(
        cause=QuotaReservedReason.MISPLACED,
        message=f"LocalQueue {position.local_queue} doesn't exist",
    )


@rule("QUEUE-010", "STATUS-033")
def local_queue_must_be_active(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports that the LocalQueue of a workload is inactive.

    Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker)
    """
    if position.local_queue_runs:
        return None
    return NotAdmissible(
        cause=QuotaReservedReason.STOPPED,
        message=f"LocalQueue {position.local_queue} is inactive",
    )


@rule("QUEUE-018", "STATUS-032")
def cluster_queue_must_exist(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports that the ClusterQueue of a workload does not exist.

    Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker)
    """
    if position.cluster_queue_exists:
        return None
    return NotAdmissible(
        cause=QuotaReservedReason.MISPLACED,
        message=f"ClusterQueue {position.cluster_queue} doesn't exist",
    )


@rule("QUEUE-008", "QUEUE-019", "STATUS-033")
def cluster_queue_must_be_active(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports that the ClusterQueue of a workload is inactive.

    Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker)
    """
    if position.cluster_queue_is_active:
        return None
    return NotAdmissible(
        cause=QuotaReservedReason.STOPPED,
        message=f"ClusterQueue {position.cluster_queue} is inactive",
    )


@rule("OBSERVE-006")
def namespace_mismatch_condition(
    position: QueuePosition,
) -> NotAdmissible | None:
    """Kueue reports a namespace that the ClusterQueue does not select before the scheduler tries the workload.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        pkg/workload/resources.go (ValidateAdmissibility)
    """
    return (
        NotAdmissible(cause=QuotaReservedReason.MISPLACED, message=position.mismatch)
        if position.mismatch
        else None
    )


@rule("POD-016")
def invalid_requests_condition(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports invalid resource requests before the scheduler tries the workload.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        pkg/workload/resources.go (ValidateAdmissibility)
    """
    message = position.unfit()
    return (
        NotAdmissible(cause=QuotaReservedReason.MISPLACED, message=message)
        if message
        else None
    )


@rule("GATED-012")
def closed_gates_condition(position: QueuePosition) -> NotAdmissible | None:
    """Kueue reports closed admission gates once nothing else blocks the queue of the workload.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition)
    """
    return (
        NotAdmissible(cause=QuotaReservedReason.GATED, message=position.gates)
        if position.gates
        else None
    )


@rule("OBSERVE-010")
def reason_from_equivalence_hash(position: QueuePosition) -> NotAdmissible | None:
    """A workload that is inadmissible with an equivalent one gets its reason when its own is out of date.

    Kueue: pkg/controller/core/workload_controller.go (shouldCheckEquivalenceHash);
        pkg/cache/queue/cluster_queue.go (GetNoFitReason)
    """
    return (
        _reason_of_equivalent(position) if position.reason in _STALE_REASONS else None
    )


@rule("OBSERVE-018")
def reason_from_equivalence_hash_on_arrival(
    position: QueuePosition,
) -> NotAdmissible | None:
    """A new workload that is inadmissible with an equivalent one gets the reason of that workload.

    Kueue: pkg/controller/core/workload_controller.go (shouldCheckEquivalenceHash);
        pkg/cache/queue/cluster_queue.go (GetNoFitReason)
    """
    return None if position.reason else _reason_of_equivalent(position)


@rule("OBSERVE-018")
def pending_on_arrival(position: QueuePosition) -> NotAdmissible | None:
    """A new workload gets a condition with reason PendingEvaluation at once.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition)
    """
    return None if position.reason else _PENDING_EVALUATION


@rule("OBSERVE-009")
def clear_stale_condition(position: QueuePosition) -> NotAdmissible | None:
    """A workload that nothing blocks any more gets the reason PendingEvaluation.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition,
        schedulerSetReasons)
    """
    if not position.reason or position.reason in _SCHEDULER_REASONS:
        return None
    return _PENDING_EVALUATION


def _reason_of_equivalent(position: QueuePosition) -> NotAdmissible | None:
    if position.bypassed is None:
        return None
    message = (
        "Bypassed scheduling evaluation because an equivalent workload recently failed"
    )
    return NotAdmissible(cause=position.bypassed, message=message)
