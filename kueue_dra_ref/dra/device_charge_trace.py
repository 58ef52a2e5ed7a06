"""How a charge by a source is explained: what each device would charge and why, and the most that one of them does.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.dra.device_charge import DeviceCharge, Turn
from kueue_dra_ref.dra.device_match import names
from kueue_dra_ref.explain.step import MOST, TIMES, Step, named
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice, ValidRange
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

_LACKING = {SourceType.COUNTER: "COUNTER-005", SourceType.CAPACITY: "CAPACITY-013"}
"""Says that a device without the counter or capacity is passed over; the rules of it ask whether all are."""
ARROW = "\N{RIGHTWARDS ARROW}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChargeTrace:
    """What a request is charged by one source: for each device, and for all; and what the matching devices offer."""

    worst: Quantity
    each: int
    total: int
    offers: Sequence[DeviceCharge]


def place(charged: SourceCharge) -> str:
    """Which request of which claim is charged."""
    asked = charged.asked
    request = f", request {asked.request.name}" if asked.request else ""
    return f"pod set {asked.pod_set.name}, claim {asked.claim.name or asked.claim.index}{request}: "


def under(charged: SourceCharge) -> str:
    """Which request is charged by which source."""
    return f"{place(charged)[:-2]}, {charged.source.kind} {charged.source.name}: "


def step(
    rules: SourcedRequestRules, charged: SourceCharge, worth: DeviceChargeTrace
) -> Step:
    """Say what a request is charged by one source."""
    source = charged.source
    each, total = (_shown(charged, n) for n in (worth.each, worth.total))
    text = (
        f"{place(charged)}{source.kind} {source.name} of {source.driver} is {each} at most on "
        f"{named(len(worth.offers), 'matching device')}: "
        f"{each} {TIMES} {named(charged.count, 'device')} = {total} {source.resource}"
    )
    first = [offer.turns[0][0] for offer in worth.offers if offer.turns]
    return Step(
        requirements=_cited(source.kind, [*first, *rules.worst_case]), text=text
    )


def adjusted(
    rules: SourcedRequestRules, charged: SourceCharge, worth: DeviceChargeTrace
) -> Iterator[Step]:
    """Say where an amount was rounded to whole units, raised to nothing, or cut off at the largest integer."""
    kind, worst = charged.source.kind, worth.worst
    if worst.amount.denominator != 1:
        text = f"{under(charged)}{worst} is rounded up to whole units: {_shown(charged, worst.ceiling)}"
        yield Step(requirements=_cited(kind, rules.times_count), text=text)
    for rule in rules.clamp if worst.ceiling != worth.each else ():
        text = f"{under(charged)}{_amount(charged, worst)} is charged as {worth.each}: {rule.sentence}"
        yield Step(requirements=rule.requirements[:1], text=text)
    if worth.total != worth.each * charged.count:
        text = f"{under(charged)}the product is cut off at the largest 64-bit integer"
        yield Step(requirements=_cited(kind, rules.times_count), text=text)


def told_offers(charged: SourceCharge, found: Sequence[DeviceCharge]) -> Iterator[Step]:
    """Say of every device what is asked of it and what rules made of that; devices that fare alike stand together."""
    alike: dict[tuple[str, tuple[str, ...]], list[PublishedDevice]] = {}
    for offer in found:
        alike.setdefault(_of_one(charged, offer), []).append(offer.device)
    for (text, cites), devices in [*alike.items()][:MOST]:
        yield Step(requirements=cites, text=f"{under(charged)}{names(devices)}{text}")
    if more := sum(len(devices) for devices in [*alike.values()][MOST:]):
        yield Step(
            requirements=(),
            text=f"{under(charged)}{named(more, 'device')} more, each in another way",
        )


def _of_one(charged: SourceCharge, offer: DeviceCharge) -> tuple[str, tuple[str, ...]]:
    source = charged.source
    if not offer.turns:
        return ": has none, passed over", (_LACKING[source.kind],)
    capacity = (
        offer.device.capacities.get(source.name)
        if source.kind is SourceType.CAPACITY
        else None
    )
    policy = f" with {_policy(charged, capacity)}" if capacity else ""
    chain = f" {ARROW} ".join(
        f"{_made(charged, turn)} ({turn[0].sentence})" for turn in offer.turns
    )
    used = _cited(source.kind, [rule for rule, _ in offer.turns])
    refused = [
        id_ for rule, given in offer.turns if given is None for id_ in rule.requirements
    ]
    return f"{policy}: {chain}", tuple(dict.fromkeys((*used, *refused)))


def _made(charged: SourceCharge, turn: Turn) -> str:
    return "cannot be given" if turn[1] is None else _amount(charged, turn[1])


def _policy(charged: SourceCharge, capacity: Capacity) -> str:
    text = _amount(charged, capacity.value)
    if capacity.values:
        return f"{text} in shares of {' or '.join(_amount(charged, each) for each in capacity.values)}"
    return (
        f"{text} in shares{_range(charged, capacity.bounds)}"
        if capacity.bounds
        else text
    )


def _range(charged: SourceCharge, bounds: ValidRange) -> str:
    words = (("from", bounds.least), ("to", bounds.most), ("in steps of", bounds.step))
    return "".join(
        f" {word} {_amount(charged, limit)}"
        for word, limit in words
        if limit is not None
    )


def _shown(charged: SourceCharge, units: int) -> str:
    resource = charged.source.resource
    return printed(resource, units, frozenset({resource}))


def _amount(charged: SourceCharge, amount: Quantity) -> str:
    return (
        _shown(charged, amount.amount.numerator)
        if amount.amount.denominator == 1
        else str(amount)
    )


def _cited(kind: SourceType, used: Sequence[Rule[..., Any]]) -> tuple[str, ...]:
    """The first requirement of each rule that is one of this kind of source."""
    ids = (
        next((one for one in rule.requirements if one.startswith(kind.upper())), "")
        for rule in used
    )
    return tuple(dict.fromkeys(filter(None, ids)))
