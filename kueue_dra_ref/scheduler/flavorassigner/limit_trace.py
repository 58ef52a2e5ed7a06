"""The limits that bound an available amount (Kueue 0.19): borrowing limits, lending limits, the quota of the root.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.explain.step import Step, listed
from kueue_dra_ref.model.resource_node import AvailableBound, ResourceNode
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import ResourceRequest

_BORROWING = {True: "COHORT-003", False: "COHORT-007"}
_LENDING = {True: "COHORT-004", False: "COHORT-007"}
"""The requirements about the limits of ClusterQueues (True) and of cohorts (False)."""
_SHARED, _HIERARCHY = "COHORT-001", "COHORT-005"


def limit_steps(
    node: ResourceNode, request: ResourceRequest, *, never: bool
) -> Iterator[Step]:
    """Give what bounds the amount that a cohort makes available: now, or ever if ``never``."""
    if node.parent is None:
        return
    of = (request.flavor, request.resource)
    find_bound = node.potential_available_bound if never else node.available_bound
    bound = find_bound(of)
    at_most = "can ever be available" if never else "available"
    amount = request.show(bound.amount)
    where = f"flavor {request.flavor}, {request.resource}: at most {amount} {at_most}"
    if bound.by_limit:
        cites = (_BORROWING[bound.node.is_queue],)
        text = f"{where}: {_borrowing_limit(bound.node, request)}"
        yield Step(requirements=cites, text=text)
        return
    text = f"{where}: {_quota_of_root(bound, request, never=never)}"
    yield Step(requirements=_cites(node), text=text)
    yield from _lending_limits(node, request, never=never)


def _borrowing_limit(node: ResourceNode, request: ResourceRequest) -> str:
    of = (request.flavor, request.resource)
    quota = request.show(node.quota(of))
    limit = request.show(node.quota_for(of).borrowing or 0)
    return f"{node.title} has a quota of {quota} and a borrowingLimit of {limit}"


def _quota_of_root(
    bound: AvailableBound, request: ResourceRequest, *, never: bool
) -> str:
    of = (request.flavor, request.resource)
    quota = request.show(bound.node.quota(of))
    text = f"{bound.node.title} has a quota of {quota}"
    if never:
        return text
    used = request.show(bound.node.used(of))
    return f"{text}, {used} of it in use"


def _cites(node: ResourceNode) -> tuple[str, ...]:
    has_grandparent = node.parent is not node.root
    return (_SHARED, _HIERARCHY) if has_grandparent else (_SHARED,)


def _lending_limits(
    node: ResourceNode, request: ResourceRequest, *, never: bool
) -> Iterator[Step]:
    """Give the other nodes of the hierarchy whose lending limits keep an amount from the cohort."""
    of = (request.flavor, request.resource)
    path = [node, *node.path_parent_to_root()]
    kept = []
    cites = []
    for other in node.root.below():
        amount = other.local_quota(of) if never else other.local_available(of)
        if other not in path and amount > 0:
            kept.append(f"{request.show(amount)} of {other.title}")
            cites.append(_LENDING[other.is_queue])
    if kept:
        where = f"flavor {request.flavor}, {request.resource}"
        text = f"{where}: not lent because of lending limits: {listed(kept)}"
        unique = dict.fromkeys(cites)
        yield Step(requirements=tuple(unique), text=text)
