"""The Go types of ResourceSlices in each version of resource.k8s.io, and the four kinds as wholes.

Kubernetes: k8s.io/api/resource/v1/types.go (ResourceSlice)
"""

from __future__ import annotations

from functools import cache

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    QUANTITY,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    GoField,
    GoMap,
    GoSlice,
    GoStruct,
    Shape,
    fields,
    pointers,
    word,
)
from kueue_dra_ref.apiserver.schema_claims import (
    HEAD,
    NODE_SELECTOR,
    OBJECT_META,
    claim,
    device_class,
    is_flat,
)


@cache
def schema(kind: str, version: str) -> GoStruct:
    """Give the shape of a kind in a version, over all minors of Kubernetes.

    Raises:
        KeyError: the kind is none of the four.

    """
    template = fields(
        f"{version}.ResourceClaimTemplateSpec",
        ("metadata", OBJECT_META),
        ("spec", claim(version)),
    )
    specs = {
        "ResourceClaim": claim(version),
        "ResourceClaimTemplate": template,
        "DeviceClass": device_class(version),
        "ResourceSlice": slice_spec(version),
    }
    status = (GoField("status", ANYTHING),) if kind == "ResourceClaim" else ()
    return fields(f"{version}.{kind}", *HEAD, ("spec", specs[kind]), *status)


def slice_spec(version: str) -> GoStruct:
    """Give the shape of a slice's spec."""
    pool = fields(
        f"{version}.ResourcePool",
        ("name", TEXT),
        ("generation", WHOLE),
        ("resourceSliceCount", WHOLE),
    )
    return fields(
        f"{version}.ResourceSliceSpec",
        ("driver", TEXT),
        ("pool", pool),
        ("nodeName", TEXT),
        *pointers(("nodeSelector", NODE_SELECTOR)),
        ("allNodes", FLAG),
        ("devices", GoSlice(_device(version))),
        *pointers(("perDeviceNodeSelection", FLAG, 33)),
        ("sharedCounters", GoSlice(_counted(version, "CounterSet", "name")), 33),
        *pointers(
            ("partitionTypeAttribute", word(f"{version}.FullyQualifiedName"), 37)
        ),
        ("skipNodeOperations", GoSlice(word(f"{version}.SkipNodeOperation")), 37),
    )


def attribute(version: str) -> GoStruct:
    """Give the shape of an attribute's value."""
    plain = {"int": WHOLE, "bool": FLAG, "string": TEXT, "version": TEXT}
    one = (
        GoField(key, shape, f"{key.capitalize()}Value", pointer=True)
        for key, shape in plain.items()
    )
    many = (
        GoField(f"{k}s", GoSlice(shape), f"{k.capitalize()}Values", since=36)
        for k, shape in plain.items()
    )
    return fields(f"{version}.DeviceAttribute", *one, *many)


def _device(version: str) -> GoStruct:
    name = GoField("name", TEXT)
    if not is_flat(version):
        return fields(f"{version}.Device", name, *_described(version))
    return fields(
        f"{version}.Device",
        name,
        *pointers(("basic", fields(f"{version}.BasicDevice", *_described(version)))),
    )


_NODES = tuple(
    pointers(
        ("nodeName", TEXT, 33),
        ("nodeSelector", NODE_SELECTOR, 33),
        ("allNodes", FLAG, 33),
    )
)


def _described(version: str) -> tuple[GoField, ...]:
    qualified = f"{version}.QualifiedName"
    consumed = _counted(version, "DeviceCounterConsumption", "counterSet")
    described = fields(
        "",
        ("attributes", GoMap(attribute(version), qualified)),
        ("capacity", GoMap(_capacity(version), qualified)),
        ("consumesCounters", GoSlice(consumed), 33),
        *_NODES,
        ("taints", GoSlice(_taint(version)), 33),
        *pointers(("bindsToNode", FLAG, 34)),
        ("bindingConditions", TEXTS, 34),
        ("bindingFailureConditions", TEXTS, 34),
        *pointers(("allowMultipleAllocations", FLAG, 34)),
        _mappings(version),
        ("nodeAllocatableResources", GoMap(ANYTHING, "v1.ResourceName"), 37),
    )
    return described.fields


def _counted(version: str, go: str, name: str) -> GoStruct:
    counter = fields(f"{version}.Counter", ("value", QUANTITY))
    groups = (("compatibilityGroups", TEXTS, 37),) if name == "counterSet" else ()
    return fields(
        f"{version}.{go}", (name, TEXT), ("counters", GoMap(counter)), *groups
    )


def _capacity(version: str) -> Shape:
    if version == "v1alpha3":
        return QUANTITY
    bounds = fields(
        f"{version}.CapacityRequestPolicyRange",
        *pointers(*((k, QUANTITY) for k in ("min", "max", "step"))),
    )
    policy = fields(
        f"{version}.CapacityRequestPolicy",
        *pointers(("default", QUANTITY)),
        ("validValues", GoSlice(QUANTITY)),
        *pointers(("validRange", bounds)),
    )
    return fields(
        f"{version}.DeviceCapacity",
        ("value", QUANTITY),
        *pointers(("requestPolicy", policy, 34)),
    )


def _taint(version: str) -> GoStruct:
    effect = word(f"{version}.DeviceTaintEffect")
    return fields(
        f"{version}.DeviceTaint",
        ("key", TEXT),
        ("value", TEXT),
        ("effect", effect),
        *pointers(("timeAdded", TIME)),
    )


def _mappings(version: str) -> GoField:
    return GoField(
        "nodeAllocatableResourceMappings",
        GoMap(_mapping(version), "v1.ResourceName"),
        since=36,
        until=36,
    )


def _mapping(version: str) -> GoStruct:
    key = word(f"{version}.QualifiedName")
    return fields(
        f"{version}.NodeAllocatableResourceMapping",
        *pointers(("capacityKey", key), ("allocationMultiplier", QUANTITY)),
    )
