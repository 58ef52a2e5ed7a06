"""What an upgrade of a driver changes for quota: classes, devices, attributes, counters and charges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kueue_dra_ref.api.devices import expressions_of
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.apiserver import Kubernetes
from kueue_dra_ref.explain.step import listed
from kueue_dra_ref.target import Manifest
from kueue_dra_vendor.charges import charges
from kueue_dra_vendor.files import VendorFiles, VendorObject
from kueue_dra_vendor.inventory import Inventory, InventoryDevice, match, selectors_of

MOST = 3
"""How many names a change lists."""
GONE = "is gone: its mapping charges nothing, and workloads with it are rejected"
NEW = "is new: map it, or its workloads are rejected"
NOT_CONSUMED = "no device consumes it any more: a mapping by it rejects workloads"
READ = re.compile(
    r"device\.(?:attributes|capacity)\s*\[\s*['\"]([^'\"]+)['\"]\s*\]\s*"
    r"(?:\.\??\s*(\w+)|\[\s*\??\s*['\"]([^'\"]+)['\"]\s*\])"
)
"""An attribute or a capacity that a selector reads: its domain, and its name in either notation."""


class Effect(StrEnum):
    """What a change does to users of the driver with quota."""

    BREAKS = "breaks"
    CHANGES = "changes"
    ADDS = "adds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between two versions of a driver."""

    effect: Effect
    object: str
    text: str

    def __str__(self) -> str:
        return f"{self.effect}: {self.object}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """Two versions of a driver, and the mapping, which does not change."""

    old: Inventory
    new: Inventory
    configuration: Manifest
    kubernetes: Kubernetes


def changes(upgrade: Upgrade) -> list[Change]:
    """Give every change, the most severe first.

    Raises:
        ValueError: Kueue does not start with the Configuration.

    """
    found = [
        *_classes(upgrade),
        *_matches(upgrade),
        *_requests(upgrade),
        *_attributes(upgrade),
        *_counters(upgrade),
        *_devices(upgrade),
        *_charges(upgrade),
    ]
    order = list(Effect)
    return sorted(found, key=lambda each: order.index(each.effect))


def _classes(upgrade: Upgrade) -> Iterator[Change]:
    """Compare the classes by name: selectors and extended resource name."""
    old = _by_name(upgrade.old.files)
    new = _by_name(upgrade.new.files)
    for name, each in old.items():
        title = each.title
        if name in new:
            yield from _class(each, new[name])
        else:
            yield _breaks(title, GONE)
    for name, each in new.items():
        if name not in old:
            yield _adds(each.title, NEW)


def _by_name(files: VendorFiles) -> dict[str, VendorObject]:
    return {each.name: each for each in files.classes}


def _class(old: VendorObject, new: VendorObject) -> Iterator[Change]:
    selectors_before = selectors_of(old)
    selectors_after = selectors_of(new)
    if selectors_before != selectors_after:
        text = f"its selectors were {selectors_before} and are {selectors_after}"
        yield _changes(new.title, text)
    before = _extended(old)
    after = _extended(new)
    if before == after:
        return
    was = before or "none"
    now = after or "none"
    text = f"extendedResourceName was {was} and is {now}"
    if before:
        yield _breaks(new.title, text)
    else:
        yield _adds(new.title, text)


def _extended(each: VendorObject) -> str:
    """Give the name as it was written, since a gate may drop it."""
    spec = part(each.written, "spec")
    name = spec.get("extendedResourceName")
    return str(name or "")


def _matches(upgrade: Upgrade) -> Iterator[Change]:
    """Compare how many devices each class matches."""
    new = _by_name(upgrade.new.files)
    for each in upgrade.old.files.classes:
        if each.name not in new:
            continue
        before = upgrade.old.matching(each)
        after = upgrade.new.matching(new[each.name])
        yield from _fewer(each.title, "", len(before), len(after))


def _fewer(title: str, what: str, before: int, after: int) -> Iterator[Change]:
    if before == after:
        return
    text = f"{what}matched {before} devices and matches {after}"
    if after:
        yield _changes(title, text)
    else:
        yield _breaks(title, text)


def _requests(upgrade: Upgrade) -> Iterator[Change]:
    """Evaluate the requests of the old templates, which users have copied, on the new devices."""
    for template, name, body in _bodies(upgrade.old.files):
        selectors = expressions_of(body, "")
        if not selectors:
            continue
        device_class = str(body.get("deviceClassName", ""))
        before = _matching(upgrade.old, device_class, selectors)
        after = _matching(upgrade.new, device_class, selectors)
        what = f"request {name} "
        yield from _fewer(template.title, what, before, after)


def _matching(inventory: Inventory, name: str, selectors: tuple[str, ...]) -> int:
    device_class = _by_name(inventory.files).get(name)
    if device_class is None:
        return 0
    count = 0
    for each in inventory.matching(device_class):
        found = match(selectors, each.device)
        if found.holds:
            count += 1
    return count


def _attributes(upgrade: Upgrade) -> Iterator[Change]:
    """Compare name and type of attributes and capacities; a change of those that selectors read breaks something."""
    read = _read(upgrade.old.files)
    read |= _read(upgrade.new.files)
    old = _types(upgrade.old)
    new = _types(upgrade.new)
    for name, was in sorted(old.items()):
        now = new.get(name, "gone")
        title = f"attribute {name}"
        text = f"was {was} and is {now}"
        if was == now:
            continue
        if name in read:
            yield _breaks(title, f"{text}; selectors read it")
        else:
            yield _changes(title, text)
    for name, now in sorted(new.items()):
        if name not in old:
            yield _adds(f"attribute {name}", f"is new: {now}")


def _types(inventory: Inventory) -> Mapping[str, str]:
    """Give the types of each attribute, and ``capacity`` for a capacity, by qualified name."""
    found: dict[str, set[str]] = {}
    for device in inventory.devices:
        for name, value in device.device.attributes.items():
            full = _qualified(device, name)
            types = found.setdefault(full, set())
            types.update(value)
        for name in device.device.capacity:
            full = _qualified(device, name)
            types = found.setdefault(full, set())
            types.add("capacity")
    return {name: " or ".join(sorted(types)) for name, types in found.items()}


def _qualified(device: InventoryDevice, name: str) -> str:
    if "/" in name:
        return name
    return f"{device.device.driver}/{name}"


def _read(files: VendorFiles) -> set[str]:
    """Name the attributes and capacities that selectors of classes and templates read."""
    expressions: list[str] = []
    for each in files.classes:
        expressions += selectors_of(each)
    for _, _, body in _bodies(files):
        expressions += expressions_of(body, "")
    found = set()
    for expression in expressions:
        for domain, dotted, bracketed in READ.findall(expression):
            name = dotted or bracketed
            found.add(f"{domain}/{name}")
    return found


def _counters(upgrade: Upgrade) -> Iterator[Change]:
    """Compare the counters that devices consume."""
    old = _consumed(upgrade.old)
    new = _consumed(upgrade.new)
    for name in sorted(old - new):
        yield _breaks(f"counter {name}", NOT_CONSUMED)
    for name in sorted(new - old):
        yield _adds(f"counter {name}", "devices consume it")


def _consumed(inventory: Inventory) -> set[str]:
    found = set()
    for device in inventory.devices:
        driver = device.device.driver
        for name, _ in device.published.counters:
            found.add(f"{driver}/{name}")
    return found


def _devices(upgrade: Upgrade) -> Iterator[Change]:
    """Compare the names of devices by driver: claims that are allocated hold them by name."""
    old = _titles(upgrade.old)
    new = _titles(upgrade.new)
    for driver, titles in old.items():
        gone = sorted(titles - new.get(driver, set()))
        if gone:
            names = listed(gone, MOST)
            text = f"{len(gone)} devices are gone: {names}"
            yield _changes(f"driver {driver}", text)
    for driver, titles in new.items():
        added = sorted(titles - old.get(driver, set()))
        if added:
            names = listed(added, MOST)
            text = f"{len(added)} devices are new: {names}"
            yield _adds(f"driver {driver}", text)


def _titles(inventory: Inventory) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in inventory.devices:
        titles = found.setdefault(each.device.driver, set())
        titles.add(each.title)
    return found


def _charges(upgrade: Upgrade) -> Iterator[Change]:
    """Compare what a pod of each class and of each template is charged under the mapping."""
    configuration = upgrade.configuration
    kubernetes = upgrade.kubernetes
    old = charges(upgrade.old.files, configuration, kubernetes)
    new = charges(upgrade.new.files, configuration, kubernetes)
    for subject, before in old.items():
        after = new.get(subject, before)
        was = str(before)
        now = str(after)
        if was != now:
            yield _breaks(subject, f"one pod was charged {was}; now {now}")


def _bodies(files: VendorFiles) -> Iterator[tuple[VendorObject, str, dict[str, Any]]]:
    """Give each exact request of the templates, with its name."""
    for template in files.of("ResourceClaimTemplate"):
        spec = part(template.spec, "spec")
        devices = part(spec, "devices")
        for request in devices.get("requests") or ():
            name = str(request.get("name", ""))
            body = request.get("exactly")
            if body:
                yield template, name, body


def _breaks(name: str, text: str) -> Change:
    return Change(effect=Effect.BREAKS, object=name, text=text)


def _changes(name: str, text: str) -> Change:
    return Change(effect=Effect.CHANGES, object=name, text=text)


def _adds(name: str, text: str) -> Change:
    return Change(effect=Effect.ADDS, object=name, text=text)
