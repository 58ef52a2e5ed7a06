"""Triggers a second reconcile of workloads of a stopped queue: Kueue may reconcile them before it observes the stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects, ObjectPosition
from kueue_dra_clusters.conditions import condition_of
from kueue_dra_clusters.fence import Fence, reobserve
from kueue_dra_clusters.observation import Observation, owner_uids
from kueue_dra_clusters.waiting import moment_now
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import SUBMITTED
from kueue_dra_ref.target import Manifest, Ref


@dataclass(slots=True, kw_only=True)
class StopPolicySync:
    """Records the queues that were stopped, and their workloads."""

    objects: APIClient
    applied: AppliedObjects
    fence: Fence
    _queues: list[Ref] = field(default_factory=list)
    _pending: set[ObjectPosition] = field(default_factory=set)

    def note(self, queue: Ref) -> None:
        """Record a queue that is stopped now, and its workloads."""
        self._queues.append(queue)
        for ref in self.applied.refs(*SUBMITTED):
            work = self.applied.written(ref)
            if self.applied.behind(queue, work):
                position = ObjectPosition.of(ref)
                self._pending.add(position)

    def forget(self) -> None:
        """Forget everything: all objects are deleted."""
        self._queues.clear()
        self._pending.clear()

    @property
    def affect_workloads(self) -> bool:
        """Whether a stopped queue has workloads without a second reconcile."""
        return bool(self._pending)

    def resend(self, see: Callable[[], Observation]) -> None:
        """Trigger a second reconcile of the workloads of stopped queues, after Kueue has observed the stop.

        Kueue 0.19.2 reconciles them at the stop, but its cache of the queues may be updated before or after that.
        Workloads that Kueue rejected for their devices are skipped: a reconcile would resolve the devices again.
        """
        stopped, self._queues = self._queues, []
        cluster_queues = _of_kind("ClusterQueue", stopped)
        local_queues = _of_kind("LocalQueue", stopped)
        self.fence.pass_queues(cluster_queues, local_queues)
        pending, self._pending = self._pending, set()
        look = see()
        for workload in _workloads_of(pending, look):
            requeued = condition_of(workload, "Requeued")
            if requeued.get("status") == "False":
                continue
            if is_true(workload, "Finished"):
                continue
            ref = Ref.of(workload)
            now = str(moment_now())
            reobserve(self.objects, ref, now)


def _of_kind(kind: str, refs: list[Ref]) -> list[Ref]:
    return [ref for ref in refs if ref.kind == kind]


def _workloads_of(work: set[ObjectPosition], look: Observation) -> Iterator[Manifest]:
    """Give the Workloads among some work, and those of the Jobs among it."""
    uids = set()
    for job in look.jobs:
        ref = Ref.of(job)
        position = ObjectPosition.of(ref)
        if position in work:
            uid = job["metadata"]["uid"]
            uids.add(uid)
    for workload in look.workloads:
        ref = Ref.of(workload)
        position = ObjectPosition.of(ref)
        if position in work or uids & owner_uids(workload):
            yield workload
