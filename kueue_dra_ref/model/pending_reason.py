"""Why a workload holds no quota (Kueue 0.19): what the scheduler or a queue found, before it is put into words.

Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadQuotaReservedReasonNoMatchingFlavor,
    WorkloadQuotaReservedReasonExceedsMaxQuota, WorkloadQuotaReservedReasonWaitingForQuota)
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class QuotaReservedReason(Enum):
    """One cause; which reason a condition gives for it is a rule's matter."""

    NO_FLAVOR = "no flavor of the ClusterQueue serves it"
    TOO_MUCH = "more is asked for than the quota will ever give"
    HELD = "others hold the quota"
    PREEMPTING = "its victims have to go first"
    MISPLACED = "its queue is missing, or does not take it"
    STOPPED = "its queue is stopped or inactive"
    DEACTIVATED = "it is deactivated"
    UNTRIED = "the scheduler has not tried it since"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAdmissible:
    """Why a workload cannot get quota where it is, and the words for it."""

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
