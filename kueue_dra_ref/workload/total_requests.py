"""Total requests of a workload: what each pod set requests and what its devices charge, in Kueue's units.

Kueue: pkg/workload/workload.go (PodSetResources, ScaledTo, totalRequestsFromPodSets, podSetsCountsAfterReclaim)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.pods import ResourceList, pod_requests, units
from kueue_dra_ref.api.quantities import Quantity, clamp, parse
from kueue_dra_ref.api.types import ClusterQueue, PodSet, Workload
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.workload.dra_resources import DRAResources, ResourceCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalRequests:
    """The total of one pod set: ``amounts`` by resource for all of its ``count`` pods."""

    pod_set: PodSet
    count: int
    amounts: Mapping[str, int]
    shared: Mapping[str, int] = field(default_factory=dict)
    """The part of ``amounts`` that does not depend on the number of pods."""
    in_bytes: frozenset[str] = frozenset()
    """Resources that are formatted in bytes."""


def implicit_requests(
    rules: FlavorAssignment,
    queue: ClusterQueue,
    requests: TotalRequests,
) -> Mapping[str, int]:
    """Give what a ClusterQueue charges a pod set for in addition to its requests."""
    total: dict[str, int] = {}
    for amounts in rules.implicit_requests(queue, requests.count):
        total |= amounts
    return total


def total_requests(
    behaviour: Behaviour,
    configuration: Configuration,
    workload: Workload,
    dra: DRAResources,
    reclaimed: Mapping[str, int],
) -> tuple[TotalRequests, ...]:
    """Compute the total requests of every pod set, without its reclaimable pods.

    Kueue: pkg/workload/workload.go (totalRequestsFromPodSets, podSetsCountsAfterReclaim)
    """
    formatted = in_bytes(behaviour, configuration)
    found: list[TotalRequests] = []
    for pod_set in workload.pod_sets:
        remaining = pod_set.count - reclaimed.get(pod_set.name, 0)
        count = max(remaining, 0)
        per_pod = _requests_of_pod(behaviour, configuration, pod_set, dra)
        requests = TotalRequests(
            pod_set=pod_set,
            count=count,
            amounts=_multiplied(behaviour, per_pod, count),
            in_bytes=formatted,
        )
        shared = dra.shared.get(pod_set.name, {})
        found.append(_with_shared(requests, shared))
    return tuple(found)


def _multiplied(
    behaviour: Behaviour,
    per_pod: Mapping[str, int],
    count: int,
) -> dict[str, int]:
    times = behaviour.charging.pods
    return {
        name: times.or_else(amount, max(amount, 0), count)
        for name, amount in per_pod.items()
    }


def _with_shared(requests: TotalRequests, shared: ResourceCounts) -> TotalRequests:
    """Add the devices that the pods of a pod set share, as long as it has any pod."""
    if not requests.count:
        return requests
    once: dict[str, int] = {}
    amounts = {name: clamp(amount) for name, amount in requests.amounts.items()}
    for name, devices in shared.items():
        once[name] = units(name, parse(devices))
        before = amounts.get(name, 0)
        amounts[name] = clamp(before + once[name])
    return replace(requests, amounts=amounts, shared=once)


def _requests_of_pod(
    behaviour: Behaviour,
    configuration: Configuration,
    pod_set: PodSet,
    dra: DRAResources,
) -> dict[str, int]:
    """Compute what one pod requests: transformed requests of its containers, and its devices."""
    charging = behaviour.charging
    requests = _included(pod_set.requests, configuration.exclude_resource_prefixes)
    transformations = configuration.transformations
    if transformations:
        requests = charging.transformed.or_else(requests, requests, transformations)
    replaced = dra.replaced.get(pod_set.name, ())
    amounts: dict[str, int] = {}
    for name, amount in requests.items():
        kept = amount
        if name in replaced:
            kept = _kept(behaviour, configuration, pod_set, name, amount)
        if name not in replaced or kept.amount:
            amounts[name] = units(name, kept)
    for resource, devices in dra.charges.get(pod_set.name, {}).items():
        charged = units(resource, parse(devices))
        before = amounts.get(resource, 0)
        default = before or charged
        amounts[resource] = charging.plus_pod_requests.or_else(default, before, charged)
    return amounts


def _kept(
    behaviour: Behaviour,
    configuration: Configuration,
    pod_set: PodSet,
    name: str,
    total: Quantity,
) -> Quantity:
    """Give what stays an ordinary request under a name that Kueue charges as devices."""
    of_containers = pod_requests(pod_set.containers, pod_set.whole, {})
    requested = of_containers.get(name, total).amount
    for each in configuration.transformations:
        if each.input == name and each.strategy != "Retain":
            requested = Fraction(0)
    kept = behaviour.extended.kept_natively
    left = kept.or_else(Fraction(0), requested, total.amount)
    return replace(total, amount=left)


def in_bytes(behaviour: Behaviour, configuration: Configuration) -> frozenset[str]:
    """Give the resources that are formatted in bytes in addition to memory and storage."""
    rules = behaviour.processing.sourcing.in_bytes
    return rules.or_else(frozenset(), configuration.mappings)


def _included(requests: ResourceList, excluded: tuple[str, ...]) -> ResourceList:
    """Drop the resources whose names begin with a prefix that the Configuration excludes."""
    return {
        name: amount
        for name, amount in requests.items()
        if not name.startswith(excluded)
    }


def scaled_to(
    requests: Sequence[TotalRequests], counts: Sequence[int]
) -> tuple[TotalRequests, ...]:
    """Scale each pod set to another number of pods.

    Kueue: pkg/workload/workload.go (ScaledTo)
    """
    scaled_requests: list[TotalRequests] = []
    for each, count in zip(requests, counts, strict=True):
        scaled_requests.append(_scaled_to(each, count))
    return tuple(scaled_requests)


def _scaled_to(requests: TotalRequests, count: int) -> TotalRequests:
    if requests.count in (0, count):
        return requests
    amounts: dict[str, int] = {}
    for name, amount in requests.amounts.items():
        once = requests.shared.get(name, 0)
        per_pod = (amount - once) // requests.count
        amounts[name] = clamp(per_pod * count + once)
    return replace(requests, count=count, amounts=amounts)
