"""Where a workload stands: the queues that it finds, and what is wrong with them.

Kueue: pkg/controller/core/workload_controller.go (getQueueBlocker); pkg/workload/resources.go (ValidateAdmissibility)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import NotAdmissible
from kueue_dra_ref.rules.queue.admissibility import QueuePosition
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.resources import unfit


class QueueReadiness:
    """Looks at the queues of one Kueue as a workload finds them."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour

    def place(self, working: Manifest) -> QueuePosition:
        """Say what a workload finds: its LocalQueue, its ClusterQueue, the namespace, its requests."""
        kueue = self.kueue
        key, managed = kueue.queue_of(working)
        local = kueue.store.find("LocalQueue", key[1], key[0])
        name = managed.cluster_queue if managed else ""
        queue, line = kueue.informers.queue(name), kueue.pending.get(name)
        return QueuePosition(
            local_queue=key[1],
            local_queue_exists=local is not None,
            local_queue_runs=stop_policy(local) == "None",
            cluster_queue=name,
            cluster_queue_exists=queue is not None,
            cluster_queue_is_active=queue is not None
            and not kueue.informers.inactive(queue),
            active=is_active(working),
            mismatch=(kueue.informers.mismatch(queue, key[0]) or "") if queue else "",
            unfit=lambda: self._unfit(working) if queue else "",
            bypassed=line.is_covered_by_hash(key_of(working)) if line else None,
            said=(condition(working, "QuotaReserved") or {}).get("reason", ""),
        )

    def objection(
        self, working: Manifest
    ) -> tuple[NotAdmissible | None, tuple[Step, ...]]:
        """What is wrong with the queue of a workload, and the step that says so."""
        place = self.place(working)
        for rule in self.rules.queueing.queue_not_ready:
            if blocked := rule(place):
                return blocked, (
                    Step(requirements=cited([rule]), text=blocked.message),
                )
        return None, ()

    def _unfit(self, working: Manifest) -> str:
        """What Kueue has against the requests of the pods; those without devices it looks at as they are written."""
        kueue = self.kueue
        around = kueue.lister.surroundings(working["metadata"]["namespace"])
        workload = (
            kueue.adjusted(working)
            if kueue.asks_for_devices(working)
            else kueue.informers.workload(working)
        )
        found = unfit(self.rules.adjusting, around, workload)
        return found.message if found else ""
