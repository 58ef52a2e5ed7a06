"""Checks of what the descriptor declares against what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import VendorObject
from kueue_dra_vendor.intent import ClassIntent, Descriptor, Quota
from kueue_dra_vendor.inventory import InventoryDevice

MOST = 3
"""How many devices or nodes a finding names."""


@check(
    "VENDOR-401",
    Level.ERROR,
    "Every class of the descriptor is among the files.",
    effect="Users map and request a class that the driver does not install.",
    remedy="Correct the name in the descriptor, or give the class, too.",
)
def declared_classes_exist(context: VendorContext) -> Found:
    """Look for declared names that are no class."""
    known = {each.name for each in context.files.classes}
    for descriptor, intent in _intents(context):
        if intent.name not in known:
            yield _spot(descriptor, intent, "name", "no file has this DeviceClass")


@check(
    "VENDOR-402",
    Level.WARNING,
    "Every class is in the descriptor.",
    effect="Users do not know whether the class is for quota; unmapped, every workload with it waits.",
    remedy="Add the class to the descriptor; quota: none declares a helper.",
)
def classes_are_declared(context: VendorContext) -> Found:
    """Look for classes that the descriptor leaves out."""
    if context.descriptor is None:
        return
    declared = {each.name for each in context.descriptor.classes}
    for each in context.files.classes:
        if each.name not in declared:
            yield about(each, "metadata.name", "is not in the descriptor")


@check(
    "VENDOR-403",
    Level.ERROR,
    "A declared class matches devices of declared drivers only.",
    effect="Another driver's devices are charged to the quota of this class.",
    remedy="Begin the class with a driver guard, or add the driver to the descriptor.",
)
def devices_are_of_the_declared_drivers(context: VendorContext) -> Found:
    """Compare the drivers of the matching devices with those declared."""
    for descriptor, intent, each in _classes(context):
        drivers = {one.device.driver for one in context.inventory.matching(each)}
        foreign = sorted(drivers - set(descriptor.drivers))
        if foreign:
            text = f"matches devices of {listed(foreign, MOST)}, which the descriptor does not name"
            yield _spot(descriptor, intent, "name", text)


@check(
    "VENDOR-404",
    Level.ERROR,
    "Every device of a class has the counter or capacity that it should be charged by.",
    effect='Kueue rejects the workload ("matched devices have no ..."), or charges less than the device takes.',
    remedy="Publish it on every device, spelled as in the descriptor, or narrow the class.",
    since="Kueue 0.18",
)
def devices_have_the_declared_amount(context: VendorContext) -> Found:
    """Look for matching devices without the declared counter or capacity."""
    for descriptor, intent, each in _classes(context):
        if not intent.dimension:
            continue
        devices = context.inventory.matching(each)
        lacking = [one.title for one in devices if not _has(one, intent)]
        if lacking:
            text = (
                f"{intent.quota} {intent.dimension} is not on {listed(lacking, MOST)}"
            )
            yield _spot(descriptor, intent, intent.quota.value, text)


@check(
    "VENDOR-405",
    Level.ERROR,
    "The mapping charges a class as it is meant to be.",
    effect="The quota is in another unit than the vendor documents.",
    remedy="Correct the sources of the mapping, or the descriptor.",
    since="Kueue 0.18",
)
def mappings_charge_as_declared(context: VendorContext) -> Found:
    """Compare the source of the mapping with the declared one."""
    for descriptor, intent in _intents(context):
        mapping = _mapping_of(context, intent.name)
        if mapping is None or intent.quota is Quota.NONE:
            continue
        charged = list(_charged(mapping)) or [(Quota.COUNT, "")]
        if (intent.quota, intent.dimension) not in charged:
            by = " and ".join(f"{kind} {name}".strip() for kind, name in charged)
            text = f"mapping {mapping.name} charges by {by}; declared: {intent}"
            yield _spot(descriptor, intent, "quota", text)


@check(
    "VENDOR-406",
    Level.WARNING,
    "A helper is in no mapping.",
    effect="Quota is spent on a class that gives a workload nothing to compute with.",
    remedy="Take the class out of the mapping, or declare how it should be charged.",
)
def helpers_are_not_mapped(context: VendorContext) -> Found:
    """Look for mapped classes with quota: none."""
    for descriptor, intent in _intents(context):
        mapping = _mapping_of(context, intent.name)
        if mapping and intent.quota is Quota.NONE:
            text = f"is a helper, and mapping {mapping.name} charges it"
            yield _spot(descriptor, intent, "quota", text)


@check(
    "VENDOR-407",
    Level.ERROR,
    "Each node publishes as many devices of a class as declared.",
    effect="Quota that follows the documentation is more, or less, than what pods can get.",
    remedy="Correct devicesPerNode or the class, or give the slices of whole nodes.",
)
def nodes_have_the_declared_devices(context: VendorContext) -> Found:
    """Count the matching devices of each node that publishes any of the driver's devices."""
    for descriptor, intent, each in _classes(context):
        if not intent.devices_per_node:
            continue
        found = _by_node(context, descriptor, each)
        wrong = {
            node: count
            for node, count in found.items()
            if count != intent.devices_per_node
        }
        if wrong:
            shown = listed([f"{node} {count}" for node, count in wrong.items()], MOST)
            text = f"{intent.devices_per_node} devices are declared for each node; found: {shown}"
            yield _spot(descriptor, intent, "devicesPerNode", text)


@check(
    "VENDOR-408",
    Level.ERROR,
    "A class has the extended resource name that is declared.",
    effect="Pods that request the name stay pending, and Kueue charges nothing for them.",
    remedy="Correct spec.extendedResourceName or the descriptor.",
    since="Kueue 0.17, Kubernetes 1.34",
)
def extended_names_are_as_declared(context: VendorContext) -> Found:
    """Compare spec.extendedResourceName as written, since a gate may drop it."""
    for descriptor, intent, each in _classes(context):
        spec = part(each.written, "spec")
        found = str(spec.get("extendedResourceName") or "")
        if intent.extended_resource != found:
            declared = intent.extended_resource or "none"
            text = f"extendedResourceName is {found or 'none'}; declared: {declared}"
            yield _spot(descriptor, intent, "extendedResourceName", text)


@check(
    "VENDOR-409",
    Level.ERROR,
    "A class that is charged by a counter or a capacity has no extended resource name.",
    effect='Kueue rejects each request by that name ("resolves to DeviceClass with counters configured").',
    remedy="Take the name away, or declare quota: count.",
    since="Kueue 0.18",
)
def declared_sources_have_no_extended_name(context: VendorContext) -> Found:
    """Look at the descriptor alone."""
    for descriptor, intent in _intents(context):
        if intent.dimension and intent.extended_resource:
            text = f"{intent}, and has the extended resource name {intent.extended_resource}"
            yield _spot(descriptor, intent, "extendedResourceName", text)


@check(
    "VENDOR-410",
    Level.WARNING,
    "A class that is charged by the number of devices has none that are shared.",
    effect="Each share counts as one device: the quota counts requests, not devices.",
    remedy="Declare quota: capacity.",
    since="Kubernetes 1.34, Kueue 0.19",
)
def counted_devices_are_not_shared(context: VendorContext) -> Found:
    """Look for allowMultipleAllocations on devices of such a class."""
    for descriptor, intent, each in _classes(context):
        if intent.quota is not Quota.COUNT:
            continue
        shared = [
            one.title
            for one in context.inventory.matching(each)
            if one.entry.get("allowMultipleAllocations")
        ]
        if shared:
            text = f"gives out shares of {listed(shared, MOST)}"
            yield _spot(descriptor, intent, "quota", text)


def _intents(context: VendorContext) -> Iterator[tuple[Descriptor, ClassIntent]]:
    if context.descriptor:
        for intent in context.descriptor.classes:
            yield context.descriptor, intent


def _classes(
    context: VendorContext,
) -> Iterator[tuple[Descriptor, ClassIntent, VendorObject]]:
    """Give each declared class that is there."""
    by_name = {each.name: each for each in context.files.classes}
    for descriptor, intent in _intents(context):
        if intent.name in by_name:
            yield descriptor, intent, by_name[intent.name]


def _spot(descriptor: Descriptor, intent: ClassIntent, key: str, text: str) -> Spot:
    place = descriptor.place(f"{intent.path}.{key}")
    return Spot(place, f"DeviceClass {intent.name}", text)


def _has(device: InventoryDevice, intent: ClassIntent) -> bool:
    if intent.quota is Quota.CAPACITY:
        return intent.dimension in device.published.capacities
    return any(name == intent.dimension for name, _ in device.published.counters)


def _mapping_of(context: VendorContext, name: str) -> DeviceClassMapping | None:
    found = (each for each in context.mappings if name in each.device_classes)
    return next(found, None)


def _charged(mapping: DeviceClassMapping) -> Iterator[tuple[Quota, str]]:
    for source in mapping.sources:
        for kind in (Quota.COUNTER, Quota.CAPACITY):
            body = source.get(kind.value)
            if body:
                yield kind, str(body.get("name", ""))


def _by_node(
    context: VendorContext, descriptor: Descriptor, each: VendorObject
) -> Counter[str]:
    """Count the matching devices of each node; a node with devices that do not match has 0."""
    nodes = {
        device.node: 0
        for device in context.inventory.devices
        if device.node and device.device.driver in descriptor.drivers
    }
    found = Counter(nodes)
    found.update(one.node for one in context.inventory.matching(each) if one.node)
    return found
