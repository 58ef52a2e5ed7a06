"""How much of its quota each ClusterQueue and Cohort lends: a range, because Kueue does not record which one lends.

No counterpart: pages of the simulation. Kueue knows what is borrowed, and which nodes could lend it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kueue_dra_ref.model.resource_node import (
    FlavorResource,
    ResourceNode,
    minus,
    plus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmountRange:
    """The least and the most that an amount may be, in Kueue's units."""

    least: int
    most: int


_NOTHING = AmountRange(least=0, most=0)


def borrowed_by(node: ResourceNode, of: FlavorResource) -> int:
    """Give what a ClusterQueue, or the members of a Cohort together, take from the Cohort above."""
    if node.parent is None:
        return 0
    return max(0, _over_offer(node, of))


def lent_by(
    nodes: Iterable[ResourceNode], of: FlavorResource
) -> dict[ResourceNode, AmountRange]:
    """Give what each node lends to the Cohort above it; ``nodes`` has each Cohort before its members.

    If several members could lend what others borrow, each may lend nothing or all of it: the range has both.
    """
    lent: dict[ResourceNode, AmountRange] = {}
    for node in nodes:
        passed_on = lent.setdefault(node, _NOTHING)
        lent.update(_lent_by_members(node, of, passed_on))
    return lent


def _lent_by_members(
    cohort: ResourceNode, of: FlavorResource, passed_on: AmountRange
) -> dict[ResourceNode, AmountRange]:
    """Give what each member of a Cohort lends, if the Cohort passes an amount on to the one above it."""
    lenders = cohort.quota_for(of).nominal
    needed = minus(0, borrowed_by(cohort, of))
    spares = {}
    for member in cohort.members:
        spares[member] = _spare(member, of)
        lenders = plus(lenders, spares[member])
        needed = plus(needed, borrowed_by(member, of))
    lent = {}
    for member, spare in spares.items():
        others = minus(lenders, spare)
        at_least = minus(plus(needed, passed_on.least), others)
        at_most = plus(needed, passed_on.most)
        lent[member] = AmountRange(
            least=max(0, min(at_least, spare)),
            most=max(0, min(at_most, spare)),
        )
    return lent


def _spare(node: ResourceNode, of: FlavorResource) -> int:
    """Give the quota that a node offers to its Cohort and does not use itself."""
    return max(0, minus(0, _over_offer(node, of)))


def _over_offer(node: ResourceNode, of: FlavorResource) -> int:
    """Give the usage that a node stores in its Cohort, less the quota that it offers there; negative for spare."""
    local_quota = node.local_quota(of)
    offered = minus(node.quota(of), local_quota)
    in_parent = max(0, minus(node.used(of), local_quota))
    return minus(in_parent, offered)
