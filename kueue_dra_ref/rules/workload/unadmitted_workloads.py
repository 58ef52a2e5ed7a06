"""Conditions that say why a workload is not admitted (Kueue 0.19, gate UnadmittedWorkloadsObservability).

Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
    pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason, mostSevereReason)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.rule import rule

_GRAVITY = (
    QuotaReservedReason.HELD,
    QuotaReservedReason.TOO_MUCH,
    QuotaReservedReason.NO_FLAVOR,
)
"""What a search for flavors may find, mildest first."""


@rule("OBSERVE-001")
def reason_no_matching_flavor(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that no flavor provides what is asked for, or suits the pods.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonNoMatchingFlavor)
    """
    return (
        _unreserved("NoMatchingFlavor", message)
        if cause is QuotaReservedReason.NO_FLAVOR
        else None
    )


@rule("OBSERVE-002")
def reason_exceeds_capacity(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that more is asked for than the quota will ever give.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonExceedsMaxQuota)
    """
    return (
        _unreserved("ExceedsMaxQuota", message)
        if cause is QuotaReservedReason.TOO_MUCH
        else None
    )


@rule("OBSERVE-003")
def reason_waiting_for_quota(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that quota has to be released first.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota);
        pkg/scheduler/scheduler.go (processEntry);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonWaitingForQuota)
    """
    return (
        _unreserved("WaitingForQuota", message)
        if cause is QuotaReservedReason.HELD
        else None
    )


@rule("OBSERVE-004")
def reason_waiting_for_preemption(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that victims are on their way out.

    Kueue: pkg/scheduler/scheduler.go (processEntry);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads)
    """
    return (
        _unreserved("WaitingForPreemptedWorkloads", message)
        if cause is QuotaReservedReason.PREEMPTING
        else None
    )


@rule("OBSERVE-005", "OBSERVE-006")
def reason_misconfigured(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that a queue is missing, or does not take the workload.

    Kueue: pkg/scheduler/scheduler.go (nominate); pkg/controller/core/workload_controller.go (getQueueBlocker);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonMisconfigured)
    """
    return (
        _unreserved("Misconfigured", message)
        if cause is QuotaReservedReason.MISPLACED
        else None
    )


@rule("OBSERVE-007")
def reason_stopped(cause: QuotaReservedReason | None, message: str) -> Condition | None:
    """Say that a queue takes nothing for now.

    Kueue: pkg/scheduler/scheduler.go (nominate); pkg/controller/core/workload_controller.go (getQueueBlocker);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonSuspended)
    """
    return (
        _unreserved("Suspended", message)
        if cause is QuotaReservedReason.STOPPED
        else None
    )


@rule("OBSERVE-008")
def reason_deactivated(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that the workload itself is switched off.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        apis/kueue/v1beta2/workload_types.go (WorkloadDeactivated)
    """
    return (
        _unreserved("Deactivated", message)
        if cause is QuotaReservedReason.DEACTIVATED
        else None
    )


@rule("OBSERVE-009")
def reason_pending_evaluation(
    cause: QuotaReservedReason | None, message: str
) -> Condition | None:
    """Say that it is the scheduler's turn.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonPendingEvaluation)
    """
    return (
        _unreserved("PendingEvaluation", message)
        if cause is QuotaReservedReason.UNTRIED
        else None
    )


@rule("OBSERVE-011")
def reason_misconfigured_on_inadmissible(message: str, requeued: str) -> Condition:
    """Say that the devices of a workload cannot be charged; Requeued goes on calling it inadmissible.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile);
        pkg/workload/workload.go (UnadmittedWorkloadReasonWithFallback)
    """
    del requeued
    return _unreserved("Misconfigured", message)


@rule("OBSERVE-012")
def no_quota_reservation_condition() -> Condition:
    """Say beside every QuotaReserved that is False that the workload is not admitted, admitted before or not.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    return Condition(
        type="Admitted",
        value=False,
        reason="NoReservation",
        message="The workload has no reservation",
    )


@rule("OBSERVE-017")
def refresh_on_new_generation(said: int, generation: int) -> bool:
    """Whether a condition of one generation is written again for another, and all that goes with it.

    Kueue: pkg/workload/workload.go (UnsetQuotaReservationWithCondition);
        pkg/controller/core/workload_controller.go (newQuotaReservedCondition)
    """
    return said != generation


@rule("OBSERVE-013")
def least_severe_reason(
    causes: Sequence[QuotaReservedReason],
) -> QuotaReservedReason:
    """Of flavors that could each have served, the one that came nearest gives the reason.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason)
    """
    return min(causes, key=_GRAVITY.index)


@rule("OBSERVE-014")
def most_severe_reason(
    causes: Sequence[QuotaReservedReason],
) -> QuotaReservedReason:
    """Of resources, groups and pod sets that are all needed, the one that is farthest away gives the reason.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (mostSevereReason, resolveNoFitReason)
    """
    return max(causes, key=_GRAVITY.index)


def _unreserved(reason: str, message: str) -> Condition:
    return Condition(type="QuotaReserved", value=False, reason=reason, message=message)
