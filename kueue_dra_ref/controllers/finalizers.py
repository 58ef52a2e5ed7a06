"""Finalizers (Kueue 0.19): deleted ClusterQueues, ResourceFlavors and AdmissionChecks stay until nothing uses them.

Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile);
    pkg/controller/core/resourceflavor_controller.go (Reconcile);
    pkg/controller/core/admissioncheck_controller.go (Reconcile)
"""

from __future__ import annotations

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, checks_named_by
from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.metadata import finalizers_of
from kueue_dra_ref.api.topologies import TOPOLOGY
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, is_deleted
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.queue.in_use_finalizers import InUse

IN_USE = "kueue.x-k8s.io/resource-in-use"
"""Kueue's finalizer."""


class FinalizerController:
    """Removes Kueue's finalizer from deleted objects that are not in use."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.queueing.hold_finalizer

    def on_cluster_queue(self, event: Event) -> None:
        """Reconcile the flavors that a ClusterQueue named: it may name others now, or be gone."""
        if event.old is None:
            return
        self._reconcile_all("ResourceFlavor", flavors_named_by(event.old))
        if self.kueue.behaviour.queueing.release_checks():
            self._reconcile_all(ADMISSION_CHECK, checks_named_by(event.old))

    def _reconcile_all(self, kind: str, names: set[str]) -> None:
        for name in sorted(names):
            self.kueue.reconcile(kind, ("", name))

    def on_admission_check(self, event: Event) -> None:
        """Reconcile an AdmissionCheck: it may be deleted."""
        self.kueue.reconcile(ADMISSION_CHECK, event.key)

    def on_flavor(self, event: Event) -> None:
        """Reconcile a flavor, which may be deleted, and the topology of one that was there."""
        self.kueue.reconcile("ResourceFlavor", event.key)
        spec = (event.old or {}).get("spec") or {}
        self.kueue.reconcile(TOPOLOGY, ("", spec.get("topologyName") or ""))

    def reconcile(self, kind: str, key: Key) -> None:
        """Remove the finalizer from a deleted object, unless it is in use."""
        found = self.store.get(kind, key)
        if found is None or not is_deleted(found):
            return
        _, name = key
        users = self._users(kind, name)
        use = InUse(
            kind=kind,
            users=users,
        )
        if self.rules(use):
            return
        meta = dict(found["metadata"])
        meta["finalizers"] = [each for each in finalizers_of(found) if each != IN_USE]
        self.store.put({**found, "metadata": meta})

    def _users(self, kind: str, name: str) -> int:
        """Count what uses an object."""
        kueue = self.kueue
        if kind == "ClusterQueue":
            return kueue.usage.of_cluster_queue(name).reserving
        if kind == ADMISSION_CHECK:
            return len(kueue.informers.cluster_queues_checked_by(name))
        if kind == TOPOLOGY:
            return len(kueue.informers.flavors_with_topology(name))
        return len(kueue.informers.cluster_queues_using(name))
