"""How `explain` shows a charge by a source: what each device charges and why, and the largest amount of them.

No counterpart: explanation only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.dra.device_charge import ChargeStep, DeviceCharge
from kueue_dra_ref.dra.device_match import names
from kueue_dra_ref.explain.step import ARROW, MOST, TIMES, Step, named
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice, ValidRange
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

_LACKING = {
    SourceType.COUNTER: "COUNTER-005",
    SourceType.CAPACITY: "CAPACITY-013",
}
"""Requirements that Kueue skips a device without the counter or capacity; their rules ask whether all devices are."""
AnyRule = Rule[..., Any]
Devices = list[PublishedDevice]


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
    request = charged.asked.title
    return f"{request}, {source.kind} {source.name}: "


def charge_step(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    trace: DeviceChargeTrace,
) -> Step:
    """Explain what one source charges for a request."""
    source = charged.source
    number = len(trace.devices)
    matching = named(number, "matching device")
    requested = named(charged.count, "device")
    per_device = _format_units(charged, trace.per_device)
    total = _format_units(charged, trace.total)
    text = f"{charged.asked.title}: "
    text += f"{source.kind} {source.name}"
    text += f" of {source.driver}"
    text += f" is at most {per_device} on {matching}: "
    text += f"{per_device} {TIMES} {requested}"
    text += f" = {total} {source.resource}"
    used: list[AnyRule] = []
    for device in trace.devices:
        for step in device.steps[:1]:
            used.append(step.rule)
    used += rules.worst_case.rules
    cites = _cited(source.kind, used)
    return Step(requirements=cites, text=text)


def adjustment_steps(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    trace: DeviceChargeTrace,
) -> Iterator[Step]:
    """Explain where Kueue rounds an amount to whole units, raises it to zero, or saturates it."""
    title = source_title(charged)
    worst = trace.worst
    units = worst.ceiling
    kind = charged.source.kind
    multiplied = _cited(kind, rules.times_count.rules)
    if worst.amount.denominator != 1:
        rounded = _format_units(charged, units)
        text = f"{title}{worst} is rounded up to whole units: {rounded}"
        yield Step(requirements=multiplied, text=text)
    per_device = trace.per_device
    if units != per_device:
        amount = _format(charged, worst)
        text = f"{title}{amount}"
        text += f" is charged as {per_device}"
        for rule in rules.clamp.rules:
            because = f"{text}: {rule.sentence}"
            yield Step.by(because, rule)
    product = per_device * charged.count
    if trace.total != product:
        text = f"{title}the product saturates at the largest 64-bit integer"
        yield Step(requirements=multiplied, text=text)


def device_steps(
    charged: SourceCharge, devices: Sequence[DeviceCharge]
) -> Iterator[Step]:
    """Explain what each device charges; devices that charge the same for the same reason share a step."""
    alike: dict[Step, Devices] = defaultdict(list)
    for each in devices:
        step = _explain_device(charged, each)
        alike[step].append(each.device)
    title = source_title(charged)
    groups = list(alike.items())
    for step, group in groups[:MOST]:
        listed = names(group)
        text = f"{title}{listed}{step.text}"
        yield replace(step, text=text)
    more = 0
    for _, group in groups[MOST:]:
        more += len(group)
    if more:
        others = named(more, "more device")
        text = f"{title}{others}, each charged differently"
        yield Step.by(text)


def _explain_device(charged: SourceCharge, device: DeviceCharge) -> Step:
    """Explain what one device charges, in a text that follows the name of the device."""
    source = charged.source
    if not device.steps:
        lacking = (_LACKING[source.kind],)
        return Step(requirements=lacking, text=": has none, skipped")
    text = ": "
    if source.kind is SourceType.CAPACITY:
        capacity = device.device.capacities[source.name]
        policy = _format_policy(charged, capacity)
        text = f" with {policy}: "
    amounts = [_explain_step(charged, step) for step in device.steps]
    text += f" {ARROW} ".join(amounts)
    used = [step.rule for step in device.steps]
    cites = list(_cited(source.kind, used))
    for step in device.steps:
        if step.amount is None:
            cites += step.rule.requirements
    unique = dict.fromkeys(cites)
    return Step(requirements=tuple(unique), text=text)


def _explain_step(charged: SourceCharge, step: ChargeStep) -> str:
    amount = "not allowed"
    if step.amount is not None:
        amount = _format(charged, step.amount)
    return f"{amount} ({step.rule.sentence})"


def _format_policy(charged: SourceCharge, capacity: Capacity) -> str:
    """Format a capacity with the amounts that its requestPolicy allows."""
    text = _format(charged, capacity.value)
    if capacity.values:
        values = [_format(charged, each) for each in capacity.values]
        text += f", valid values {' or '.join(values)}"
    elif capacity.bounds:
        text += _format_range(charged, capacity.bounds)
    return text


def _format_range(charged: SourceCharge, bounds: ValidRange) -> str:
    text = ", valid range"
    parts = {
        "from": bounds.least,
        "to": bounds.most,
        "in steps of": bounds.step,
    }
    for preposition, limit in parts.items():
        if limit is not None:
            amount = _format(charged, limit)
            text += f" {preposition} {amount}"
    return text


def _format_units(charged: SourceCharge, units: int) -> str:
    """Format whole units, which for cpu are cores; Kueue counts thousandths of them only in quota."""
    resource = charged.source.resource
    if resource == "cpu":
        return str(units)
    return printed(resource, units, frozenset({resource}))


def _format(charged: SourceCharge, quantity: Quantity) -> str:
    if quantity.amount.denominator == 1:
        return _format_units(charged, quantity.amount.numerator)
    return str(quantity)


def _cited(kind: SourceType, rules: Iterable[AnyRule]) -> tuple[str, ...]:
    """Give the first requirement of each rule that is about this kind of source."""
    prefix = kind.upper()
    cites: dict[str, None] = {}
    for rule in rules:
        for requirement in rule.requirements:
            if requirement.startswith(prefix):
                cites[requirement] = None
                break
    return tuple(cites)
