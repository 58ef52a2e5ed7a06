"""A snapshot for one scheduling cycle: quota, usage and reserved workloads, with simulated changes.

Kueue: pkg/cache/scheduler/snapshot.go (Snapshot); pkg/cache/scheduler/clusterqueue_snapshot.go (ClusterQueueSnapshot)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.hierarchy import Hierarchy
from kueue_dra_ref.cache.topology_tree import PlacedPods, TopologyTree
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode

FlavorResourceQuantities = Mapping[FlavorResource, int]
FlavorSpec = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedPodSet:
    """What one pod set of a Workload with a quota reservation uses, and in which flavors."""

    name: str
    flavors: Mapping[str, str]
    amounts: Mapping[str, int]
    """By resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedWorkload:
    """A Workload with a quota reservation; ``created`` numbers Workloads in the order of creation."""

    key: Key
    uid: str
    cluster_queue: str
    local_queue: Key
    admitted: bool
    amounts: FlavorResourceQuantities
    priority: int
    created: int
    evicted: bool
    reserved: str
    """When the quota was reserved."""
    pod_sets: tuple[ReservedPodSet, ...]
    placed: tuple[PlacedPods, ...]
    """Its pods by the domains of their topologies."""

    @property
    def name(self) -> str:
        """Namespace and name, for messages."""
        return "/".join(self.key)


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The cohort hierarchy, the active ClusterQueues, and the workloads with quota in them."""

    hierarchy: Hierarchy
    queues: Mapping[str, ClusterQueue]
    reserved_workloads: Callable[[str], Iterable[ReservedWorkload]]
    flavor: Callable[[str], FlavorSpec | None]
    """Gives the spec of a ResourceFlavor by name, None if there is none."""
    local_queue_usage: Callable[[ReservedWorkload], float | None]
    """Gives the usage of the LocalQueue of a workload, None if its ClusterQueue does not order by usage."""
    topologies: Mapping[str, TopologyTree] = field(default_factory=dict)
    """The nodes of each flavor that has a topology."""
    _removed: set[Key] = field(default_factory=set)

    def node(self, queue: str) -> ResourceNode:
        """Give the resource node of a ClusterQueue."""
        return self.hierarchy.queues[queue]

    def path(self, queue: str) -> str:
        """Give the path from the root cohort to a ClusterQueue."""
        names = [queue]
        for cohort in self.node(queue).path_parent_to_root():
            names.append(cohort.name)
        return "/" + "/".join(reversed(names))

    def workloads(self, queue: str) -> Iterator[ReservedWorkload]:
        """Give the workloads with quota in a ClusterQueue, without those that were removed."""
        for workload in self.reserved_workloads(queue):
            if workload.key not in self._removed:
                yield workload

    def reserved(self, queue: str, key: Key) -> ReservedWorkload | None:
        """Give a workload with quota in a ClusterQueue; None if it has none there."""
        for workload in self.reserved_workloads(queue):
            if workload.key == key:
                return workload
        return None

    def remove_workload(self, workload: ReservedWorkload) -> None:
        """Simulate that a workload is gone and its quota is released."""
        self._removed.add(workload.key)
        self._count(workload, -1)

    def add_workload(self, workload: ReservedWorkload) -> None:
        """Revert the removal of a workload."""
        self._removed.discard(workload.key)
        self._count(workload, 1)

    def _count(self, workload: ReservedWorkload, sign: int) -> None:
        """Add the usage of a workload (1) or remove it (-1)."""
        change = self.add_usage if sign == 1 else self.remove_usage
        change(workload.cluster_queue, workload.amounts)
        self.place(workload.placed, sign)

    def place(self, placed: Iterable[PlacedPods], sign: int = 1) -> None:
        """Add the usage of pods to their nodes (1) or remove it (-1)."""
        for each in placed:
            tree = self.topologies.get(each.flavor)
            if tree is not None:
                tree.use(each, sign)

    def has_room(self, placed: Iterable[PlacedPods]) -> bool:
        """Whether the domains of pods have room for them now."""
        return all(self.topologies[each.flavor].has_room(each) for each in placed)

    def add_usage(self, queue: str, amounts: FlavorResourceQuantities) -> None:
        """Add usage to a ClusterQueue."""
        node = self.node(queue)
        for of, amount in amounts.items():
            node.add_usage(of, amount)

    def remove_usage(self, queue: str, amounts: FlavorResourceQuantities) -> None:
        """Remove usage from a ClusterQueue."""
        node = self.node(queue)
        for of, amount in amounts.items():
            node.remove_usage(of, amount)

    def fits(self, queue: str, amounts: FlavorResourceQuantities) -> bool:
        """Whether all amounts are available to a ClusterQueue now."""
        node = self.node(queue)
        return all(amount <= node.available(of) for of, amount in amounts.items())

    @contextmanager
    def simulate_workload_removal(
        self, workloads: Iterable[ReservedWorkload]
    ) -> Iterator[None]:
        """Remove the usage of some workloads within a ``with`` block."""
        workloads = list(workloads)
        for workload in workloads:
            self._count(workload, -1)
        yield
        for workload in workloads:
            self._count(workload, 1)

    @contextmanager
    def without_workloads(
        self, workloads: Iterable[ReservedWorkload]
    ) -> Iterator[None]:
        """Remove some workloads and their usage within a ``with`` block."""
        workloads = list(workloads)
        for workload in workloads:
            self.remove_workload(workload)
        yield
        for workload in workloads:
            self.add_workload(workload)

    @contextmanager
    def rollback(self) -> Iterator[None]:
        """Undo every change to the hierarchy at the end of a ``with`` block; inside it, set which nodes are active."""
        queues = self.hierarchy.queues
        before = []
        for node in (*queues.values(), *self.hierarchy.cohorts.values()):
            usage = dict(node.usage)
            before.append((node, usage, node.active))
        for name, node in queues.items():
            node.active = name in self.queues
        try:
            yield
        finally:
            for node, usage, active in before:
                node.usage = usage
                node.active = active
            self._removed.clear()
