"""The cohort tree: made of ClusterQueues and Cohorts by the rules of borrowing and lending.

Kueue: pkg/cache/hierarchy/manager.go (Manager);
    pkg/cache/scheduler/resource_node.go (updateCohortResourceNode, accumulateFromChild)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.types import ClusterQueue, Cohort, FlavorQuota, ResourceGroup
from kueue_dra_ref.behaviours.phases_scheduling import CohortRules
from kueue_dra_ref.model.resource_node import (
    FlavorResource,
    ResourceNode,
    ResourceQuotaLimits,
)

Used = Mapping[str, Mapping[FlavorResource, int]]
"""What is held in each ClusterQueue."""


@dataclass(slots=True, kw_only=True)
class Hierarchy:
    """Every ClusterQueue and every cohort, those included that are only named."""

    queues: dict[str, ResourceNode] = field(default_factory=dict)
    cohorts: dict[str, ResourceNode] = field(default_factory=dict)
    looped: frozenset[str] = frozenset()
    """ClusterQueues below cohorts that are their own ancestors."""

    def root(self, queue: str) -> str:
        """The outermost cohort of a ClusterQueue, empty when it is alone."""
        node = self.queues.get(queue)
        return node.root.name if node and node.parent else ""

    def members(self, root: str) -> list[str]:
        """The ClusterQueues of a whole tree."""
        node = self.cohorts.get(root)
        return [queue.name for queue in node.queues()] if node else []


def build_hierarchy(
    rules: CohortRules,
    queues: Iterable[ClusterQueue],
    cohorts: Iterable[Cohort],
    used: Used,
) -> Hierarchy:
    """Put ClusterQueues below their cohorts, and add up what they have and use."""
    members, explicit = list(queues), list(cohorts)
    parents = {
        each.name: parent
        for each in explicit
        if (parent := next((rule(each) for rule in rules.parent), ""))
    }
    joined = {
        each.name: cohort
        for each in members
        if (cohort := next((rule(each) for rule in rules.parent_of_cluster_queue), ""))
    }
    nodes = {
        name: ResourceNode(name=name)
        for name in (*parents, *parents.values(), *joined.values())
    }
    for each in explicit:
        groups = next((rule(each) for rule in rules.quota), ())
        nodes[each.name] = ResourceNode(
            name=each.name, limits=_limits(rules, groups), weight=each.weight
        )
    looping = {name for name in nodes if _has_cycle(name, parents)}
    for child in sorted(parents.keys() - looping):
        _attach(nodes[child], nodes[parents[child]])
    tree = Hierarchy(
        cohorts=nodes,
        looped=frozenset(name for name, cohort in joined.items() if cohort in looping),
    )
    for queue in sorted(members, key=lambda each: each.name):
        node = ResourceNode(
            name=queue.name,
            limits=_limits(rules, queue.groups),
            weight=queue.weight,
            is_queue=True,
        )
        node.usage = dict(used.get(queue.name, {}))
        tree.queues[queue.name] = node
        if (above := joined.get(queue.name)) and above not in looping:
            _attach(node, nodes[above])
    for node in (*nodes.values(), *tree.queues.values()):
        if node.parent is None:
            node.update()
    return tree


def _attach(child: ResourceNode, parent: ResourceNode) -> None:
    child.parent = parent
    parent.members.append(child)


def _has_cycle(name: str, parents: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    while name in parents and name not in seen:
        seen.add(name)
        name = parents[name]
    return name in seen


def _limits(
    rules: CohortRules, groups: Iterable[ResourceGroup]
) -> dict[FlavorResource, ResourceQuotaLimits]:
    flavors: list[FlavorQuota] = [
        flavor for group in groups for flavor in group.flavors
    ]
    return {
        (flavor.name, resource): ResourceQuotaLimits(
            nominal=_counted(rules, resource, nominal),
            borrowing=_bound(
                rules,
                resource,
                next((rule(flavor, resource) for rule in rules.borrowing), None),
            ),
            lending=_bound(
                rules,
                resource,
                next((rule(flavor, resource) for rule in rules.lending), None),
            ),
        )
        for flavor in flavors
        for resource, nominal in flavor.nominal.items()
    }


def _counted(rules: CohortRules, resource: str, amount: int) -> int:
    return next((rule(resource, amount) for rule in rules.counted), amount)


def _bound(rules: CohortRules, resource: str, amount: int | None) -> int | None:
    return None if amount is None else _counted(rules, resource, amount)
