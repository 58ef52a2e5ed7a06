"""Extended resources that a DeviceClass provides: which class, what they charge, and which are rejected.

Kueue: pkg/dra/extended_resources.go (ResolveExtendedResourceQuota, NeedsDRAReconcile)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.explain.step import TIMES, Step, cited, listed
from kueue_dra_ref.model.device_checks import DeviceClassSelection
from kueue_dra_ref.model.extended_resources import (
    ExtendedResourceRequest,
    devices_of_containers,
)
from kueue_dra_ref.model.lister import Lister
from kueue_dra_ref.model.rule import Rule
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
    rules: ExtendedResources,
    lister: Lister,
    workload: Workload,
) -> bool:
    """Whether a workload requests an extended resource that a DeviceClass provides.

    Kueue: pkg/dra/extended_resources.go (NeedsDRAReconcile)
    """
    for name in dict.fromkeys(rules.used_by_workload(workload)):
        device_class, _ = _select_device_class(rules, lister, name, ())
        if device_class:
            return True
    return False


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
        names = map_order.names(dict.fromkeys(rules.requested_names(pod_set)))
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
            _charge(rules, pod_set.name, resource, charged, resolved)
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
    if not rules.is_extended_name(name):
        return "", steps
    classes = lister.classes_for(name)
    selection = DeviceClassSelection(classes=classes, mappings=mappings)
    for rule, made in rules.choose_class.steps(selection):
        assert made is not None
        steps += _explain_selection(name, classes, made.classes, rule)
        classes = made.classes
    chosen = next(iter(classes), None)
    name = str(chosen["metadata"]["name"]) if chosen else ""
    return name, steps


def _explain_selection(
    name: str,
    before: Sequence[Manifest],
    selected: Sequence[Manifest],
    rule: Rule[..., Any],
) -> Iterator[Step]:
    """Say which of the DeviceClasses a rule selects, if it does not select all."""
    if len(selected) < len(before):
        text = f"{name} is in {_format_classes(before)}; Kueue selects {_format_classes(selected) or 'none'}"
        yield Step.by(f"{text}: {rule.sentence}", rule)


def _format_classes(classes: Sequence[Manifest]) -> str:
    found: list[str] = []
    for each in sorted(classes, key=_name_and_time):
        name, time = _name_and_time(each)
        found.append(f"DeviceClass {name} (created {time})")
    return listed(found)


def _name_and_time(device_class: Manifest) -> tuple[str, str]:
    meta = device_class["metadata"]
    return meta["name"], meta["creationTimestamp"]


def _reject_containers(
    rules: ExtendedResources,
    pod_set: PodSet,
    requests: Requests,
    resolved: ResolvedExtendedResources,
) -> None:
    """Collect the first error of each request of each container, init containers first."""
    for container in pod_set.containers:
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
    rejected = rules.reject_resource.first(request)
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
        resource = rules.charged_resource(request)
        assert resource is not None
        key = (resource, *rules.per_name(request))
        groups.setdefault(key, []).append(request)
    for (resource, *_), group in groups.items():
        yield resource, group


def _charge(
    rules: ExtendedResources,
    pod_set: str,
    resource: str,
    requests: Requests,
    resolved: ResolvedExtendedResources,
) -> None:
    devices = devices_of_containers(requests, rules.is_dropped)
    count = rules.in_pod(devices)
    assert count is not None
    by_resource = resolved.counts.setdefault(pod_set, {})
    by_resource.setdefault(resource, []).append(count)
    resolved.steps.append(_explain_request(rules, pod_set, requests, count))
    resolved.steps.append(_explain_charge(rules, requests, resource))
    replaced = resolved.replaced.get(pod_set, frozenset())
    for request in requests:
        if rules.not_charged_natively(request.name):
            replaced |= {request.name}
    resolved.replaced[pod_set] = replaced


def _explain_request(
    rules: ExtendedResources,
    pod_set: str,
    requests: Requests,
    count: int,
) -> Step:
    names = listed([request.name for request in requests])
    text = f"pod set {pod_set}: a pod requests {count} {TIMES} {names}"
    text += f", provided by DeviceClass {_classes_of(requests)}"
    return Step.by(text, *rules.used_by_workload.rules)


def _explain_charge(
    rules: ExtendedResources,
    requests: Requests,
    resource: str,
) -> Step:
    """Explain which resource is charged, with the requirement about a mapped or an unmapped DeviceClass."""
    classes = _classes_of(requests)
    cites = rules.charged_resource.rules[0].requirements
    if any(request.name == resource for request in requests):
        text = f"{classes} is not mapped to another resource: {resource} is charged"
        return Step(requirements=cites[:2][-1:], text=text)
    text = f"{classes} is mapped to {resource}"
    return Step(requirements=cites[:1], text=text)


def _classes_of(requests: Requests) -> str:
    return listed([request.device_class for request in requests])
