"""Whose turn it is in a scheduling cycle with fair sharing (Kueue 0.19): a tournament up the cohort tree.

Kueue: pkg/scheduler/fair_sharing_iterator.go (fairSharingIterator, runTournament)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Protocol

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


class ClusterQueueHead(Protocol):
    """The head of a ClusterQueue with the flavors that it is assigned."""

    @property
    def queued(self) -> WorkloadInfo:
        """The workload."""

    @property
    def assignment(self) -> Assignment:
        """What it would use."""


def pop(
    rules: FairSharingRules, snapshot: Snapshot, heads: Mapping[str, ClusterQueueHead]
) -> str:
    """The ClusterQueue whose head is next; trees are dealt with in the order of their first ClusterQueue."""
    first = snapshot.node(next(iter(heads)))
    if first.parent is None:
        return first.name
    rivals = {
        name: head
        for name, head in heads.items()
        if snapshot.node(name).root is first.root
    }
    shares = {
        name: _shares(snapshot, snapshot.node(name), head)
        for name, head in rivals.items()
    }
    winner = _winner(rules, first.root, rivals, shares)
    assert winner is not None
    return winner


def _shares(
    snapshot: Snapshot, queue: ResourceNode, head: ClusterQueueHead
) -> Mapping[int, DominantResourceShare]:
    """For every cohort above a ClusterQueue, the share of the branch below it that leads there, its head included."""
    snapshot.take(queue.name, head.assignment.usage)
    found = {
        id(above): dominant_resource_share(branch)
        for branch, above in pairwise([queue, *queue.path_parent_to_root()])
    }
    snapshot.release(queue.name, head.assignment.usage)
    return found


def _winner(
    rules: FairSharingRules,
    cohort: ResourceNode,
    heads: Mapping[str, ClusterQueueHead],
    shares: Mapping[str, Mapping[int, DominantResourceShare]],
) -> str | None:
    names = list(_names(rules, cohort, heads, shares))

    def place(name: str) -> tuple[tuple[float, ...], ...]:
        head = heads[name]
        contender = TournamentEntry(
            share=shares[name][id(cohort)],
            asked=[of for of, amount in head.assignment.usage.items() if amount > 0],
            priority=head.queued.workload.priority,
            created=head.queued.created,
            level=head.assignment.level,
        )
        return tuple(rule(contender) for rule in rules.order)

    return min(names, key=place, default=None)


def _names(
    rules: FairSharingRules,
    cohort: ResourceNode,
    heads: Mapping[str, ClusterQueueHead],
    shares: Mapping[str, Mapping[int, DominantResourceShare]],
) -> Iterator[str]:
    for member in cohort.members:
        if not member.is_queue:
            if found := _winner(rules, member, heads, shares):
                yield found
        elif member.name in heads:
            yield member.name
