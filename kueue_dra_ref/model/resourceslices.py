"""What drivers publish (resource.k8s.io, ResourceSlice): pools of slices, and devices with counters and capacities.

Kubernetes: k8s.io/api/resource/v1/types.go (ResourceSlice, Device)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.cel import Device
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRange:
    """What a share of a capacity may be: from a least amount, in steps, up to a most; None where there is no limit."""

    least: Quantity | None = None
    most: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """One capacity of a device, and the policy under which it is given out in shares."""

    value: Quantity
    default: Quantity | None = None
    """The share of who does not say how much."""
    values: tuple[Quantity, ...] = ()
    """The only shares there are, ascending; empty: ``bounds`` say."""
    bounds: ValidRange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedDevice:
    """A device: what selectors see of it, and what it consumes and offers."""

    device: Device
    counters: tuple[tuple[str, Quantity], ...] = ()
    """Name and amount of each counter that it consumes, of whatever set."""
    capacities: Mapping[str, Capacity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSlice:
    """A slice of a pool that should have ``of`` slices of its generation."""

    driver: str
    pool: str
    generation: int
    of: int
    devices: tuple[PublishedDevice, ...]


def slice_of(published: Manifest) -> PublishedSlice:
    """Read a stored ResourceSlice."""
    spec = published["spec"]
    driver, pool = str(spec.get("driver", "")), spec.get("pool") or {}
    name = str(pool.get("name", ""))
    return PublishedSlice(
        driver=driver,
        pool=name,
        generation=int(pool.get("generation") or 0),
        of=int(pool.get("resourceSliceCount") or 0),
        devices=tuple(
            _device(found, driver, name) for found in spec.get("devices") or ()
        ),
    )


def _device(found: Manifest, driver: str, pool: str) -> PublishedDevice:
    """Kueue 0.19 never tells a selector of ``allowMultipleAllocations``, so it stays false here too."""
    capacity = found.get("capacity") or {}
    return PublishedDevice(
        device=Device(
            name=str(found.get("name", "")),
            driver=driver,
            pool=pool,
            attributes=found.get("attributes") or {},
            capacity={
                name: str(amount.get("value")) for name, amount in capacity.items()
            },
        ),
        counters=tuple(
            (name, parse(counter.get("value") or 0))
            for consumed in found.get("consumesCounters") or ()
            for name, counter in (consumed.get("counters") or {}).items()
        ),
        capacities={name: _capacity(amount) for name, amount in capacity.items()},
    )


def _capacity(found: Mapping[str, Any]) -> Capacity:
    policy = found.get("requestPolicy") or {}
    bounds = policy.get("validRange")
    return Capacity(
        value=parse(found.get("value") or 0),
        default=_amount(policy.get("default")),
        values=tuple(parse(each) for each in policy.get("validValues") or ()),
        bounds=None
        if bounds is None
        else ValidRange(
            least=_amount(bounds.get("min")),
            most=_amount(bounds.get("max")),
            step=_amount(bounds.get("step")),
        ),
    )


def _amount(written: Any) -> Quantity | None:
    return None if written is None else parse(written)
