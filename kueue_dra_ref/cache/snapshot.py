"""A view of who holds what, in which a scheduling cycle may try things out without touching anything.

Kueue: pkg/cache/scheduler/snapshot.go (Snapshot); pkg/cache/scheduler/clusterqueue_snapshot.go (ClusterQueueSnapshot)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.hierarchy import Hierarchy
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode

Key = tuple[str, str]
Amounts = Mapping[FlavorResource, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedWorkload:
    """One Workload's reservation; ``created`` counts workloads in the order of their creation."""

    key: Key
    uid: str
    cluster_queue: str
    local_queue: Key
    admitted: bool
    amounts: Amounts
    priority: int = 0
    created: int = 0
    evicted: bool = False
    reserved: str = ""


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """The cohort tree, the ClusterQueues that can admit, and who holds quota in them."""

    tree: Hierarchy
    queues: Mapping[str, ClusterQueue]
    holds: Callable[[str], Iterable[ReservedWorkload]]
    flavor: Callable[[str], Mapping[str, object] | None]
    """The spec of a ResourceFlavor by name, None when there is none."""
    _gone: set[Key] = field(default_factory=set)

    def node(self, queue: str) -> ResourceNode:
        """The place of a ClusterQueue in the tree."""
        return self.tree.queues[queue]

    def path(self, queue: str) -> str:
        """The names from the root of the tree down to a ClusterQueue."""
        node = self.node(queue)
        return "/" + "/".join(
            [*reversed([cohort.name for cohort in node.path_parent_to_root()]), queue]
        )

    def holding(self, queue: str) -> Iterator[ReservedWorkload]:
        """Who holds quota in a ClusterQueue, whoever was removed left out."""
        return (hold for hold in self.holds(queue) if hold.key not in self._gone)

    def remove(self, hold: ReservedWorkload) -> None:
        """Act as if a workload had given its quota back and were gone."""
        self._gone.add(hold.key)
        self.release(hold.cluster_queue, hold.amounts)

    def restore(self, hold: ReservedWorkload) -> None:
        """Take a removal back."""
        self._gone.discard(hold.key)
        self.take(hold.cluster_queue, hold.amounts)

    def take(self, queue: str, amounts: Amounts) -> None:
        """Use amounts in a ClusterQueue."""
        node = self.node(queue)
        for of, amount in amounts.items():
            node.add_usage(of, amount)

    def release(self, queue: str, amounts: Amounts) -> None:
        """Give amounts back in a ClusterQueue."""
        node = self.node(queue)
        for of, amount in amounts.items():
            node.remove_usage(of, amount)

    def fits(self, queue: str, amounts: Amounts) -> bool:
        """Whether a ClusterQueue has all of these amounts now."""
        node = self.node(queue)
        return all(amount <= node.available(of) for of, amount in amounts.items())

    @contextmanager
    def without(self, holds: Iterable[ReservedWorkload]) -> Iterator[None]:
        """Act for a while as if the quota of some workloads were free."""
        holds = list(holds)
        for hold in holds:
            self.release(hold.cluster_queue, hold.amounts)
        yield
        for hold in holds:
            self.take(hold.cluster_queue, hold.amounts)

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Undo in the end whatever is done to the tree meanwhile."""
        nodes = [*self.tree.queues.values(), *self.tree.cohorts.values()]
        before = [(node, dict(node.usage), node.active) for node in nodes]
        for name, node in self.tree.queues.items():
            node.active = name in self.queues
        try:
            yield
        finally:
            for node, used, active in before:
                node.usage, node.active = used, active
            self._gone.clear()
