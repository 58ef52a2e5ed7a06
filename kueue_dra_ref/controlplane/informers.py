"""Informers: queues, flavors, namespaces and workloads of the store as typed objects, each read once for each spec.

No counterpart: the informers of the in-memory control plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.labels import NAME_LABEL
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.controlplane.store import Key, Store, is_deleted, key_of
from kueue_dra_ref.rules.queue.pending_workloads import ReasonMessage
from kueue_dra_ref.target import Manifest


class Informers:
    """Reads the objects of a store for one Kueue, and caches them."""

    def __init__(self, behaviour: Behaviour, store: Store) -> None:
        self._rules = behaviour.queueing
        self._store = store
        self._indexed: dict[tuple[str, str], Manifest] = {}
        self._queues: dict[str, tuple[object, ClusterQueue]] = {}
        self._workloads: dict[Key, tuple[object, Workload]] = {}
        self._inactive: dict[str, tuple[ClusterQueue, list[ReasonMessage]]] = {}

    def names(self, kind: str) -> list[str]:
        """Name all objects of a kind."""
        return [found["metadata"]["name"] for found in self._store.every(kind)]

    def queue(self, name: str) -> ClusterQueue | None:
        """Give a ClusterQueue as it is in effect."""
        found = self._store.find("ClusterQueue", name)
        indexed = self._index("ClusterQueue", name)
        if found is None or indexed is None:
            return None
        spec, deleted = indexed["spec"], is_deleted(found)
        known = self._queues.get(name)
        if known is None or known[0] is not spec or known[1].deleted != deleted:
            queue = replace(cluster_queue_of(indexed), deleted=deleted)
            known = self._queues[name] = (spec, queue)
        return known[1]

    def cluster_queues_using(self, flavor: str) -> list[str]:
        """Name the ClusterQueues that use a flavor."""
        found = []
        for queue in map(self.queue, self.names("ClusterQueue")):
            if queue is not None and flavor in _flavor_names(queue):
                found.append(queue.name)
        return found

    def _index(self, kind: str, name: str) -> Manifest | None:
        """Give a ClusterQueue or a flavor as it is in effect; Kueue may ignore changes once it is deleted."""
        found = self._store.find(kind, name)
        if found is None:
            return None
        key = (kind, name)
        if key in self._indexed and self._rules.ignore_update(is_deleted(found)):
            return self._indexed[key]
        self._indexed[key] = found
        return found

    def workload(self, obj: Manifest) -> Workload:
        """Give a Workload as it is written."""
        key, spec = key_of(obj), obj["spec"]
        known = self._workloads.get(key)
        if known is None or known[0] is not spec:
            known = self._workloads[key] = (spec, workload_of(obj))
        return known[1]

    def flavor(self, name: str) -> Mapping[str, object] | None:
        """Give the spec of a ResourceFlavor."""
        indexed = self._index("ResourceFlavor", name)
        return None if indexed is None else indexed.get("spec") or {}

    def inactive(self, queue: ClusterQueue) -> list[ReasonMessage]:
        """Say why a ClusterQueue cannot admit; empty when it can."""
        known = self._inactive.get(queue.name)
        if known is None or known[0] is not queue:
            names = _flavor_names(queue)
            missing = tuple(name for name in names if self.flavor(name) is None)
            reasons = self._rules.inactive(queue, missing)
            known = self._inactive[queue.name] = (queue, reasons)
        return known[1]

    def note_flavor(self, name: str) -> None:
        """Read a flavor that was created, changed or deleted, and find the missing flavors again."""
        self._index("ResourceFlavor", name)
        self._inactive.clear()

    def selects(self, queue: ClusterQueue, namespace: str) -> bool:
        """Whether a ClusterQueue selects a namespace."""
        return self.mismatch(queue, namespace) is None

    def mismatch(self, queue: ClusterQueue, namespace: str) -> str | None:
        """Say that a ClusterQueue does not select a namespace; None when it does."""
        return self._rules.namespace(queue, self.labels(namespace))

    def labels(self, namespace: str) -> dict[str, str]:
        """Give the labels of a namespace, whether it exists or not."""
        found = self._store.find("Namespace", namespace)
        return labels_of(found or {"metadata": {"name": namespace}})


def _flavor_names(queue: ClusterQueue) -> list[str]:
    return [flavor.name for group in queue.groups for flavor in group.flavors]


def labels_of(namespace: Manifest) -> dict[str, str]:
    """Give the labels of a namespace, with the one that the API server adds."""
    meta = namespace["metadata"]
    return {**(meta.get("labels") or {}), NAME_LABEL: meta["name"]}


def stop_policy(queue: Manifest | None) -> str:
    """Give the stored stop policy of a queue; None without one, and the stored one even of a deleted ClusterQueue."""
    spec = (queue or {}).get("spec", {})
    return str(spec.get("stopPolicy") or "None")
