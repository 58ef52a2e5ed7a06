"""Fields behind feature gates: an API server whose gate is off drops them without a word, unless they were in use.

Kubernetes: pkg/registry/resource/resourceclaim/strategy.go (dropDisabledSpecFields);
    pkg/registry/resource/resourceslice/strategy.go (dropDisabledFields)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.resource_conversion import (
    claims_of,
    devices_of,
    requests_of,
)

Uses = Iterator[tuple[Object, str]]
"""Where a feature is used: the mapping that holds the field, and the field."""


def drop_disabled(obj: Object, old: Object | None, k: Kubernetes) -> None:
    """Take away what the gates of a minor forbid and the object did not have before."""
    for gates, uses in (*_FEATURES, *(_SINCE_1_35 if k.minor > 34 else _UNTIL_1_34)):
        if all(map(k.on, gates)) or (
            old is not None and any(_in_use(*use) for use in uses(old))
        ):
            continue
        for holder, key in list(uses(obj)):
            del holder[key]


def _in_use(holder: Object, key: str) -> bool:
    return holder[key] is not None and holder[key] != []


def _set(holder: Object, *keys: str) -> Uses:
    yield from ((holder, key) for key in keys if key in holder)


def _prioritized_list(obj: Object) -> Uses:
    for request in requests_of(claims_of(obj)):
        yield from _set(request, "firstAvailable")


def _admin_access(obj: Object) -> Uses:
    for request in requests_of(claims_of(obj)):
        yield from _set(request.get("exactly") or {}, "adminAccess")


def _tolerations(obj: Object) -> Uses:
    for body in _asked(obj):
        yield from _set(body, "tolerations")


def _taints(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(device, "taints")


def _partitionable(obj: Object) -> Uses:
    if obj["kind"] == "ResourceSlice":
        yield from _set(
            obj.get("spec") or {}, "sharedCounters", "perDeviceNodeSelection"
        )
    for device in devices_of(obj):
        yield from _set(
            device, "consumesCounters", "nodeName", "nodeSelector", "allNodes"
        )


def _consumable(obj: Object) -> Uses:
    for constraint in (claims_of(obj).get("devices") or {}).get("constraints") or ():
        yield from _set(constraint, "distinctAttribute")
    yield from _shared(obj)


def _shared(obj: Object) -> Uses:
    for body in _asked(obj):
        yield from _set(body, "capacity")
    for device in devices_of(obj):
        yield from _set(device, "allowMultipleAllocations")
        for capacity in (device.get("capacity") or {}).values():
            yield from _set(capacity, "requestPolicy")


def _binding(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(
            device, "bindsToNode", "bindingConditions", "bindingFailureConditions"
        )


def _lists(obj: Object) -> Uses:
    for device in devices_of(obj):
        for attribute in (device.get("attributes") or {}).values():
            yield from _set(attribute, "ints", "bools", "strings", "versions")


def _node_allocatable(obj: Object) -> Uses:
    for device in devices_of(obj):
        yield from _set(
            device, "nodeAllocatableResourceMappings", "nodeAllocatableResources"
        )


def _extended(obj: Object) -> Uses:
    if obj["kind"] == "DeviceClass":
        yield from _set(obj.get("spec") or {}, "extendedResourceName")


def _derived(obj: Object) -> Uses:
    for body in _asked(obj):
        yield from _set(body, "derivedAttributes")


def _partition_type(obj: Object) -> Uses:
    if obj["kind"] == "ResourceSlice":
        yield from _set(obj.get("spec") or {}, "partitionTypeAttribute")


def _optional_operations(obj: Object) -> Uses:
    if obj["kind"] == "ResourceSlice":
        yield from _set(obj.get("spec") or {}, "skipNodeOperations")


def _compatibility(obj: Object) -> Uses:
    for device in devices_of(obj):
        for consumption in device.get("consumesCounters") or ():
            yield from _set(consumption, "compatibilityGroups")


def _asked(obj: Object) -> Iterator[Object]:
    for request in requests_of(claims_of(obj)):
        yield request.get("exactly") or {}
        yield from request.get("firstAvailable") or ()


# In this order: alternatives that are dropped need not be looked into.
_FEATURES: tuple[tuple[tuple[str, ...], Callable[[Object], Uses]], ...] = (
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
