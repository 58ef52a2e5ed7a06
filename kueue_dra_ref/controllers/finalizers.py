"""Finalizers (Kueue 0.19): deleted ClusterQueues and ResourceFlavors stay until nothing uses them.

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
    """Removes Kueue's finalizer from deleted objects that are not in use."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.queueing.hold_finalizer

    def on_cluster_queue(self, event: Event) -> None:
        """Reconcile the flavors that a ClusterQueue named, once it names others or is gone."""
        before = flavors_named_by(event.old) if event.old else set()
        after = flavors_named_by(event.new) if event.new else set()
        if before == after:
            return
        for name in sorted(before):
            self.kueue.reconcile("ResourceFlavor", ("", name))

    def on_flavor(self, event: Event) -> None:
        """Reconcile a flavor that was deleted."""
        if event.new is not None and is_deleted(event.new):
            self.kueue.reconcile("ResourceFlavor", event.key)

    def reconcile(self, kind: str, key: Key) -> None:
        """Remove the finalizer from a deleted object, unless it is in use."""
        found = self.kueue.store.find(kind, key[1])
        if found is None or not is_deleted(found):
            return
        if self.rules(self._use(kind, key[1])):
            return
        meta = found["metadata"]
        finalizers = meta.get("finalizers") or ()
        left = [each for each in finalizers if each != IN_USE]
        self.kueue.store.put({**found, "metadata": {**meta, "finalizers": left}})

    def _use(self, kind: str, name: str) -> InUse:
        if kind == "ClusterQueue":
            totals = self.kueue.usage.of_cluster_queue(name)
            return InUse(reservations=totals.reserving)
        cluster_queues = self.kueue.informers.cluster_queues_using(name)
        return InUse(cluster_queues=len(cluster_queues))
