"""What a workload asks the scheduler for: ordinary requests and device charges of each pod set, in Kueue's units.

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
from kueue_dra_ref.workload.dra_resources import Charges, DRAResources


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalRequests:
    """One pod set's total: ``amounts`` by resource for all of its ``count`` pods."""

    pod_set: PodSet
    count: int
    amounts: Mapping[str, int]
    shared: Mapping[str, int] = field(default_factory=dict)
    """The part of it that does not depend on the number of pods."""
    in_bytes: frozenset[str] = frozenset()
    """Resources that are printed in bytes."""


def counted(
    rules: FlavorAssignment, queue: ClusterQueue, demand: TotalRequests
) -> Mapping[str, int]:
    """What a ClusterQueue charges beside what a pod set asks for."""
    found = [rule(queue, demand.count) for rule in rules.implicit_requests]
    return {name: amount for each in found for name, amount in each.items()}


def demands(
    behaviour: Behaviour,
    configuration: Configuration,
    workload: Workload,
    done: DRAResources,
    reclaimed: Mapping[str, int],
) -> tuple[TotalRequests, ...]:
    """Every pod set's demand; pods that are reclaimable are not asked for any more."""
    return tuple(
        _with_shared(
            _demand(
                behaviour,
                configuration,
                pod_set,
                done,
                reclaimed.get(pod_set.name, 0),
            ),
            done.shared.get(pod_set.name, {}),
        )
        for pod_set in workload.pod_sets
    )


def _with_shared(demand: TotalRequests, shared: Charges) -> TotalRequests:
    """Add what the pods of a pod set share: it is asked for as long as there is a pod."""
    if not shared or not demand.count:
        return demand
    more = {name: units(name, parse(devices)) for name, devices in shared.items()}
    amounts = {
        name: clamp(demand.amounts.get(name, 0) + more.get(name, 0))
        for name in (*demand.amounts, *more)
    }
    return replace(demand, amounts=amounts, shared=more)


def _demand(
    behaviour: Behaviour,
    configuration: Configuration,
    pod_set: PodSet,
    done: DRAResources,
    reclaimed: int,
) -> TotalRequests:
    adding = behaviour.charging
    included = _included(pod_set.requests, configuration.exclude_resource_prefixes)
    transformed = (
        rule(included, configuration.transformations) for rule in adding.transformed
    )
    ordinary = (
        next(transformed, included) if configuration.transformations else included
    )
    replaced = done.replaced.get(pod_set.name, ())
    amounts = {
        name: units(name, amount)
        for name, amount in ordinary.items()
        if name not in replaced
    }
    for resource, devices in done.charges.get(pod_set.name, {}).items():
        charged = units(resource, parse(devices))
        before = amounts.get(resource, 0)
        amounts[resource] = next(
            (rule(before, charged) for rule in adding.plus_pod_requests),
            before or charged,
        )
    count = max(pod_set.count - reclaimed, 0)
    times = adding.pods
    total = {
        name: next((rule(max(one, 0), count) for rule in times), one)
        for name, one in amounts.items()
    }
    shown = in_bytes(behaviour, configuration)
    return TotalRequests(pod_set=pod_set, count=count, amounts=total, in_bytes=shown)


def in_bytes(behaviour: Behaviour, configuration: Configuration) -> frozenset[str]:
    """The resources that are printed in bytes beside memory and storage."""
    rules = behaviour.processing.sourcing.in_bytes
    return next((rule(configuration.mappings) for rule in rules), frozenset())


def _included(amounts: Amounts, prefixes: tuple[str, ...]) -> Amounts:
    return (
        {
            name: amount
            for name, amount in amounts.items()
            if not name.startswith(prefixes)
        }
        if prefixes
        else amounts
    )


def scaled(
    found: Sequence[TotalRequests], counts: Sequence[int]
) -> tuple[TotalRequests, ...]:
    """The same pod sets with other numbers of pods."""
    return tuple(
        _scaled(demand, count) for demand, count in zip(found, counts, strict=True)
    )


def _scaled(demand: TotalRequests, count: int) -> TotalRequests:
    if demand.count in (0, count):
        return demand
    shared = (
        {name: demand.shared.get(name, 0) for name in demand.amounts}
        if count
        else dict[str, int]()
    )
    own = {
        name: amount - shared.get(name, 0) for name, amount in demand.amounts.items()
    }
    amounts = {
        name: clamp(amount // demand.count * count + shared.get(name, 0))
        for name, amount in own.items()
    }
    return replace(demand, count=count, amounts=amounts)


def summed(found: tuple[TotalRequests, ...]) -> Mapping[str, int]:
    """The amounts of several pod sets together."""
    total: dict[str, int] = {}
    for demand in found:
        for name, amount in demand.amounts.items():
            total[name] = clamp(total.get(name, 0) + amount)
    return total


def explained(
    behaviour: Behaviour, found: tuple[TotalRequests, ...], done: DRAResources
) -> Iterator[Step]:
    """How the devices of one pod become those of its pod set."""
    adding = behaviour.charging
    for demand in found:
        several = f"pod set {demand.pod_set.name}: " if len(found) > 1 else ""
        shared = done.shared.get(demand.pod_set.name, {})
        for resource, devices in done.charges.get(demand.pod_set.name, {}).items():
            replaced = done.replaced.get(demand.pod_set.name, ())
            if (
                ordinary := None
                if resource in replaced
                else demand.pod_set.requests.get(resource)
            ):
                text = f"{several}containers request {ordinary} {resource} as well"
                yield Step(requirements=cited(adding.plus_pod_requests), text=text)
            total = printed(resource, demand.amounts[resource], demand.in_bytes)
            charged = (
                printed(resource, devices, demand.in_bytes)
                if resource in demand.in_bytes
                else str(devices)
            )
            per_pod = f"{charged} + {ordinary}" if ordinary else charged
            more = f" + {shared[resource]}" if resource in shared else ""
            text = f"{several}{per_pod} per pod {TIMES} {named(demand.count, 'pod')}{more} = {total} {resource}"
            yield Step(requirements=cited(adding.pods), text=text)
        for resource, devices in shared.items():
            text = f"{several}{devices} {resource} of claims that exist once, whatever the number of pods"
            yield Step(requirements=cited(adding.once_per_workload), text=text)
