"""Cohort-tree arithmetic (Queue Admission; Kueue 0.19): what a ClusterQueue has, borrows, lends, and shares.

Kueue: pkg/cache/scheduler/resource_node.go (resourceNode, available, potentialAvailable, addUsage, removeUsage);
    pkg/cache/scheduler/fair_sharing.go (DRS, CompareDRS, dominantResourceShare)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kueue_dra_ref.api.quantities import MAX_INT64, MIN_INT64, clamp

FlavorResource = tuple[str, str]
"""Flavor and resource."""

UNLIMITED = MAX_INT64
"""The amount that stands for any amount: it stays what it is, whatever is added to it or taken from it."""


def plus(left: int, right: int) -> int:
    """Add two amounts, saturating."""
    return UNLIMITED if UNLIMITED in (left, right) else clamp(left + right)


def minus(left: int, right: int) -> int:
    """Take an amount from another, saturating."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return MIN_INT64 if right == UNLIMITED else clamp(left - right)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuotaLimits:
    """What a node brings of one resource in one flavor; None: nothing limits what is borrowed or lent."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


_NOTHING = ResourceQuotaLimits()


class AvailableBound(NamedTuple):
    """An amount, and what it comes from: the borrowing limit of a node, or what the root of the tree has to share."""

    amount: int
    node: ResourceNode
    by_limit: bool


@dataclass(slots=True, kw_only=True, eq=False)
class ResourceNode:
    """A ClusterQueue or a cohort.

    ``quota`` is what its subtree has: its own quota and what its members lend.  ``used`` counts against that: for a
    ClusterQueue all that its workloads hold, for a cohort what its members take beyond what they keep to themselves.
    """

    name: str
    limits: Mapping[FlavorResource, ResourceQuotaLimits] = field(default_factory=dict)
    weight: float = 1.0
    is_queue: bool = False
    active: bool = True
    """Whether a ClusterQueue can admit; what it holds counts either way."""
    parent: ResourceNode | None = None
    members: list[ResourceNode] = field(default_factory=list)
    subtree_quota: dict[FlavorResource, int] = field(default_factory=dict)
    usage: dict[FlavorResource, int] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its kind and name."""
        return f"{'ClusterQueue' if self.is_queue else 'Cohort'} {self.name}"

    def path_parent_to_root(self) -> Iterator[ResourceNode]:
        """The cohorts from the nearest to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def root(self) -> ResourceNode:
        """The top of the tree."""
        return self if self.parent is None else self.parent.root

    def queues(self) -> Iterator[ResourceNode]:
        """Every ClusterQueue of the subtree."""
        for member in self.members:
            if member.is_queue:
                yield member
            else:
                yield from member.queues()

    def below(self) -> Iterator[ResourceNode]:
        """Every cohort and ClusterQueue of the subtree."""
        for member in self.members:
            yield member
            yield from member.below()

    def quota_for(self, of: FlavorResource) -> ResourceQuotaLimits:
        """What the node itself says about a resource."""
        return self.limits.get(of, _NOTHING)

    def local_quota(self, of: FlavorResource) -> int:
        """The part of its quota that a node lends to nobody."""
        lending = self.quota_for(of).lending
        return (
            0
            if lending is None
            else max(0, minus(self.subtree_quota.get(of, 0), lending))
        )

    def local_available(self, of: FlavorResource) -> int:
        """What is left of the part that is lent to nobody."""
        return max(0, minus(self.local_quota(of), self.usage.get(of, 0)))

    def available_bound(self, of: FlavorResource) -> AvailableBound:
        """What can be had here now, borrowed or not, and what bounds it; negative when more is used than there is."""
        quota, used = self.subtree_quota.get(of, 0), self.usage.get(of, 0)
        if self.parent is None:
            return AvailableBound(minus(quota, used), self, False)
        above, node, by_limit = self.parent.available_bound(of)
        limits = self.quota_for(of)
        if limits.borrowing is not None:
            kept = self.local_quota(of)
            own = minus(minus(quota, kept), max(0, minus(used, kept)))
            if (limited := plus(own, limits.borrowing)) < above:
                above, node, by_limit = limited, self, True
        return AvailableBound(plus(self.local_available(of), above), node, by_limit)

    def available(self, of: FlavorResource) -> int:
        """What can be had here now."""
        return max(0, self.available_bound(of).amount)

    def potential_available_bound(self, of: FlavorResource) -> AvailableBound:
        """The most that could be had here if nobody used anything, and what bounds it."""
        quota = self.subtree_quota.get(of, 0)
        if self.parent is None:
            return AvailableBound(quota, self, False)
        amount, node, by_limit = self.parent.potential_available_bound(of)
        most, borrowing = (
            plus(self.local_quota(of), amount),
            self.quota_for(of).borrowing,
        )
        if borrowing is not None and (limited := plus(quota, borrowing)) < most:
            return AvailableBound(limited, self, True)
        return AvailableBound(most, node, by_limit)

    def potential_available(self, of: FlavorResource) -> int:
        """The most that could be had here if nobody used anything."""
        return self.potential_available_bound(of).amount

    def add(self, of: FlavorResource, amount: int) -> None:
        """Use an amount; what is not kept here is used above."""
        here = self.local_available(of)
        self.usage[of] = plus(self.usage.get(of, 0), amount)
        if self.parent is not None and amount > here:
            self.parent.add(of, minus(amount, here))

    def remove(self, of: FlavorResource, amount: int) -> None:
        """Give an amount back; what was used above is given back there first."""
        used_above = minus(self.usage.get(of, 0), self.local_quota(of))
        self.usage[of] = minus(self.usage.get(of, 0), amount)
        if self.parent is not None and used_above > 0:
            self.parent.remove(of, min(amount, used_above))

    def exceeds(self, of: FlavorResource, amount: int = 0) -> bool:
        """Whether the use, and an amount more, goes beyond what the subtree has."""
        return self.subtree_quota.get(of, 0) < plus(self.usage.get(of, 0), amount)

    def borrows(self, of: FlavorResource, amount: int = 0) -> bool:
        """Whether a ClusterQueue uses more than its nominal quota, or would with an amount more."""
        return self.quota_for(of).nominal < plus(self.usage.get(of, 0), amount)

    def build(self) -> None:
        """Add up what the members lend and use, bottom up."""
        self.subtree_quota = {of: limits.nominal for of, limits in self.limits.items()}
        if self.is_queue:
            return
        self.usage = {}
        for member in self.members:
            member.build()
            self._accept(member)

    def _accept(self, member: ResourceNode) -> None:
        for of, amount in member.subtree_quota.items():
            self.subtree_quota[of] = plus(
                self.subtree_quota.get(of, 0), minus(amount, member.local_quota(of))
            )
        for of, amount in member.usage.items():
            self.usage[of] = plus(
                self.usage.get(of, 0), max(0, minus(amount, member.local_quota(of)))
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DominantResourceShare:
    """What a node borrows, weighed against what could be lent to it (fair sharing)."""

    unweighted_ratio: float = 0.0
    weight: float = 1.0
    borrowed: frozenset[FlavorResource] = frozenset()

    @property
    def precise_weighted_share(self) -> float:
        """The weighted share; infinite for a node of weight 0 that borrows."""
        if self.unweighted_ratio == 0:
            return 0.0
        return float("inf") if self.weight == 0 else self.unweighted_ratio / self.weight

    @property
    def compare_key(self) -> tuple[bool, float]:
        """The order of shares: nodes of weight 0 that borrow come last, among each other by what they borrow."""
        endless = self.weight == 0 and self.unweighted_ratio != 0
        return (
            endless,
            self.unweighted_ratio if endless else self.precise_weighted_share,
        )


def dominant_resource_share(node: ResourceNode) -> DominantResourceShare:
    """The largest part, over all resources, that what a node borrows makes of what its cohort could lend."""
    if node.parent is None:
        return DominantResourceShare(weight=node.weight)
    borrowed = {
        of: over
        for of, quota in node.subtree_quota.items()
        if (over := minus(node.usage.get(of, 0), quota)) > 0
    }
    lendable = _by_resource(_capacities(node.parent)) if borrowed else {}
    parts = [
        amount * 1000.0 / lendable[resource]
        for resource, amount in _by_resource(borrowed.items()).items()
        if lendable.get(resource, 0) > 0
    ]
    return DominantResourceShare(
        unweighted_ratio=max(parts, default=0.0),
        weight=node.weight,
        borrowed=frozenset(borrowed),
    )


def _capacities(node: ResourceNode) -> Iterator[tuple[FlavorResource, int]]:
    return ((of, node.potential_available(of)) for of in node.root.subtree_quota)


def _by_resource(amounts: Iterable[tuple[FlavorResource, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for (_, resource), amount in amounts:
        total[resource] = plus(total.get(resource, 0), amount)
    return total


def node_height(node: ResourceNode) -> int:
    """How many levels of borrowing lie below a cohort; ClusterQueues that cannot admit do not count."""
    levels = [1 if member.active else 0 for member in node.members if member.is_queue]
    return max(
        [
            *levels,
            *(
                node_height(member) + 1
                for member in node.members
                if not member.is_queue
            ),
        ],
        default=0,
    )


def height_of_lowest_subtree_that_fits(
    queue: ResourceNode, of: FlavorResource, amount: int
) -> tuple[int, bool]:
    """From how far a ClusterQueue would borrow an amount more, 0 for not at all, and whether that is inside its tree.

    The distance is the height of the smallest part of the cohort tree that has the amount.
    """
    if queue.parent is None or not queue.borrows(of, amount):
        return 0, queue.parent is not None
    missing = minus(amount, queue.local_available(of))
    for cohort in queue.path_parent_to_root():
        if not cohort.exceeds(of, missing):
            return node_height(cohort), cohort.parent is not None
        missing = minus(missing, cohort.local_available(of))
    return node_height(queue.root), False
