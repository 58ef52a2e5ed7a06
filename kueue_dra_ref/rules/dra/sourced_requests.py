"""Kueue 0.19, counters and capacity: classes that are charged by sources, the devices looked at, and what is amiss.

Kueue: pkg/dra/counters.go (matchDevicesForSource, processCounterCharge); pkg/dra/capacity.go (processCapacityCharge)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.quantities import Quantity, clamp
from kueue_dra_ref.cel import EvaluationError
from kueue_dra_ref.model.lister import DeviceRequestContext, Trial, all_hold
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice, PublishedSlice
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, First, Fold
from kueue_dra_ref.model.sources import Source, SourceCharge, SourceMatch, sources_in
from kueue_dra_ref.target import FieldError

Mappings = Sequence[DeviceClassMapping]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRequestRules:
    """How device classes with sources are charged: by counters or capacities of devices, not by their number."""

    sources: First[[Mappings, str], Sequence[Source]] = First()
    """Which sources does a device class have? Without rules: a mapping has no sources."""
    charge_by_sources: AnyOf[[Sequence[Source]]] = AnyOf()
    """Do the sources charge instead of the number of devices? Without rules: the number of devices is charged."""
    drivers: First[[Sequence[Sequence[Source]]], Sequence[str]] = First()
    """On the devices of which drivers are selectors tried, by the sources of each request? Without rules: of all."""
    slices: Fold[Sequence[PublishedSlice], [Source]] = Fold()
    """Which ResourceSlices count? Each rule removes some. Without rules: slices are not read."""
    eligible: AllOf[[SourceMatch], Trial] = AllOf()
    """Does a device match the selectors of source, class and request? Without rules: none is compared."""
    match_error: First[[SourceCharge], FieldError] = First()
    """What is wrong with the class or the matching devices? Without rules: nothing is checked."""
    counter: Collect[[Source, PublishedDevice], Quantity] = Collect()
    """Which amounts of a counter does a device consume? Without rules: there are no counters."""
    requested_capacity: First[[DeviceRequestContext, str, Capacity], Quantity] = First()
    """How much capacity of a device does a request take? Without rules: there are no capacities."""
    round_capacity: Fold[Quantity, [Capacity]] = Fold()
    """To what is the amount rounded? A rule may find that the device cannot serve it. Without rules: not at all."""
    amount_error: First[[SourceCharge], FieldError] = First()
    """What is wrong with the amounts of the matching devices? Without rules: nothing is checked."""
    worst_case: First[[Sequence[Quantity]], Quantity] = First()
    """Which amount is charged for one device, of those of all matching devices? Without rules: none."""
    clamp: Fold[int, []] = Fold()
    """Is the amount bounded? Without rules: it is not."""
    times_count: First[[int, int], int] = First()
    """What do several devices charge, by the amount and their number? Without rules: nothing."""
    in_bytes: First[[Mappings], frozenset[str]] = First()
    """Which resources are printed in powers of 1024? Without rules: all amounts are plain numbers."""
    watched_drivers: Collect[[Mappings], str] = Collect()
    """Changed slices of which drivers requeue inadmissible workloads? Without rules: of none."""


@rule("DEVICE-001", "COUNTER-004", "CAPACITY-009")
def sources_of_a_class_are_those_of_its_mappings(
    mappings: Mappings, device_class: str
) -> Sequence[Source]:
    """Every source of every mapping that names the class.

    Kueue: pkg/dra/mapper.go (getCounterConfigs, getCapacityConfigs, PopulateFromConfiguration)
    """
    return [
        source
        for each in mappings
        if device_class in each.device_classes
        for source in sources_in(each)
    ]


@rule("DEVICE-002")
def uncountable_classes_are_not_charged(sources: Sequence[Source]) -> bool:
    """A class with sources is charged by them and not by the number of devices.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    return bool(sources)


@rule("DEVICE-003")
def selectors_are_tried_on_the_drivers_of_the_sources(
    each: Sequence[Sequence[Source]],
) -> Sequence[str] | None:
    """Where all classes of a claim's requests with selectors have sources, other drivers' devices are not tried.

    Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
    """
    if not all(each):
        return None
    return list(dict.fromkeys(source.driver for sources in each for source in sources))


@rule("DEVICE-007")
def the_selector_of_the_source_holds(tried: SourceMatch) -> Trial:
    """The source narrows the devices first.

    Kueue: pkg/dra/counters.go (matchDevicesForSource, matchDevicesWithSelectors)
    """
    return _told(
        "deviceSelector", tried, all_hold((tried.source.selector,), tried.device)
    )


@rule("DEVICE-008")
def the_selectors_of_a_sourced_class_hold(tried: SourceMatch) -> Trial:
    """The class narrows what the source left.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    return _told(
        "DeviceClass selector", tried, all_hold(tried.class_selectors, tried.device)
    )


@rule("DEVICE-009")
def the_selectors_of_a_sourced_request_hold(tried: SourceMatch) -> Trial:
    """The request narrows what the class left.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    return _told(
        "request selector", tried, all_hold(tried.request_selectors, tried.device)
    )


def _told(where: str, tried: SourceMatch, outcome: Trial) -> Trial:
    if not isinstance(outcome, EvaluationError):
        return outcome
    name = tried.device.name
    return EvaluationError(
        detail=f"CEL evaluation error in {where} for device {name}: {outcome.detail}"
    )


@rule("DEVICE-010", "DEVICE-021")
def a_sourced_class_must_exist(charged: SourceCharge) -> FieldError | None:
    """A class with sources needs its DeviceClass object, whether the request has selectors or not.

    Kueue: pkg/dra/counters.go (prepareDeviceSelectors); pkg/dra/claims.go (resolveAndCompileDeviceClass)
    """
    if charged.class_exists or not charged.asked.request:
        return None
    name = charged.asked.request.device_class
    detail = f'failed to get DeviceClass {name}: DeviceClass.resource.k8s.io "{name}" not found'
    return charged.fault("Internal error", detail)


@rule("DEVICE-023", "DEVICE-024")
def the_selectors_of_a_sourced_class_compile(
    charged: SourceCharge,
) -> FieldError | None:
    """A class is compiled before any device is tried: one that cannot be refuses the workload for good.

    Kueue: pkg/dra/counters.go (prepareDeviceSelectors); pkg/dra/claims.go (resolveAndCompileDeviceClass)
    """
    return charged.uncompiled()


@rule("DEVICE-011")
def sourced_selector_error_is_retried(charged: SourceCharge) -> FieldError | None:
    """A selector that errs on a device keeps the workload out until the device is gone.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    failed = charged.ended if isinstance(charged.ended, EvaluationError) else None
    return charged.fault("Internal error", failed.detail) if failed else None


@rule("DEVICE-012")
def too_few_sourced_devices_reject(charged: SourceCharge) -> FieldError | None:
    """As many devices must match as are asked for.

    Kueue: pkg/dra/counters.go (processCounterCharge); pkg/dra/capacity.go (processCapacityCharge)
    """
    found = len(charged.devices)
    if found >= charged.count:
        return None
    wanted = f"{found} device(s) match but {charged.count} requested"
    detail = f"insufficient matching devices for {charged.source.kind} driver: {wanted}"
    return charged.fault("Internal error", detail)


@rule("COUNTER-002", "CAPACITY-008")
def max_over_devices(offers: Sequence[Quantity]) -> Quantity:
    """Which device will be allocated is not known, so the worst is charged.

    Kueue: pkg/dra/counters.go (computeCounterCharges); pkg/dra/capacity.go (computeCapacityCharge)
    """
    return max(offers, key=lambda each: each.amount)


@rule("COUNTER-006")
def clamp_negative_to_zero(amount: int) -> int:
    """A negative amount gives no quota back.

    Kueue: pkg/dra/counters.go (safeChargeValue)
    """
    return max(amount, 0)


@rule("COUNTER-003", "CAPACITY-002")
def each_sourced_device_is_charged(amount: int, count: int) -> int:
    """The amount for one device times the number of devices, up to the largest 64-bit integer.

    Kueue: pkg/dra/counters.go (safeChargeValue)
    """
    return clamp(amount * count)


@rule("DEVICE-015")
def sourced_amounts_in_bytes(mappings: Mappings) -> frozenset[str]:
    """Resources with sources are printed in powers of 1024.

    Kueue: pkg/resources/resource_formatter.go (RegisterBinaryFormattedResource, usesBinaryFormat);
        pkg/dra/mapper.go (CounterBasedResourceNames, CapacityBasedResourceNames)
    """
    return frozenset(each.name for each in mappings if sources_in(each))


@rule("DEVICE-022")
def source_driver_slices_are_watched(mappings: Mappings) -> frozenset[str]:
    """Whatever is mapped: only drivers that a source names.

    Kueue: pkg/controller/core/resourceslice_controller.go (NewResourceSliceReconciler, Reconcile)
    """
    return frozenset(source.driver for each in mappings for source in sources_in(each))
