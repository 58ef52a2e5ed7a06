"""Sources of a mapping (Kueue 0.19): counters and capacities that Kueue charges instead of devices.

Kueue: pkg/dra/mapper.go (deviceClassCounterConfig, deviceClassCapacityConfig)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.cel import Device, EvaluationError, Undecided
from kueue_dra_ref.model.lister import DeviceRequestContext, uncompiled
from kueue_dra_ref.model.resourceslices import PublishedDevice
from kueue_dra_ref.target import FieldError


class SourceType(StrEnum):
    """What a source charges, in the order in which Kueue charges them."""

    COUNTER = "counter"
    CAPACITY = "capacity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of a mapping: ``name`` is that of the counter or capacity, ``resource`` the one that has quota."""

    kind: SourceType
    resource: str
    name: str
    driver: str
    selector: str


def sources_in(mapping: DeviceClassMapping) -> tuple[Source, ...]:
    """Read the sources of a valid mapping."""
    found: list[Source] = []
    for entry in mapping.sources:
        for kind in SourceType:
            written = entry.get(kind)
            if written:
                found.append(_source(kind, mapping.name, written))
    return tuple(found)


def _source(
    kind: SourceType,
    resource: str,
    written: Mapping[str, Any],
) -> Source:
    selector = written.get("deviceSelector") or {}
    cel = selector.get("cel") or {}
    return Source(
        kind=kind,
        resource=resource,
        name=str(written.get("name") or ""),
        driver=str(written.get("driver") or ""),
        selector=str(cel.get("expression") or ""),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMatch:
    """A device to match against the selectors of a source, a DeviceClass and a request."""

    source: Source
    device: Device
    class_selectors: tuple[str, ...]
    request_selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCharge:
    """One request under one source: the devices that match, and what each device that allows the request charges."""

    asked: DeviceRequestContext
    request: DeviceRequest
    source: Source
    class_exists: bool = True
    devices: Sequence[PublishedDevice] = ()
    ended: EvaluationError | Undecided | None = None
    """Why matching ended early."""
    offers: Sequence[Quantity] = field(default=())

    @property
    def count(self) -> int:
        """The number of devices requested."""
        return self.request.count

    def uncompiled(self, below: str = "") -> FieldError | None:
        """Give the error of a DeviceClass that does not compile, at its path below ``below`` of the request."""
        found = uncompiled(self.asked.lister, self.request.device_class)
        if found is None:
            return None
        fault = self.fault(found.type, found.detail, found.value)
        return replace(fault, field=f"{fault.field}{below}{found.field}")

    def fault(
        self,
        type_: str,
        detail: str,
        value: str | None = None,
    ) -> FieldError:
        """Give an error of the request; Kueue does not name the claim template here."""
        path = self.asked.request_path
        return FieldError(
            field=path,
            type=type_,
            value=value,
            detail=detail,
        )
