"""How `explain` shows a charge by a source: what each device charges and why, and the largest amount of them.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.dra.device_charge import ChargeStep, DeviceCharge
from kueue_dra_ref.dra.device_match import names
from kueue_dra_ref.explain.step import MOST, TIMES, Step, named
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice, ValidRange
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

_LACKING = {SourceType.COUNTER: "COUNTER-005", SourceType.CAPACITY: "CAPACITY-013"}
"""Requirements that Kueue skips a device without the counter or capacity; their rules ask whether all devices are."""
ARROW = "\N{RIGHTWARDS ARROW}"

Explained = tuple[str, tuple[str, ...]]
"""A text and the requirements that it cites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChargeTrace:
    """What one source charges for a request: the largest amount, per device, in total, and for each matching device."""

    worst: Quantity
    per_device: int
    total: int
    devices: Sequence[DeviceCharge]


def source_title(charged: SourceCharge) -> str:
    """Name the request and the source that charges it."""
    source = charged.source
    return f"{charged.asked.title}, {source.kind} {source.name}: "


def charge_step(
    rules: SourcedRequestRules, charged: SourceCharge, trace: DeviceChargeTrace
) -> Step:
    """Explain what one source charges for a request."""
    source = charged.source
    per_device = _format_units(charged, trace.per_device)
    total = _format_units(charged, trace.total)
    matching = named(len(trace.devices), "matching device")
    requested = named(charged.count, "device")
    text = (
        f"{charged.asked.title}: {source.kind} {source.name} of {source.driver} is at most {per_device} "
        f"on {matching}: {per_device} {TIMES} {requested} = {total} {source.resource}"
    )
    used = [device.steps[0].rule for device in trace.devices if device.steps]
    used += rules.worst.rules
    return Step(requirements=_cited(source.kind, used), text=text)


def adjustment_steps(
    rules: SourcedRequestRules, charged: SourceCharge, trace: DeviceChargeTrace
) -> Iterator[Step]:
    """Explain where Kueue rounds an amount to whole units, raises it to zero, or saturates it."""
    title = source_title(charged)
    worst = trace.worst
    units = worst.ceiling
    multiplied = _cited(charged.source.kind, rules.times.rules)
    if worst.amount.denominator != 1:
        rounded = _format_units(charged, units)
        text = f"{title}{worst} is rounded up to whole units: {rounded}"
        yield Step(requirements=multiplied, text=text)
    if units != trace.per_device:
        change = f"{_format(charged, worst)} is charged as {trace.per_device}"
        for rule in rules.positive.rules:
            text = f"{title}{change}: {rule.sentence}"
            yield Step(requirements=rule.requirements[:1], text=text)
    if trace.total != trace.per_device * charged.count:
        text = f"{title}the product saturates at the largest 64-bit integer"
        yield Step(requirements=multiplied, text=text)


def device_steps(
    charged: SourceCharge, devices: Sequence[DeviceCharge]
) -> Iterator[Step]:
    """Explain what each device charges; devices that charge the same for the same reason share a step."""
    alike: dict[Explained, list[PublishedDevice]] = {}
    for each in devices:
        alike.setdefault(_explain_device(charged, each), []).append(each.device)
    title = source_title(charged)
    groups = list(alike.items())
    for (text, cites), group in groups[:MOST]:
        yield Step(requirements=cites, text=f"{title}{names(group)}{text}")
    more = sum(len(group) for _, group in groups[MOST:])
    if more:
        text = f"{title}{named(more, 'more device')}, each charged differently"
        yield Step(requirements=(), text=text)


def _explain_device(charged: SourceCharge, device: DeviceCharge) -> Explained:
    source = charged.source
    if not device.steps:
        return ": has none, skipped", (_LACKING[source.kind],)
    policy = ""
    if source.kind is SourceType.CAPACITY:
        capacity = device.device.capacities[source.name]
        policy = f" with {_format_policy(charged, capacity)}"
    chain = f" {ARROW} ".join(_explain_step(charged, step) for step in device.steps)
    cites = [*_cited(source.kind, [step.rule for step in device.steps])]
    for step in device.steps:
        if step.amount is None:
            cites += step.rule.requirements
    return f"{policy}: {chain}", tuple(dict.fromkeys(cites))


def _explain_step(charged: SourceCharge, step: ChargeStep) -> str:
    amount = "not allowed"
    if step.amount is not None:
        amount = _format(charged, step.amount)
    return f"{amount} ({step.rule.sentence})"


def _format_policy(charged: SourceCharge, capacity: Capacity) -> str:
    """Format a capacity with the amounts that its requestPolicy allows."""
    text = _format(charged, capacity.value)
    if capacity.values:
        values = " or ".join(_format(charged, each) for each in capacity.values)
        return f"{text}, valid values {values}"
    if capacity.bounds:
        return f"{text}, valid range{_format_range(charged, capacity.bounds)}"
    return text


def _format_range(charged: SourceCharge, bounds: ValidRange) -> str:
    text = ""
    if bounds.least is not None:
        text += f" from {_format(charged, bounds.least)}"
    if bounds.most is not None:
        text += f" to {_format(charged, bounds.most)}"
    if bounds.step is not None:
        text += f" in steps of {_format(charged, bounds.step)}"
    return text


def _format_units(charged: SourceCharge, units: int) -> str:
    resource = charged.source.resource
    return printed(resource, units, frozenset({resource}))


def _format(charged: SourceCharge, quantity: Quantity) -> str:
    if quantity.amount.denominator == 1:
        return _format_units(charged, quantity.amount.numerator)
    return str(quantity)


def _cited(kind: SourceType, rules: Iterable[Rule[..., Any]]) -> tuple[str, ...]:
    """Give the first requirement of each rule that is about this kind of source."""
    prefix = kind.upper()
    cites: dict[str, None] = {}
    for rule in rules:
        own = [one for one in rule.requirements if one.startswith(prefix)]
        cites |= dict.fromkeys(own[:1])
    return tuple(cites)
