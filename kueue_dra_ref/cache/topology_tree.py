"""The nodes of a flavor as a tree of topology domains, with their room and what Workloads use of it.

Kueue: pkg/cache/scheduler/tas_topology_tree.go (newTopologyTree); pkg/cache/scheduler/tas_nodes_cache.go (find);
    pkg/cache/scheduler/tas_flavor_snapshot.go (TASFlavorSnapshot, Fits)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from kueue_dra_ref.api.nodes import Node
from kueue_dra_ref.api.topologies import HOSTNAME
from kueue_dra_ref.api.topology_assignment import Values

Amounts = Mapping[str, int]
PODS = "pods"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPods:
    """Pods of one pod set in one domain of a flavor; ``values`` are the labels in the topologyAssignment."""

    flavor: str
    values: Values
    requests: Amounts
    """What one pod requests, in Kueue's units."""
    count: int

    def total(self) -> Counter[str]:
        """Give what all pods take, with the pods themselves."""
        found = Counter(
            {name: each * self.count for name, each in self.requests.items()}
        )
        found[PODS] += self.count
        return found


@dataclass(slots=True, eq=False)
class Domain:
    """A domain of a topology: a node, a rack, a block; ``pods`` is a count of the placement that is under way."""

    values: Values
    """Its label and those of the domains that it is in, the highest first."""
    children: list[Domain] = field(default_factory=list)
    capacity: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    node: Node | None = None
    """The node of a lowest domain that is one."""
    pods: int = field(init=False)


@dataclass(slots=True, kw_only=True)
class TopologyTree:
    """The usable nodes of one flavor by the levels of its topology."""

    topology: str
    levels: tuple[str, ...]
    tolerations: Sequence[Mapping[str, Any]]
    domains: list[dict[Values, Domain]] = field(default_factory=list)
    """By level, the highest first, and by labels."""

    @property
    def has_node_level(self) -> bool:
        """Whether each of the lowest domains is a node."""
        return bool(self.levels) and self.levels[-1] == HOSTNAME

    @property
    def leaves(self) -> Iterator[tuple[Values, Domain]]:
        """The lowest domains, by the labels that an assignment names them with."""
        for values, domain in sorted(self.domains[-1].items()):
            yield self.assigned(values), domain

    def assigned(self, values: Values) -> Values:
        """Give the labels of a domain that an assignment names: that of the node alone, if there is one."""
        return values[-1:] if self.has_node_level else values

    def add(self, nodes: Iterable[Node]) -> None:
        """Add the nodes with a label for each level."""
        self.domains = [{} for _ in self.levels]
        hosts: dict[str, Values] = {}
        for node in nodes:
            values = tuple(node.labels[level] for level in self.levels)
            if self.has_node_level:
                values = hosts.setdefault(values[-1], values)
            leaf = self._domain(values)
            if self.has_node_level and leaf.node is None:
                leaf.node = node
            leaf.capacity.update(node.allocatable)

    def _domain(self, values: Values) -> Domain:
        level = self.domains[len(values) - 1]
        found = level.get(values)
        if found is None:
            found = level[values] = Domain(values=values)
            if len(values) > 1:
                self._domain(values[:-1]).children.append(found)
        return found

    def use(self, placed: PlacedPods, sign: int) -> None:
        """Add the usage of pods to their domain (1) or remove it (-1); a domain that is gone has none."""
        for values, leaf in self.leaves:
            if values == placed.values:
                for name, amount in placed.total().items():
                    leaf.used[name] += sign * amount

    def has_room(self, placed: PlacedPods) -> bool:
        """Whether a domain still has room for pods."""
        leaf = next(leaf for values, leaf in self.leaves if values == placed.values)
        fitting, _ = room(placed.requests, left_in(leaf))
        return fitting >= placed.count


def selected(
    nodes: Iterable[Node], labels: Mapping[str, str], levels: Sequence[str]
) -> Iterator[Node]:
    """Give the usable nodes with the labels of a flavor, and with a label for each level of its topology."""
    for node in nodes:
        has_levels = all(level in node.labels for level in levels)
        has_labels = all(node.labels.get(key) == labels[key] for key in labels)
        if node.is_usable and has_levels and has_labels:
            yield node


def use_nodes(
    trees: Mapping[str, TopologyTree], placed: PlacedPods, *, shares: bool
) -> None:
    """Add the usage of pods to their domain; flavors that share nodes have it in the domains of all."""
    own = trees.get(placed.flavor)
    if own is None:
        return
    if not shares or not own.has_node_level:
        own.use(placed, 1)
        return
    for tree in trees.values():
        if tree.has_node_level:
            tree.use(placed, 1)


def left_in(
    leaf: Domain, assumed: Amounts | None = None, *, empty: bool = False
) -> Counter[str]:
    """Give the room that is left in a domain; ``empty`` ignores the usage of Workloads."""
    left = Counter(leaf.capacity)
    if not empty:
        left.subtract(leaf.used)
    left.subtract(assumed or {})
    return left


def room(requests: Amounts, left: Counter[str]) -> tuple[float, str]:
    """Give how many pods fit what is left, and the resource that bounds it, the first by name."""
    bounds: list[tuple[float, str]] = []
    for name, amount in requests.items():
        fits = max(0, left[name] // amount) if amount else inf
        bounds.append((fits, name))
    return min(bounds, default=(0, ""))
