"""Device classes as resources of a ClusterQueue's flavors (April 2025, Resource Quota API and Workloads).

No counterpart: KEP-2941 of April 2025 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.model.device_checks import MappingLookup
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_KIND = "DeviceClass"


@rule("KIND-013", "KIND-015", "DET-005", "CLAIM-004", "DIRECT-001")
def container_claim_makes_a_dra_workload(workload: Workload) -> bool:
    """A workload is a DRA workload when a container or an init container lists a claim of its pod.

    No counterpart: KEP-2941 of April 2025 only.
    """
    return any(
        claim.name in pod_set.used
        for pod_set in workload.pod_sets
        for claim in pod_set.claims
    )


@rule("KIND-014", "KIND-015", "COUNT-007", "COUNT-008", "COUNT-010", "DIRECT-004")
def claims_that_containers_list(pod_set: PodSet) -> tuple[Claim, ...]:
    """Kueue charges only the claims of a pod that a container lists under resources.claims.

    No counterpart: KEP-2941 of April 2025 only.
    """
    return tuple(claim for claim in pod_set.claims if claim.name in pod_set.used)


@rule(
    "CLASS-001",
    "KIND-001",
    "KIND-003",
    "KIND-008",
    "KIND-010",
    "KIND-011",
    "KIND-012",
    "KIND-017",
)
def mappings_from_cluster_queue(lookup: MappingLookup) -> Sequence[DeviceClassMapping]:
    """Kueue reads the device class mappings from the ClusterQueue of the workload.

    No counterpart: KEP-2941 of April 2025 only.
    """
    queue = lookup.lister.target(lookup.workload)
    assert queue is not None
    mappings = []
    for group in queue.groups:
        for flavor in group.flavors:
            for name, classes in flavor.device_classes.items():
                mappings.append(DeviceClassMapping(name=name, device_classes=classes))
    return tuple(mappings)


class ResourcePosition(NamedTuple):
    """One resource of one flavor of a ClusterQueue, and its field path."""

    path: str
    resource: dict[str, Any]

    @property
    def name(self) -> str:
        """Give the name of the resource."""
        return str(self.resource.get("name", ""))

    @property
    def classes(self) -> Sequence[str]:
        """Give the device classes that the resource lists."""
        return self.resource.get("deviceClassNames") or ()

    @property
    def has_device_class_kind(self) -> bool:
        """Whether the resource has kind DeviceClass."""
        return self.resource.get("kind") == _KIND


@rule("KIND-002")
def kind_is_device_class(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a resource of a flavor with a kind other than DeviceClass.

    No counterpart: KEP-2941 of April 2025 only.
    """
    for path, resource in _places(obj):
        if resource.get("kind") not in (None, _KIND):
            value, detail = printed(resource["kind"]), f'supported values: "{_KIND}"'
            yield FieldError(
                field=f"{path}.kind",
                type="Unsupported value",
                value=value,
                detail=detail,
            )


@rule("KIND-004")
def device_class_names_need_kind(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects deviceClassNames without kind DeviceClass.

    No counterpart: KEP-2941 of April 2025 only.
    """
    for place in _places(obj):
        if place.classes and not place.has_device_class_kind:
            detail = f"may be set only when kind is {_KIND}"
            yield FieldError(
                field=f"{place.path}.deviceClassNames", type="Forbidden", detail=detail
            )


@rule("KIND-005")
def kind_needs_device_class_names(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects kind DeviceClass without deviceClassNames.

    No counterpart: KEP-2941 of April 2025 only.
    """
    for place in _places(obj):
        if place.has_device_class_kind and not place.classes:
            detail = f"kind {_KIND} needs at least one device class name"
            yield FieldError(
                field=f"{place.path}.deviceClassNames",
                type="Required value",
                detail=detail,
            )


@rule("KIND-006")
def class_has_one_name(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a device class that a ClusterQueue lists under two names.

    No counterpart: KEP-2941 of April 2025 only.
    """
    owners: dict[str, str] = {}
    for place in _places(obj):
        for index, device_class in enumerate(place.classes):
            owner = owners.setdefault(device_class, place.name)
            if owner != place.name:
                field, detail = (
                    f"{place.path}.deviceClassNames[{index}]",
                    f"device class counts against {owner} already",
                )
                yield FieldError(
                    field=field,
                    type="Invalid value",
                    value=printed(device_class),
                    detail=detail,
                )


@rule("KIND-007")
def name_has_one_kind(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a name with kind DeviceClass in one flavor and no kind in another.

    No counterpart: KEP-2941 of April 2025 only.
    """
    kinds: dict[str, bool] = {}
    for place in _places(obj):
        if (
            kinds.setdefault(place.name, place.has_device_class_kind)
            is not place.has_device_class_kind
        ):
            detail = f"{place.name} is of another kind in an earlier flavor"
            yield FieldError(
                field=f"{place.path}.kind",
                type="Invalid value",
                value=printed(place.resource.get("kind")),
                detail=detail,
            )


def _places(obj: Manifest) -> Iterator[ResourcePosition]:
    groups = (
        (obj.get("spec") or {}).get("resourceGroups") or ()
        if obj["kind"] == "ClusterQueue"
        else ()
    )
    for g, group in enumerate(groups):
        for f, flavor in enumerate(group.get("flavors") or ()):
            for r, resource in enumerate(flavor.get("resources") or ()):
                yield ResourcePosition(
                    f"spec.resourceGroups[{g}].flavors[{f}].resources[{r}]", resource
                )
