"""Dominant resource share: how much a ClusterQueue or cohort borrows of what could be lent to it (fair sharing).

Kueue: pkg/cache/scheduler/fair_sharing.go (DRS, CompareDRS, PreciseWeightedShare, dominantResourceShare)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kueue_dra_ref.model.resource_node import (
    Amounts,
    FlavorResource,
    ResourceNode,
    minus,
    plus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DominantResourceShare:
    """The share of a node: its unweighted ratio, in thousandths, and its fair sharing weight."""

    unweighted_ratio: float = 0.0
    weight: float
    borrowed: frozenset[FlavorResource] = frozenset()
    """The flavors and resources that the node borrows."""

    @property
    def zero_weight_borrows(self) -> bool:
        """Whether the node has weight 0 and borrows."""
        return bool(self.unweighted_ratio) and not self.weight

    @property
    def precise_weighted_share(self) -> float:
        """The weighted share; infinite for a node of weight 0 that borrows."""
        if self.zero_weight_borrows:
            return math.inf
        return self.unweighted_ratio and self.unweighted_ratio / self.weight

    @property
    def compare_key(self) -> tuple[bool, float]:
        """The order of shares: nodes of weight 0 that borrow come last, ordered by their unweighted ratios."""
        if self.zero_weight_borrows:
            return True, self.unweighted_ratio
        return False, self.precise_weighted_share


def dominant_resource_share(node: ResourceNode) -> DominantResourceShare:
    """Give the largest ratio, over all resources, of what a node borrows to what its parent can lend."""
    if node.parent is None:
        return DominantResourceShare(weight=node.weight)
    borrowed: Amounts = {}
    for of, quota in node.subtree_quota.items():
        over_quota = minus(node.used(of), quota)
        if over_quota > 0:
            borrowed[of] = over_quota
    return DominantResourceShare(
        unweighted_ratio=_largest_ratio(borrowed, node.parent),
        weight=node.weight,
        borrowed=frozenset(borrowed),
    )


def _largest_ratio(borrowed: Amounts, parent: ResourceNode) -> float:
    lendable = _lendable(parent)
    largest = 0.0
    for resource, amount in _by_resource(borrowed).items():
        if most := lendable[resource]:
            ratio = amount * 1000.0 / most
            largest = max(largest, ratio)
    return largest


def _lendable(parent: ResourceNode) -> dict[str, int]:
    """Give, for each resource, what a cohort could use if the whole hierarchy had no usage."""
    potential: Amounts = {}
    for of in parent.root.subtree_quota:
        potential[of] = parent.potential_available(of)
    return _by_resource(potential)


def _by_resource(amounts: Amounts) -> dict[str, int]:
    """Sum the amounts of each resource over its flavors."""
    total: dict[str, int] = {}
    for (_, resource), amount in amounts.items():
        before = total.get(resource, 0)
        total[resource] = plus(before, amount)
    return total
