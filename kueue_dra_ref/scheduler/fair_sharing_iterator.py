"""Whose turn it is in a scheduling cycle with fair sharing (Kueue 0.19): a tournament up the cohort tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Protocol

from kueue_dra_ref.behaviours.phases_scheduling import FairSharing
from kueue_dra_ref.cache.cluster_queue import Queued
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.model.resource_node import Node, Share, share
from kueue_dra_ref.rules.preemption.fair_sharing import Contender
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment


class Headed(Protocol):
    """The head of a ClusterQueue with the flavors that it is assigned."""

    @property
    def queued(self) -> Queued:
        """The workload."""

    @property
    def assignment(self) -> Assignment:
        """What it would use."""


def next_of(rules: FairSharing, snapshot: Snapshot, heads: Mapping[str, Headed]) -> str:
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


def _shares(snapshot: Snapshot, queue: Node, head: Headed) -> Mapping[int, Share]:
    """For every cohort above a ClusterQueue, the share of the branch below it that leads there, its head included."""
    snapshot.take(queue.name, head.assignment.usage)
    found = {
        id(above): share(branch) for branch, above in pairwise([queue, *queue.above()])
    }
    snapshot.release(queue.name, head.assignment.usage)
    return found


def _winner(
    rules: FairSharing,
    cohort: Node,
    heads: Mapping[str, Headed],
    shares: Mapping[str, Mapping[int, Share]],
) -> str | None:
    names = list(_names(rules, cohort, heads, shares))

    def place(name: str) -> tuple[tuple[float, ...], ...]:
        head = heads[name]
        contender = Contender(
            share=shares[name][id(cohort)],
            asked=[of for of, amount in head.assignment.usage.items() if amount > 0],
            priority=head.queued.workload.priority,
            created=head.queued.created,
            level=head.assignment.level,
        )
        return tuple(rule(contender) for rule in rules.order)

    return min(names, key=place, default=None)


def _names(
    rules: FairSharing,
    cohort: Node,
    heads: Mapping[str, Headed],
    shares: Mapping[str, Mapping[int, Share]],
) -> Iterator[str]:
    for member in cohort.members:
        if not member.is_queue:
            if found := _winner(rules, member, heads, shares):
                yield found
        elif member.name in heads:
            yield member.name
