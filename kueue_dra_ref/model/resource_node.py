"""The quota and the usage of ClusterQueues and cohorts: what each has, borrows and lends (Kueue 0.19).

Kueue: pkg/cache/scheduler/resource_node.go (resourceNode, available, potentialAvailable, addUsage, removeUsage)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kueue_dra_ref.api.quantities import MAX_INT64, MIN_INT64, clamp

FlavorResource = tuple[str, str]
"""Flavor and resource."""

Amounts = dict[FlavorResource, int]

UNLIMITED = MAX_INT64
"""The amount without a limit: adding to it or subtracting from it does not change it."""


def plus(left: int, right: int) -> int:
    """Add two amounts, saturating."""
    if left == UNLIMITED or right == UNLIMITED:
        return UNLIMITED
    return clamp(left + right)


def minus(left: int, right: int) -> int:
    """Subtract an amount from another, saturating."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    if right == UNLIMITED:
        return MIN_INT64
    return clamp(left - right)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuotaLimits:
    """The quota that a ClusterQueue or Cohort specifies for one flavor and resource; None means no limit."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


_NO_QUOTA = ResourceQuotaLimits()
Limits = Mapping[FlavorResource, ResourceQuotaLimits]


class AvailableBound(NamedTuple):
    """An available amount with the node that bounds it: by its borrowing limit, or as the root by its quota."""

    amount: int
    node: ResourceNode
    by_limit: bool


@dataclass(slots=True, kw_only=True, eq=False)
class ResourceNode:
    """A ClusterQueue or a cohort in the cohort hierarchy."""

    name: str
    limits: Limits = field(default_factory=dict)
    weight: float = 1.0
    is_queue: bool = False
    active: bool = True
    """Whether a ClusterQueue is active; the usage of an inactive ClusterQueue counts as well."""
    parent: ResourceNode | None = None
    members: list[ResourceNode] = field(default_factory=list)
    subtree_quota: Amounts = field(default_factory=dict)
    """SubtreeQuota: the quota of the node, plus what its members lend."""
    usage: Amounts = field(default_factory=dict)
    """Usage: of a ClusterQueue by its workloads, of a cohort by its members beyond their localQuota."""

    @property
    def title(self) -> str:
        """The kind and the name of the node."""
        kind = "ClusterQueue" if self.is_queue else "Cohort"
        return f"{kind} {self.name}"

    def path_parent_to_root(self) -> Iterator[ResourceNode]:
        """Give the cohorts above the node, from its parent to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def root(self) -> ResourceNode:
        """The root of the cohort hierarchy."""
        if self.parent is None:
            return self
        return self.parent.root

    def queues(self) -> Iterator[ResourceNode]:
        """Give the ClusterQueues of the subtree."""
        for member in self.members:
            if member.is_queue:
                yield member
            else:
                yield from member.queues()

    def below(self) -> Iterator[ResourceNode]:
        """Give the cohorts and ClusterQueues of the subtree."""
        for member in self.members:
            yield member
            yield from member.below()

    def quota_for(self, of: FlavorResource) -> ResourceQuotaLimits:
        """Give the quota that the node itself specifies for a flavor and resource."""
        return self.limits.get(of, _NO_QUOTA)

    def quota(self, of: FlavorResource) -> int:
        """Give the SubtreeQuota of a flavor and resource."""
        return self.subtree_quota.get(of, 0)

    def used(self, of: FlavorResource) -> int:
        """Give the Usage of a flavor and resource."""
        return self.usage.get(of, 0)

    def local_quota(self, of: FlavorResource) -> int:
        """Give the part of the SubtreeQuota that the lending limit keeps from the cohort (localQuota)."""
        limits = self.limits.get(of)
        if limits is None or limits.lending is None:
            return 0
        not_lent = minus(self.quota(of), limits.lending)
        return max(0, not_lent)

    def local_available(self, of: FlavorResource) -> int:
        """Give the part of the localQuota that is not in use."""
        local_quota = self.local_quota(of)
        unused = minus(local_quota, self.used(of))
        return max(0, unused)

    def available(self, of: FlavorResource) -> int:
        """Give the amount that the node can still use now, borrowing included; never negative."""
        bound = self.available_bound(of)
        return max(0, bound.amount)

    def available_bound(self, of: FlavorResource) -> AvailableBound:
        """Give the available amount with its bound; the amount is negative if the usage exceeds the quota."""
        if self.parent is None:
            used = self.used(of)
            unused = minus(self.quota(of), used)
            return AvailableBound(unused, self, by_limit=False)
        bound = self.parent.available_bound(of)
        borrowing = self.quota_for(of).borrowing
        if borrowing is not None:
            local_quota = self.local_quota(of)
            stored_in_parent = minus(self.quota(of), local_quota)
            over_local = minus(self.used(of), local_quota)
            used_in_parent = max(0, over_local)
            unused = minus(stored_in_parent, used_in_parent)
            with_borrowing = plus(unused, borrowing)
            if with_borrowing < bound.amount:
                bound = AvailableBound(with_borrowing, self, by_limit=True)
        local_available = self.local_available(of)
        amount = plus(local_available, bound.amount)
        return AvailableBound(amount, bound.node, bound.by_limit)

    def potential_available(self, of: FlavorResource) -> int:
        """Give the amount that the node could use if the whole hierarchy had no usage (potentialAvailable)."""
        bound = self.potential_available_bound(of)
        return bound.amount

    def potential_available_bound(self, of: FlavorResource) -> AvailableBound:
        """Give the potentially available amount with its bound."""
        quota = self.quota(of)
        if self.parent is None:
            return AvailableBound(quota, self, by_limit=False)
        bound = self.parent.potential_available_bound(of)
        local_quota = self.local_quota(of)
        amount = plus(local_quota, bound.amount)
        borrowing = self.quota_for(of).borrowing
        if borrowing is not None:
            with_borrowing = plus(quota, borrowing)
            if with_borrowing < amount:
                return AvailableBound(with_borrowing, self, by_limit=True)
        return AvailableBound(amount, bound.node, bound.by_limit)

    def add_usage(self, of: FlavorResource, amount: int) -> None:
        """Add usage; the part that exceeds the available localQuota is added to the parent."""
        local_available = self.local_available(of)
        used = self.used(of)
        self.usage[of] = plus(used, amount)
        if self.parent is not None and amount > local_available:
            over_local = minus(amount, local_available)
            self.parent.add_usage(of, over_local)

    def remove_usage(self, of: FlavorResource, amount: int) -> None:
        """Remove usage; usage that is stored in the parent is removed there first."""
        used = self.used(of)
        local_quota = self.local_quota(of)
        stored_in_parent = minus(used, local_quota)
        self.usage[of] = minus(used, amount)
        if self.parent is not None and stored_in_parent > 0:
            in_parent = min(amount, stored_in_parent)
            self.parent.remove_usage(of, in_parent)

    def exceeds(self, of: FlavorResource, amount: int = 0) -> bool:
        """Whether the usage, with an additional amount, exceeds the SubtreeQuota."""
        quota = self.quota(of)
        used = plus(self.used(of), amount)
        return used > quota

    def borrows(self, of: FlavorResource, amount: int = 0) -> bool:
        """Whether the usage of a ClusterQueue, with an additional amount, exceeds its nominal quota."""
        nominal = self.quota_for(of).nominal
        used = plus(self.used(of), amount)
        return used > nominal

    def update(self) -> None:
        """Compute the SubtreeQuota of the whole subtree, and the usage of its cohorts, bottom up."""
        self.subtree_quota = {}
        for of, limits in self.limits.items():
            self.subtree_quota[of] = limits.nominal
        if self.is_queue:
            return
        self.usage = {}
        for member in self.members:
            member.update()
            self._accumulate_from_child(member)

    def _accumulate_from_child(self, child: ResourceNode) -> None:
        for of, quota in child.subtree_quota.items():
            local_quota = child.local_quota(of)
            lent = minus(quota, local_quota)
            own = self.quota(of)
            self.subtree_quota[of] = plus(own, lent)
        for of, used in child.usage.items():
            local_quota = child.local_quota(of)
            over_local = minus(used, local_quota)
            passed_on = max(0, over_local)
            own = self.used(of)
            self.usage[of] = plus(own, passed_on)


def node_height(node: ResourceNode) -> int:
    """Give the height of a cohort over its deepest active ClusterQueue; cohorts without any have height 0."""
    height = 0
    for member in node.members:
        if not member.is_queue:
            height_of_member = node_height(member) + 1
            height = max(height, height_of_member)
        elif member.active:
            height = max(height, 1)
    return height


def height_of_lowest_subtree_that_fits(
    queue: ResourceNode, of: FlavorResource, amount: int
) -> tuple[int, bool]:
    """Give the height of the lowest subtree that has an additional amount for a ClusterQueue (0: no borrowing).

    The second value says whether that subtree is smaller than the whole hierarchy.
    """
    if queue.parent is None:
        return 0, False
    if not queue.borrows(of, amount):
        return 0, True
    missing = minus(amount, queue.local_available(of))
    for cohort in queue.path_parent_to_root():
        if not cohort.exceeds(of, missing):
            return node_height(cohort), cohort.parent is not None
        missing = minus(missing, cohort.local_available(of))
    return node_height(queue.root), False
