"""Amounts of counters and capacities on devices, as exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from kueue_dra_ref.api.quantities import Format, Quantity, parse
from kueue_dra_vendor.inventory import InventoryDevice

MEBIBYTE = 1 << 20


def consumed(device: InventoryDevice) -> Iterator[tuple[str, str, Fraction]]:
    """Give counter set, counter and amount of each counter that a device consumes."""
    consumptions = device.entry.get("consumesCounters") or ()
    for each in consumptions:
        set_name = str(each.get("counterSet", ""))
        counters = each.get("counters") or {}
        for counter, value in counters.items():
            amount = amount_of(value)
            yield set_name, counter, amount


def capacities(device: InventoryDevice) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give name and entry of each capacity of a device."""
    published = device.entry.get("capacity") or {}
    for name, capacity in published.items():
        entry = capacity
        if not isinstance(capacity, dict):
            entry = {"value": capacity}
        yield name, entry


def amount_of(value: Any) -> Fraction:
    """Read a quantity, alone or as the ``value`` of an entry; what is missing is 0."""
    written = value
    if isinstance(value, dict):
        written = value.get("value")
    return parse(written or 0).amount


def shown(amount: Fraction) -> str:
    """Write an amount as Kubernetes does: whole mebibytes in binary, everything else in decimal."""
    form = Format.DECIMAL
    is_whole = amount.denominator == 1
    if is_whole and amount >= MEBIBYTE:
        mebibytes = amount / MEBIBYTE
        if mebibytes.denominator == 1:
            form = Format.BINARY
    quantity = Quantity(amount=amount, format=form)
    return str(quantity)
