"""Fields of a source: the name of the counter or capacity, the driver and the deviceSelector (Kueue 0.19).

Kueue: pkg/config/validation.go (validateDeviceClassSource, validateDeviceClassMappings, validateQualifiedName)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.names import size
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required
from kueue_dra_ref.apiserver.kubernetes_versions import KUBERNETES_1_36
from kueue_dra_ref.cel import CompileError, compiled
from kueue_dra_ref.model.mapping_path import MappingPath
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

Sources = Iterator[tuple[str, Manifest]]
"""Counters and capacities with their paths."""
_MAX_DRIVER = 63


@rule("SOURCE-006")
def counter_name_is_a_dns_label(place: MappingPath) -> Errors:
    """Kueue rejects a counter source whose name is missing or not a DNS label.

    Kueue: pkg/config/validation.go (validateDeviceClassMappings)
    """
    for field, counter in _written(place, "counter"):
        name = str(counter.get("name") or "")
        faults = list(resource_names.label(name, ""))
        path = f"{field}.name"
        if not name:
            yield required(path)
        elif faults:
            yield invalid(path, name, _details(faults))


@rule("SOURCE-007")
def capacity_name_is_qualified(place: MappingPath) -> Errors:
    """Kueue rejects a capacity source whose name is not a C identifier with an optional domain.

    Kueue: pkg/config/validation.go (validateQualifiedName, validateCIdentifier)
    """
    for field, capacity in _written(place, "capacity"):
        name = str(capacity.get("name") or "")
        yield from resource_names.qualified(name, f"{field}.name", KUBERNETES_1_36)


@rule("SOURCE-008")
def driver_is_a_dns_subdomain(place: MappingPath) -> Errors:
    """Kueue rejects a source whose driver is missing, too long or not a DNS subdomain.

    Kueue: pkg/config/validation.go (validateDeviceClassSource)
    """
    for field, source in _written(place, "counter", "capacity"):
        driver = str(source.get("driver") or "")
        faults = list(resource_names.subdomain(driver, ""))
        path = f"{field}.driver"
        if not driver:
            yield required(path)
        elif size(driver) > _MAX_DRIVER:
            detail = f"must not exceed {_MAX_DRIVER} characters"
            yield invalid(path, driver, detail)
        elif faults:
            yield invalid(path, driver, _details(faults))


@rule("SOURCE-009")
def source_selector_compiles(place: MappingPath) -> Errors:
    """Kueue rejects a source whose deviceSelector is missing or does not compile.

    Kueue: pkg/config/validation.go (validateDeviceClassSource)
    """
    for field, source in _written(place, "counter", "capacity"):
        path = f"{field}.deviceSelector.cel.expression"
        expression = _expression(source)
        found = compiled(expression)
        if not expression:
            yield required(path)
        elif isinstance(found, CompileError):
            detail = f"CEL compilation failed: {found.detail}"
            yield invalid(path, expression, detail)


def _expression(source: Manifest) -> str:
    selector = source.get("deviceSelector") or {}
    cel = selector.get("cel") or {}
    return str(cel.get("expression") or "")


def _written(place: MappingPath, *kinds: str) -> Sources:
    """Give the counter and capacity that the source has, with their paths."""
    for kind in kinds:
        source = place.source.get(kind)
        if source is not None:
            yield f"{place.source_field}.{kind}", source


def _details(faults: list[FieldError]) -> str:
    return ",".join(fault.detail for fault in faults)
