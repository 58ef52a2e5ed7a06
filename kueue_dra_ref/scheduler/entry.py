"""A head of a scheduling cycle, and what becomes of it.

Kueue: pkg/scheduler/scheduler.go (entry, entryStatus)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.scheduler.ambiguous_classes import Victims
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment


class RequeueReason(Enum):
    """Why a head is not admitted: what it has to wait for decides where it waits."""

    NO_FIT = "no fit"
    LOST = "another head took it"
    PREEMPTING = "its victims have to go first"
    UNFIT = "the ClusterQueue does not take it"
    STOPPED = "the ClusterQueue takes nothing"
    UNSUITABLE = "nobody may admit what its pods request"


@dataclass(slots=True, kw_only=True)
class Entry:
    """A head in the cycle, and what becomes of it; ``why`` is None once it is admitted."""

    queued: WorkloadInfo
    queue: ClusterQueue
    assignment: Assignment = field(
        default_factory=lambda: Assignment(fit=FlavorAssignmentMode.NEVER, pod_sets=())
    )
    victims: Victims = ()
    why: RequeueReason | None = None
    message: str = ""
    steps: tuple[Step, ...] = ()
    progress: FlavorScanState | None = None
    """How far the search for a flavor has come, where it goes on next time."""

    @property
    def was_tried(self) -> bool:
        """Whether a flavor was looked for."""
        return self.why not in (
            RequeueReason.UNFIT,
            RequeueReason.STOPPED,
            RequeueReason.UNSUITABLE,
        )

    @property
    def cause(self) -> QuotaReservedReason | None:
        """Why it is not admitted; None where the search for flavors knows of none, or it is admitted."""
        if (
            self.why is RequeueReason.NO_FIT
            and self.assignment.fit is FlavorAssignmentMode.NEVER
        ):
            return self.assignment.cause
        return _CAUSES.get(self.why) if self.why else None


_CAUSES = {
    RequeueReason.NO_FIT: QuotaReservedReason.HELD,
    RequeueReason.LOST: QuotaReservedReason.HELD,
    RequeueReason.PREEMPTING: QuotaReservedReason.PREEMPTING,
    RequeueReason.UNFIT: QuotaReservedReason.MISPLACED,
    RequeueReason.STOPPED: QuotaReservedReason.STOPPED,
    RequeueReason.UNSUITABLE: QuotaReservedReason.MISPLACED,
}
