"""Sources of a mapping: which types a source may have, and which sources exclude each other (Kueue 0.19).

Kueue: pkg/config/validation.go (validateDeviceClassMappings, counterNameForMapping)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.names import printed, quoted
from kueue_dra_ref.model.mapping_path import MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_ONE = "exactly one source type must be set per entry"


@rule("SOURCE-001")
def source_has_a_type(place: MappingPath) -> FieldError | None:
    """Kueue rejects a source that is neither a counter nor a capacity.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if _types(place.source):
        return None
    return FieldError(field=place.source_field, type="Required value", detail=_ONE)


@rule("SOURCE-002")
def source_has_one_type(place: MappingPath) -> FieldError | None:
    """Kueue rejects a source that is both a counter and a capacity.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if len(_types(place.source)) < 2:
        return None
    return FieldError(
        field=place.source_field,
        type="Invalid value",
        value='"counter+capacity"',
        detail=_ONE,
    )


@rule("SOURCE-004")
def counters_need_gate(place: MappingPath) -> FieldError | None:
    """Kueue rejects a counter source while the gate KueueDRAIntegrationPartitionableDevices is off.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _gated(place, "counter", "KueueDRAIntegrationPartitionableDevices")


@rule("SOURCE-005")
def capacities_need_gate(place: MappingPath) -> FieldError | None:
    """Kueue rejects a capacity source while the gate KueueDRAIntegrationConsumableCapacity is off.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    return _gated(place, "capacity", "KueueDRAIntegrationConsumableCapacity")


@rule("SOURCE-003")
def sources_have_one_type(place: MappingPath) -> Iterator[FieldError]:
    """Kueue rejects a mapping with both counter and capacity sources.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    sources = place.mapping.sources
    types = [_types(source) for source in sources]
    if ["counter"] in types and ["capacity"] in types:
        detail = "cannot mix counter and capacity sources in the same mapping"
        field = f"{place.mapping_field}.sources"
        yield FieldError(
            field=field, type="Invalid value", value=str(len(sources)), detail=detail
        )


@rule("SOURCE-010")
def shared_class_charges_different_counters(
    place: MappingPath,
) -> FieldError | None:
    """Kueue rejects a device class that two mappings charge for the same counter.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings, counterNameForMapping)
    """
    mapping, owner = place.mapping, place.owner()
    if owner.name == mapping.name or not (mapping.counter and owner.counter):
        return None
    if mapping.counter not in _charged_counters(place, owner):
        return None
    detail = f"device class already has a counter source for counter {quoted(mapping.counter)}"
    return FieldError(
        field=place.class_field,
        type="Invalid value",
        value=printed(place.device_class),
        detail=detail,
    )


def _charged_counters(place: MappingPath, owner: DeviceClassMapping) -> set[str]:
    """Give the counters that earlier mappings charge for the class; of mappings named like the owner, only its own."""
    counters = set()
    for each in place.mappings[: place.index]:
        counts = each is owner or each.name != owner.name
        if counts and place.device_class in each.device_classes:
            counters.add(each.counter)
    if place.device_class in place.earlier_in_mapping():
        counters.add(place.mapping.counter)
    return counters


def _types(source: Mapping[str, Any]) -> list[str]:
    return [kind for kind in ("counter", "capacity") if source.get(kind) is not None]


def _gated(place: MappingPath, kind: str, gate: str) -> FieldError | None:
    if kind not in _types(place.source):
        return None
    field = f"{place.source_field}.{kind}"
    detail = f"{kind} sources require {gate} to be enabled"
    return FieldError(field=field, type="Invalid value", value="true", detail=detail)
