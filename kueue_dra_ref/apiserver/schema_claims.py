"""The Go types of resource.k8s.io claims and classes: v1's shape, and the flat one of v1beta1 and v1alpha3."""

from __future__ import annotations

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    QUANTITY,
    TEXT,
    TEXTS,
    TIME,
    WHOLE,
    Field,
    ListOf,
    MapOf,
    Struct,
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
    ("labels", MapOf(TEXT)),
    ("annotations", MapOf(TEXT)),
    ("ownerReferences", ListOf(OWNER)),
    ("finalizers", TEXTS),
    ("managedFields", ListOf(ANYTHING)),
)
HEAD = (Field("apiVersion", TEXT), Field("kind", TEXT), Field("metadata", OBJECT_META))
"""What every object has."""
REQUIREMENT = fields(
    "v1.NodeSelectorRequirement",
    ("key", TEXT),
    ("operator", word("v1.NodeSelectorOperator")),
    ("values", TEXTS),
)
NODE_TERM = fields(
    "v1.NodeSelectorTerm",
    ("matchExpressions", ListOf(REQUIREMENT)),
    ("matchFields", ListOf(REQUIREMENT)),
)
NODE_SELECTOR = fields("v1.NodeSelector", ("nodeSelectorTerms", ListOf(NODE_TERM)))

POD_CLAIM = fields(
    "v1.PodResourceClaim",
    ("name", TEXT),
    *pointers(("resourceClaimName", TEXT), ("resourceClaimTemplateName", TEXT)),
)


def is_flat(version: str) -> bool:
    """Tell whether a version has the flat shape of requests and the boxed one of devices."""
    return version in ("v1beta1", "v1alpha3")


def selectors(version: str) -> ListOf:
    """Give the shape of a list of selectors."""
    cel = fields(f"{version}.CELDeviceSelector", ("expression", TEXT))
    return ListOf(
        fields(f"{version}.DeviceSelector", Field("cel", cel, "CEL", pointer=True))
    )


def claim(version: str) -> Struct:
    """Give the shape of a claim's spec."""
    devices = fields(
        f"{version}.DeviceClaim",
        ("requests", ListOf(_request(version))),
        ("constraints", ListOf(_constraint(version))),
        (
            "config",
            ListOf(
                fields(
                    f"{version}.DeviceClaimConfiguration",
                    ("requests", TEXTS),
                    *_opaque(version),
                )
            ),
        ),
    )
    controller = Field("controller", TEXT, until=31)
    return fields(f"{version}.ResourceClaimSpec", ("devices", devices), controller)


def device_class(version: str) -> Struct:
    """Give the shape of a class's spec."""
    return fields(
        f"{version}.DeviceClassSpec",
        ("selectors", selectors(version)),
        (
            "config",
            ListOf(fields(f"{version}.DeviceClassConfiguration", *_opaque(version))),
        ),
        Field("suitableNodes", NODE_SELECTOR, pointer=True, until=31),
        Field("extendedResourceName", TEXT, pointer=True, since=34),
    )


def _request(version: str) -> Struct:
    exact = fields(f"{version}.ExactDeviceRequest", *_asked(version, admin=True))
    shape = (
        _asked(version, admin=True)
        if is_flat(version)
        else (Field("exactly", exact, pointer=True, since=33),)
    )
    alternative = fields(
        f"{version}.DeviceSubRequest", ("name", TEXT), *_asked(version, admin=False)
    )
    return fields(
        f"{version}.DeviceRequest",
        ("name", TEXT),
        *shape,
        ("firstAvailable", ListOf(alternative), 33),
    )


def _asked(version: str, *, admin: bool) -> tuple[Field, ...]:
    """Give what can be asked for, in a request of its own or in an alternative, which cannot ask for admin access."""
    capacity = fields(
        f"{version}.CapacityRequirements",
        ("requests", MapOf(QUANTITY, f"{version}.QualifiedName")),
    )
    asked = fields(
        "",
        ("deviceClassName", TEXT),
        ("selectors", selectors(version)),
        ("allocationMode", word(f"{version}.DeviceAllocationMode")),
        ("count", WHOLE),
        *(pointers(("adminAccess", FLAG)) if admin else ()),
        ("tolerations", ListOf(_toleration(version)), 33),
        *pointers(("capacity", capacity, 34)),
        ("derivedAttributes", ListOf(_derived(version)), 37),
    )
    return asked.fields


def _toleration(version: str) -> Struct:
    return fields(
        f"{version}.DeviceToleration",
        ("key", TEXT),
        ("operator", word(f"{version}.DeviceTolerationOperator")),
        ("value", TEXT),
        ("effect", word(f"{version}.DeviceTaintEffect")),
        *pointers(("tolerationSeconds", WHOLE)),
    )


def _derived(version: str) -> Struct:
    name = word(f"{version}.FullyQualifiedName")
    return fields(
        f"{version}.DeviceDerivedAttribute", ("name", name), ("expression", TEXT)
    )


def _constraint(version: str) -> Struct:
    name = word(f"{version}.FullyQualifiedName")
    return fields(
        f"{version}.DeviceConstraint",
        ("requests", TEXTS),
        *pointers(("matchAttribute", name), ("distinctAttribute", name, 34)),
    )


def _opaque(version: str) -> tuple[Field, ...]:
    found = fields(
        f"{version}.OpaqueDeviceConfiguration",
        ("driver", TEXT),
        ("parameters", ANYTHING),
    )
    return (Field("opaque", found, pointer=True, embedded="DeviceConfiguration"),)
