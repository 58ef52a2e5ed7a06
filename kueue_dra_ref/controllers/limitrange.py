"""LimitRanges and RuntimeClasses that come, change or go: what waits is counted anew (Kueue 0.19).

Kueue: pkg/controller/core/workload_controller.go (resourceUpdatesHandler, queueReconcileForPending)
"""

from __future__ import annotations

from collections.abc import Iterable

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.controllers.deviceclass import may_queue
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.dra.preprocess import asks_for_devices
from kueue_dra_ref.target import Manifest


class LimitRangeController:
    """Follows what bears on the requests of pods; workloads that hold quota keep what they are charged."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue

    def on_limit_range(self, event: Event) -> None:
        """Look again at what waits in the namespace."""
        every = self.kueue.store.every("Workload")
        self._look_again(
            found for found in every if found["metadata"]["namespace"] == event.key[0]
        )

    def on_runtime_class(self, event: Event) -> None:
        """Look again at what waits and names the class."""
        every = self.kueue.store.every("Workload")
        self._look_again(
            found for found in every if event.key[1] in _runtime_classes(found)
        )

    def _look_again(self, workloads: Iterable[Manifest]) -> None:
        for found in workloads:
            if is_true(found, "QuotaReserved"):
                continue
            if asks_for_devices(
                self.kueue.behaviour, self.kueue.lister, self.kueue.adjusted(found)
            ):
                self.kueue.reconcile("Workload", key_of(found))
            elif may_queue(found):
                self.kueue.enqueue(found)


def _runtime_classes(workload: Manifest) -> set[str]:
    pod_sets = workload["spec"].get("podSets") or ()
    return {
        ((each.get("template") or {}).get("spec") or {}).get("runtimeClassName") or ""
        for each in pod_sets
    }
