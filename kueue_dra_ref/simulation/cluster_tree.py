"""The cohort tree of a simulated cluster with its quotas, and the work of each ClusterQueue in order, for pages.

No counterpart: `show` and the page of what-if.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode, plus
from kueue_dra_ref.simulation.cluster_state import explanations
from kueue_dra_ref.simulation.decided_cluster import (
    DecidedCluster,
    WorkloadDecision,
    decided,
)
from kueue_dra_ref.simulation.explanation import Explanation
from kueue_dra_ref.simulation.lent_quota import AmountRange, borrowed_by, lent_by
from kueue_dra_ref.simulation.pending_order import in_order
from kueue_dra_ref.simulation.quota_fields import shown
from kueue_dra_ref.simulation.run import SimulationResult
from kueue_dra_ref.simulation.trials import kueue_of

_FINISHED = "finished"
_LAST = sys.maxsize
"""The position of what is in no queue."""
Totals = dict[FlavorResource, tuple[int, int]]
"""The nominal and the used quota of a node and everything below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount in Kueue's units, and as Kueue prints it."""

    units: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeQuota:
    """A resource in a flavor of a ClusterQueue; of a Cohort the totals of everything below it and of itself."""

    flavor: str
    resource: str
    nominal: Amount
    used: Amount
    borrowed: Amount
    """What it takes from the Cohort above it."""
    lent_least: Amount
    lent_most: Amount
    """What it lends: a range if several nodes could lend, because Kueue does not record which one does."""
    borrowing_limit: str
    lending_limit: str
    """The limits as Kueue prints them; empty without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A ClusterQueue or a Cohort; ``parent`` is the name of the Cohort above it, empty without one."""

    kind: str
    name: str
    parent: str
    depth: int
    exists: bool
    """Whether it is an object; a Cohort may only be named by its members."""
    circle: tuple[str, ...]
    """The cohorts that form a circle above a ClusterQueue, in which nothing is admitted."""
    quotas: tuple[TreeQuota, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedWorkload:
    """A Workload with its explanation; ``position`` counts the pending ones of its ClusterQueue from 1."""

    explanation: Explanation
    decision: WorkloadDecision
    position: int | None

    @property
    def waits(self) -> bool:
        """Whether it holds no quota and is not finished."""
        return not (self.decision.holds or self.decision.word == _FINISHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTree:
    """The tree, each Cohort before what is below it, and the work by ClusterQueue, pending workloads first."""

    nodes: tuple[TreeNode, ...]
    work: Mapping[str, tuple[PlacedWorkload, ...]]
    """The work of each ClusterQueue; of an empty name that of no ClusterQueue."""
    decided: DecidedCluster


def cluster_tree(
    result: SimulationResult, found: Iterable[Explanation] | None = None
) -> ClusterTree:
    """Read the tree and the work of a settled simulation; ``found`` explains each Workload, if that is known."""
    kueue = kueue_of(result.target)
    decisions = decided(result.target)
    every = explanations(result) if found is None else found
    return ClusterTree(
        nodes=tuple(_nodes(kueue)),
        work=_work(kueue, every, decisions),
        decided=decisions,
    )


def _work(
    kueue: Kueue, found: Iterable[Explanation], decisions: DecidedCluster
) -> dict[str, tuple[PlacedWorkload, ...]]:
    """Sort the work into its ClusterQueues."""
    positions = _positions(kueue)
    queues: dict[str, list[PlacedWorkload]] = {}
    for each in found:
        key = (each.namespace, each.workload)
        placed = PlacedWorkload(
            explanation=each,
            decision=decisions.workloads[key],
            position=positions.get(key),
        )
        queues.setdefault(_queue_of(kueue, placed), []).append(placed)
    return {name: tuple(sorted(each, key=_order)) for name, each in queues.items()}


def _queue_of(kueue: Kueue, placed: PlacedWorkload) -> str:
    """Name the ClusterQueue whose quota a workload holds or waits for; empty without one that exists."""
    name = placed.explanation.cluster_queue
    if placed.decision.holds:
        workload = kueue.store.get("Workload", placed.decision.key) or {}
        name = workload["status"]["admission"]["clusterQueue"]
    return name if name in kueue.hierarchy.queues else ""


def _positions(kueue: Kueue) -> dict[Key, int]:
    positions = {}
    for pending in kueue.pending.values():
        for number, info in enumerate(in_order(pending), 1):
            positions[info.key] = number
    return positions


def _order(placed: PlacedWorkload) -> tuple[bool, bool, int, Key]:
    """Put pending workloads first, in the order of their queue, and finished ones last."""
    decision = placed.decision
    position = _LAST if placed.position is None else placed.position
    is_finished = decision.word == _FINISHED
    return is_finished, decision.holds, position, decision.key


def _nodes(kueue: Kueue) -> Iterator[TreeNode]:
    depths = dict(_in_order(kueue))
    totals = _totals(list(depths))
    places = sorted({of for amounts in totals.values() for of in amounts})
    lent = {of: lent_by(depths, of) for of in places}
    for node, depth in depths.items():
        quotas = []
        for of in sorted(totals[node]):
            quotas.append(_quota(kueue, node, of, totals[node][of], lent[of][node]))
        yield TreeNode(
            kind="ClusterQueue" if node.is_queue else "Cohort",
            name=node.name,
            parent=node.parent.name if node.parent else "",
            depth=depth,
            exists=node.is_queue or kueue.store.find("Cohort", node.name) is not None,
            circle=_circle(kueue, node),
            quotas=tuple(quotas),
        )


def _circle(kueue: Kueue, node: ResourceNode) -> tuple[str, ...]:
    """Give the circle of cohorts that a ClusterQueue is below, or that a Cohort is part of."""
    circles = kueue.hierarchy.circles
    if node.is_queue:
        return circles.get(node.name, ())
    for circle in circles.values():
        if node.name in circle:
            return circle
    return ()


def _totals(nodes: Sequence[ResourceNode]) -> dict[ResourceNode, Totals]:
    """Add up the quotas of each node and of everything below it; each Cohort is before its members."""
    totals = {node: _own(node) for node in nodes}
    for node in reversed(nodes):
        if node.parent is not None:
            for of, amounts in totals[node].items():
                _add(totals[node.parent], of, *amounts)
    return totals


def _own(node: ResourceNode) -> Totals:
    """Give the nominal quota of a node itself, and what the workloads of a ClusterQueue use."""
    own: Totals = {}
    for of, limits in node.limits.items():
        _add(own, of, limits.nominal, 0)
    if not node.is_queue:
        return own
    for of, used in node.usage.items():
        if used:
            _add(own, of, 0, used)
    return own


def _add(totals: Totals, of: FlavorResource, nominal: int, used: int) -> None:
    known_nominal, known_used = totals.get(of, (0, 0))
    totals[of] = plus(known_nominal, nominal), plus(known_used, used)


def _quota(
    kueue: Kueue,
    node: ResourceNode,
    of: FlavorResource,
    totals: tuple[int, int],
    lent: AmountRange,
) -> TreeQuota:
    flavor, resource = of
    nominal, used = totals
    limits = node.quota_for(of)

    def amount(units: int) -> Amount:
        return Amount(units=units, text=shown(kueue, resource, units))

    def limit(units: int | None) -> str:
        return "" if units is None else shown(kueue, resource, units)

    return TreeQuota(
        flavor=flavor,
        resource=resource,
        nominal=amount(nominal),
        used=amount(used),
        borrowed=amount(borrowed_by(node, of)),
        lent_least=amount(lent.least),
        lent_most=amount(lent.most),
        borrowing_limit=limit(limits.borrowing),
        lending_limit=limit(limits.lending),
    )


def _in_order(kueue: Kueue) -> Iterator[tuple[ResourceNode, int]]:
    """Give each node with its depth, each Cohort before its members; the depth of cohorts may be hundreds."""
    hierarchy = kueue.hierarchy
    every = [*_by_name(hierarchy.cohorts), *_by_name(hierarchy.queues)]
    left = [(each, 0) for each in reversed(every) if each.parent is None]
    while left:
        node, depth = left.pop()
        yield node, depth
        left += [(each, depth + 1) for each in reversed(node.members)]


def _by_name(nodes: Mapping[str, ResourceNode]) -> list[ResourceNode]:
    return [nodes[name] for name in sorted(nodes)]
