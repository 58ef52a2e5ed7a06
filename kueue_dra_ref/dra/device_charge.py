"""What each matching device would charge under a source (Kueue 0.19), and which rules made that of what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.lister import Asked
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import Charged, Kind
from kueue_dra_ref.rules.dra.sourced_requests import Sourcing

AnyRule = Rule[..., Any]
Turn = tuple[AnyRule, Quantity | None]
"""A rule and what it made of the amount; None: nothing that the device could give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One device: how its charge came about, rule by rule, and the amounts that it may come to."""

    device: PublishedDevice
    turns: tuple[Turn, ...] = ()
    """Nothing when the device has no such counter or capacity."""
    amounts: tuple[Quantity, ...] = ()


def offers(rules: Sourcing, charged: Charged) -> tuple[Offer, ...]:
    """What each of the matching devices charges."""
    if charged.source.kind is Kind.COUNTER:
        return tuple(_consumed(rules, charged, device) for device in charged.devices)
    return tuple(
        _share(rules, charged.asked, charged.source.name, device)
        for device in charged.devices
    )


def _consumed(rules: Sourcing, charged: Charged, device: PublishedDevice) -> Offer:
    found = [
        (rule, amount)
        for rule in rules.counter
        for amount in rule(charged.source, device)
    ]
    return Offer(
        device=device, turns=tuple(found), amounts=tuple(amount for _, amount in found)
    )


def _share(rules: Sourcing, asked: Asked, name: str, device: PublishedDevice) -> Offer:
    capacity = device.capacities.get(name)
    for rule in rules.asked if capacity else ():
        assert capacity is not None
        if (share := rule(asked, name, capacity)) is not None:
            return _rounded(rules, device, capacity, rule, share)
    return Offer(device=device)


def _rounded(
    rules: Sourcing,
    device: PublishedDevice,
    capacity: Capacity,
    by: AnyRule,
    share: Quantity,
) -> Offer:
    turns: list[Turn] = [(by, share)]
    for rule in rules.rounded:
        given = rule(share, capacity)
        if given is None:
            return Offer(device=device, turns=(*turns, (rule, None)))
        turns += [(rule, given)] if given.amount != share.amount else []
        share = given
    return Offer(device=device, turns=tuple(turns), amounts=(share,))
