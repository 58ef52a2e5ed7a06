"""A head of a scheduling cycle, and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.cluster_queue import Queued
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.pending_reason import Cause
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import Fit
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import Progress
from kueue_dra_ref.scheduler.ambiguous_classes import Victims
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment


class Why(Enum):
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

    queued: Queued
    queue: ClusterQueue
    assignment: Assignment = field(
        default_factory=lambda: Assignment(fit=Fit.NEVER, pod_sets=())
    )
    victims: Victims = ()
    why: Why | None = None
    message: str = ""
    steps: tuple[Step, ...] = ()
    progress: Progress | None = None
    """How far the search for a flavor has come, where it goes on next time."""

    @property
    def was_tried(self) -> bool:
        """Whether a flavor was looked for."""
        return self.why not in (Why.UNFIT, Why.STOPPED, Why.UNSUITABLE)

    @property
    def cause(self) -> Cause | None:
        """Why it is not admitted; None where the search for flavors knows of none, or it is admitted."""
        if self.why is Why.NO_FIT and self.assignment.fit is Fit.NEVER:
            return self.assignment.cause
        return _CAUSES.get(self.why) if self.why else None


_CAUSES = {
    Why.NO_FIT: Cause.HELD,
    Why.LOST: Cause.HELD,
    Why.PREEMPTING: Cause.PREEMPTING,
    Why.UNFIT: Cause.MISPLACED,
    Why.STOPPED: Cause.STOPPED,
    Why.UNSUITABLE: Cause.MISPLACED,
}
