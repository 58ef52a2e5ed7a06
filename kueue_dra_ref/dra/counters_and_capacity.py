"""Charges of classes with sources (Kueue 0.19): counters of all pod sets first, then capacities.

Kueue: pkg/dra/counters.go (GetCounterResourcesForWorkload, processCounterCharge);
    pkg/dra/capacity.go (DetermineCapacityResourcesForWorkload, processCapacityCharge)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.cel import Device, Undecided
from kueue_dra_ref.dra.device_charge import device_charges
from kueue_dra_ref.dra.device_charge_trace import (
    DeviceChargeTrace,
    adjustment_steps,
    charge_step,
    device_steps,
    source_title,
)
from kueue_dra_ref.dra.device_match import match_devices
from kueue_dra_ref.dra.pools import group_slices_by_pool
from kueue_dra_ref.dra.selectors import SelectorError
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister, class_selectors
from kueue_dra_ref.model.sources import Source, SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules

Mappings = Sequence[DeviceClassMapping]


@dataclass(slots=True, kw_only=True)
class SourcedCharges:
    """What one pod of each pod set charges by sources: by pod set, then resource, one amount for each source."""

    charges: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    ended: SelectorError | Undecided | None = None
    """Why a request cannot be charged; Kueue does not charge the requests after it."""


def is_charged_by_sources(
    rules: SourcedRequestRules,
    mappings: Mappings,
    device_class: str,
) -> bool:
    """Whether a DeviceClass charges counters or capacities instead of devices."""
    return rules.charge_by_sources(_sources(rules, mappings, device_class))


def devices_to_match(
    rules: SourcedRequestRules,
    mappings: Mappings,
    lister: Lister,
    requests: Sequence[DeviceRequestContext],
) -> Sequence[Device]:
    """Give the devices that the selectors of one claim are matched against: of some drivers, or of all."""
    sources: list[Sequence[Source]] = []
    for context in requests:
        request = context.checked
        if request.selectors:
            sources.append(_sources(rules, mappings, request.device_class))
    drivers = rules.drivers(sources)
    devices = lister.devices()
    if drivers is None:
        return devices
    matched: list[Device] = []
    for driver in drivers:
        matched += [device for device in devices if device.driver == driver]
    return matched


def counter_and_capacity_resources(
    rules: SourcedRequestRules,
    mappings: Mappings,
    requests: Sequence[DeviceRequestContext],
) -> SourcedCharges:
    """Charge every request of a workload by the sources of its DeviceClass; the first error ends it.

    Kueue: pkg/dra/counters.go (GetCounterResourcesForWorkload);
        pkg/dra/capacity.go (DetermineCapacityResourcesForWorkload)
    """
    done = SourcedCharges()
    for charged in _source_charges(rules, mappings, requests):
        found = _process_charge(rules, charged, done.steps)
        if not isinstance(found, DeviceChargeTrace):
            done.ended = found
            return done
        by_resource = done.charges.setdefault(charged.asked.pod_set.name, {})
        by_resource.setdefault(charged.source.resource, []).append(found.total)
    return done


def _source_charges(
    rules: SourcedRequestRules,
    mappings: Mappings,
    requests: Sequence[DeviceRequestContext],
) -> Iterator[SourceCharge]:
    """Pair each request with each source of its DeviceClass: counters first, then capacities."""
    for kind in SourceType:
        for context in requests:
            request = context.checked
            for source in _sources(rules, mappings, request.device_class):
                if source.kind is kind:
                    yield SourceCharge(asked=context, request=request, source=source)


def _sources(
    rules: SourcedRequestRules,
    mappings: Mappings,
    device_class: str,
) -> Sequence[Source]:
    return rules.sources.or_else((), mappings, device_class)


def _process_charge(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    steps: list[Step],
) -> DeviceChargeTrace | SelectorError | Undecided:
    """Match devices for one request under one source, and charge the largest amount for each device requested.

    Kueue: pkg/dra/counters.go (processCounterCharge); pkg/dra/capacity.go (processCapacityCharge)
    """
    matched = _match_devices(rules, charged, steps)
    if isinstance(matched.ended, Undecided):
        return matched.ended
    devices = device_charges(rules, matched)
    amounts = [amount for device in devices for amount in device.amounts]
    offered = replace(matched, offers=amounts)
    rejected = rules.match_error.answer(offered) or rules.amount_error.answer(offered)
    steps += device_steps(offered, devices)
    if rejected:
        cites = cited([rejected.rule])
        return SelectorError(fault=rejected.value, requirements=cites)
    worst = rules.worst_case.or_else(amounts[0], amounts)
    per_device = rules.clamp(worst.ceiling)
    total = rules.times_count.or_else(per_device, per_device, charged.count)
    trace = DeviceChargeTrace(
        worst=worst,
        per_device=per_device,
        total=total,
        devices=devices,
    )
    steps += adjustment_steps(rules, offered, trace)
    steps.append(charge_step(rules, offered, trace))
    return trace


def _match_devices(
    rules: SourcedRequestRules,
    charged: SourceCharge,
    steps: list[Step],
) -> SourceCharge:
    """Give a charge with the devices that match it, or with why none do.

    Kueue: pkg/dra/counters.go (matchDevicesForSource, prepareDeviceSelectors)
    """
    context, source, request = charged.asked, charged.source, charged.request
    of_class = class_selectors(context.lister, request.device_class)
    if of_class is None:
        return replace(charged, class_exists=False)
    slices, skipped = group_slices_by_pool(rules, source, context.lister.slices())
    found = match_devices(rules, source, slices, of_class, request.selectors)
    steps += skipped
    steps += found.steps(rules, source_title(charged), source.driver)
    return replace(charged, devices=found.devices, ended=found.ended)
