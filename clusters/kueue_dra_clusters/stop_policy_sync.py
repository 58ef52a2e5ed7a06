"""Who waits behind a queue that was stopped is told of it again: Kueue may look at them before it knows of the stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import JOBS, AppliedObjects, ObjectPosition
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence import Fence, reobserve
from kueue_dra_clusters.observation import Observation, owners_of
from kueue_dra_clusters.waiting import moment_now
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Ref


@dataclass(slots=True, kw_only=True)
class StopPolicySync:
    """Remembers the queues that were stopped, and who waited behind them then."""

    objects: APIClient
    world: AppliedObjects
    fence: Fence
    _queues: list[Ref] = field(default_factory=list)
    _untold: set[ObjectPosition] = field(default_factory=set)

    def note(self, queue: Ref) -> None:
        """Remember who was behind a queue that is stopped now."""
        self._queues.append(queue)
        jobs = self.world.refs(*JOBS)
        self._untold |= {
            ObjectPosition.of(ref)
            for ref in jobs
            if self.world.behind(queue, self.world.written(ref))
        }

    def forget(self) -> None:
        """Start anew, with an empty world."""
        self._queues.clear()
        self._untold.clear()

    @property
    def affect_workloads(self) -> bool:
        """Whether there is anybody to be told."""
        return bool(self._untold)

    def resend(self, see: Callable[[], Observation]) -> None:
        """Have workloads behind a stopped queue reconciled once more, now that Kueue itself knows of the stop.

        Kueue 0.19.2 reconciles them at the stop, but by a cache that is told at the same time: either may come first.
        Workloads whose devices could not be resolved are left alone: they would be resolved anew.
        """
        stopped, self._queues = self._queues, []
        self.fence.pass_queues(
            *(
                [ref for ref in stopped if ref.kind == kind]
                for kind in ("ClusterQueue", "LocalQueue")
            )
        )
        untold, self._untold = self._untold, set()
        look = see()
        told = {
            job["metadata"]["uid"]
            for job in look.jobs
            if ObjectPosition.of(Ref.of(job)) in untold
        }
        for found in look.workloads:
            failed = condition_of(found, "Requeued").get("status") == "False"
            behind = ObjectPosition.of(Ref.of(found)) in untold or told & owners_of(
                found
            )
            if behind and not failed and not is_true(found, "Finished"):
                reobserve(self.objects, Ref.of(found), str(moment_now()))
