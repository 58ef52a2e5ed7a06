"""Checks of counters, capacities and the mapping that charges them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_vendor.amounts import amount_of, capacities, consumed, shown
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import VendorObject, written_devices
from kueue_dra_vendor.inventory import InventoryDevice, Pool

ALIKE = 0.85
"""From which similarity on a name is taken for a misspelt one."""
NODE_ALLOCATABLE = ("nodeAllocatableResources", "nodeAllocatableResourceMappings")
"""The field of Kubernetes 1.37, and that of 1.36."""
SMALL = 1
"""The value of a counter that only one device may take: a mutex."""


@check(
    "VENDOR-201",
    Level.ERROR,
    "No device consumes more of a counter than its set has.",
    effect="The device can never be allocated, and its charge exceeds the quota of the node.",
    remedy="Correct the counter of the device, or that of the set.",
    since="Kubernetes 1.33",
)
def devices_fit_their_sets(context: VendorContext) -> Found:
    """Compare each counter with the shared one."""
    for pool in context.inventory.pools.values():
        shared = _shared(pool)
        for device in context.inventory.of_pool(pool):
            for set_name, counter, amount in consumed(device):
                most = shared.get((set_name, counter))
                if most is not None and amount > most:
                    text = f"consumes {shown(amount)} of counter {counter}, and set {set_name} has {shown(most)}"
                    yield about(device, "consumesCounters", text)


@check(
    "VENDOR-202",
    Level.ADVICE,
    "Some device consumes all of a counter set.",
    effect="A whole device cannot be charged all that its parts can: the quota does not add up.",
    remedy="Publish the whole device with the counters of its set, or set the quota by the set.",
    since="Kubernetes 1.33",
)
def a_whole_device_consumes_its_set(context: VendorContext) -> Found:
    """Look for a device that consumes each counter of a set to the end."""
    for pool in context.inventory.pools.values():
        taken = [set(consumed(device)) for device in context.inventory.of_pool(pool)]
        for each, name, counters in pool.counter_sets:
            whole = {
                (name, key, amount_of(value))
                for key, value in counters.items()
                if amount_of(value) > 0
            }
            if whole and not any(whole <= one for one in taken):
                yield Spot(
                    each.place("spec.sharedCounters"),
                    f"pool {pool.title}",
                    f"no device consumes all of counter set {name}",
                )


@check(
    "VENDOR-203",
    Level.WARNING,
    "A counter that only one device may take stands next to no shares.",
    effect="The counter is a mutex between modes of the hardware; as a quota it counts modes, not devices.",
    remedy="Map the capacity, not the counter.",
    since="Kubernetes 1.34",
)
def a_mutex_is_no_quota(context: VendorContext) -> Found:
    """Look for counters of value 1 on devices that have consumable capacities."""
    for device in context.inventory.devices:
        if not device.entry.get("allowMultipleAllocations"):
            continue
        for set_name, counter, amount in consumed(device):
            if amount == SMALL:
                text = f"consumes {counter} of counter set {set_name} once and gives out shares of its capacities"
                yield about(device, "consumesCounters", text)


@check(
    "VENDOR-204",
    Level.WARNING,
    "A request that names no amount is charged more than nothing.",
    effect="Kueue charges the default of the request policy: with 0 the quota never fills.",
    remedy="Set a default above 0, or ask users to name an amount.",
    since="Kubernetes 1.34, Kueue 0.19",
)
def defaults_are_above_zero(context: VendorContext) -> Found:
    """Read requestPolicy.default of each capacity."""
    for device, name, capacity in _capacities(context):
        default = (capacity.get("requestPolicy") or {}).get("default")
        if default is not None and amount_of(default) == 0:
            yield about(
                device,
                f"capacity[{name}]",
                f"capacity {name} has the default {default}",
            )


@check(
    "VENDOR-205",
    Level.WARNING,
    "A device that is shared says how its capacities are given out.",
    effect="Each request is charged the full capacity.",
    remedy="Publish a requestPolicy with a default.",
    since="Kubernetes 1.34, Kueue 0.19",
)
def shared_devices_have_policies(context: VendorContext) -> Found:
    """Look for shared devices with a capacity that has no policy."""
    for device, name, capacity in _capacities(context):
        if device.entry.get("allowMultipleAllocations") and not capacity.get(
            "requestPolicy"
        ):
            yield about(
                device, f"capacity[{name}]", f"capacity {name} has no requestPolicy"
            )


@check(
    "VENDOR-206",
    Level.WARNING,
    "The devices of a class have counters and capacities of like size.",
    effect="Kueue charges the largest amount of all matching devices for each request.",
    remedy="Divide the class, or have users select by size.",
    since="Kueue 0.18",
)
def amounts_of_a_class_are_alike(context: VendorContext) -> Found:
    """Compare the amounts of each mapped counter or capacity over the devices of its classes."""
    for mapping, each, source in _sources(context):
        amounts = {
            amount: device
            for device in context.inventory.matching(each)
            for amount in _charges(device, source)
        }
        if len(amounts) > 1:
            low, high = min(amounts), max(amounts)
            text = (
                f"mapping {mapping.name} charges from {shown(low)} ({amounts[low].title}) "
                f"to {shown(high)} ({amounts[high].title}) for {_source_name(source)}"
            )
            yield about(each, "", text)


@check(
    "VENDOR-207",
    Level.ERROR,
    "Every device of a mapped class has the counter or capacity of its source.",
    effect='Kueue rejects the workload ("matched devices have no ..."), or charges less than the device takes.',
    remedy="Publish it on every device, or narrow the class or the source's selector.",
    since="Kueue 0.18",
)
def sources_exist_on_devices(context: VendorContext) -> Found:
    """Look for matching devices without the counter or capacity of a source."""
    for mapping, each, source in _sources(context):
        lacking = [
            device
            for device in context.inventory.matching(each)
            if device.device.driver == source.get("driver")
            and not list(_charges(device, source))
        ]
        if lacking:
            first, more = lacking[0].title, len(lacking) - 1
            text = f"mapping {mapping.name}: {_source_name(source)} is not on {first} and {more} more"
            yield about(each, "", text)


@check(
    "VENDOR-208",
    Level.ERROR,
    "A class with counters or capacities has no extended resource name.",
    effect='Kueue rejects each request by that name ("resolves to DeviceClass with counters configured").',
    remedy="Map the name's class by count, or take the name away.",
    since="Kueue 0.18",
)
def sourced_classes_have_no_extended_name(context: VendorContext) -> Found:
    """Cross-check the mapping."""
    for mapping, each, _ in _sources(context):
        if name := each.spec.get("extendedResourceName"):
            text = f"has extendedResourceName {name}, and mapping {mapping.name} charges it by sources"
            yield about(each, "spec.extendedResourceName", text)


@check(
    "VENDOR-209",
    Level.ERROR,
    "A mapping names classes that exist.",
    effect="Nothing is charged to the resource: its quota is never used.",
    remedy="Correct the name in the mapping.",
)
def mappings_name_classes(context: VendorContext) -> Found:
    """Look for mapped names that are no class."""
    known = {each.name for each in context.files.classes}
    for index, mapping in enumerate(context.mappings):
        path = f"resources.deviceClassMappings[{index}].deviceClassNames"
        for number, name in enumerate(mapping.device_classes):
            if name not in known:
                place = context.place_of_mapping(f"{path}[{number}]")
                text = f"names DeviceClass {name}, which is not among the files{_meant(name, known)}"
                yield Spot(place, f"mapping {mapping.name}", text)


@check(
    "VENDOR-210",
    Level.WARNING,
    "Every class is mapped, or declared to be not for quota.",
    effect='Every workload with the class waits ("DeviceClass is not mapped in DRA configuration").',
    remedy="Map the class, or declare it a helper in the descriptor.",
)
def classes_are_mapped(context: VendorContext) -> Found:
    """Where a mapping is given, look for classes that it leaves out."""
    if context.configuration is None:
        return
    mapped = {name for mapping in context.mappings for name in mapping.device_classes}
    for each in context.files.classes:
        if each.name not in mapped | context.helpers:
            yield about(each, "", "is in no mapping")


@check(
    "VENDOR-211",
    Level.WARNING,
    "No device fills node-allocatable resources.",
    effect="The cpu or memory of the pod is charged twice: by its requests and by its claim.",
    remedy="Exclude the resource with excludeResourcePrefixes, or do not map the class.",
    since="Kubernetes 1.36",
)
def node_allocatable_is_charged_twice(context: VendorContext) -> Found:
    """Look for the fields as they were written, since a gate may drop them; once for each slice."""
    seen: set[int] = set()
    for each, path, device in written_devices(context.files):
        for field in NODE_ALLOCATABLE:
            if device.get(field) and id(each) not in seen:
                seen.add(id(each))
                text = f"device {device.get('name')} fills node-allocatable resources"
                yield about(each, f"{path}.{field}", text)


def _meant(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=ALIKE)
    return f"; did you mean {near[0]}?" if near else ""


def _shared(pool: Pool) -> dict[tuple[str, str], Fraction]:
    return {
        (name, counter): amount_of(value)
        for _, name, counters in pool.counter_sets
        for counter, value in counters.items()
    }


def _capacities(
    context: VendorContext,
) -> Iterator[tuple[InventoryDevice, str, Mapping[str, Any]]]:
    for device in context.inventory.devices:
        for name, capacity in capacities(device):
            yield device, name, capacity


def _sources(
    context: VendorContext,
) -> Iterator[tuple[DeviceClassMapping, VendorObject, Mapping[str, Any]]]:
    classes = {each.name: each for each in context.files.classes}
    for mapping in context.mappings:
        for source in mapping.sources:
            body = source.get("counter") or source.get("capacity") or {}
            for name in mapping.device_classes:
                if name in classes:
                    yield (
                        mapping,
                        classes[name],
                        {**body, "is_counter": "counter" in source},
                    )


def _charges(device: InventoryDevice, source: Mapping[str, Any]) -> Iterator[Fraction]:
    """Give the amounts of a source on one device, without what a request names."""
    if source["is_counter"]:
        yield from (
            amount
            for _, counter, amount in consumed(device)
            if counter == source.get("name")
        )
        return
    capacity = (device.entry.get("capacity") or {}).get(source.get("name"))
    if capacity is not None:
        policy = capacity.get("requestPolicy") or {}
        yield amount_of(policy.get("default", capacity.get("value")))


def _source_name(source: Mapping[str, Any]) -> str:
    return f"{'counter' if source['is_counter'] else 'capacity'} {source.get('name')}"
