"""ResourceSlices that drivers publish: pools of slices, and devices with counters and capacities.

Kubernetes: k8s.io/api/resource/v1/types.go (ResourceSlice, Device)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.cel import Device
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRange:
    """The ``validRange`` of a requestPolicy: from a minimum, in steps, to a maximum; None where there is no limit."""

    least: Quantity | None = None
    most: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """One capacity of a device, and the requestPolicy for requests of a part of it."""

    value: Quantity
    default: Quantity | None = None
    """The amount that a request without one charges (``requestPolicy.default``)."""
    values: tuple[Quantity, ...] = ()
    """The amounts that requests are rounded up to, ascending (``validValues``); empty if ``bounds`` apply."""
    bounds: ValidRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDevice:
    """A device: its attributes for selectors, the counters that it consumes, and its capacities."""

    device: Device
    counters: tuple[tuple[str, Quantity], ...] = ()
    """Name and amount of each counter that it consumes, of all counter sets."""
    capacities: Mapping[str, Capacity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSlice:
    """A slice of a pool; the pool is complete with ``of`` slices of its generation."""

    driver: str
    pool: str
    generation: int
    of: int
    devices: tuple[PublishedDevice, ...]


def slice_of(published: Manifest) -> PublishedSlice:
    """Read a stored ResourceSlice."""
    spec = published["spec"]
    driver, pool = spec["driver"], spec["pool"]
    name = pool["name"]
    devices = spec.get("devices") or ()
    return PublishedSlice(
        driver=driver,
        pool=name,
        generation=pool["generation"],
        of=pool["resourceSliceCount"],
        devices=tuple(_device(each, driver, name) for each in devices),
    )


def _device(
    published: Manifest,
    driver: str,
    pool: str,
) -> PublishedDevice:
    """Read a device; ``allowMultipleAllocations`` stays false, since Kueue 0.19 does not pass it to selectors."""
    capacities = published.get("capacity") or {}
    device = Device(
        name=published["name"],
        driver=driver,
        pool=pool,
        attributes=published.get("attributes") or {},
        capacity={name: str(each["value"]) for name, each in capacities.items()},
    )
    return PublishedDevice(
        device=device,
        counters=tuple(_counters(published)),
        capacities={name: _capacity(each) for name, each in capacities.items()},
    )


def _counters(published: Manifest) -> Iterator[tuple[str, Quantity]]:
    for consumed in published.get("consumesCounters") or ():
        counters = consumed.get("counters") or {}
        for name, counter in counters.items():
            yield name, parse(counter["value"])


def _capacity(published: Mapping[str, Any]) -> Capacity:
    policy = published.get("requestPolicy") or {}
    values = policy.get("validValues") or ()
    return Capacity(
        value=parse(published["value"]),
        default=_amount(policy, "default"),
        values=tuple(parse(each) for each in values),
        bounds=_valid_range(policy.get("validRange")),
    )


def _valid_range(written: Mapping[str, Any] | None) -> ValidRange | None:
    if written is None:
        return None
    return ValidRange(
        least=_amount(written, "min"),
        most=_amount(written, "max"),
        step=_amount(written, "step"),
    )


def _amount(written: Mapping[str, Any], field_name: str) -> Quantity | None:
    found = written.get(field_name)
    return None if found is None else parse(found)
