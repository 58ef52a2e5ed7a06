"""Checks of what selectors read, and of names that another component may claim."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.files import name_of
from kueue_dra_vendor.inventory import InventoryDevice, selectors_of

DOMAIN = re.compile(r"device\.(?:attributes|capacity)\[\s*['\"]([^'\"]+)['\"]\s*\]")
GUARD = re.compile(r"['\"]([^'\"]+)['\"]\s+in\s+device\.(?:attributes|capacity)")
ALLOCATABLE = "kubectl get nodes -o yaml"


@check(
    "VENDOR-020",
    Level.WARNING,
    "A class reads only domains that its devices publish.",
    effect="The attribute is never there: the selector fails or is false, and the class matches nothing or too much.",
    remedy="Use the domain under which the driver publishes the attribute; a bare name has the driver's own.",
)
def selectors_read_their_own_domains(context: VendorContext) -> Found:
    """Compare the domains that selectors read with those of the matching driver's devices."""
    published = _domains(context)
    for each in context.files.classes:
        drivers = {device.device.driver for device in context.inventory.matching(each)}
        known = {domain for driver in drivers for domain in published[driver]}
        for index, expression in enumerate(selectors_of(each) if drivers else ()):
            guarded = set(GUARD.findall(expression))
            for domain in sorted(set(DOMAIN.findall(expression)) - guarded - known):
                text = f"selector {index} reads the domain {domain}; its devices publish {listed(sorted(known), 3)}"
                yield about(each, f"spec.selectors[{index}].cel.expression", text)


@check(
    "VENDOR-021",
    Level.OPEN,
    "No device plugin offers the extended resource of a class.",
    effect="The same hardware is in the node's allocatable and in slices, and is counted twice.",
    remedy=f"Compare the allocatable of your nodes, or give the Nodes, too: {ALLOCATABLE}",
    since="Kubernetes 1.34",
)
def nodes_are_given_where_names_are_extended(context: VendorContext) -> Found:
    """Where a class has an extended resource name, ask for the Nodes."""
    if list(_nodes(context)):
        return
    for each in context.files.classes:
        if name := each.spec.get("extendedResourceName"):
            text = f"extendedResourceName {name}: no Node was given"
            yield about(each, "spec.extendedResourceName", text)


@check(
    "VENDOR-022",
    Level.ERROR,
    "No node offers the extended resource of a class by a device plugin.",
    effect="The same hardware is in the node's allocatable and in slices, and is counted twice.",
    remedy="Run the device plugin or the DRA driver on a node, not both.",
    since="Kubernetes 1.34",
)
def nodes_do_not_offer_the_extended_name(context: VendorContext) -> Found:
    """Look for the name in the allocatable of the Nodes that were given."""
    names = {
        each.spec["extendedResourceName"]: each
        for each in context.files.classes
        if each.spec.get("extendedResourceName")
    }
    for place, node, allocatable in _nodes(context):
        for name in sorted(set(names) & set(allocatable)):
            text = f"its allocatable has {allocatable[name]} {name}, as {names[name].title} does"
            yield Spot(place, f"Node {node}", text)


def _domains(context: VendorContext) -> dict[str, set[str]]:
    """Give the domains of attributes and capacities by driver."""
    found: dict[str, set[str]] = {}
    for device in context.inventory.devices:
        driver = device.device.driver
        known = found.setdefault(driver, {driver})
        known.update(name.partition("/")[0] for name in _qualified(device))
    return found


def _qualified(device: InventoryDevice) -> Iterator[str]:
    for names in (device.device.attributes, device.device.capacity):
        for name in names:
            if "/" in name:
                yield name


def _nodes(context: VendorContext) -> Iterator[tuple[str, str, dict[str, str]]]:
    for document in context.files.others:
        if document.manifest.get("kind") == "Node":
            status = part(document.manifest, "status")
            place = f"{document.file}:{document.line_of('status.allocatable')}"
            yield place, name_of(document.manifest), part(status, "allocatable")
