"""What each matching device would charge under a source (Kueue 0.19), and which rules made that of what is asked.

Kueue: pkg/dra/capacity.go (chargeForDevice, roundToPolicy, roundToValidRange, roundToValidValues)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.device_checks import CapacityRequest
from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

AnyRule = Rule[..., Any]
Turn = tuple[AnyRule, Quantity | None]
"""A rule and what it made of the amount; None: nothing that the device could give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCharge:
    """One device: how its charge came about, rule by rule, and the amounts that it may come to."""

    device: PublishedDevice
    turns: tuple[Turn, ...] = ()
    """Nothing when the device has no such counter or capacity."""
    amounts: tuple[Quantity, ...] = ()


def device_charges(
    rules: SourcedRequestRules, charged: SourceCharge
) -> tuple[DeviceCharge, ...]:
    """What each of the matching devices charges."""
    if charged.source.kind is SourceType.COUNTER:
        return tuple(_consumed(rules, charged, device) for device in charged.devices)
    return tuple(
        _share(rules, charged.asked, charged.source.name, device)
        for device in charged.devices
    )


def _consumed(
    rules: SourcedRequestRules, charged: SourceCharge, device: PublishedDevice
) -> DeviceCharge:
    found = [
        (rule, amount)
        for rule in rules.counter
        for amount in rule(charged.source, device)
    ]
    return DeviceCharge(
        device=device, turns=tuple(found), amounts=tuple(amount for _, amount in found)
    )


def _share(
    rules: SourcedRequestRules,
    asked: DeviceRequestContext,
    name: str,
    device: PublishedDevice,
) -> DeviceCharge:
    capacity = device.capacities.get(name)
    if capacity is None:
        return DeviceCharge(device=device)
    request = CapacityRequest(context=asked, name=name, capacity=capacity)
    share = rules.asked.answer(request)
    if share is None:
        return DeviceCharge(device=device)
    return _round_to_policy(rules, device, capacity, share.rule, share.value)


def _round_to_policy(
    rules: SourcedRequestRules,
    device: PublishedDevice,
    capacity: Capacity,
    by: AnyRule,
    share: Quantity,
) -> DeviceCharge:
    turns: list[Turn] = [(by, share)]
    for rule in rules.rounded:
        given = rule(share, capacity)
        if given is None:
            return DeviceCharge(device=device, turns=(*turns, (rule, None)))
        turns += [(rule, given)] if given.amount != share.amount else []
        share = given
    return DeviceCharge(device=device, turns=tuple(turns), amounts=(share,))
