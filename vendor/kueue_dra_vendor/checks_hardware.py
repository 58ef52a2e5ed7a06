"""Checks of what devices say about their hardware: parts, standard attributes, nodes, conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import name_of
from kueue_dra_vendor.inventory import InventoryDevice

KUBERNETES = "resource.kubernetes.io"
STANDARD = ("numaNode", "pciBusID", "pcieRoot")
"""Attributes that Kubernetes defines. Kubernetes: k8s.io/dynamic-resource-allocation/deviceattribute"""
PARENT = re.compile(r"^parent[A-Z_]")
IDENTITY = re.compile(
    r"(uuid|pciaddr|pciaddress|pcibusid|deviceid|serial)$", re.IGNORECASE
)


@check(
    "VENDOR-111",
    Level.WARNING,
    "A device and its parts share counters.",
    effect="Quota counts the whole and its parts, though only one of them can be allocated.",
    remedy="Publish a counter set that the whole and the parts consume, or publish only one of them.",
    since="Kubernetes 1.33",
)
def parts_share_counters(context: VendorContext) -> Found:
    """Join attributes such as parentUUID with the identities of other devices."""
    wholes = _by_identity(context)
    for device in context.inventory.devices:
        for name, value in _attributes(device):
            whole = wholes.get((device.device.driver, value))
            is_part = PARENT.match(name) and whole and whole is not device
            if whole and is_part and not _sets(device) & _sets(whole):
                text = f"is a part of {whole.title} ({name}), and consumes no counter set of it"
                yield about(device, "attributes", text)


@check(
    "VENDOR-112",
    Level.WARNING,
    "Attributes under resource.kubernetes.io are those that Kubernetes defines.",
    effect="Two drivers may give one name two meanings; a selector of one fails on devices of the other.",
    remedy="Publish the attribute under the driver's own domain.",
)
def standard_domain_has_standard_attributes(context: VendorContext) -> Found:
    """Look for other names in the domain; each name is reported once for a driver."""
    seen: set[tuple[str, str]] = set()
    for device in context.inventory.devices:
        for name in device.device.attributes:
            domain, _, local = name.partition("/")
            key = (device.device.driver, name)
            if domain == KUBERNETES and local not in STANDARD and key not in seen:
                seen.add(key)
                yield about(device, "attributes", f"publishes {name}")


@check(
    "VENDOR-113",
    Level.ADVICE,
    "Standard attributes have their standard names.",
    effect="Claims that align devices of several drivers (matchAttribute) do not find the attribute.",
    remedy="Publish resource.kubernetes.io/numaNode, pciBusID or pcieRoot as well.",
)
def standard_attributes_have_standard_names(context: VendorContext) -> Found:
    """Look for a standard name in another domain only; each name is reported once for a driver."""
    seen: set[tuple[str, str]] = set()
    for device in context.inventory.devices:
        for name in device.device.attributes:
            local = name.rpartition("/")[2]
            standard = f"{KUBERNETES}/{local}"
            key = (device.device.driver, name)
            has_both = standard in device.device.attributes
            if local in STANDARD and not has_both and key not in seen:
                seen.add(key)
                yield about(device, "attributes", f"publishes {name}, not {standard}")


@check(
    "VENDOR-114",
    Level.WARNING,
    "Slices name nodes that exist.",
    effect="Quota counts the devices of a node that is gone; pods never get them.",
    remedy="Delete the slices of removed nodes, or give all Nodes.",
)
def slices_name_nodes(context: VendorContext) -> Found:
    """Where Nodes are given, look for other names."""
    nodes = {
        name_of(each.manifest)
        for each in context.files.others
        if each.manifest.get("kind") == "Node"
    }
    for each in context.files.slices if nodes else ():
        node = each.spec.get("nodeName")
        if node and node not in nodes:
            text = f"names Node {node}, which is not among the files"
            yield about(each, "spec.nodeName", text)


@check(
    "VENDOR-115",
    Level.ERROR,
    "A driver's name is in lower case.",
    effect="Kueue's Configuration refuses the driver in a source, so counters and capacities cannot be mapped.",
    remedy="Publish the driver's name in lower case.",
    since="Kueue 0.18",
)
def drivers_are_in_lower_case(context: VendorContext) -> Found:
    """Look for capitals in spec.driver."""
    for each in context.files.slices:
        driver = str(each.spec.get("driver", ""))
        if driver != driver.lower():
            yield about(each, "spec.driver", f"the driver is {driver}")


@check(
    "VENDOR-116",
    Level.WARNING,
    "No device has binding conditions.",
    effect="Kueue does not wait for them: quota is held while pods wait for the device to be attached.",
    remedy="Expect it, and keep such devices in a flavor of their own.",
    since="Kubernetes 1.34",
)
def devices_have_no_binding_conditions(context: VendorContext) -> Found:
    """Look for bindingConditions; one finding for each pool."""
    seen: set[tuple[str, str]] = set()
    for device in context.inventory.devices:
        conditions = device.entry.get("bindingConditions") or ()
        key = (device.device.driver, device.device.pool)
        if conditions and key not in seen:
            seen.add(key)
            text = f"waits for {', '.join(map(str, conditions))}"
            yield Spot(
                device.place("bindingConditions"), f"device {device.title}", text
            )


def _attributes(device: InventoryDevice) -> Iterator[tuple[str, str]]:
    """Give local name and value of each attribute that is a string."""
    for name, value in device.device.attributes.items():
        if isinstance(value, dict) and isinstance(value.get("string"), str):
            yield name.rpartition("/")[2], value["string"]


def _by_identity(context: VendorContext) -> dict[tuple[str, str], InventoryDevice]:
    """Give the device of each identity; parts repeat that of their whole under a name that begins with parent."""
    found: dict[tuple[str, str], InventoryDevice] = {}
    for device in context.inventory.devices:
        names = list(_attributes(device))
        if any(PARENT.match(name) for name, _ in names):
            continue
        for name, value in names:
            if IDENTITY.search(name):
                found.setdefault((device.device.driver, value), device)
    return found


def _sets(device: InventoryDevice) -> set[tuple[str, str]]:
    consumed = device.entry.get("consumesCounters") or ()
    return {(device.device.pool, str(each.get("counterSet"))) for each in consumed}
