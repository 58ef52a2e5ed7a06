"""Sources of a mapping (Kueue 0.19, Configuration): what is charged instead of devices, and for which request.

Kueue: pkg/dra/mapper.go (deviceClassCounterConfig, deviceClassCapacityConfig)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.cel import Device, EvaluationError, Undecided
from kueue_dra_ref.model.lister import DeviceRequestContext, uncompiled
from kueue_dra_ref.model.resourceslices import PublishedDevice
from kueue_dra_ref.target import FieldError


class SourceType(StrEnum):
    """What a source charges; the order is that in which Kueue deals with them."""

    COUNTER = "counter"
    CAPACITY = "capacity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of a mapping: ``name`` is that of the counter or capacity, ``resource`` what the quota counts."""

    kind: SourceType
    resource: str
    name: str
    driver: str
    selector: str


def sources_in(mapping: DeviceClassMapping) -> tuple[Source, ...]:
    """The sources of a mapping that was found to be valid."""
    return tuple(
        Source(
            kind=kind,
            resource=mapping.name,
            name=str(written.get("name") or ""),
            driver=str(written.get("driver") or ""),
            selector=str(
                ((written.get("deviceSelector") or {}).get("cel") or {}).get(
                    "expression"
                )
                or ""
            ),
        )
        for entry in mapping.sources
        for kind in SourceType
        if (written := entry.get(kind))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMatch:
    """A device that is tried for a request under a source."""

    source: Source
    device: Device
    class_selectors: tuple[str, ...]
    request_selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCharge:
    """One request under one source: the devices that match, and what each of those that can serve it would charge."""

    asked: DeviceRequestContext
    source: Source
    class_exists: bool = True
    devices: Sequence[PublishedDevice] = ()
    ended: EvaluationError | Undecided | None = None
    """What ended the search for devices."""
    offers: Sequence[Quantity] = field(default=())

    @property
    def count(self) -> int:
        """How many devices are asked for."""
        return self.asked.request.count if self.asked.request else 0

    def uncompiled(self, below: str = "") -> FieldError | None:
        """The fault of a class that does not compile, at a path that goes on from ``below`` the request."""
        request = self.asked.request
        found = uncompiled(self.asked.world, request.device_class) if request else None
        if found is None:
            return None
        fault = self.fault(found.type, found.detail, found.value)
        return replace(fault, field=f"{fault.field}{below}{found.field}")

    def fault(self, type_: str, detail: str, value: str | None = None) -> FieldError:
        """A fault of the request; Kueue names no template here."""
        index = self.asked.request.index if self.asked.request else 0
        path = f"{self.asked.pod_set.claim_path(self.asked.claim)}.devices.requests[{index}]"
        return FieldError(field=path, type=type_, value=value, detail=detail)


NOTHING = Quantity(amount=Fraction(0))
