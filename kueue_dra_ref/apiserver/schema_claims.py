"""The Go types of resource.k8s.io claims and classes: v1's shape, and the flat one of v1beta1 and v1alpha3.

Kubernetes: k8s.io/api/resource/v1/types.go (ResourceClaim, DeviceClass)
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    QUANTITY,
    RAW,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    GoField,
    GoMap,
    GoSlice,
    GoStruct,
    fields,
    pointers,
    word,
)

OWNER = fields(
    "v1.OwnerReference",
    ("apiVersion", TEXT),
    ("kind", TEXT),
    ("name", TEXT),
    ("uid", word("types.UID")),
    *pointers(("controller", FLAG), ("blockOwnerDeletion", FLAG)),
)
OBJECT_META = fields(
    "v1.ObjectMeta",
    ("name", TEXT),
    ("generateName", TEXT),
    ("namespace", TEXT),
    ("selfLink", TEXT),
    ("uid", word("types.UID")),
    ("resourceVersion", TEXT),
    ("generation", WHOLE),
    ("creationTimestamp", TIME),
    *pointers(("deletionTimestamp", TIME), ("deletionGracePeriodSeconds", WHOLE)),
    ("labels", GoMap(TEXT)),
    ("annotations", GoMap(TEXT)),
    ("ownerReferences", GoSlice(OWNER)),
    ("finalizers", TEXTS),
    ("managedFields", GoSlice(ANYTHING)),
)
HEAD = (
    GoField("apiVersion", TEXT),
    GoField("kind", TEXT),
    GoField("metadata", OBJECT_META),
)
"""What every object has."""
REQUIREMENT = fields(
    "v1.NodeSelectorRequirement",
    ("key", TEXT),
    ("operator", word("v1.NodeSelectorOperator")),
    ("values", TEXTS),
)
NODE_TERM = fields(
    "v1.NodeSelectorTerm",
    ("matchExpressions", GoSlice(REQUIREMENT)),
    ("matchFields", GoSlice(REQUIREMENT)),
)
NODE_SELECTOR = fields("v1.NodeSelector", ("nodeSelectorTerms", GoSlice(NODE_TERM)))

POD_CLAIM = fields(
    "v1.PodResourceClaim",
    ("name", TEXT),
    *pointers(("resourceClaimName", TEXT), ("resourceClaimTemplateName", TEXT)),
)


def is_flat(version: str) -> bool:
    """Tell whether a version has the flat shape of requests and the boxed one of devices."""
    return version in ("v1beta1", "v1alpha3")


def selectors(version: str) -> GoSlice:
    """Give the shape of a list of selectors."""
    cel = fields(f"{version}.CELDeviceSelector", ("expression", TEXT))
    return GoSlice(
        fields(f"{version}.DeviceSelector", GoField("cel", cel, "CEL", pointer=True))
    )


def claim(version: str) -> GoStruct:
    """Give the shape of a claim's spec."""
    devices = fields(
        f"{version}.DeviceClaim",
        ("requests", GoSlice(_request(version))),
        ("constraints", GoSlice(_constraint(version))),
        (
            "config",
            GoSlice(
                fields(
                    f"{version}.DeviceClaimConfiguration",
                    ("requests", TEXTS),
                    *_opaque(version),
                )
            ),
        ),
    )
    controller = GoField("controller", TEXT, until=31)
    return fields(f"{version}.ResourceClaimSpec", ("devices", devices), controller)


def device_class(version: str) -> GoStruct:
    """Give the shape of a class's spec."""
    return fields(
        f"{version}.DeviceClassSpec",
        ("selectors", selectors(version)),
        (
            "config",
            GoSlice(fields(f"{version}.DeviceClassConfiguration", *_opaque(version))),
        ),
        GoField("suitableNodes", NODE_SELECTOR, until=31),
        ("extendedResourceName", TEXT, 34),
    )


def _request(version: str) -> GoStruct:
    exact = fields(f"{version}.ExactDeviceRequest", *_asked(version, admin=True))
    shape = (
        _asked(version, admin=True)
        if is_flat(version)
        else (GoField("exactly", exact, pointer=True, since=33),)
    )
    alternative = fields(
        f"{version}.DeviceSubRequest", ("name", TEXT), *_asked(version, admin=False)
    )
    return fields(
        f"{version}.DeviceRequest",
        ("name", TEXT),
        *shape,
        ("firstAvailable", GoSlice(alternative), 33),
    )


def _asked(version: str, *, admin: bool) -> tuple[GoField, ...]:
    """Give what can be asked for, in a request of its own or in an alternative, which cannot ask for admin access."""
    capacity = fields(
        f"{version}.CapacityRequirements",
        ("requests", GoMap(QUANTITY, f"{version}.QualifiedName")),
    )
    asked = fields(
        "",
        ("deviceClassName", TEXT),
        ("selectors", selectors(version)),
        ("allocationMode", word(f"{version}.DeviceAllocationMode")),
        ("count", WHOLE),
        *(pointers(("adminAccess", FLAG)) if admin else ()),
        ("tolerations", GoSlice(_toleration(version)), 33),
        *pointers(("capacity", capacity, 34)),
        ("derivedAttributes", GoSlice(_derived(version)), 37),
    )
    return asked.fields


def _toleration(version: str) -> GoStruct:
    return fields(
        f"{version}.DeviceToleration",
        ("key", TEXT),
        ("operator", word(f"{version}.DeviceTolerationOperator")),
        ("value", TEXT),
        ("effect", word(f"{version}.DeviceTaintEffect")),
        *pointers(("tolerationSeconds", WHOLE)),
    )


def _derived(version: str) -> GoStruct:
    name = word(f"{version}.FullyQualifiedName")
    return fields(
        f"{version}.DeviceDerivedAttribute", ("name", name), ("expression", TEXT)
    )


def _constraint(version: str) -> GoStruct:
    name = word(f"{version}.FullyQualifiedName")
    return fields(
        f"{version}.DeviceConstraint",
        ("requests", TEXTS),
        *pointers(("matchAttribute", name), ("distinctAttribute", name, 34)),
    )


def _opaque(version: str) -> tuple[GoField, ...]:
    found = fields(
        f"{version}.OpaqueDeviceConfiguration",
        ("driver", TEXT),
        ("parameters", RAW),
    )
    return (GoField("opaque", found, pointer=True, embedded="DeviceConfiguration"),)
