"""Prioritized lists by the open text of KEP-2941: the largest alternative is charged (September 2026, #13601).

No counterpart: the open text of KEP-2941 only, no release decides it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.devices import DeviceRequest, requests_of
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("LIST-008")
def largest_alternative_is_charged(
    context: DeviceRequestContext,
) -> tuple[tuple[str, int], ...] | None:
    """Kueue charges a request with firstAvailable the largest count of its alternatives.

    No counterpart: the open text of KEP-2941 only, no release decides it.
    """
    request = context.checked
    if not request.alternatives:
        return None
    largest = max(request.alternatives, key=lambda each: each.count)
    return ((largest.device_class, largest.count),)


@rule("LIST-009")
def sourced_request_excludes_prioritized_lists(
    context: DeviceRequestContext,
) -> FieldError | None:
    """Kueue rejects a request for counters or capacities in a workload that has a prioritized list as well.

    No counterpart: the open text of KEP-2941 only, no release decides it.
    """
    request = context.checked
    if request.alternatives or request.admin_access:
        return None
    mapping = _mapping_of(context, request.device_class)
    if not mapping.sources or not _has_list(context):
        return None
    return context.fault(
        "Invalid value",
        ".exactly.deviceClassName",
        "a counter-backed or capacity-backed DeviceClass is not supported in a workload with firstAvailable",
        printed(request.device_class),
    )


@rule("LIST-010")
def other_requests_for_the_resource_are_refused(
    context: DeviceRequestContext,
) -> FieldError | None:
    """Kueue rejects a prioritized list whose resource a pod of the workload also requests as an ordinary one.

    No counterpart: the open text of KEP-2941 only, no release decides it.
    """
    request = context.checked
    if not request.alternatives:
        return None
    first, *_ = request.alternatives
    mapping = _mapping_of(context, first.device_class)
    for pod_set in context.workload.pod_sets:
        if _contributes(context, pod_set, mapping.name):
            detail = f'pod set {pod_set.name} requests "{mapping.name}" as an ordinary resource'
            return context.fault("Invalid value", ".firstAvailable", detail, "null")
    return None


def _contributes(context: DeviceRequestContext, pod_set: PodSet, resource: str) -> bool:
    """Whether containers, overhead, defaults or outputs of transformations request a resource."""
    if resource in pod_set.requests:
        return True
    return any(
        each.input in pod_set.requests and resource in each.outputs
        for each in context.lister.transformations()
    )


def _has_list(context: DeviceRequestContext) -> bool:
    """Whether any claim of the workload has a request with alternatives."""
    for pod_set in context.workload.pod_sets:
        for request in _requests(context, pod_set):
            if request.alternatives:
                return True
    return False


def _requests(
    context: DeviceRequestContext, pod_set: PodSet
) -> Iterator[DeviceRequest]:
    namespace = context.workload.namespace
    for claim in pod_set.claims:
        template = context.lister.template(namespace, claim.template)
        if template is not None:
            yield from requests_of(template)


def _mapping_of(context: DeviceRequestContext, device_class: str) -> DeviceClassMapping:
    """Give the mapping of a class; that of a request is known to have one."""
    mappings = context.lister.configured()
    return next(each for each in mappings if device_class in each.device_classes)
