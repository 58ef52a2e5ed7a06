"""The placement of one pod set in the domains of a topology: the level that has room, then its domains downwards.

Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go (findTopologyAssignment, findLevelWithFitDomains, fillInCounts,
    updateCountsToMinimumGeneric, findBestFitDomain, notFitMessage)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.topologies import TopologyRequest
from kueue_dra_ref.api.topology_assignment import TopologyAssignment, Values
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.cache.topology_tree import (
    PODS,
    Amounts,
    Domain,
    PlacedPods,
    TopologyTree,
    left_in,
    room,
)
from kueue_dra_ref.rules.flavorassigner.topology import NodeMatch

Assumed = dict[Values, Counter[str]]
"""What the pod sets that are placed already take in each lowest domain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRequest:
    """Pods of one pod set that need nodes of a flavor; amounts are those of one pod, in Kueue's units."""

    pod_set: PodSet
    flavor: str
    count: int
    requests: Amounts
    """What a node has to have for a pod."""
    used: Amounts
    """What a pod uses of its node once it is placed."""
    request: TopologyRequest
    implied: bool

    def placed(self, assignment: TopologyAssignment) -> tuple[PlacedPods, ...]:
        """Give the pods by their domains, with what they use there."""
        return self._of(assignment, self.used)

    def assumed(self, assignment: TopologyAssignment) -> tuple[PlacedPods, ...]:
        """Give the pods by their domains, with what the search takes for them."""
        return self._of(assignment, self.requests)

    def _of(
        self, assignment: TopologyAssignment, amounts: Amounts
    ) -> tuple[PlacedPods, ...]:
        return tuple(
            PlacedPods(flavor=self.flavor, values=values, requests=amounts, count=count)
            for values, count in assignment.domains
        )


@dataclass(slots=True, kw_only=True)
class Placement:
    """The search for the domains of one pod set."""

    rules: TopologyRules
    tree: TopologyTree
    wanted: PlacementRequest
    assumed: Assumed
    empty: bool
    """Whether the usage of all Workloads is ignored."""
    _excluded: Counter[str] = field(default_factory=Counter)

    def find(self) -> TopologyAssignment | str:
        """Give the domains with the number of pods in each, or why there is no room."""
        self._count_room()
        found = self._fitting(self._level())
        if isinstance(found, str):
            return found
        level, domains = found
        count = self.wanted.count
        domains = self._take(domains, count)
        for _ in range(level, len(self.tree.levels) - 1):
            below = [child for domain in domains for child in domain.children]
            domains = self._take(self._in_order(below), count)
        return self._assignment(domains)

    def _level(self) -> int:
        levels = self.tree.levels
        named = self.wanted.request.level(levels) or levels[-1]
        return levels.index(named)

    @property
    def _unconstrained(self) -> bool:
        return self.wanted.implied or bool(self.wanted.request.unconstrained)

    @property
    def _least_free(self) -> bool:
        return self.rules.least_free(self._unconstrained)

    def _count_room(self) -> None:
        """Count how many pods each domain has room for."""
        requests = Counter(self.wanted.requests)
        requests[PODS] += 1
        for values, leaf in self.tree.leaves:
            left = left_in(leaf, self.assumed.get(values), empty=self.empty)
            fitting, short = room(requests, left)
            leaf.pods = int(fitting)
            reason = self._exclusion(leaf)
            if reason:
                leaf.pods = 0
            elif not leaf.pods:
                reason = f'resource "{short}"'
            if reason:
                self._excluded[reason] += 1
        for level in reversed(self.tree.domains[:-1]):
            for domain in level.values():
                domain.pods = sum(child.pods for child in domain.children)

    def _exclusion(self, leaf: Domain) -> str:
        """Say why the node of a domain cannot run the pods; empty if it can."""
        if leaf.node is None:
            return ""
        match = NodeMatch(
            pod_set=self.wanted.pod_set,
            node=leaf.node,
            tolerations=self.tree.tolerations,
        )
        return self.rules.exclude_node.or_else("", match)

    def _fitting(self, level: int) -> tuple[int, list[Domain]] | str:
        """Find the lowest level, from the requested one up, with a domain for all pods; at the end, several domains."""
        found = self.tree.domains[level].values()
        if not found:
            return f"no topology domains at level: {self.tree.levels[level]}"
        count = self.wanted.count
        ordered = self._in_order(found)
        enough = self._smallest(ordered, count)
        if enough is not None:
            return level, [enough]
        if self.wanted.request.required is not None:
            return self._no_room(max(domain.pods for domain in ordered))
        if level > 0 and not self._unconstrained:
            return self._fitting(level - 1)
        return self._several(level, ordered)

    def _several(
        self, level: int, ordered: list[Domain]
    ) -> tuple[int, list[Domain]] | str:
        """Give all domains of one level if they have room for all pods together."""
        fitting = sum(domain.pods for domain in ordered)
        if fitting < self.wanted.count:
            return self._no_room(fitting)
        return level, ordered

    def _take(self, domains: Sequence[Domain], count: int) -> list[Domain]:
        """Give the pods to domains in order, and the last ones to the domain that they leave the least room in."""
        found: list[Domain] = []
        for index, domain in enumerate(domains):
            candidates = [domain] if self._least_free else domains[index:]
            last = self._smallest(candidates, count)
            if last is not None:
                last.pods = count
                return [*found, last]
            count -= domain.pods
            found.append(domain)
        return found

    def _smallest(self, ordered: Sequence[Domain], count: int) -> Domain | None:
        """Give the domain with the least room that is enough, the first of several; None if none has enough."""
        enough = [domain for domain in ordered if domain.pods >= count]
        return min(enough, key=lambda domain: domain.pods, default=None)

    def _in_order(self, domains: Iterable[Domain]) -> list[Domain]:
        by_values = sorted(domains, key=lambda each: each.values)
        most_first = not self._least_free
        return sorted(by_values, key=lambda each: each.pods, reverse=most_first)

    def _no_room(self, fitting: int) -> str:
        name, count = self.tree.topology, self.wanted.count
        text = f"allows to fit only {fitting} out of {count} pod(s)"
        if not fitting:
            text = f"doesn't allow to fit any of {count} pod(s)"
        return f'topology "{name}" {text}{self._exclusions()}'

    def _exclusions(self) -> str:
        if not self._excluded or not self.rules.explain_exclusions():
            return ""
        reasons = [f"{reason}: {count}" for reason, count in self._excluded.items()]
        shown = ", ".join(sorted(reasons))
        nodes = len(tuple(self.tree.leaves))
        return f". Total nodes: {nodes}; excluded: {shown}"

    def _assignment(self, domains: Iterable[Domain]) -> TopologyAssignment:
        tree = self.tree
        chosen = sorted(domains, key=lambda each: each.values)
        return TopologyAssignment(
            levels=tree.assigned(tree.levels),
            domains=tuple(
                (tree.assigned(each.values), each.pods) for each in chosen if each.pods
            ),
        )


def assume(assumed: Assumed, placed: Iterable[PlacedPods]) -> None:
    """Add pods to what is placed already."""
    for each in placed:
        assumed.setdefault(each.values, Counter()).update(each.total())
