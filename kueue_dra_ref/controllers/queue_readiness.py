"""The queues of a workload: whether they exist, run and admit it, and what blocks it if not.

Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker); pkg/workload/resources.go (ValidateAdmissibility)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import reason_of
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.rules.queue.admissibility import QueuePosition
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.resources import validate_resources


class QueueReadiness:
    """Checks the queues of workloads."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour

    def place(self, working: Manifest) -> QueuePosition:
        """Describe the LocalQueue, the ClusterQueue, the namespace and the requests of a workload to the rules."""
        kueue = self.kueue
        key, _ = kueue.queue_of(working)
        local_queue = kueue.store.get("LocalQueue", key)
        name = kueue.cluster_queue_of(working)
        queue = kueue.informers.queue(name)
        return QueuePosition(
            local_queue=key[1],
            local_queue_exists=local_queue is not None,
            local_queue_runs=stop_policy(local_queue) == "None",
            cluster_queue=name,
            cluster_queue_exists=queue is not None,
            cluster_queue_is_active=self._can_admit(queue),
            active=is_active(working),
            mismatch=self._mismatch(queue, key[0]),
            unfit=lambda: self._invalid_requests(working),
            gates=self._gates(working),
            bypassed=self._bypassed(name, working),
            reason=reason_of(working, "QuotaReserved"),
        )

    def objection(
        self, working: Manifest
    ) -> tuple[NotAdmissible | None, tuple[Step, ...]]:
        """Say what blocks the queue of a workload, and the step that explains it."""
        position = self.place(working)
        blocked = self.rules.queueing.queue_not_ready.answer(position)
        if blocked is None:
            return None, ()
        step = Step(
            requirements=cited([blocked.rule]),
            text=blocked.value.message,
        )
        return blocked.value, (step,)

    def _can_admit(self, queue: ClusterQueue | None) -> bool:
        return queue is not None and not self.kueue.informers.inactive(queue)

    def _mismatch(self, queue: ClusterQueue | None, namespace: str) -> str:
        if queue is None:
            return ""
        mismatch = self.kueue.informers.mismatch(queue, namespace)
        return mismatch or ""

    def _gates(self, working: Manifest) -> str:
        closed = self.rules.gating.closed(working)
        return closed.message if closed else ""

    def _bypassed(self, name: str, working: Manifest) -> QuotaReservedReason | None:
        pending = self.kueue.pending.get(name)
        if pending is None:
            return None
        return pending.is_covered_by_hash(key_of(working))

    def _invalid_requests(self, working: Manifest) -> str:
        """Validate the requests of the pods; without devices, as they are written."""
        kueue = self.kueue
        namespace = working["metadata"]["namespace"]
        limits = kueue.lister.namespace_limits(namespace)
        workload = kueue.informers.workload(working)
        if kueue.asks_for_devices(working):
            workload = kueue.adjusted(working)
        found = validate_resources(self.rules.adjusting, limits, workload)
        if found is None:
            return ""
        return found.message
