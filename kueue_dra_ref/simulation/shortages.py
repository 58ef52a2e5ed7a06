"""What a pending workload lacks: for each choice of flavors, the amounts that its ClusterQueue does not have left.

No counterpart: explanations of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from kueue_dra_ref.api.types import ClusterQueue, ResourceGroup
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.resource_node import FlavorResource, minus, plus
from kueue_dra_ref.workload.total_requests import implicit_requests

Amounts = dict[FlavorResource, int]


def requested(
    kueue: Kueue, queue: ClusterQueue, info: WorkloadInfo
) -> list[dict[str, int]]:
    """Give what a workload requests of each resource group, by resource; for all its pod sets."""
    found = []
    total = _totals(kueue, queue, info)
    for group in queue.groups:
        of_group = {name: total[name] for name in group.covered if total.get(name)}
        found.append(of_group)
    return found


def _totals(kueue: Kueue, queue: ClusterQueue, info: WorkloadInfo) -> dict[str, int]:
    total: dict[str, int] = {}
    rules = kueue.behaviour.assigning
    for requests in info.total_requests:
        more = implicit_requests(rules, queue, requests)
        for charged, amount in {**requests.amounts, **more}.items():
            for resource in info.choices.get(charged, (charged,)):
                total[resource] = plus(total.get(resource, 0), amount)
    return total


def of_one_pod(
    kueue: Kueue, queue: ClusterQueue, info: WorkloadInfo
) -> Iterator[dict[str, int]]:
    """Give what one pod requests of each resource, for each pod set that may be admitted with fewer pods."""
    rules = kueue.behaviour.assigning
    for requests in info.total_requests:
        if requests.pod_set.least is None or not requests.count:
            continue
        of_pod = {}
        more = implicit_requests(rules, queue, requests)
        for charged, amount in {**requests.amounts, **more}.items():
            pods = amount - requests.shared.get(charged, 0)
            for resource in info.choices.get(charged, (charged,)):
                of_pod[resource] = pods // requests.count
        yield of_pod


def needs_by_choice(
    kueue: Kueue, queue: ClusterQueue, info: WorkloadInfo, most: int
) -> list[Amounts]:
    """Give the amounts that a workload needs, for each choice of one flavor of each resource group."""
    options = []
    of_groups = requested(kueue, queue, info)
    for group, amounts in zip(queue.groups, of_groups, strict=True):
        if amounts:
            options.append(_needs_by_flavor(group, amounts))
    choices = itertools.islice(itertools.product(*options), most)
    return [_union(choice) for choice in choices]


def _needs_by_flavor(group: ResourceGroup, amounts: dict[str, int]) -> list[Amounts]:
    found = []
    for flavor in group.flavors:
        needs = {}
        for resource, amount in amounts.items():
            if resource in flavor.nominal:
                needs[flavor.name, resource] = amount
        found.append(needs)
    return found


def _union(choice: Iterable[Amounts]) -> Amounts:
    union: Amounts = {}
    for needs in choice:
        union |= needs
    return union


def short_of(kueue: Kueue, cluster_queue: str, needs: Amounts) -> Amounts:
    """Give the part of what is needed that a ClusterQueue does not have left, borrowing included."""
    node = kueue.hierarchy.queues.get(cluster_queue)
    if node is None:
        return {}
    short = {}
    for of, amount in needs.items():
        missing = minus(amount, node.available_bound(of).amount)
        if missing > 0:
            short[of] = missing
    return short
