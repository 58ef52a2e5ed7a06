"""Total requests of a workload: what each pod set requests and what its devices charge, in Kueue's units.

Kueue: pkg/workload/workload.go (PodSetResources, ScaledTo, totalRequestsFromPodSets, podSetsCountsAfterReclaim)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.pods import Amounts, printed, units
from kueue_dra_ref.api.quantities import clamp, parse
from kueue_dra_ref.api.types import ClusterQueue, PodSet, Workload
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.explain.step import TIMES, Step, cited, named
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


def counted(
    rules: FlavorAssignment, queue: ClusterQueue, requests: TotalRequests
) -> Mapping[str, int]:
    """Give what a ClusterQueue charges a pod set for in addition to its requests."""
    total: dict[str, int] = {}
    for amounts in rules.counted(queue, requests.count):
        total |= amounts
    return total


def demands(
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
        count = max(pod_set.count - reclaimed.get(pod_set.name, 0), 0)
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
    behaviour: Behaviour, per_pod: Mapping[str, int], count: int
) -> dict[str, int]:
    times = behaviour.charging.pods
    return {
        name: times.or_else(amount, max(amount, 0), count)
        for name, amount in per_pod.items()
    }


def _with_shared(requests: TotalRequests, shared: ResourceCounts) -> TotalRequests:
    """Add the devices that the pods of a pod set share, as long as it has any pod."""
    if not shared or not requests.count:
        return requests
    more = {name: units(name, parse(count)) for name, count in shared.items()}
    amounts = dict(requests.amounts)
    for name, amount in more.items():
        amounts[name] = amounts.get(name, 0) + amount
    clamped = {name: clamp(amount) for name, amount in amounts.items()}
    return replace(requests, amounts=clamped, shared=more)


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
    amounts = {
        name: units(name, amount)
        for name, amount in requests.items()
        if name not in replaced
    }
    for resource, devices in dra.charges.get(pod_set.name, {}).items():
        charged = units(resource, parse(devices))
        before = amounts.get(resource, 0)
        default = before or charged
        amounts[resource] = charging.plus_pod_requests.or_else(default, before, charged)
    return amounts


def in_bytes(behaviour: Behaviour, configuration: Configuration) -> frozenset[str]:
    """Give the resources that are formatted in bytes in addition to memory and storage."""
    rules = behaviour.processing.sourcing.in_bytes
    return rules.or_else(frozenset(), configuration.mappings)


def _included(requests: Amounts, excluded: tuple[str, ...]) -> Amounts:
    """Drop the resources whose names begin with a prefix that the Configuration excludes."""
    if not excluded:
        return requests
    return {
        name: amount
        for name, amount in requests.items()
        if not name.startswith(excluded)
    }


def scaled(
    requests: Sequence[TotalRequests], counts: Sequence[int]
) -> tuple[TotalRequests, ...]:
    """Scale each pod set to another number of pods.

    Kueue: pkg/workload/workload.go (ScaledTo)
    """
    pairs = zip(requests, counts, strict=True)
    return tuple(_scaled_to(each, count) for each, count in pairs)


def _scaled_to(requests: TotalRequests, count: int) -> TotalRequests:
    if requests.count in (0, count):
        return requests
    shared = requests.shared if count else {}
    amounts: dict[str, int] = {}
    for name, amount in requests.amounts.items():
        once = shared.get(name, 0)
        per_pod = (amount - once) // requests.count
        amounts[name] = clamp(per_pod * count + once)
    return replace(requests, count=count, amounts=amounts)


def summed(requests: Sequence[TotalRequests]) -> Mapping[str, int]:
    """Sum the requests of several pod sets by resource."""
    total: dict[str, int] = {}
    for each in requests:
        for name, amount in each.amounts.items():
            total[name] = clamp(total.get(name, 0) + amount)
    return total


def explained(
    behaviour: Behaviour, requests: Sequence[TotalRequests], dra: DRAResources
) -> Iterator[Step]:
    """Explain how the devices of one pod become those of its pod set."""
    for each in requests:
        title = f"pod set {each.pod_set.name}: " if len(requests) > 1 else ""
        for resource in dra.charges.get(each.pod_set.name, {}):
            yield from _explain_resource(behaviour, each, dra, resource, title)
        for resource, devices in dra.shared.get(each.pod_set.name, {}).items():
            text = f"{title}{devices} {resource} of claims that exist once, whatever the number of pods"
            once = behaviour.charging.once_per_workload
            yield Step(requirements=cited(once.rules), text=text)


def _explain_resource(
    behaviour: Behaviour,
    requests: TotalRequests,
    dra: DRAResources,
    resource: str,
    title: str,
) -> Iterator[Step]:
    """Explain the total of one resource that devices charge: per pod, times pods, plus what pods share."""
    charging, pod_set = behaviour.charging, requests.pod_set
    per_pod = _format_devices(requests, resource, dra.charges[pod_set.name][resource])
    requested = _requested_in_addition(pod_set, dra, resource)
    if requested:
        per_pod += f" + {requested}"
        text = f"{title}containers request {requested} {resource} in addition"
        yield Step(requirements=cited(charging.plus_pod_requests.rules), text=text)
    pods = named(requests.count, "pod")
    product = f"{title}{per_pod} per pod {TIMES} {pods}"
    shared = dra.shared.get(pod_set.name, {})
    if resource in shared:
        product += f" + {shared[resource]}"
    total = printed(resource, requests.amounts[resource], requests.in_bytes)
    text = f"{product} = {total} {resource}"
    yield Step(requirements=cited(charging.pods.rules), text=text)


def _format_devices(requests: TotalRequests, resource: str, devices: int) -> str:
    if resource in requests.in_bytes:
        return printed(resource, devices, requests.in_bytes)
    return str(devices)


def _requested_in_addition(pod_set: PodSet, dra: DRAResources, resource: str) -> str:
    """Give what containers request under the name of a resource that devices charge too; empty if nothing."""
    if resource in dra.replaced.get(pod_set.name, ()):
        return ""
    requested = pod_set.requests.get(resource)
    return str(requested) if requested else ""
