"""Classes with sources: the sources, the devices that match, the charge and the errors (Kueue 0.19).

Kueue: pkg/dra/counters.go (matchDevicesForSource, processCounterCharge); pkg/dra/capacity.go (processCapacityCharge)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.quantities import Quantity, clamp
from kueue_dra_ref.cel import EvaluationError
from kueue_dra_ref.model.device_checks import CapacityRequest, SourceSlices
from kueue_dra_ref.model.lister import Trial, all_hold
from kueue_dra_ref.model.resourceslices import Capacity, PublishedDevice
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, First, Fold
from kueue_dra_ref.model.sources import Source, SourceCharge, SourceMatch, sources_in
from kueue_dra_ref.target import FieldError

Mappings = Sequence[DeviceClassMapping]
Sources = Sequence[Source]
Amounts = Sequence[Quantity]
Names = frozenset[str]
MatchErrors = First[[SourceCharge], FieldError]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedRequestRules:
    """How device classes with sources are charged: by counters or capacities of devices, not by their number."""

    sources: First[[Mappings, str], Sources] = First()
    """Which sources does a device class have? Without rules: a mapping has no sources."""
    charge_by_sources: AnyOf[[Sources]] = AnyOf()
    """Do the sources charge instead of the number of devices? Without rules: the number of devices is charged."""
    drivers: First[[Sequence[Sources]], Sequence[str]] = First()
    """On the devices of which drivers are selectors tried, by the sources of each request? Without rules: of any."""
    slices: Fold[SourceSlices, []] = Fold()
    """Which ResourceSlices count? Each rule removes some. Without rules: slices are not read."""
    eligible: AllOf[[SourceMatch], Trial] = AllOf()
    """Does a device match the selectors of source, class and request? Without rules: selectors are not evaluated."""
    match_error: MatchErrors = First()
    """What is wrong with the class or the matching devices? Without rules: nothing is checked."""
    counter: Collect[[Source, PublishedDevice], Quantity] = Collect()
    """Which amounts of a counter does a device consume? Without rules: Kueue reads no counters."""
    requested_capacity: First[[CapacityRequest], Quantity] = First()
    """How much capacity of a device does a request take? Without rules: Kueue reads no capacities."""
    round_capacity: Fold[Quantity, [Capacity]] = Fold()
    """To what is the amount rounded? A rule may find that the device cannot serve it. Without rules: no rounding."""
    amount_error: MatchErrors = First()
    """What is wrong with the amounts of the matching devices? Without rules: nothing is checked."""
    worst_case: First[[Amounts], Quantity] = First()
    """Which amount is charged for one device, of those of all matching devices? Without rules: no amount."""
    clamp: Fold[int, []] = Fold()
    """Is the amount bounded? Without rules: it has no bounds."""
    times_count: First[[int, int], int] = First()
    """What do several devices charge, by the amount and their number? Without rules: no amount."""
    in_bytes: First[[Mappings], Names] = First()
    """Which resources are printed in powers of 1024? Without rules: all amounts are plain numbers."""
    watched_drivers: Collect[[Mappings], str] = Collect()
    """Changed slices of which drivers requeue inadmissible workloads? Without rules: no slice does."""
    retried_resources: Collect[[Mappings], str] = Collect()
    """A slice requeues the ClusterQueues that cover which resources? Without rules: all ClusterQueues."""


@rule("DEVICE-001", "COUNTER-004", "CAPACITY-009")
def sources_of_class(mappings: Mappings, device_class: str) -> Sources:
    """Kueue charges a device class by every source of every mapping that lists it.

    Kueue: pkg/dra/mapper.go (getCounterConfigs, getCapacityConfigs, PopulateFromConfiguration)
    """
    sources: list[Source] = []
    for mapping in mappings:
        if device_class in mapping.device_classes:
            sources.extend(sources_in(mapping))
    return sources


@rule("DEVICE-002")
def classes_with_sources_are_not_counted(sources: Sources) -> bool:
    """Kueue does not also count the devices of a class with sources.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    return bool(sources)


@rule("DEVICE-003")
def selectors_on_drivers_of_sources(
    sources_by_request: Sequence[Sources],
) -> Sequence[str] | None:
    """Kueue tries selectors only on devices of the drivers of sources if all classes of a claim have sources.

    Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
    """
    if not all(sources_by_request):
        return None
    drivers: dict[str, None] = {}
    for sources in sources_by_request:
        for source in sources:
            drivers[source.driver] = None
    return list(drivers)


@rule("DEVICE-007")
def source_selector_matches(tried: SourceMatch) -> Trial:
    """A device must match the deviceSelector of the source.

    Kueue: pkg/dra/counters.go (matchDevicesForSource, matchDevicesWithSelectors)
    """
    outcome = all_hold((tried.source.selector,), tried.device)
    return _name_device(outcome, tried, "deviceSelector")


@rule("DEVICE-008")
def sourced_class_selectors_match(tried: SourceMatch) -> Trial:
    """A device of a source must match the selectors of the DeviceClass.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    outcome = all_hold(tried.class_selectors, tried.device)
    return _name_device(outcome, tried, "DeviceClass selector")


@rule("DEVICE-009")
def sourced_request_selectors_match(tried: SourceMatch) -> Trial:
    """A device of a source must match the selectors of the request.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    outcome = all_hold(tried.request_selectors, tried.device)
    return _name_device(outcome, tried, "request selector")


def _name_device(outcome: Trial, tried: SourceMatch, where: str) -> Trial:
    """Add the device and the selector to an evaluation error."""
    if not isinstance(outcome, EvaluationError):
        return outcome
    place = f"{where} for device {tried.device.name}"
    detail = f"CEL evaluation error in {place}: {outcome.detail}"
    return EvaluationError(detail=detail)


@rule("DEVICE-010", "DEVICE-021")
def sourced_class_must_exist(charge: SourceCharge) -> FieldError | None:
    """Kueue retries a workload whose request names a class with sources that does not exist.

    Kueue: pkg/dra/counters.go (prepareDeviceSelectors); pkg/dra/claims.go (resolveAndCompileDeviceClass)
    """
    if charge.class_exists:
        return None
    name = charge.request.device_class
    detail = f'failed to get DeviceClass {name}: DeviceClass.resource.k8s.io "{name}" not found'
    return charge.fault("Internal error", detail)


@rule("DEVICE-023", "DEVICE-024")
def sourced_class_selectors_compile(
    charge: SourceCharge,
) -> FieldError | None:
    """Kueue rejects a request for a class with sources when one of its selectors does not compile.

    Kueue: pkg/dra/counters.go (prepareDeviceSelectors); pkg/dra/claims.go (resolveAndCompileDeviceClass)
    """
    return charge.uncompiled()


@rule("DEVICE-011")
def sourced_selector_error_is_retried(charge: SourceCharge) -> FieldError | None:
    """Kueue retries a workload when a selector fails to evaluate on a device of the source.

    Kueue: pkg/dra/counters.go (matchDevicesWithSelectors)
    """
    if not isinstance(charge.ended, EvaluationError):
        return None
    return charge.fault("Internal error", charge.ended.detail)


@rule("DEVICE-012")
def too_few_sourced_devices_are_retried(charge: SourceCharge) -> FieldError | None:
    """Kueue retries a workload that requests more devices of a source than match.

    Kueue: pkg/dra/counters.go (processCounterCharge); pkg/dra/capacity.go (processCapacityCharge)
    """
    found = len(charge.devices)
    if found >= charge.count:
        return None
    wanted = f"{found} device(s) match but {charge.count} requested"
    detail = f"insufficient matching devices for {charge.source.kind} driver: {wanted}"
    return charge.fault("Internal error", detail)


@rule("COUNTER-002", "CAPACITY-008")
def max_over_devices(offers: Amounts) -> Quantity:
    """Kueue charges the largest amount of all matching devices.

    Kueue: pkg/dra/counters.go (computeCounterCharges); pkg/dra/capacity.go (computeCapacityCharge)
    """
    return max(offers, key=lambda each: each.amount)


@rule("COUNTER-006")
def clamp_negative_to_zero(amount: int) -> int:
    """Kueue charges a negative amount as zero.

    Kueue: pkg/dra/counters.go (safeChargeValue)
    """
    return max(amount, 0)


@rule("COUNTER-003", "CAPACITY-002")
def each_sourced_device_is_charged(amount: int, count: int) -> int:
    """Kueue multiplies the amount by the number of devices and saturates at the largest 64-bit integer.

    Kueue: pkg/dra/counters.go (safeChargeValue)
    """
    return clamp(amount * count)


@rule("DEVICE-015")
def sourced_amounts_in_bytes(mappings: Mappings) -> Names:
    """Kueue prints amounts of a resource with sources in powers of 1024.

    Kueue: pkg/resources/resource_formatter.go (RegisterBinaryFormattedResource, usesBinaryFormat);
        pkg/dra/mapper.go (CounterBasedResourceNames, CapacityBasedResourceNames)
    """
    names: set[str] = set()
    for mapping in mappings:
        if sources_in(mapping):
            names.add(mapping.name)
    return frozenset(names)


@rule("DEVICE-022")
def source_driver_slices_are_watched(mappings: Mappings) -> Names:
    """Kueue retries pending workloads when a ResourceSlice of a driver that a source names changes.

    Kueue: pkg/controller/core/resourceslice_controller.go (NewResourceSliceReconciler, Reconcile)
    """
    drivers: set[str] = set()
    for mapping in mappings:
        for source in sources_in(mapping):
            drivers.add(source.driver)
    return frozenset(drivers)


@rule("DEVICE-027")
def resources_with_sources_are_retried(mappings: Mappings) -> Names:
    """A ResourceSlice makes Kueue retry the workloads of ClusterQueues that cover a resource with sources.

    No counterpart: on Kueue's main branch since 2026-07-30 (#13639), in no pinned release.
    """
    return frozenset(each.name for each in mappings if sources_in(each))
