"""DeviceClasses that come, change or go: what waits for their extended resources is looked at again (Kueue 0.19).

Kueue: pkg/controller/core/workload_controller.go (deviceClassHandler, reconcileWorkloads)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.target import Manifest

PAUSE = 1.0
"""Seconds between a change of a class and the reconciliation that follows from it."""


class DeviceClassController:
    """Follows DeviceClasses that stand for extended resources."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.extended

    def on(self, event: Event) -> None:
        """Queue at once what asks for no devices any more; reconcile everything concerned after a pause."""
        names = {
            name
            for rule in self.rules.affected_by_class
            for name in rule(event.old, event.new)
        }
        for obj in self._waiting_for(names):
            key = key_of(obj)
            if not self.kueue.asks_for_devices(obj) and may_queue(obj):
                self.kueue.derivations.pop(key, None)
                self.kueue.enqueue(obj)
            self.kueue.later(PAUSE, partial(self.kueue.reconcile, "Workload", key))

    def _waiting_for(self, names: set[str]) -> Iterator[Manifest]:
        for obj in self.kueue.store.every("Workload") if names else ():
            if is_true(obj, "QuotaReserved"):
                continue
            workload = self.kueue.informers.workload(obj)
            if names & {
                name for rule in self.rules.used_by_workload for name in rule(workload)
            }:
                yield obj


def may_queue(obj: Manifest) -> bool:
    """Whether a workload is neither deactivated nor finished."""
    return is_active(obj) and not is_true(obj, "Finished")
