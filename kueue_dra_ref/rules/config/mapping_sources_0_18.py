"""Sources of a mapping: at most one counter, and none while the gate is off (Kueue 0.18).

Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
"""

from __future__ import annotations

from kueue_dra_ref.api.names import size
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required
from kueue_dra_ref.model.mapping_path import MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_GATE = "KueueDRAIntegrationPartitionableDevices"
_MAX_NAME, _MAX_DRIVER = 63, 253


@rule("SOURCE-012")
def sources_need_gate(place: MappingPath) -> Errors:
    """Kueue rejects the sources of a mapping while the gate KueueDRAIntegrationPartitionableDevices is off.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if place.mapping.sources:
        detail = f"sources require {_GATE} to be enabled"
        yield _sources_error(place, "Invalid value", detail)


@rule("SOURCE-011")
def at_most_one_source(place: MappingPath) -> Errors:
    """Kueue rejects a mapping with more than one source.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if len(place.mapping.sources) > 1:
        yield _sources_error(place, "Too many", "must have at most 1 item")


@rule("SOURCE-015")
def source_is_a_counter(place: MappingPath) -> FieldError | None:
    """Kueue rejects a source that is not a counter.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    if place.source.get("counter") is not None:
        return None
    detail = "exactly one source type must be set"
    field = f"{place.source_field}.counter"
    return FieldError(field=field, type="Required value", detail=detail)


@rule("SOURCE-013")
def counter_name_is_at_most_63_long(place: MappingPath) -> Errors:
    """Kueue rejects a counter source whose name is missing or longer than 63 characters.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    yield from _measured(place, "name", _MAX_NAME)


@rule("SOURCE-014")
def driver_is_at_most_253_long(place: MappingPath) -> Errors:
    """Kueue rejects a source whose driver is missing or longer than 253 characters.

    Kueue 0.18: pkg/config/validation.go (validateDeviceClassMappings)
    """
    yield from _measured(place, "driver", _MAX_DRIVER)


def _measured(place: MappingPath, key: str, limit: int) -> Errors:
    field = f"{place.source_field}.counter.{key}"
    counter = place.source["counter"]
    text = str(counter.get(key) or "")
    if not text:
        yield required(field)
        return
    if size(text) > limit:
        detail = f"must not exceed {limit} characters"
        yield invalid(field, text, detail)


def _sources_error(place: MappingPath, type_: str, detail: str) -> FieldError:
    field = f"{place.mapping_field}.sources"
    value = str(len(place.mapping.sources))
    return FieldError(field=field, type=type_, value=value, detail=detail)
