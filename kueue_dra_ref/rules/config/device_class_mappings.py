"""Validation of device class mappings (Configuration API Extension for DRA; Device Class Mapping Uniqueness).

Kueue: pkg/config/validation.go (validateDeviceClassMappings, counterNameForMapping)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kueue_dra_ref.api.configuration import Configuration, DeviceClassMapping
from kueue_dra_ref.api.names import (
    dns_label_faults,
    dns_subdomain_faults,
    label_key_faults,
    printed,
    size,
)
from kueue_dra_ref.model.mapping_path import ROOT, MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import Collect, Each
from kueue_dra_ref.target import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRules:
    """The rules that validate a Configuration; each slot reports errors in the order of its rules."""

    before: Collect[[Configuration], FieldError] = Collect()
    """Find errors of the Configuration that are reported before those of mappings. Without rules: none."""
    transformation: Each[[Configuration, int], FieldError] = Each()
    """What is wrong with a resource transformation? Without rules: nothing is checked."""
    all_mappings: Each[[MappingPath], FieldError] = Each()
    """What is wrong with the list of deviceClassMappings? Without rules: it is not checked."""
    name: Each[[MappingPath], FieldError] = Each()
    """What is wrong with the resource name of a mapping? Without rules: it is not checked."""
    class_list: Each[[MappingPath], FieldError] = Each()
    """What is wrong with the list of device classes of a mapping? Without rules: it is not checked."""
    device_class: Each[[MappingPath], FieldError] = Each()
    """What is wrong with one device class of a mapping? Without rules: it is not checked."""
    before_sources: Collect[[MappingPath], FieldError] = Collect()
    """Find errors of all sources of a mapping, before those of each. Without rules: sources are checked one by one."""
    source_type: Each[[MappingPath], FieldError] = Each()
    """What is wrong with the type of a source? Then its fields are not checked. Without rules: there are no sources."""
    source: Collect[[MappingPath], FieldError] = Collect()
    """Find errors of the fields of a source. Without rules: there are no sources."""
    sources: Collect[[MappingPath], FieldError] = Collect()
    """Find errors of all sources of a mapping, after those of each. Without rules: none."""
    after: Collect[[Configuration], FieldError] = Collect()
    """Find errors of the Configuration that are reported after those of mappings."""


def validate(
    configuration: Configuration, rules: MappingRules
) -> tuple[FieldError, ...]:
    """Find every error of a Configuration, in the order in which Kueue reports them.

    Of the mappings: errors of the list, then mapping by mapping of its name, its class list, each class, its sources.
    """
    return (
        *rules.before(configuration),
        *_transformations(configuration, rules),
        *_mappings(configuration.mappings, rules),
        *rules.after(configuration),
    )


def _transformations(
    configuration: Configuration, rules: MappingRules
) -> Iterator[FieldError]:
    for index in range(len(configuration.transformations)):
        yield from rules.transformation(configuration, index)


def _mappings(
    mappings: tuple[DeviceClassMapping, ...], rules: MappingRules
) -> Iterator[FieldError]:
    top = MappingPath(mappings=mappings)
    yield from rules.all_mappings(top)
    for index, mapping in enumerate(mappings):
        here = replace(top, index=index)
        yield from rules.name(here)
        yield from rules.class_list(here)
        for class_index in range(len(mapping.device_classes)):
            yield from rules.device_class(replace(here, class_index=class_index))
        yield from rules.before_sources(here)
        for source_index in range(len(mapping.sources)):
            yield from _source(rules, replace(here, source_index=source_index))
        yield from rules.sources(here)


def _source(rules: MappingRules, place: MappingPath) -> Iterator[FieldError]:
    yield from rules.source_type(place) or rules.source(place)


@rule("MAP-001")
def at_most_16_mappings(place: MappingPath) -> FieldError | None:
    """Kueue rejects a Configuration with more than 16 deviceClassMappings.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _too_many(ROOT, len(place.mappings), 16)


@rule("MAP-002", "MAP-019")
def name_is_a_label_key(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping whose name is not a label key.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(
        place.name_field,
        place.mapping.name,
        "; ".join(label_key_faults(place.mapping.name)),
    )


@rule("MAP-011")
def name_is_a_dns_label_with_optional_subdomain(
    place: MappingPath,
) -> FieldError | None:
    """Kueue rejects a mapping whose name is not a DNS label with an optional DNS subdomain prefix.

    No counterpart: KEP-2941 of September 2025 only.
    """
    prefix, slash, label = place.mapping.name.rpartition("/")
    faults = [
        *(dns_subdomain_faults(prefix) if slash else ()),
        *dns_label_faults(label),
    ]
    return _invalid(place.name_field, place.mapping.name, "; ".join(faults))


@rule("MAP-003")
def name_is_at_most_253_long(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping whose name is longer than 253 characters.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(place.name_field, place.mapping.name, _too_long(place.mapping.name))


@rule("MAP-004", "MAP-017")
def name_is_used_once(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping with the name of an earlier mapping.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    earlier = (each.name for each in place.mappings[: place.index])
    return (
        _duplicate(place.name_field, place.mapping.name)
        if place.mapping.name in earlier
        else None
    )


@rule("MAP-005")
def at_least_one_class(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping without deviceClassNames.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if place.mapping.device_classes:
        return None
    detail = "at least one device class name is required"
    return FieldError(field=place.classes_field, type="Required value", detail=detail)


@rule("MAP-006")
def at_most_8_classes(place: MappingPath) -> FieldError | None:
    """Kueue rejects a mapping with more than 8 deviceClassNames.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _too_many(place.classes_field, len(place.mapping.device_classes), 8)


@rule("MAP-007", "MAP-019")
def class_is_a_label_key(place: MappingPath) -> FieldError | None:
    """Kueue rejects a device class name that is not a label key.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(
        place.class_field,
        place.device_class,
        "; ".join(label_key_faults(place.device_class)),
    )


@rule("MAP-008")
def class_is_at_most_253_long(place: MappingPath) -> FieldError | None:
    """Kueue rejects a device class name that is longer than 253 characters.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _invalid(
        place.class_field, place.device_class, _too_long(place.device_class)
    )


@rule("MAP-009")
def class_is_named_once_in_a_mapping(place: MappingPath) -> FieldError | None:
    """Kueue rejects a device class that one mapping lists twice.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    repeated = place.device_class in place.earlier_in_mapping()
    return _duplicate(place.class_field, place.device_class) if repeated else None


@rule("MAP-010", "SOURCE-016")
def class_maps_to_one_resource(place: MappingPath) -> FieldError | None:
    """Kueue rejects a device class that an earlier mapping of another name lists.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    owner = place.owner()
    return None if owner.name == place.mapping.name else _taken(place, owner)


@rule("MAP-010", "MAP-016")
def class_maps_to_one_resource_unless_both_count(
    place: MappingPath,
) -> FieldError | None:
    """Kueue rejects a device class in two mappings of different names unless both charge counters.

    Mappings that charge counters may share a class; the rules on sources check which counters they charge.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings, counterNameForMapping)
    """
    owner = place.owner()
    if owner.name == place.mapping.name or (owner.counter and place.mapping.counter):
        return None
    return _taken(place, owner)


def _invalid(field: str, value: str, detail: str) -> FieldError | None:
    if not detail:
        return None
    return FieldError(
        field=field, type="Invalid value", value=printed(value), detail=detail
    )


def _duplicate(field: str, value: str) -> FieldError:
    return FieldError(field=field, type="Duplicate value", value=printed(value))


def _too_many(field: str, count: int, limit: int) -> FieldError | None:
    if count <= limit:
        return None
    return FieldError(
        field=field,
        type="Too many",
        value=str(count),
        detail=f"must have at most {limit} items",
    )


def _too_long(text: str) -> str:
    return "must not exceed 253 characters" if size(text) > 253 else ""


def _taken(place: MappingPath, owner: DeviceClassMapping) -> FieldError | None:
    return _invalid(
        place.class_field,
        place.device_class,
        f"device class already mapped to resource {owner.name}",
    )
