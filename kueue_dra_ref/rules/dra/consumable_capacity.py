"""Consumable capacity: the share that Kueue charges under the request policy of a device (Kueue 0.19).

Kueue: pkg/dra/capacity.go (roundToPolicy, chargeForDevice, roundToValidRange)
"""

from __future__ import annotations

from kueue_dra_ref.api.quantities import Quantity, clamp, parse, whole
from kueue_dra_ref.model.device_checks import CapacityRequest
from kueue_dra_ref.model.resourceslices import Capacity, ValidRange
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.sources import SourceCharge, SourceType
from kueue_dra_ref.target import FieldError


@rule("CAPACITY-001", "CAPACITY-010")
def requested_capacity(request: CapacityRequest) -> Quantity | None:
    """Kueue charges the share that the request asks for under exactly the name of the capacity.

    Kueue: pkg/dra/capacity.go (processCapacityCharge, chargeForDevice)
    """
    amount = request.context.checked.capacity.get(request.name)
    return None if amount is None else parse(amount)


@rule("CAPACITY-003")
def policy_default(request: CapacityRequest) -> Quantity | None:
    """Kueue charges the default of the request policy when the request asks for no share.

    Kueue: pkg/dra/capacity.go (chargeForDevice)
    """
    return request.capacity.default


@rule("CAPACITY-004")
def full_capacity(request: CapacityRequest) -> Quantity | None:
    """Kueue charges the whole capacity when neither the request nor the request policy gives a share.

    Kueue: pkg/dra/capacity.go (chargeForDevice)
    """
    return request.capacity.value


@rule("CAPACITY-005", "CAPACITY-011")
def round_to_valid_values(share: Quantity, capacity: Capacity) -> Quantity | None:
    """Kueue charges the smallest of validValues that is large enough; a device without one does not match.

    Kueue: pkg/dra/capacity.go (roundToPolicy, roundToValidValues)
    """
    if not capacity.values:
        return share
    for value in capacity.values:
        if value.amount >= share.amount:
            return value
    return None


@rule("CAPACITY-006")
def round_up_to_range_min(share: Quantity, capacity: Capacity) -> Quantity | None:
    """Kueue raises a share below the minimum of validRange to the minimum.

    Kueue: pkg/dra/capacity.go (roundToPolicy, roundToValidRange)
    """
    least = _bounds(capacity).least
    if least is None:
        return share
    return whole(max(share.ceiling, least.ceiling))


@rule("CAPACITY-007")
def round_up_to_range_step(share: Quantity, capacity: Capacity) -> Quantity | None:
    """Kueue raises a share to the next whole number of steps above the minimum of validRange.

    Kueue: pkg/dra/capacity.go (roundToPolicy, roundToValidRange)
    """
    bounds = _bounds(capacity)
    least, step = bounds.least, bounds.step
    if least is None or step is None:
        return share
    size = max(step.ceiling, 1)  # API servers up to 1.36 store negative steps
    above_least = clamp(share.ceiling - least.ceiling)
    steps = -(-above_least // size)
    raised = clamp(steps * size)
    return whole(clamp(least.ceiling + raised))


@rule("CAPACITY-012", "CAPACITY-011")
def reject_above_range_max(share: Quantity, capacity: Capacity) -> Quantity | None:
    """A device cannot provide a share that exceeds the maximum of validRange after rounding.

    Kueue: pkg/dra/capacity.go (roundToPolicy, roundToValidRange)
    """
    most = _bounds(capacity).most
    if most is None or share.ceiling <= most.ceiling:
        return share
    return None


def _bounds(capacity: Capacity) -> ValidRange:
    """Give the validRange of a request policy; validValues take precedence over it."""
    if capacity.values or not capacity.bounds:
        return ValidRange()
    return capacity.bounds


@rule("CAPACITY-013")
def some_device_has_capacity(charge: SourceCharge) -> FieldError | None:
    """Kueue retries a workload when no matching device has the capacity.

    Kueue: pkg/dra/capacity.go (computeCapacityCharge)
    """
    source = charge.source
    if source.kind is not SourceType.CAPACITY:
        return None
    if any(source.name in device.capacities for device in charge.devices):
        return None
    return charge.fault(
        "Internal error", f'matched devices have no capacity dimension "{source.name}"'
    )


@rule("CAPACITY-011")
def no_device_satisfies_capacity(charge: SourceCharge) -> FieldError | None:
    """Kueue rejects a workload when no matching device can provide the share.

    Kueue: pkg/dra/capacity.go (computeCapacityCharge)
    """
    if charge.source.kind is not SourceType.CAPACITY or charge.offers:
        return None
    name = charge.source.name
    detail = f'capacity request cannot be satisfied by any matched device\'s RequestPolicy for dimension "{name}"'
    return charge.fault("Invalid value", detail, "null")
