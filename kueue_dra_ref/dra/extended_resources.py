"""Extended resources that a DeviceClass provides: which class, what they charge, and which are rejected.

Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota, NeedsDRAReconcile)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.explain.step import TIMES, Step, cited, listed
from kueue_dra_ref.model.extended_resources import (
    ExtendedResourceRequest,
    amounts,
)
from kueue_dra_ref.model.lister import Lister
from kueue_dra_ref.target import FieldError, Manifest
from kueue_dra_ref.workload.map_order import MapOrderDraw

Requests = Sequence[ExtendedResourceRequest]


@dataclass(slots=True, kw_only=True)
class ResolvedExtendedResources:
    """The devices that the extended resources of a workload charge, or the errors of its requests."""

    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Devices of one pod, by pod set, then resource."""
    replaced: dict[str, frozenset[str]] = field(default_factory=dict)
    """By pod set, the names that Kueue no longer charges as requests of containers."""
    faults: list[FieldError] = field(default_factory=list)
    cites: list[str] = field(default_factory=list)
    """The requirements that the requests violate."""
    steps: list[Step] = field(default_factory=list)


def requests_extended_devices(
    rules: ExtendedResources, lister: Lister, workload: Workload
) -> bool:
    """Whether a workload requests an extended resource that a DeviceClass provides.

    Kueue: pkg/dra/extended_resources.go (NeedsDRAReconcile)
    """
    names = dict.fromkeys(rules.detected(workload))
    return any(_select_device_class(rules, lister, name, ())[0] for name in names)


def resolve_extended_resources(
    rules: ExtendedResources,
    lister: Lister,
    workload: Workload,
    mappings: Sequence[DeviceClassMapping],
    map_order: MapOrderDraw,
) -> ResolvedExtendedResources:
    """Charge every pod set for its extended resources, and collect the errors of all requests.

    Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota)
    """
    resolved = ResolvedExtendedResources()
    for pod_set in workload.pod_sets:
        requests: list[ExtendedResourceRequest] = []
        names = map_order.names(dict.fromkeys(rules.asked(pod_set)))
        for name in names:
            device_class, steps = _select_device_class(rules, lister, name, mappings)
            resolved.steps += steps
            if device_class:
                request = ExtendedResourceRequest(
                    pod_set=pod_set,
                    name=name,
                    device_class=device_class,
                    mappings=mappings,
                )
                requests.append(request)
        _reject_containers(rules, pod_set, requests, resolved)
        valid = [each for each in requests if not _is_rejected(rules, each, resolved)]
        for resource, charged in _by_resource(rules, valid):
            _charge(rules, resource, charged, resolved)
    return resolved


def _select_device_class(
    rules: ExtendedResources,
    lister: Lister,
    name: str,
    mappings: Sequence[DeviceClassMapping],
) -> tuple[str, list[Step]]:
    """Give the DeviceClass that provides an extended resource, empty if none does, and why it is this one.

    Kueue: pkg/dra/extended_resources.go (selectedDeviceClass)
    """
    steps: list[Step] = []
    if not rules.named(name):
        return "", steps
    classes = lister.classes_for(name)
    for rule, selected in rules.chosen.steps(classes, mappings):
        if selected is None:
            break
        if len(selected) < len(classes):
            chosen = _format_classes(selected) or "none"
            text = f"{name} is in {_format_classes(classes)}; Kueue selects {chosen}: {rule.sentence}"
            steps.append(Step(requirements=cited([rule]), text=text))
        classes = selected
    return str(classes[0]["metadata"]["name"]) if classes else "", steps


def _format_classes(classes: Sequence[Manifest]) -> str:
    found = [each["metadata"] for each in classes]
    pairs = sorted((meta["name"], meta["creationTimestamp"]) for meta in found)
    return listed([f"DeviceClass {name} (created {time})" for name, time in pairs])


def _reject_containers(
    rules: ExtendedResources,
    pod_set: PodSet,
    requests: Requests,
    resolved: ResolvedExtendedResources,
) -> None:
    """Collect the first error of each request of each container, init containers first."""
    containers = sorted(pod_set.containers, key=lambda each: not each.initial)
    for container in containers:
        for request in requests:
            if container not in request.asking:
                continue
            rejected = rules.in_container.answer(request, container)
            if rejected:
                resolved.faults.append(rejected.value)
                resolved.cites += cited([rejected.rule])


def _is_rejected(
    rules: ExtendedResources,
    request: ExtendedResourceRequest,
    resolved: ResolvedExtendedResources,
) -> bool:
    rejected = rules.refused.first(request)
    if rejected is None:
        return False
    resolved.faults += rejected.value
    resolved.cites += cited([rejected.rule])
    return True


def _by_resource(
    rules: ExtendedResources, requests: Requests
) -> Iterator[tuple[str, list[ExtendedResourceRequest]]]:
    """Group requests by the resource that they charge, and by name where Kueue sums each name by itself."""
    groups: dict[tuple[str, ...], list[ExtendedResourceRequest]] = {}
    for request in requests:
        resource = rules.charged.or_else("", request)
        key = (resource, *rules.per_name(request))
        groups.setdefault(key, []).append(request)
    for (resource, *_), group in groups.items():
        yield resource, group


def _charge(
    rules: ExtendedResources,
    resource: str,
    requests: Requests,
    resolved: ResolvedExtendedResources,
) -> None:
    pod_set = requests[0].pod_set.name
    initial = amounts(requests, initial=True)
    regular = amounts(requests, initial=False)
    count = rules.in_pod.or_else((*initial, *regular)[-1], initial, regular)
    if resource:
        by_resource = resolved.counts.setdefault(pod_set, {})
        by_resource.setdefault(resource, []).append(count)
        resolved.steps += _explain(rules, requests, count, resource)
    names = [request.name for request in requests]
    replaced = frozenset(name for name in names if rules.not_charged_natively(name))
    if replaced:
        before = resolved.replaced.get(pod_set, frozenset())
        resolved.replaced[pod_set] = before | replaced


def _explain(
    rules: ExtendedResources, requests: Requests, count: int, resource: str
) -> Iterator[Step]:
    names = [request.name for request in requests]
    classes = listed([request.device_class for request in requests])
    title = f"pod set {requests[0].pod_set.name}"
    text = f"{title}: a pod requests {count} {TIMES} {listed(names)}, provided by DeviceClass {classes}"
    yield Step(requirements=cited(rules.detected.rules), text=text)
    mapped, unmapped = _cites_of_charge(rules)
    if resource in names:
        text = f"{classes} is not mapped to another resource: {resource} is charged"
        yield Step(requirements=unmapped, text=text)
    else:
        text = f"{classes} is mapped to {resource}"
        yield Step(requirements=mapped, text=text)


def _cites_of_charge(
    rules: ExtendedResources,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the requirements about a DeviceClass that is mapped, then about one that is not."""
    cites: list[str] = []
    for rule in rules.charged.rules:
        cites += rule.requirements
    return tuple(cites[:1]), tuple(cites[:2][-1:])
