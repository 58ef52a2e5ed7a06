"""What Kueue charges for one device under a mapping: one, an amount of a counter, or of a capacity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.quantities import Quantity, parse
from kueue_dra_ref.api.unstructured import part
from kueue_dra_vendor.files import VendorObject
from kueue_dra_vendor.inventory import InventoryDevice, match

ONE = parse(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCharge:
    """How a class is charged under one mapping."""

    resource: str
    amounts: Sequence[Quantity]
    """Of each device that has the counter or the capacity; one each where the number of devices is charged."""
    lacking: int = 0
    """How many devices have neither counter nor capacity of the sources."""

    def __str__(self) -> str:
        if not self.amounts:
            return f"{self.resource}: no device has its counter or capacity"
        least, most = min(self.amounts, key=_size), max(self.amounts, key=_size)
        text = f"{self.resource} {least}"
        if least.amount != most.amount:
            text = f"{text} to {most}"
        return f"{text}, {self.lacking} lack it" if self.lacking else text


def class_charges(
    device_class: VendorObject,
    devices: Sequence[InventoryDevice],
    mappings: Iterable[DeviceClassMapping],
) -> Iterator[ClassCharge]:
    """Give how a class is charged under each mapping that names it, for requests that name no amount."""
    for mapping in mappings:
        if device_class.name in mapping.device_classes:
            found = [charge_of(each, mapping) for each in devices]
            amounts = [each for each in found if each is not None]
            lacking = len(found) - len(amounts)
            yield ClassCharge(resource=mapping.name, amounts=amounts, lacking=lacking)


def charge_of(device: InventoryDevice, mapping: DeviceClassMapping) -> Quantity | None:
    """Give what one device charges; None if it has nothing that the sources of the mapping name."""
    if not mapping.sources:
        return ONE
    for source in mapping.sources:
        for kind, named in source.items():
            amounts = list(_amounts(device, kind, named))
            if amounts:
                return max(amounts, key=_size)
    return None


def _amounts(
    device: InventoryDevice, kind: str, source: Mapping[str, Any]
) -> Iterator[Quantity]:
    if source.get("driver") != device.device.driver or not _selects(source, device):
        return
    name = str(source.get("name"))
    if kind == "counter":
        for counter, amount in device.published.counters:
            if counter == name:
                yield amount
    elif name in device.published.capacities:
        yield _without_request(device, name)


def _selects(source: Mapping[str, Any], device: InventoryDevice) -> bool:
    selector = part(part(dict(source), "deviceSelector"), "cel")
    expression = selector.get("expression")
    return not expression or match([str(expression)], device.device).holds


def _without_request(device: InventoryDevice, name: str) -> Quantity:
    """Give what a request is charged that names no amount: the default of the policy, else the whole capacity."""
    capacity = device.published.capacities[name]
    return capacity.default or capacity.value


def _size(quantity: Quantity) -> Any:
    return quantity.amount
