"""DeviceClass watch (Kueue 0.19): a change requeues pending workloads that request its extended resource.

Kueue: pkg/controller/core/workload_controller.go (deviceClassHandler, reconcileWorkloads)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.workloads import is_active, is_on_hold
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.target import Manifest

PAUSE = 1.0
"""Seconds between a change of a class and the reconciles that it triggers."""


class DeviceClassController:
    """Follows DeviceClasses that represent extended resources."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.extended

    def on(self, event: Event) -> None:
        """Queue workloads that request no devices any more at once, and reconcile all affected ones after a delay."""
        kueue = self.kueue
        affected = self.rules.affected_by_class(event.old, event.new)
        names = set(affected)
        for obj in self._pending_with(names):
            key = key_of(obj)
            if may_queue(obj) and not kueue.asks_for_devices(obj):
                kueue.derivations.pop(key, None)
                kueue.enqueue(obj)
            reconcile = partial(kueue.reconcile, "Workload", key)
            kueue.later(PAUSE, reconcile)

    def _pending_with(self, names: set[str]) -> Iterator[Manifest]:
        """Give the pending workloads that request one of some extended resources."""
        for obj in self.store.every("Workload"):
            if is_true(obj, "QuotaReserved"):
                continue
            workload = self.kueue.informers.workload(obj)
            used = self.rules.used_by_workload(workload)
            if not names.isdisjoint(used):
                yield obj


def may_queue(obj: Manifest) -> bool:
    """Whether a workload is neither deactivated, finished nor on hold."""
    return is_active(obj) and not is_true(obj, "Finished") and not is_on_hold(obj)
