"""What each matching device charges under a source, rule by rule (Kueue 0.19).

Kueue: pkg/dra/capacity.go (chargeForDevice, roundToPolicy, roundToValidRange, roundToValidValues)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.device_checks import CapacityRequest
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules


class ChargeStep(NamedTuple):
    """A rule and the amount that it gives; None: the policy of the device allows no such amount."""

    rule: Rule[..., Any]
    amount: Quantity | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCharge:
    """What one device charges: the amounts it may come to, and the rules that gave them."""

    device: PublishedDevice
    steps: tuple[ChargeStep, ...] = ()
    """Empty if the device has no such counter or capacity."""
    amounts: tuple[Quantity, ...] = ()


def device_charges(
    rules: SourcedRequestRules, charged: SourceCharge
) -> tuple[DeviceCharge, ...]:
    """Give what each of the matching devices charges."""
    charge = (
        consumed_counters
        if charged.source.kind is SourceType.COUNTER
        else charge_for_device
    )
    return tuple(charge(rules, charged, device) for device in charged.devices)


def consumed_counters(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    device: PublishedDevice,
) -> DeviceCharge:
    """Give what a device consumes of the counter of a source.

    Kueue: pkg/dra/counters.go (computeCounterCharges)
    """
    found = tuple(rules.counter.answers(charged.source, device))
    return DeviceCharge(
        device=device,
        steps=tuple(ChargeStep(rule, amount) for rule, amount in found),
        amounts=tuple(amount for _, amount in found),
    )


def charge_for_device(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    device: PublishedDevice,
) -> DeviceCharge:
    """Give what a request charges of the capacity of one device: the requested amount, rounded to the policy.

    Kueue: pkg/dra/capacity.go (chargeForDevice)
    """
    name = charged.source.name
    capacity = device.capacities.get(name)
    if capacity is None:
        return DeviceCharge(device=device)
    requested = rules.requested_capacity.answer(
        CapacityRequest(context=charged.asked, name=name, capacity=capacity)
    )
    assert requested is not None
    return _round_to_policy(rules, device, capacity, requested)


def _round_to_policy(
    rules: SourcedRequestRules,
    device: PublishedDevice,
    capacity: Capacity,
    requested: Answer[Quantity],
) -> DeviceCharge:
    """Round a requested amount to the requestPolicy of a capacity; a device that allows no such amount charges none.

    Kueue: pkg/dra/capacity.go (roundToPolicy, roundToValidValues, roundToValidRange)
    """
    amount = requested.value
    steps = [ChargeStep(requested.rule, amount)]
    for rule, rounded in rules.round_capacity.steps(amount, capacity):
        if rounded is None:
            steps.append(ChargeStep(rule, None))
            return DeviceCharge(device=device, steps=tuple(steps))
        if rounded.amount != amount.amount:
            steps.append(ChargeStep(rule, rounded))
        amount = rounded
    return DeviceCharge(
        device=device,
        steps=tuple(steps),
        amounts=(amount,),
    )
