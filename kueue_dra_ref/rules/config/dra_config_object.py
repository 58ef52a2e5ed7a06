"""The object that maps device classes (July 2025: DynamicResourceAllocationConfig, Mapping Ambiguity).

No counterpart: KEP-2941 of July 2025 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.model.device_checks import MappingLookup
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

NAME, NAMESPACE = "default", "kueue-system"
_MOST_RESOURCES, _MOST_CLASSES = 16, 8
_ROOT = "spec.resources"


@rule("CLASS-001", "CRD-001", "CRD-017", "CRD-018")
def mappings_from_config_object(lookup: MappingLookup) -> Sequence[DeviceClassMapping]:
    """Kueue reads the device class mappings from the DynamicResourceAllocationConfig object.

    No counterpart: KEP-2941 of July 2025 only.
    """
    found = lookup.lister.dra_config(NAMESPACE, NAME) or {}
    return tuple(
        DeviceClassMapping(
            name=resource["name"], device_classes=tuple(resource["deviceClassNames"])
        )
        for resource in (found.get("spec") or {}).get("resources") or ()
    )


@rule("CRD-002")
def config_object_is_named_default(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig with a name other than default.

    No counterpart: KEP-2941 of July 2025 only.
    """
    name = obj["metadata"]["name"]
    if obj["kind"] == DRA_CONFIG and name != NAME:
        yield FieldError(
            field="metadata.name",
            type="Invalid value",
            value=printed(name),
            detail=f'must be "{NAME}"',
        )


@rule("CRD-003")
def config_object_is_in_kueue_namespace(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig outside the namespace of Kueue.

    No counterpart: KEP-2941 of July 2025 only.
    """
    namespace = obj["metadata"].get("namespace", "")
    if obj["kind"] == DRA_CONFIG and namespace != NAMESPACE:
        detail = f'must be "{NAMESPACE}"'
        yield FieldError(
            field="metadata.namespace",
            type="Invalid value",
            value=printed(namespace),
            detail=detail,
        )


@rule("CRD-008")
def required_fields(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig without resources, name or deviceClassNames.

    No counterpart: KEP-2941 of July 2025 only.
    """
    if obj["kind"] == DRA_CONFIG and "resources" not in (obj.get("spec") or {}):
        yield FieldError(field=_ROOT, type="Required value")
    for index, resource in enumerate(_resources(obj)):
        for key in ("name", "deviceClassNames"):
            if key not in resource:
                yield FieldError(field=f"{_ROOT}[{index}].{key}", type="Required value")


@rule("CRD-004")
def at_most_16_resources(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig with more than 16 resources.

    No counterpart: KEP-2941 of July 2025 only.
    """
    yield from _too_many(_ROOT, len(_resources(obj)), _MOST_RESOURCES)


@rule("CRD-005")
def at_most_8_classes_per_resource(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig resource with more than 8 deviceClassNames.

    No counterpart: KEP-2941 of July 2025 only.
    """
    for index, resource in enumerate(_resources(obj)):
        found = len(resource.get("deviceClassNames") or ())
        yield from _too_many(f"{_ROOT}[{index}].deviceClassNames", found, _MOST_CLASSES)


@rule("CRD-006")
def resources_are_a_map(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig with two resources of the same name.

    No counterpart: KEP-2941 of July 2025 only.
    """
    names = [resource.get("name") for resource in _resources(obj)]
    for index in _repeated(names):
        yield FieldError(
            field=f"{_ROOT}[{index}]",
            type="Duplicate value",
            value=printed({"name": names[index]}),
        )


@rule("CRD-007")
def classes_of_a_resource_are_a_set(obj: Manifest) -> Iterator[FieldError]:
    """The API server rejects a DynamicResourceAllocationConfig resource that lists a device class twice.

    No counterpart: KEP-2941 of July 2025 only.
    """
    for index, resource in enumerate(_resources(obj)):
        classes = resource.get("deviceClassNames") or []
        for place in _repeated(classes):
            field = f"{_ROOT}[{index}].deviceClassNames[{place}]"
            yield FieldError(
                field=field, type="Duplicate value", value=printed(classes[place])
            )


@rule("CRD-010", "CRD-011", "CLASS-001")
def lookup_every_mapping_of_class(
    mappings: Sequence[DeviceClassMapping], device_class: str
) -> tuple[str, ...]:
    """Kueue maps a device class to the resource of every mapping that lists it, and the flavor decides.

    No counterpart: KEP-2941 of July 2025 only.
    """
    return tuple(
        mapping.name for mapping in mappings if device_class in mapping.device_classes
    )


def _resources(obj: Manifest) -> list[dict[str, Any]]:
    return (
        (obj.get("spec") or {}).get("resources") or []
        if obj["kind"] == DRA_CONFIG
        else []
    )


def _too_many(field: str, found: int, most: int) -> Iterator[FieldError]:
    if found > most:
        yield FieldError(
            field=field,
            type="Too many",
            value=str(found),
            detail=f"must have at most {most} items",
        )


def _repeated(values: Sequence[object]) -> list[int]:
    return [index for index, value in enumerate(values) if value in values[:index]]
