"""Informers: queues, flavors, namespaces and workloads of the store as typed objects, read once for each spec.

No counterpart: the informers of the in-memory control plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.cluster_queues import cluster_queue_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.labels import NAME_LABEL
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.nodes import Node, node_of
from kueue_dra_ref.api.topologies import NODE, TOPOLOGY, levels_of
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.api.workloads import workload_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.topology_tree import TopologyTree, selected
from kueue_dra_ref.controlplane.store import Store, is_deleted, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.rules.queue.pending_workloads import ClusterQueueCheck
from kueue_dra_ref.target import Manifest

IndexKey = tuple[str, str]
"""Kind and name of an object without a namespace."""


class CachedQueue(NamedTuple):
    """A ClusterQueue, and the stored spec that it was read from."""

    spec: object
    queue: ClusterQueue

    def is_of(self, spec: object, deleted: bool) -> bool:
        """Whether neither the spec nor the deletion has changed."""
        is_same = self.spec is spec
        return is_same and self.queue.deleted == deleted


class CachedWorkload(NamedTuple):
    """A Workload, and the stored spec that it was read from."""

    spec: object
    workload: Workload


class CachedReasons(NamedTuple):
    """Why a ClusterQueue cannot admit."""

    queue: ClusterQueue
    reasons: list[ReasonMessage]


class Informers:
    """Reads the objects of a store for one Kueue, and caches them."""

    def __init__(self, behaviour: Behaviour, store: Store) -> None:
        self._rules = behaviour.queueing
        self._places = bool(behaviour.topology.flavor)
        self._store = store
        self._indexed: dict[IndexKey, Manifest] = {}
        self._queues: dict[str, CachedQueue] = {}
        self._workloads: dict[Key, CachedWorkload] = {}
        self._inactive: dict[str, CachedReasons] = {}

    def names(self, kind: str) -> list[str]:
        """Name all objects of a kind."""
        names = []
        for found in self._store.every(kind):
            meta = found["metadata"]
            names.append(meta["name"])
        return names

    def queue(self, name: str) -> ClusterQueue | None:
        """Give a ClusterQueue as it is in effect."""
        kind = "ClusterQueue"
        found = self._store.find(kind, name)
        if found is None:
            return None
        indexed = self._in_effect(kind, name, found)
        spec = indexed["spec"]
        deleted = is_deleted(found)
        known = self._queues.get(name)
        if known is not None and known.is_of(spec, deleted):
            return known.queue
        queue = cluster_queue_of(indexed)
        queue = replace(queue, deleted=deleted)
        self._queues[name] = CachedQueue(spec, queue)
        return queue

    def cluster_queues_using(self, flavor: str) -> list[str]:
        """Name the ClusterQueues that use a flavor."""
        return [each.name for each in self._every_queue() if flavor in each.flavors]

    def cluster_queues_checked_by(self, check: str) -> list[str]:
        """Name the ClusterQueues that name an AdmissionCheck."""
        queues = self._every_queue()
        return [each.name for each in queues if check in each.admission_checks]

    def _every_queue(self) -> Iterator[ClusterQueue]:
        for name in self.names("ClusterQueue"):
            queue = self.queue(name)
            assert queue is not None
            yield queue

    def _index(self, kind: str, name: str) -> Manifest | None:
        found = self._store.find(kind, name)
        return None if found is None else self._in_effect(kind, name, found)

    def _in_effect(self, kind: str, name: str, found: Manifest) -> Manifest:
        """Give a ClusterQueue or a flavor as it is in effect; Kueue may ignore changes once it is deleted."""
        key = (kind, name)
        deleted = is_deleted(found)
        before = self._indexed.get(key)
        ignore_update = self._rules.ignore_update
        if before is not None and ignore_update(deleted):
            return before
        self._indexed[key] = found
        return found

    def workload(self, obj: Manifest) -> Workload:
        """Give a Workload as it is written."""
        key = key_of(obj)
        spec = obj["spec"]
        known = self._workloads.get(key)
        if known is not None and known.spec is spec:
            return known.workload
        workload = workload_of(obj)
        self._workloads[key] = CachedWorkload(spec, workload)
        return workload

    def flavor(self, name: str) -> Mapping[str, object] | None:
        """Give the spec of a ResourceFlavor."""
        indexed = self._index("ResourceFlavor", name)
        if indexed is None:
            return None
        return indexed.get("spec") or {}

    def topologies(self) -> dict[str, TopologyTree]:
        """Give the nodes of each flavor that has a topology, if Kueue places pods."""
        flavors = list(self._with_topology())
        found = self._store.every(NODE) if flavors else ()
        nodes = sorted(map(node_of, found), key=lambda each: each.name)
        return {
            name: _topology_tree(spec, levels, nodes) for name, spec, levels in flavors
        }

    def node_selections(self) -> Iterator[tuple[dict[str, str], tuple[str, ...]]]:
        """Give the node labels and the levels of each flavor that has a topology, if Kueue places pods."""
        for _, spec, levels in self._with_topology():
            yield spec.get("nodeLabels") or {}, levels

    def _with_topology(self) -> Iterator[tuple[str, Manifest, tuple[str, ...]]]:
        """Give the name, the spec and the levels of each flavor that has a topology."""
        if not self._places:
            return
        for name in self.names("ResourceFlavor"):
            spec: Manifest = dict(self.flavor(name) or {})
            topology = self._store.find(TOPOLOGY, spec.get("topologyName") or "")
            if topology is not None:
                yield name, spec, levels_of(topology)

    def flavors_with_topology(self, topology: str) -> list[str]:
        """Name the flavors that name a topology."""
        found = []
        for name in self.names("ResourceFlavor"):
            spec = self.flavor(name) or {}
            if spec.get("topologyName") == topology:
                found.append(name)
        return found

    def inactive(self, queue: ClusterQueue) -> list[ReasonMessage]:
        """Say why a ClusterQueue cannot admit; empty when it can."""
        name = queue.name
        known = self._inactive.get(name)
        if known is not None and known.queue is queue:
            return known.reasons
        missing = []
        for flavor in queue.flavor_names:
            if self.flavor(flavor) is None:
                missing.append(flavor)
        missing_checks, inactive_checks = self._useless_checks(queue)
        reasons = self._rules.inactive(
            ClusterQueueCheck(
                queue=queue,
                missing_flavors=tuple(missing),
                missing_checks=missing_checks,
                inactive_checks=inactive_checks,
                missing_topologies=tuple(self._missing_topologies(queue)),
            )
        )
        self._inactive[name] = CachedReasons(queue, reasons)
        return reasons

    def _missing_topologies(self, queue: ClusterQueue) -> Iterator[tuple[str, str]]:
        """Name each topology that does not exist, with the flavor that names it."""
        for flavor in queue.flavor_names:
            spec: Manifest = dict(self.flavor(flavor) or {})
            topology = spec.get("topologyName")
            if topology and self._store.find(TOPOLOGY, topology) is None:
                yield topology, flavor

    def _useless_checks(
        self, queue: ClusterQueue
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Name the AdmissionChecks of a ClusterQueue that do not exist, and those that are not active."""
        missing, inactive = [], []
        for name in sorted(queue.admission_checks):
            check = self._store.find(ADMISSION_CHECK, name)
            if check is None:
                missing.append(name)
            elif not _is_active(check):
                inactive.append(name)
        return tuple(missing), tuple(inactive)

    def note_cluster_queue(self, name: str) -> None:
        """Find why a ClusterQueue cannot admit, so that a later change shows that it now can."""
        if queue := self.queue(name):
            self.inactive(queue)

    def note_flavor(self, name: str) -> set[str]:
        """Read a flavor that was created, changed or deleted, and name the ClusterQueues that are active by that."""
        self._index("ResourceFlavor", name)
        return self.update_cluster_queues()

    def update_cluster_queues(self) -> set[str]:
        """Find again why each ClusterQueue cannot admit; name those that now can, and could not before."""
        before, self._inactive = self._inactive, {}
        found = set()
        for queue in self._every_queue():
            known = before.get(queue.name)
            if not self.inactive(queue) and known is not None and known.reasons:
                found.add(queue.name)
        return found

    def cluster_queues_with_topology(self, topology: str) -> list[str]:
        """Name the ClusterQueues that use a flavor with a topology."""
        flavors = self.flavors_with_topology(topology)
        queues = self._every_queue()
        return [each.name for each in queues if not each.flavors.isdisjoint(flavors)]

    def selects(self, queue: ClusterQueue, namespace: str) -> bool:
        """Whether a ClusterQueue selects a namespace."""
        mismatch = self.mismatch(queue, namespace)
        return mismatch is None

    def mismatch(self, queue: ClusterQueue, namespace: str) -> str | None:
        """Say that a ClusterQueue does not select a namespace; None when it does."""
        labels = self.labels(namespace)
        return self._rules.namespace(queue, labels)

    def labels(self, namespace: str) -> dict[str, str]:
        """Give the labels of a namespace, whether it exists or not."""
        absent = {"metadata": {"name": namespace}}
        return namespace_labels(self._store.find("Namespace", namespace) or absent)


def _is_active(check: Manifest) -> bool:
    """Whether the controller of an AdmissionCheck has set it active."""
    return is_true({"status": {}, **check}, "Active")


def namespace_labels(namespace: Manifest) -> dict[str, str]:
    """Give the labels of a namespace, with the one that the API server adds."""
    return {**labels_of(namespace), NAME_LABEL: namespace["metadata"]["name"]}


def stop_policy(queue: Manifest | None) -> str:
    """Give the stored stop policy of a queue; None without one, and the stored one even of a deleted ClusterQueue."""
    spec = (queue or {}).get("spec", {})
    return str(spec.get("stopPolicy") or "None")


def _topology_tree(
    spec: Manifest, levels: tuple[str, ...], nodes: Sequence[Node]
) -> TopologyTree:
    """Give those of some nodes that a flavor selects, by the levels of its topology."""
    tree = TopologyTree(
        topology=spec["topologyName"],
        levels=levels,
        tolerations=spec.get("tolerations") or (),
    )
    tree.add(selected(nodes, spec.get("nodeLabels") or {}, levels))
    return tree
