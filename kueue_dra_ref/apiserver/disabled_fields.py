"""Fields behind feature gates: an API server whose gate is off drops them silently, unless they were in use.

Kubernetes: pkg/registry/resource/resourceclaim/strategy.go (dropDisabledSpecFields);
    pkg/registry/resource/resourceslice/strategy.go (dropDisabledFields)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.resource_conversion import (
    claims_of,
    devices_of,
    requests_of,
)

Uses = Iterator[tuple[Object, str]]
"""Where a feature is used: the mapping that holds the field, and the field."""
Feature = tuple[tuple[str, ...], Callable[[Object], Uses]]
"""The gates of a feature, and where an object uses it."""


def drop_disabled(obj: Object, old: Object | None, k: Kubernetes) -> None:
    """Remove the fields that the gates of a minor forbid and that the object did not have before."""
    for gates, uses in features(k):
        if not off(gates, k):
            continue
        if old is not None and _in_use(uses(old)):
            continue
        for holder, key in list(uses(obj)):
            del holder[key]


def off(gates: Iterable[str], k: Kubernetes) -> list[str]:
    """Give the gates that are off; what a minor has no gate for, it does not drop."""
    return [gate for gate in gates if k.gates.get(gate) is False]


def features(k: Kubernetes) -> Iterator[Feature]:
    """Give what the gates of a minor drop."""
    yield from _FEATURES
    yield from _SINCE_1_35 if k.minor > 34 else _UNTIL_1_34


def _in_use(uses: Uses) -> bool:
    return any(holder[key] not in (None, []) for holder, key in uses)


def _set(holder: Object, *keys: str) -> Uses:
    for key in keys:
        if key in holder:
            yield holder, key


def _prioritized_list(obj: Object) -> Uses:
    for request in requests_of(claims_of(obj)):
        yield from _set(request, "firstAvailable")


def _admin_access(obj: Object) -> Uses:
    for request in requests_of(claims_of(obj)):
        yield from _set(request.get("exactly") or {}, "adminAccess")


def _tolerations(obj: Object) -> Uses:
    for body in _bodies(obj):
        yield from _set(body, "tolerations")


def _taints(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(device, "taints")


def _partitionable(obj: Object) -> Uses:
    yield from _set(obj.get("spec") or {}, "sharedCounters", "perDeviceNodeSelection")
    for device in devices_of(obj):
        yield from _set(
            device, "consumesCounters", "nodeName", "nodeSelector", "allNodes"
        )


def _consumable(obj: Object) -> Uses:
    devices = claims_of(obj).get("devices") or {}
    for constraint in devices.get("constraints") or ():
        yield from _set(constraint, "distinctAttribute")
    yield from _shared(obj)


def _shared(obj: Object) -> Uses:
    for body in _bodies(obj):
        yield from _set(body, "capacity")
    for device in devices_of(obj):
        yield from _set(device, "allowMultipleAllocations")
        capacities = device.get("capacity") or {}
        for capacity in capacities.values():
            yield from _set(capacity, "requestPolicy")


def _binding(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(
            device, "bindsToNode", "bindingConditions", "bindingFailureConditions"
        )


def _lists(obj: Object) -> Uses:
    for device in devices_of(obj):
        attributes = device.get("attributes") or {}
        for attribute in attributes.values():
            yield from _set(attribute, "ints", "bools", "strings", "versions")


def _node_allocatable(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(
            device, "nodeAllocatableResourceMappings", "nodeAllocatableResources"
        )


def _extended(obj: Object) -> Uses:
    yield from _set(obj.get("spec") or {}, "extendedResourceName")


def _derived(obj: Object) -> Uses:
    for body in _bodies(obj):
        yield from _set(body, "derivedAttributes")


def _bodies(obj: Object) -> Iterator[Object]:
    """Give the exact fields and the alternatives of each request."""
    for request in requests_of(claims_of(obj)):
        yield request.get("exactly") or {}
        yield from request.get("firstAvailable") or ()


def _partition_type(obj: Object) -> Uses:
    yield from _set(obj.get("spec") or {}, "partitionTypeAttribute")


def _optional_operations(obj: Object) -> Uses:
    yield from _set(obj.get("spec") or {}, "skipNodeOperations")


def _compatibility(obj: Object) -> Uses:
    for device in devices_of(obj):
        for consumption in device.get("consumesCounters") or ():
            yield from _set(consumption, "compatibilityGroups")


# In this order: alternatives that are dropped need not be looked into.
_FEATURES: tuple[Feature, ...] = (
    (("DRAPrioritizedList",), _prioritized_list),
    (("DRADeviceTaints",), _taints),
    (("DRAAdminAccess",), _admin_access),
    (("DRAPartitionableDevices",), _partitionable),
    (("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"), _binding),
    (("DRANodeAllocatableResources",), _node_allocatable),
    (("DRAListTypeAttributes",), _lists),
    (("DRAExtendedResource",), _extended),
    (("DRADerivedAttributes",), _derived),
    (("DRAPartitionableDevicesType",), _partition_type),
    (("DRAOptionalNodeOperations",), _optional_operations),
    (("DRADeviceCompatibilityGroups",), _compatibility),
)
_SINCE_1_35 = (
    (("DRADeviceTaints",), _tolerations),
    (("DRAConsumableCapacity",), _consumable),
)
# A loop over copies: attributes that must differ stay, and so do tolerations.
_UNTIL_1_34 = ((("DRAConsumableCapacity",), _shared),)
