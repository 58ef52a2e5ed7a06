"""The cohort hierarchy: ClusterQueues below Cohorts, with their quotas, borrowing limits and lending limits.

Kueue: pkg/cache/hierarchy/manager.go (Manager);
    pkg/cache/scheduler/resource_node.go (updateCohortResourceNode, accumulateFromChild)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from kueue_dra_ref.api.types import ClusterQueue, Cohort, FlavorQuota, ResourceGroup
from kueue_dra_ref.behaviours.phases_scheduling import CohortRules
from kueue_dra_ref.model.resource_node import (
    FlavorResource,
    Limits,
    ResourceNode,
    ResourceQuotaLimits,
)

Used = Mapping[str, Mapping[FlavorResource, int]]
"""The usage of each ClusterQueue."""
Nodes = dict[str, ResourceNode]
Parents = Mapping[str, str]
"""The name of the parent by the name of the child."""


@dataclass(slots=True, kw_only=True)
class Hierarchy:
    """All ClusterQueues and cohorts, including cohorts that have no Cohort object."""

    queues: Nodes = field(default_factory=dict)
    cohorts: Nodes = field(default_factory=dict)
    circles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The cohorts that form a cycle, the first one also at the end, by ClusterQueue below them."""

    @property
    def looped(self) -> Iterable[str]:
        """The ClusterQueues below cohorts that form a cycle."""
        return self.circles.keys()

    def root(self, queue: str) -> str:
        """Give the root cohort of a ClusterQueue, or an empty string if it has no cohort."""
        node = self.queues.get(queue)
        if node is None or node.parent is None:
            return ""
        return node.root.name

    def members(self, root: str) -> list[str]:
        """Give the ClusterQueues of the hierarchy below a root cohort."""
        node = self.cohorts.get(root)
        if node is None:
            return []
        return [queue.name for queue in node.queues()]


def build_hierarchy(
    rules: CohortRules,
    queues: Iterable[ClusterQueue],
    cohorts: Iterable[Cohort],
    used: Used,
) -> Hierarchy:
    """Attach ClusterQueues and Cohorts to their parents, and compute SubtreeQuota and usage."""
    cluster_queues, explicit = list(queues), list(cohorts)
    parents = _parents((each.name, rules.parent(each)) for each in explicit)
    parents_of_queues = _parents(
        (each.name, rules.parent_of_cluster_queue(each)) for each in cluster_queues
    )
    named = [*parents, *parents.values(), *parents_of_queues.values()]
    nodes = _cohort_nodes(rules, explicit, named)
    cyclic = _cycles(nodes, parents)
    for child in sorted(parents.keys() - cyclic.keys()):
        _attach(nodes[child], nodes[parents[child]])
    queue_nodes: Nodes = {}
    circles: dict[str, tuple[str, ...]] = {}
    for queue in sorted(cluster_queues, key=attrgetter("name")):
        node = _queue_node(rules, queue, used)
        queue_nodes[queue.name] = node
        parent = parents_of_queues.get(queue.name)
        if parent in cyclic:
            circles[queue.name] = cyclic[parent]
        elif parent is not None:
            _attach(node, nodes[parent])
    _update_roots([*nodes.values(), *queue_nodes.values()])
    return Hierarchy(queues=queue_nodes, cohorts=nodes, circles=circles)


def _parents(nodes: Iterable[tuple[str, str | None]]) -> Parents:
    """Give the parent of each node that has one, by name."""
    return {name: parent for name, parent in nodes if parent}


def _cohort_nodes(
    rules: CohortRules, cohorts: Sequence[Cohort], named: Sequence[str]
) -> Nodes:
    """Make a node for each Cohort object, and one without quota for each other cohort that is named."""
    nodes = {}
    for name in named:
        nodes[name] = ResourceNode(name=name)
    for cohort in cohorts:
        groups = rules.quota.or_else((), cohort)
        nodes[cohort.name] = ResourceNode(
            name=cohort.name,
            limits=_limits(rules, groups),
            weight=cohort.weight,
        )
    return nodes


def _queue_node(rules: CohortRules, queue: ClusterQueue, used: Used) -> ResourceNode:
    usage = used.get(queue.name, {})
    return ResourceNode(
        name=queue.name,
        limits=_limits(rules, queue.groups),
        weight=queue.weight,
        is_queue=True,
        usage=dict(usage),
    )


def _attach(child: ResourceNode, parent: ResourceNode) -> None:
    child.parent = parent
    parent.members.append(child)


def _cycles(names: Iterable[str], parents: Parents) -> dict[str, tuple[str, ...]]:
    """Give the cycle above each cohort that has one."""
    cycles = {}
    for name in names:
        cycle = _cycle(name, parents)
        if cycle:
            cycles[name] = cycle
    return cycles


def _cycle(name: str, parents: Parents) -> tuple[str, ...]:
    """Give the cycle to which the path from a cohort towards its root returns; empty if it reaches the root."""
    path: dict[str, None] = {}
    while name in parents and name not in path:
        path[name] = None
        name = parents[name]
    if name not in path:
        return ()
    cohorts = list(path)
    start = cohorts.index(name)
    return (*cohorts[start:], name)


def _update_roots(nodes: Iterable[ResourceNode]) -> None:
    for node in nodes:
        if node.parent is None:
            node.update()


def _limits(rules: CohortRules, groups: Iterable[ResourceGroup]) -> Limits:
    limits = {}
    for group in groups:
        for flavor in group.flavors:
            for resource in flavor.nominal:
                of = (flavor.name, resource)
                limits[of] = _limits_of_flavor(rules, flavor, resource)
    return limits


def _limits_of_flavor(
    rules: CohortRules, flavor: FlavorQuota, resource: str
) -> ResourceQuotaLimits:
    nominal = flavor.nominal[resource]
    borrowing = rules.borrowing(flavor, resource)
    lending = rules.lending(flavor, resource)
    return ResourceQuotaLimits(
        nominal=rules.quota_value.or_else(nominal, resource, nominal),
        borrowing=_limit(rules, resource, borrowing),
        lending=_limit(rules, resource, lending),
    )


def _limit(rules: CohortRules, resource: str, amount: int | None) -> int | None:
    if amount is None:
        return None
    return rules.quota_value.or_else(amount, resource, amount)
