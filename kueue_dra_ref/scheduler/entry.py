"""An entry of a scheduling cycle: the head of a ClusterQueue, its assignment, and the outcome.

Kueue: pkg/scheduler/scheduler.go (entry, entryStatus)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.scheduler.flavorassigner.assignment import (
    Assignment,
    NominationMapping,
)
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget, Targets


class RequeueReason(Enum):
    """Why a head is not admitted; it decides how the head is requeued."""

    NO_FIT = "it does not fit"
    FAILED_AFTER_NOMINATION = "another head of the cycle uses its quota or its targets"
    PENDING_PREEMPTION = "its targets have to release their quota"
    NAMESPACE_MISMATCH = "the namespace selector of the ClusterQueue does not match"
    QUEUE_INACTIVE = "the ClusterQueue is not active"
    INVALID_REQUESTS = "its requests are not valid"
    PENDING_MIGRATION = "the variant that is admitted has to release its quota"
    PREEMPTION_GATED = "its preemption gate is closed"
    FAILED_CHECKS = "an admission check failed"


@dataclass(slots=True, kw_only=True)
class Entry:
    """A head in a cycle; ``requeue_reason`` is None once it is admitted."""

    info: WorkloadInfo
    queue: ClusterQueue
    assignment: Assignment = field(
        default_factory=lambda: Assignment(
            representative_mode=FlavorAssignmentMode.NO_FIT,
            pod_sets=(),
        )
    )
    targets: Targets = ()
    replaced: PreemptionTarget | None = None
    """The target that is the slice that it replaces."""
    migrates_from: Key | None = None
    """The admitted variant that has to release its quota."""
    requeue_reason: RequeueReason | None = None
    message: str = ""
    steps: tuple[Step, ...] = ()
    nominated: NominationMapping = field(default_factory=dict)
    """The flavors of the first assignment, while it is computed again; empty otherwise."""
    progress: FlavorScanState | None = None
    """Where the search for flavors stopped, and the next cycle goes on."""

    @property
    def was_nominated(self) -> bool:
        """Whether the search for flavors took place."""
        return self.requeue_reason not in _NOT_NOMINATED

    @property
    def quota_reserved_reason(self) -> QuotaReservedReason | None:
        """Why it holds no quota; None if no tried flavor gives a reason."""
        assert self.requeue_reason is not None
        never_fits = self.assignment.representative_mode is FlavorAssignmentMode.NO_FIT
        if self.requeue_reason is RequeueReason.NO_FIT and never_fits:
            return self.assignment.no_fit_reason
        return _QUOTA_RESERVED_REASONS[self.requeue_reason]


_NOT_NOMINATED = (
    RequeueReason.NAMESPACE_MISMATCH,
    RequeueReason.QUEUE_INACTIVE,
    RequeueReason.INVALID_REQUESTS,
    RequeueReason.FAILED_CHECKS,
)
_QUOTA_RESERVED_REASONS = {
    RequeueReason.NO_FIT: QuotaReservedReason.HELD,
    RequeueReason.FAILED_AFTER_NOMINATION: QuotaReservedReason.HELD,
    RequeueReason.PENDING_PREEMPTION: QuotaReservedReason.PREEMPTING,
    RequeueReason.NAMESPACE_MISMATCH: QuotaReservedReason.MISPLACED,
    RequeueReason.QUEUE_INACTIVE: QuotaReservedReason.STOPPED,
    RequeueReason.INVALID_REQUESTS: QuotaReservedReason.MISPLACED,
    RequeueReason.PENDING_MIGRATION: QuotaReservedReason.PREEMPTING,
    RequeueReason.PREEMPTION_GATED: QuotaReservedReason.GATED,
    RequeueReason.FAILED_CHECKS: QuotaReservedReason.UNTRIED,
}
