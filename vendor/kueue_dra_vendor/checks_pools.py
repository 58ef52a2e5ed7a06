"""Checks of pools: generations, sizes, names, types of attributes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from kueue_dra_ref.api.unstructured import part
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import written_devices
from kueue_dra_vendor.inventory import InventoryDevice, declared_size

LISTS = ("bools", "ints", "strings", "versions")
EVERYWHERE = ("uuid",)
"""Attributes whose value belongs to one physical device, wherever it is."""
IDENTITIES = (*EVERYWHERE, "pciBusID")
"""The same, and addresses, which belong to one device of a node."""


@check(
    "VENDOR-101",
    Level.ERROR,
    "A pool has as many slices of its newest generation as they declare.",
    effect="Kueue's counter and capacity charges skip the pool; the whole-device check counts it anyway.",
    remedy="Publish all slices with the same generation and resourceSliceCount.",
    since="Kueue 0.18",
)
def pools_are_complete(context: VendorContext) -> Found:
    """Count the slices of the newest generation."""
    for pool in context.inventory.pools.values():
        newest = pool.newest
        sizes = {declared_size(each) for each in newest}
        if sizes != {len(newest)}:
            declared = ", ".join(map(str, sorted(sizes)))
            text = f"generation {pool.generations[-1]} has {len(newest)} slices and declares {declared}"
            yield Spot(newest[0].place("spec.pool"), f"pool {pool.title}", text)


@check(
    "VENDOR-102",
    Level.WARNING,
    "A pool has slices of one generation only.",
    effect="Kueue's whole-device check counts the devices of old generations, which are gone.",
    remedy="Delete the slices of older generations.",
)
def pools_have_one_generation(context: VendorContext) -> Found:
    """Compare the generations."""
    for pool in context.inventory.pools.values():
        if len(pool.generations) > 1:
            text = (
                f"has slices of the generations {', '.join(map(str, pool.generations))}"
            )
            yield Spot(
                pool.slices[0].place("spec.pool.generation"), f"pool {pool.title}", text
            )


@check(
    "VENDOR-103",
    Level.ERROR,
    "A device name is unique in its pool.",
    effect="The scheduler ignores the pool; Kueue counts both devices.",
    remedy="Give each device of a pool its own name.",
)
def device_names_are_unique(context: VendorContext) -> Found:
    """Count the names over the slices of a pool's newest generation."""
    for pool in context.inventory.pools.values():
        counted = Counter(each.device.name for each in context.inventory.of_pool(pool))
        for name, count in counted.items():
            if count > 1:
                yield Spot(
                    pool.newest[0].place(),
                    f"pool {pool.title}",
                    f"{count} devices have the name {name}",
                )


@check(
    "VENDOR-104",
    Level.ERROR,
    "Every counter that a device consumes is in a shared set of its pool.",
    effect="The scheduler ignores the pool; Kueue charges the counter anyway.",
    remedy="Publish the set in a slice of the pool, under the same names.",
    since="Kubernetes 1.33",
)
def counters_are_shared(context: VendorContext) -> Found:
    """Join consumesCounters with sharedCounters."""
    for pool in context.inventory.pools.values():
        sets = {name: counters for _, name, counters in pool.counter_sets}
        for device in context.inventory.of_pool(pool):
            for index, consumed in enumerate(
                device.entry.get("consumesCounters") or ()
            ):
                name = consumed.get("counterSet", "")
                place = device.place(f"consumesCounters[{index}]")
                if name not in sets:
                    yield Spot(
                        place,
                        f"device {device.title}",
                        f"consumes of counter set {name}, which its pool has not",
                    )
                    continue
                for counter in consumed.get("counters") or {}:
                    if counter not in sets[name]:
                        yield Spot(
                            place,
                            f"device {device.title}",
                            f"consumes counter {counter}, which set {name} has not",
                        )


@check(
    "VENDOR-105",
    Level.ERROR,
    "A counter set is in its pool once.",
    effect="The scheduler ignores the pool.",
    remedy="Give each counter set of a pool its own name.",
    since="Kubernetes 1.33",
)
def counter_sets_are_unique(context: VendorContext) -> Found:
    """Count the names of sets over the slices of a pool."""
    for pool in context.inventory.pools.values():
        counted = Counter(name for _, name, _ in pool.counter_sets)
        for name, count in counted.items():
            if count > 1:
                yield Spot(
                    pool.newest[0].place("spec.sharedCounters"),
                    f"pool {pool.title}",
                    f"has counter set {name} {count} times",
                )


@check(
    "VENDOR-106",
    Level.WARNING,
    "An attribute has one type on all devices.",
    effect="A selector that compares it fails on some devices, or is silently false there.",
    remedy="Publish the attribute with one type.",
)
def attributes_have_one_type(context: VendorContext) -> Found:
    """Collect the types of each attribute over all drivers."""
    seen: dict[str, dict[str, InventoryDevice]] = {}
    for device in context.inventory.devices:
        for name, kind in _attribute_types(device):
            seen.setdefault(name, {}).setdefault(kind, device)
    for name, kinds in sorted(seen.items()):
        if len(kinds) > 1:
            shown = ", ".join(
                f"{kind} on {device.title}" for kind, device in sorted(kinds.items())
            )
            first = next(iter(kinds.values()))
            yield Spot(
                first.place("attributes"),
                f"attribute {name}",
                f"is of several types: {shown}",
            )


@check(
    "VENDOR-107",
    Level.WARNING,
    "No attribute is a list.",
    effect="Kueue, and schedulers without the gate, fail on the device in every selector of every driver.",
    remedy="Publish single values, or publish the list only where the gate DRAListTypeAttributes is on.",
    since="Kubernetes 1.36",
)
def attributes_are_no_lists(context: VendorContext) -> Found:
    """Look for list values as they were written, since a gate may drop them; once for each attribute of a slice."""
    seen: set[tuple[int, str]] = set()
    for each, path, device in written_devices(context.files):
        for name, value in part(device, "attributes").items():
            kinds = [
                kind for kind in LISTS if isinstance(value, dict) and kind in value
            ]
            key = (id(each), name)
            if kinds and key not in seen:
                seen.add(key)
                text = f"attribute {name} of device {device.get('name')} is a list of {kinds[0]}"
                yield about(each, f"{path}.attributes[{name}]", text)


@check(
    "VENDOR-108",
    Level.WARNING,
    "A physical device is published once.",
    effect="Hardware is counted twice.",
    remedy="Publish whole device and parts with shared counters, or by one driver only.",
)
def devices_are_published_once(context: VendorContext) -> Found:
    """Compare identities over all drivers and pools, addresses on one node; parts that share counters are left out."""
    seen: dict[tuple[str, str, str], InventoryDevice] = {}
    for device in context.inventory.devices:
        for identity in (
            _identities(device) if not device.entry.get("consumesCounters") else ()
        ):
            other = seen.setdefault(identity, device)
            if other.title != device.title:
                text = f"has {identity[0]} {identity[1]}, as {other.title} has"
                yield about(device, "attributes", text)


@check(
    "VENDOR-109",
    Level.WARNING,
    "No device is tainted.",
    effect="Kueue ignores device taints: it admits workloads whose pods stay pending.",
    remedy="Withdraw devices that are not to be used, or expect that quota counts them.",
    since="Kubernetes 1.33",
)
def devices_are_not_tainted(context: VendorContext) -> Found:
    """Look for taints of the effects that keep pods out."""
    for device in context.inventory.devices:
        for index, taint in enumerate(device.entry.get("taints") or ()):
            if taint.get("effect") in ("NoSchedule", "NoExecute"):
                text = f"has the taint {taint.get('key')}:{taint['effect']}"
                yield about(device, f"taints[{index}]", text)


@check(
    "VENDOR-110",
    Level.ADVICE,
    "A pool belongs to one node.",
    effect="One pool is counted in the quota of every flavor whose nodes reach it.",
    remedy="Map such devices to a flavor of their own.",
)
def pools_belong_to_a_node(context: VendorContext) -> Found:
    """Look for slices without nodeName."""
    for pool in context.inventory.pools.values():
        for each in pool.newest:
            if not each.spec.get("nodeName") and not each.spec.get(
                "perDeviceNodeSelection"
            ):
                how = "allNodes" if each.spec.get("allNodes") else "nodeSelector"
                if each.spec.get("devices"):
                    yield Spot(
                        each.place("spec"),
                        f"pool {pool.title}",
                        f"ResourceSlice {each.name} names no node ({how})",
                    )


def _attribute_types(device: InventoryDevice) -> Iterator[tuple[str, str]]:
    for name, value in (device.entry.get("attributes") or {}).items():
        qualified = name if "/" in name else f"{device.device.driver}/{name}"
        for kind in value:
            yield qualified, kind


def _identities(device: InventoryDevice) -> Iterator[tuple[str, str, str]]:
    """Give name and value of each attribute that tells a device apart, and where: everywhere, or on its node."""
    for qualified, value in (device.entry.get("attributes") or {}).items():
        name = qualified.rpartition("/")[2]
        if name in IDENTITIES:
            where = "" if name in EVERYWHERE else device.node or device.device.pool
            yield name, json.dumps(next(iter(value.values()), "")), where
