"""What is deleted in use (Kueue 0.19, finalizers): ClusterQueues and ResourceFlavors stay until nobody uses them.

Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile);
    pkg/controller/core/resourceflavor_controller.go (Reconcile)
"""

from __future__ import annotations

from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, is_deleted
from kueue_dra_ref.rules.queue.in_use_finalizers import InUse

IN_USE = "kueue.x-k8s.io/resource-in-use"
"""Kueue's finalizer."""


class FinalizerController:
    """Takes Kueue's finalizer from what was deleted and is not in use."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.queueing.hold_finalizer

    def on_cluster_queue(self, event: Event) -> None:
        """Look at the flavors that a ClusterQueue named, once it names others or is gone."""
        before, after = (
            flavors_named_by(obj) if obj else set() for obj in (event.old, event.new)
        )
        for name in sorted(before) if before != after else ():
            self.kueue.reconcile("ResourceFlavor", ("", name))

    def on_flavor(self, event: Event) -> None:
        """Look at a flavor that was deleted."""
        if event.new is not None and is_deleted(event.new):
            self.kueue.reconcile("ResourceFlavor", event.key)

    def reconcile(self, kind: str, key: Key) -> None:
        """Let go of an object that was deleted, unless it is in use."""
        found = self.kueue.store.find(kind, key[1])
        if (
            found is None
            or not is_deleted(found)
            or any(rule(self._use(kind, key[1])) for rule in self.rules)
        ):
            return
        meta = found["metadata"]
        left = [each for each in meta.get("finalizers") or () if each != IN_USE]
        self.kueue.store.put({**found, "metadata": {**meta, "finalizers": left}})

    def _use(self, kind: str, name: str) -> InUse:
        if kind == "ClusterQueue":
            return InUse(reservations=self.kueue.usage.of_cluster_queue(name).reserving)
        return InUse(cluster_queues=len(self.kueue.informers.workloads_naming(name)))
