"""The order of entries with fair sharing (Kueue 0.19): a tournament in each cohort, from the leaves to the root.

Kueue: pkg/scheduler/fair_sharing_iterator.go (fairSharingIterator, runTournament)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Protocol

from kueue_dra_ref.behaviours.phases_scheduling import FairSharingRules
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.model.dominant_resource_share import (
    DominantResourceShare,
    dominant_resource_share,
)
from kueue_dra_ref.model.resource_node import ResourceNode
from kueue_dra_ref.rules.preemption.fair_sharing import (
    TournamentEntry,
)
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment

Shares = Mapping[int, DominantResourceShare]
"""For each cohort above a ClusterQueue, by identity: the share of its member that leads to the ClusterQueue."""


class Nominated(Protocol):
    """The head of a ClusterQueue with its assignment."""

    @property
    def info(self) -> WorkloadInfo:
        """The workload."""

    @property
    def assignment(self) -> Assignment:
        """Its assignment."""


Heads = Mapping[str, Nominated]
"""The heads by ClusterQueue."""


def pop(rules: FairSharingRules, snapshot: Snapshot, heads: Heads) -> str:
    """Give the ClusterQueue whose head is next, in the cohort hierarchy of the first ClusterQueue."""
    first = snapshot.node(next(iter(heads)))
    if first.parent is None:
        return first.name
    root = first.root
    contenders: dict[str, Nominated] = {}
    shares: dict[str, Shares] = {}
    for name, head in heads.items():
        node = snapshot.node(name)
        if node.root is root:
            contenders[name] = head
            shares[name] = _compute_drs(snapshot, node, head)
    winner = _run_tournament(rules, root, contenders, shares)
    assert winner is not None
    return winner


def _compute_drs(snapshot: Snapshot, queue: ResourceNode, head: Nominated) -> Shares:
    """Compute the shares on the path from a ClusterQueue to its root, with the usage of its head."""
    usage = head.assignment.usage
    path = [queue, *queue.path_parent_to_root()]
    snapshot.add_usage(queue.name, usage)
    shares = {
        id(parent): dominant_resource_share(node) for node, parent in pairwise(path)
    }
    snapshot.remove_usage(queue.name, usage)
    return shares


def _run_tournament(
    rules: FairSharingRules,
    cohort: ResourceNode,
    heads: Heads,
    shares: Mapping[str, Shares],
) -> str | None:
    """Give the ClusterQueue whose head wins in a cohort, or None if the cohort has no heads."""

    def sort_key(name: str) -> tuple[Any, ...]:
        share = shares[name][id(cohort)]
        return rules.order(_tournament_entry(heads[name], share))

    names = _finalists(rules, cohort, heads, shares)
    return min(names, key=sort_key, default=None)


def _tournament_entry(head: Nominated, share: DominantResourceShare) -> TournamentEntry:
    usage = head.assignment.usage
    return TournamentEntry(
        share=share,
        asked=[of for of, amount in usage.items() if amount > 0],
        priority=head.info.workload.priority,
        created=head.info.created,
        level=head.assignment.borrowing,
    )


def _finalists(
    rules: FairSharingRules,
    cohort: ResourceNode,
    heads: Heads,
    shares: Mapping[str, Shares],
) -> Iterator[str]:
    """Give one ClusterQueue for each member of a cohort that has a head."""
    for member in cohort.members:
        if member.is_queue:
            if member.name in heads:
                yield member.name
            continue
        winner = _run_tournament(rules, member, heads, shares)
        if winner:
            yield winner
