"""The limits of an available amount (Kueue 0.19): borrowing limits, lending limits, the quota of the root.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kueue_dra_ref.explain.step import Step, listed
from kueue_dra_ref.model.resource_node import (
    AvailableBound,
    FlavorResource,
    ResourceNode,
)
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
    trace = _LimitTrace(
        node=node,
        of=(request.flavor, request.resource),
        show=request.show,
        never=never,
    )
    yield from trace.steps()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LimitTrace:
    node: ResourceNode
    of: FlavorResource
    show: Callable[[int], str]
    never: bool

    def steps(self) -> Iterator[Step]:
        bound = self._bound()
        amount = self.show(bound.amount)
        at_most = f"at most {amount} available"
        if self.never:
            at_most = f"at most {amount} can ever be available"
        if bound.by_limit:
            reason = self._borrowing_limit(bound.node)
            cite = _BORROWING[bound.node.is_queue]
            yield self._step(at_most, reason, cite)
            return
        reason = self._quota_of_root(bound.node)
        cites = [_SHARED]
        if self.node.parent is not bound.node:
            cites.append(_HIERARCHY)
        yield self._step(at_most, reason, *cites)
        yield from self._lending_limits()

    def _bound(self) -> AvailableBound:
        if self.never:
            return self.node.potential_available_bound(self.of)
        return self.node.available_bound(self.of)

    def _step(self, what: str, reason: str, *cites: str) -> Step:
        flavor, resource = self.of
        text = f"flavor {flavor}, {resource}: {what}: {reason}"
        return Step(requirements=cites, text=text)

    def _borrowing_limit(self, node: ResourceNode) -> str:
        limits = node.quota_for(self.of)
        has = node.quota(self.of)
        quota = self.show(has)
        limit = self.show(limits.borrowing or 0)
        return f"{node.title} has a quota of {quota} and a borrowingLimit of {limit}"

    def _quota_of_root(self, root: ResourceNode) -> str:
        has = root.quota(self.of)
        quota = self.show(has)
        text = f"{root.title} has a quota of {quota}"
        if self.never:
            return text
        used = self.show(root.used(self.of))
        return f"{text}, {used} of it in use"

    def _lending_limits(self) -> Iterator[Step]:
        """Give the other nodes of the hierarchy whose lending limits keep an amount from the cohort."""
        cohorts = self.node.path_parent_to_root()
        path = [self.node, *cohorts]
        root = path[-1]
        kept = []
        cites = []
        for other in root.below():
            amount = self._kept_by(other)
            if amount > 0 and other not in path:
                shown = self.show(amount)
                kept.append(f"{shown} of {other.title}")
                cites.append(_LENDING[other.is_queue])
        if kept:
            what = "not lent because of lending limits"
            unique = dict.fromkeys(cites)
            yield self._step(what, listed(kept), *unique)

    def _kept_by(self, node: ResourceNode) -> int:
        if self.never:
            return node.local_quota(self.of)
        return node.local_available(self.of)
