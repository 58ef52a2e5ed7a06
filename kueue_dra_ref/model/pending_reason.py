"""Causes for which a workload has no quota reservation (Kueue 0.19); rules give the reasons of conditions.

Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonNoMatchingFlavor,
    WorkloadQuotaReservedReasonExceedsMaxQuota, WorkloadQuotaReservedReasonWaitingForQuota,
    WorkloadQuotaReservedReasonTopologyPlacementFailed)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class QuotaReservedReason(Enum):
    """A cause; a rule gives the reason of the condition for it."""

    NO_FLAVOR = "no flavor of the ClusterQueue matches the workload"
    TOO_MUCH = "the request exceeds the maximum capacity"
    HELD = "other workloads use the quota"
    UNPLACED = "no domain of the topology has room for the pods"
    PREEMPTING = "the preemption targets still use the quota"
    GATED = "the preemption gate is closed"
    MISPLACED = "the queue does not exist or does not match the namespace"
    STOPPED = "the queue is stopped or inactive"
    DEACTIVATED = "the workload is deactivated"
    UNTRIED = "the scheduler has not tried the workload since then"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAdmissible:
    """Why a workload is not admissible in its queue, and the message about it."""

    cause: QuotaReservedReason | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InadmissibleReason:
    """Why a workload is inadmissible: the message of QuotaReserved, and that of Requeued if it differs."""

    message: str
    requeued: str = ""
    retryable: bool = False
    undecided: bool = False
    silent: bool = False
    """Kueue sets no condition: it has not decided, and does not decide by itself."""
