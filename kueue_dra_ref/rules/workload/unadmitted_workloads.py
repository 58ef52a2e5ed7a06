"""Conditions of workloads that are not admitted (Kueue 0.19, gate UnadmittedWorkloadsObservability).

Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
    pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason, mostSevereReason)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import (
    InadmissibleReason,
    NotAdmissible,
    QuotaReservedReason,
)
from kueue_dra_ref.model.rule import rule

_BY_SEVERITY = (
    QuotaReservedReason.UNPLACED,
    QuotaReservedReason.HELD,
    QuotaReservedReason.TOO_MUCH,
    QuotaReservedReason.NO_FLAVOR,
)
"""The reasons that a flavor search can have, least severe first."""


@rule("OBSERVE-001")
def reason_no_matching_flavor(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason NoMatchingFlavor when no flavor provides a resource or matches the pods.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonNoMatchingFlavor)
    """
    if pending.cause is not QuotaReservedReason.NO_FLAVOR:
        return None
    return _quota_not_reserved("NoMatchingFlavor", pending.message)


@rule("OBSERVE-002")
def reason_exceeds_capacity(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason ExceedsMaxQuota when a workload requests more than the maximum quota.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonExceedsMaxQuota)
    """
    if pending.cause is not QuotaReservedReason.TOO_MUCH:
        return None
    return _quota_not_reserved("ExceedsMaxQuota", pending.message)


@rule("OBSERVE-003")
def reason_waiting_for_quota(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason WaitingForQuota when other workloads use the quota.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota);
        pkg/scheduler/scheduler.go (processEntry);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonWaitingForQuota)
    """
    if pending.cause is not QuotaReservedReason.HELD:
        return None
    return _quota_not_reserved("WaitingForQuota", pending.message)


@rule("TAS-028")
def reason_topology_placement_failed(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason TopologyPlacementFailed when no domain has room for the pods, were it empty.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (markFlavorAttempt);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonTopologyPlacementFailed)
    """
    if pending.cause is not QuotaReservedReason.UNPLACED:
        return None
    return _quota_not_reserved("TopologyPlacementFailed", pending.message)


@rule("OBSERVE-004")
def reason_waiting_for_preemption(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason WaitingForPreemptedWorkloads on a workload that preempts others.

    Kueue: pkg/scheduler/scheduler.go (processEntry);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonWaitingForPreemptedWorkloads)
    """
    if pending.cause is not QuotaReservedReason.PREEMPTING:
        return None
    return _quota_not_reserved("WaitingForPreemptedWorkloads", pending.message)


@rule("CONC-017")
def reason_admission_gated(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason AdmissionGated on a workload whose preemption gate is closed.

    Kueue: pkg/scheduler/scheduler.go (processEntry);
        apis/kueue/v1beta2/workload_types.go (WorkloadAdmissionGated)
    """
    if pending.cause is not QuotaReservedReason.GATED:
        return None
    return _quota_not_reserved("AdmissionGated", pending.message)


@rule("OBSERVE-005", "OBSERVE-006")
def reason_misconfigured(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason Misconfigured when a queue is missing or does not accept the workload.

    Kueue: pkg/scheduler/scheduler.go (nominate); pkg/controller/core/workload_controller.go (getQueueBlocker);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonMisconfigured)
    """
    if pending.cause is not QuotaReservedReason.MISPLACED:
        return None
    return _quota_not_reserved("Misconfigured", pending.message)


@rule("OBSERVE-007")
def reason_stopped(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason Suspended when the LocalQueue or ClusterQueue is stopped or inactive.

    Kueue: pkg/scheduler/scheduler.go (nominate); pkg/controller/core/workload_controller.go (getQueueBlocker);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonSuspended)
    """
    if pending.cause is not QuotaReservedReason.STOPPED:
        return None
    return _quota_not_reserved("Suspended", pending.message)


@rule("OBSERVE-008")
def reason_deactivated(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason Deactivated on a workload with active false.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        apis/kueue/v1beta2/workload_types.go (WorkloadDeactivated)
    """
    if pending.cause is not QuotaReservedReason.DEACTIVATED:
        return None
    return _quota_not_reserved("Deactivated", pending.message)


@rule("OBSERVE-009")
def reason_pending_evaluation(pending: NotAdmissible) -> Condition | None:
    """Kueue sets reason PendingEvaluation until the scheduler tries the workload.

    Kueue: pkg/controller/core/workload_controller.go (resolveGranularUnadmittedQuotaReservedCondition);
        apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonPendingEvaluation)
    """
    if pending.cause is not QuotaReservedReason.UNTRIED:
        return None
    return _quota_not_reserved("PendingEvaluation", pending.message)


@rule("OBSERVE-011")
def reason_misconfigured_on_inadmissible(refused: InadmissibleReason) -> Condition:
    """Kueue sets QuotaReserved False with reason Misconfigured on an inadmissible DRA workload.

    Kueue: pkg/controller/core/workload_controller.go (Reconcile);
        pkg/workload/workload.go (UnadmittedWorkloadReasonWithFallback)
    """
    return _quota_not_reserved("Misconfigured", refused.message)


@rule("OBSERVE-012")
def no_quota_reservation_condition() -> Condition:
    """Kueue sets Admitted False with reason NoReservation whenever QuotaReserved is False.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    return Condition(
        type="Admitted",
        value=False,
        reason="NoReservation",
        message="The workload has no reservation",
    )


@rule("OBSERVE-017")
def refresh_on_new_generation(observed: int, generation: int) -> bool:
    """Kueue writes a condition of an earlier generation again for the new one.

    Kueue: pkg/workload/workload.go (UnsetQuotaReservationWithCondition);
        pkg/controller/core/workload_controller.go (newQuotaReservedCondition)
    """
    return observed != generation


@rule("OBSERVE-013")
def least_severe_reason(
    causes: Sequence[QuotaReservedReason],
) -> QuotaReservedReason:
    """Of flavors that could each serve a group, the one that came nearest to fitting gives the reason.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason)
    """
    return min(causes, key=_BY_SEVERITY.index)


@rule("OBSERVE-014")
def most_severe_reason(
    causes: Sequence[QuotaReservedReason],
) -> QuotaReservedReason:
    """Of resources and groups needed together, the one farthest from fitting gives the reason.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (mostSevereReason, resolveNoFitReason)
    """
    return max(causes, key=_BY_SEVERITY.index)


@rule("TAS-035")
def silent_pod_set_gives_no_reason(messages: Sequence[str]) -> bool:
    """A pod set without a message counts as one that fits, although it would have no room on empty nodes.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (resolveNoFitReason, RepresentativeMode)
    """
    return not messages


def _quota_not_reserved(reason: str, message: str) -> Condition:
    return Condition(type="QuotaReserved", value=False, reason=reason, message=message)
