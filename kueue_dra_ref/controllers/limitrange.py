"""LimitRange and RuntimeClass watches (Kueue 0.19): a change recomputes the requests of pending workloads.

Kueue: pkg/controller/core/workload_controller.go (resourceUpdatesHandler, queueReconcileForPending)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.controllers.deviceclass import may_queue
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.dra.preprocess import asks_for_devices
from kueue_dra_ref.target import Manifest


class LimitRangeController:
    """Follows objects that change the requests of pods; workloads that hold quota keep what they are charged."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store

    def on_limit_range(self, event: Event) -> None:
        """Requeue the pending workloads of the namespace."""
        namespace = event.key[0]
        for workload in self.store.every("Workload"):
            if workload["metadata"]["namespace"] == namespace:
                self._requeue(workload)

    def on_runtime_class(self, event: Event) -> None:
        """Requeue the pending workloads that name the class."""
        name = event.key[1]
        for workload in self.store.every("Workload"):
            if name in _runtime_classes(workload):
                self._requeue(workload)

    def _requeue(self, workload: Manifest) -> None:
        kueue = self.kueue
        if is_true(workload, "QuotaReserved"):
            return
        adjusted = kueue.adjusted(workload)
        if asks_for_devices(kueue.behaviour, kueue.lister, adjusted):
            kueue.reconcile("Workload", key_of(workload))
        elif may_queue(workload):
            kueue.enqueue(workload)


def _runtime_classes(workload: Manifest) -> set[str]:
    found = set()
    for pod_set in workload["spec"].get("podSets") or ():
        template = pod_set.get("template") or {}
        spec = template.get("spec") or {}
        found.add(spec.get("runtimeClassName") or "")
    return found
