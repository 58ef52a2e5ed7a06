"""Requests of pods that Kueue adjusts before it counts them, and that it rejects (Kueue 0.19, AdjustResources).

Kueue: pkg/workload/resources.go (UseLimitsAsMissingRequestsInPod, ValidateResources, ValidateLimitRange)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kueue_dra_ref.api.pods import ResourceList, Resources, larger, smaller, units
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.model.limitranges import LimitRangeBounds, NamespaceLimits
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

Errors = Iterator[FieldError]
Change = Callable[[Resources], Resources]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetInNamespace:
    """A pod set, and the LimitRanges and RuntimeClasses that apply to it."""

    pod_set: PodSet
    limits: NamespaceLimits

    def adjust(self, pod_set: PodSet) -> PodSetInNamespace:
        """Give this with the adjusted pod set."""
        return replace(self, pod_set=pod_set)


@rule("POD-001", "POD-002")
def runtime_class_overhead(pods: PodSetInNamespace) -> PodSetInNamespace:
    """Kueue charges a pod without an overhead that of its RuntimeClass, if the RuntimeClass exists.

    Kueue: pkg/workload/resources.go (handlePodOverhead)
    """
    pod_set, overhead = pods.pod_set, pods.limits.overhead
    if pod_set.overhead or pod_set.runtime_class not in overhead:
        return pods
    added = overhead[pod_set.runtime_class]
    return pods.adjust(replace(pod_set, overhead=added))


@rule("POD-003", "POD-004", "POD-013")
def limit_range_defaults(pods: PodSetInNamespace) -> PodSetInNamespace:
    """A container without a request or limit gets the default of the LimitRanges of its namespace.

    Kueue: pkg/workload/resources.go (handlePodLimitRange)
    """
    defaults = pods.limits.container
    if not any((defaults.requests, defaults.limits)):
        return pods

    def add_defaults(written: Resources) -> Resources:
        return Resources(
            requests=defaults.requests | written.requests,
            limits=defaults.limits | written.limits,
        )

    return pods.adjust(_with_each(pods.pod_set, add_defaults))


@rule("POD-005")
def limits_default_requests(pods: PodSetInNamespace) -> PodSetInNamespace:
    """A container without a request of a resource gets its limit as the request.

    Kueue: pkg/workload/resources.go (UseLimitsAsMissingRequestsInPod)
    """
    if not any(each.resources.limits for each in pods.pod_set.containers):
        return pods
    return pods.adjust(_with_each(pods.pod_set, _default_requests))


@rule("POD-006")
def pod_limits_default_pod_requests(pods: PodSetInNamespace) -> PodSetInNamespace:
    """A pod without a pod-level request of a resource gets its pod-level limit as the request.

    Kueue: pkg/workload/resources.go (UseLimitsAsMissingRequestsInPod)
    """
    pod_set = pods.pod_set
    if not pod_set.whole:
        return pods
    whole = _default_requests(pod_set.whole)
    return pods.adjust(replace(pod_set, whole=whole))


@rule("POD-008")
def container_requests_are_within_limits(
    pods: PodSetInNamespace,
) -> Errors:
    """Kueue does not admit a workload with a container that requests more than its limit.

    Kueue: pkg/workload/resources.go (ValidateResources)
    """
    for container in pods.pod_set.containers:
        path = f"{pods.pod_set.path}.{container.path}"
        written = container.resources
        over = _above(written.requests, written.limits)
        yield from _faults(path, over, "requests must not exceed its limits")


@rule("POD-009")
def pod_requests_are_within_limits(pods: PodSetInNamespace) -> Errors:
    """Kueue does not admit a workload whose pod-level requests exceed the pod-level limits.

    Kueue: pkg/workload/resources.go (ValidateResources)
    """
    whole = pods.pod_set.whole or Resources()
    over = _above(whole.requests, whole.limits)
    path = f"{pods.pod_set.path}.resources"
    yield from _faults(path, over, "requests must not exceed its limits")


@rule("POD-010", "POD-015")
def limit_range_bounds_containers(pods: PodSetInNamespace) -> Errors:
    """Kueue does not admit a workload with a container outside the container bounds of a LimitRange.

    Kueue: pkg/workload/resources.go (ValidateLimitRange);
        pkg/util/limitrange/limitrange.go (validatePodSpecContainers)
    """
    for container in pods.pod_set.containers:
        path = f"{pods.pod_set.path}.{container.path}"
        found = container.resources
        low = smaller(found.requests, found.limits)
        high = larger(found.requests, found.limits)
        yield from _out_of_bounds(path, low, high, pods.limits.container)


@rule("POD-011")
def limit_range_bounds_pods(pods: PodSetInNamespace) -> Errors:
    """Kueue does not admit a workload with pods outside the pod bounds of a LimitRange, overhead included.

    Kueue: pkg/workload/resources.go (ValidateLimitRange); pkg/util/limitrange/limitrange.go (ValidatePodSpec)
    """
    path = pods.pod_set.path
    total = pods.pod_set.requests
    yield from _out_of_bounds(path, total, total, pods.limits.pod)


def _with_each(pod_set: PodSet, change: Change) -> PodSet:
    """Give a pod set with the resources of each container changed."""
    containers = tuple(
        replace(each, resources=change(each.resources)) for each in pod_set.containers
    )
    return replace(pod_set, containers=containers)


def _default_requests(written: Resources) -> Resources:
    return replace(written, requests=written.limits | written.requests)


def _out_of_bounds(
    path: str, low: ResourceList, high: ResourceList, bounds: LimitRangeBounds
) -> Errors:
    yield from _faults(
        path, _above(high, bounds.most), "requests must not be above the limitRange max"
    )
    yield from _faults(
        path, _above(bounds.least, low), "requests must not be below the limitRange min"
    )


def _above(amounts: ResourceList, bounds: ResourceList) -> list[str]:
    above = []
    for name in sorted(amounts.keys() & bounds.keys()):
        bound = units(name, bounds[name])
        if units(name, amounts[name]) > bound:
            above.append(name)
    return above


def _faults(path: str, names: list[str], detail: str) -> Errors:
    if names:
        value = json.dumps(names, separators=(",", ":"))
        yield FieldError(field=path, type="Invalid value", value=value, detail=detail)
