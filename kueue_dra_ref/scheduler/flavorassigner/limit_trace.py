"""What bounds an amount that cannot be had (Kueue 0.19): a limit of borrowing, or what a cohort tree has to share.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.explain.step import Step, listed
from kueue_dra_ref.model.resource_node import AvailableBound, ResourceNode
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import ResourceRequest

_BORROWING = {True: ("COHORT-003",), False: ("COHORT-007",)}
_LENDING = {True: "COHORT-004", False: "COHORT-007"}
"""Which requirements speak of the limits of ClusterQueues, and of those of cohorts."""
_SHARED, _TREE = "COHORT-001", "COHORT-005"


def bounded(
    node: ResourceNode, need: ResourceRequest, *, never: bool
) -> Iterator[Step]:
    """Say what decided how much could be had in a cohort: now, or ever if ``never``."""
    if node.parent is None:
        return
    bound = (
        node.potential_available_bound((need.flavor, need.resource))
        if never
        else node.available_bound((need.flavor, need.resource))
    )
    where = f"flavor {need.flavor}, {need.resource}: {'never' if never else 'not'} more than {need.show(bound.amount)}"
    if bound.by_limit:
        of = (need.flavor, need.resource)
        has, more = (
            bound.node.subtree_quota.get(of, 0),
            bound.node.quota_for(of).borrowing or 0,
        )
        text = f"{where}: {bound.node.title} has {need.show(has)} and may borrow {need.show(more)}"
        yield Step(requirements=_BORROWING[bound.node.is_queue], text=text)
        return
    yield Step(
        requirements=_cites(node), text=f"{where}: {_shared(bound, need, never=never)}"
    )
    yield from _kept(node, need, never=never)


def _cites(node: ResourceNode) -> tuple[str, ...]:
    return (_SHARED, _TREE) if len(list(node.path_parent_to_root())) > 1 else (_SHARED,)


def _shared(bound: AvailableBound, need: ResourceRequest, *, never: bool) -> str:
    of = (need.flavor, need.resource)
    text = f"{bound.node.title} has {need.show(bound.node.subtree_quota.get(of, 0))} to share"
    return (
        text
        if never
        else f"{text}, {need.show(bound.node.usage.get(of, 0))} of it in use"
    )


def _kept(node: ResourceNode, need: ResourceRequest, *, never: bool) -> Iterator[Step]:
    """Name the members elsewhere in the tree that keep something to themselves."""
    of, path = (need.flavor, need.resource), [node, *node.path_parent_to_root()]
    others = [each for each in node.root.below() if each not in path]
    amounts = {
        each.title: each.local_quota(of) if never else each.local_available(of)
        for each in others
    }
    names = [
        f"{need.show(amount)} of {title}"
        for title, amount in amounts.items()
        if amount > 0
    ]
    cites = dict.fromkeys(
        _LENDING[each.is_queue] for each in others if amounts[each.title] > 0
    )
    if names:
        text = f"flavor {need.flavor}, {need.resource}: kept back by lending limits: {listed(names)}"
        yield Step(requirements=tuple(cites), text=text)
