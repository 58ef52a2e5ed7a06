"""Partitionable devices: Kueue charges the counters that a device consumes (Kueue 0.19).

Kueue: pkg/dra/counters.go (computeCounterCharges, processCounterCharge)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.model.resourceslices import PublishedDevice
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.sources import Source, SourceCharge, SourceType
from kueue_dra_ref.target import FieldError


@rule("COUNTER-001", "COUNTER-007")
def all_counter_sets_are_charged(
    source: Source, device: PublishedDevice
) -> Sequence[Quantity]:
    """A device charges the amounts that it consumes of the counter, whatever counter set has it.

    Kueue: pkg/dra/counters.go (computeCounterCharges)
    """
    return [amount for name, amount in device.counters if name == source.name]


@rule("COUNTER-005")
def some_device_consumes_counter(charge: SourceCharge) -> FieldError | None:
    """Kueue retries a workload when no matching device consumes the counter.

    Kueue: pkg/dra/counters.go (processCounterCharge)
    """
    source = charge.source
    if source.kind is not SourceType.COUNTER or charge.offers:
        return None
    detail = (
        f'matched devices have no consumesCounters entry for counter "{source.name}"'
    )
    return charge.fault("Internal error", detail)
