"""The limits that bound an available amount (Kueue 0.19): borrowing limits, lending limits, the quota of the root.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    if node.parent is not None:
        yield from _LimitTrace(node=node, request=request, never=never).steps()


@dataclass(frozen=True, slots=True, kw_only=True)
class _LimitTrace:
    node: ResourceNode
    request: ResourceRequest
    never: bool

    def steps(self) -> Iterator[Step]:
        bound = self._bound()
        amount = self.request.show(bound.amount)
        at_most = f"at most {amount} available"
        if self.never:
            at_most = f"at most {amount} can ever be available"
        if bound.by_limit:
            reason = self._borrowing_limit(bound.node)
            yield self._step(f"{at_most}: {reason}", _BORROWING[bound.node.is_queue])
            return
        reason = self._quota_of_root(bound.node)
        cites = [_SHARED]
        if self.node.parent is not self.node.root:
            cites.append(_HIERARCHY)
        yield self._step(f"{at_most}: {reason}", *cites)
        yield from self._lending_limits()

    @property
    def _of(self) -> FlavorResource:
        return self.request.flavor, self.request.resource

    def _bound(self) -> AvailableBound:
        if self.never:
            return self.node.potential_available_bound(self._of)
        return self.node.available_bound(self._of)

    def _step(self, text: str, *cites: str) -> Step:
        flavor, resource = self._of
        text = f"flavor {flavor}, {resource}: {text}"
        return Step(requirements=cites, text=text)

    def _borrowing_limit(self, node: ResourceNode) -> str:
        show, of = self.request.show, self._of
        quota = show(node.quota(of))
        limit = show(node.quota_for(of).borrowing or 0)
        return f"{node.title} has a quota of {quota} and a borrowingLimit of {limit}"

    def _quota_of_root(self, root: ResourceNode) -> str:
        show, of = self.request.show, self._of
        quota = show(root.quota(of))
        text = f"{root.title} has a quota of {quota}"
        if self.never:
            return text
        used = show(root.used(of))
        return f"{text}, {used} of it in use"

    def _lending_limits(self) -> Iterator[Step]:
        """Give the other nodes of the hierarchy whose lending limits keep an amount from the cohort."""
        path = [self.node, *self.node.path_parent_to_root()]
        kept = []
        cites: dict[str, None] = {}
        for other in self.node.root.below():
            amount = self._kept_by(other)
            if amount > 0 and other not in path:
                shown = self.request.show(amount)
                kept.append(f"{shown} of {other.title}")
                cites[_LENDING[other.is_queue]] = None
        if kept:
            text = f"not lent because of lending limits: {listed(kept)}"
            yield self._step(text, *cites)

    def _kept_by(self, node: ResourceNode) -> int:
        if self.never:
            return node.local_quota(self._of)
        return node.local_available(self._of)
