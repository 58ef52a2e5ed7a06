"""Checks of counters and capacities as the driver publishes them, whatever the mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from kueue_dra_ref.explain.step import listed
from kueue_dra_vendor.amounts import amount_of, capacities, consumed, shown
from kueue_dra_vendor.check import Found, Level, Spot, VendorContext, about, check
from kueue_dra_vendor.inventory import InventoryDevice, Pool

MOST = 3
"""How many names a finding lists."""
Amounts = dict[str, list[Fraction]]


@check(
    "VENDOR-212",
    Level.ADVICE,
    "The parts of a counter set can use it up.",
    effect="Part of the quota can be spent on whole devices only: parts of them never fill it.",
    remedy="Choose sizes that add up to the set, or set the quota by the parts.",
    since="Kubernetes 1.33",
)
def parts_use_up_their_set(context: VendorContext) -> Found:
    """Add up what the devices consume that do not take all of a counter."""
    for pool in context.inventory.pools.values():
        for each, name, counters in pool.counter_sets:
            consumed_of = _parts(context, pool, name)
            for counter, value in counters.items():
                taken = consumed_of.get(counter, [])
                if text := _rest(taken, amount_of(value)):
                    place = each.place("spec.sharedCounters")
                    text = f"counter {counter} in set {name}: {text}"
                    yield Spot(place, f"pool {pool.title}", text)


@check(
    "VENDOR-213",
    Level.ERROR,
    "No counter and no capacity is negative.",
    effect="Kueue charges 0: the quota never fills.",
    remedy="Publish 0 or more.",
    since="Kueue 0.18",
)
def amounts_are_not_negative(context: VendorContext) -> Found:
    """Look for amounts below zero."""
    for device in context.inventory.devices:
        for set_name, counter, amount in consumed(device):
            if amount < 0:
                text = (
                    f"consumes {shown(amount)} of counter {counter} of set {set_name}"
                )
                yield about(device, "consumesCounters", text)
        for name, capacity in capacities(device):
            if amount_of(capacity) < 0:
                text = f"capacity {name} is {shown(amount_of(capacity))}"
                yield about(device, f"capacity[{name}]", text)


@check(
    "VENDOR-214",
    Level.WARNING,
    "A device consumes a counter of one set only.",
    effect="Kueue charges the larger amount of the two, not the sum.",
    remedy="Name the counters of the two sets differently.",
    since="Kueue 0.18",
)
def counters_come_from_one_set(context: VendorContext) -> Found:
    """Count the sets of each counter of a device."""
    for device in context.inventory.devices:
        counted = Counter(counter for _, counter, _ in consumed(device))
        for counter, count in counted.items():
            if count > 1:
                text = f"consumes counter {counter} of {count} sets"
                yield about(device, "consumesCounters", text)


@check(
    "VENDOR-215",
    Level.ADVICE,
    "The devices of a class have the same capacities.",
    effect="A mapping by a capacity rejects workloads of the class, since some devices lack it.",
    remedy="Publish the capacity on every device of the class, or divide the class.",
    since="Kueue 0.19",
)
def capacities_of_a_class_are_the_same(context: VendorContext) -> Found:
    """Compare the names of capacities over the devices of each class."""
    for each in context.files.classes:
        kinds: dict[frozenset[str], InventoryDevice] = {}
        for device in context.inventory.matching(each):
            kinds.setdefault(frozenset(device.published.capacities), device)
        if len(kinds) > 1:
            names = [_described(kind, device) for kind, device in kinds.items()]
            yield about(each, "", f"its devices differ: {listed(names, MOST)}")


@check(
    "VENDOR-216",
    Level.WARNING,
    "A class does not mix devices that are shared with devices that are not.",
    effect="A quota of devices counts shares and whole devices alike; one of capacity charges a whole device for some.",
    remedy="Divide the class by an attribute.",
    since="Kubernetes 1.34, Kueue 0.19",
)
def classes_do_not_mix_sharing(context: VendorContext) -> Found:
    """Compare allowMultipleAllocations over the devices of each class."""
    for each in context.files.classes:
        kinds: dict[bool, InventoryDevice] = {}
        for device in context.inventory.matching(each):
            is_shared = bool(device.entry.get("allowMultipleAllocations"))
            kinds.setdefault(is_shared, device)
        if len(kinds) > 1:
            text = (
                f"{kinds[True].title} gives out shares, {kinds[False].title} does not"
            )
            yield about(each, "", text)


@check(
    "VENDOR-217",
    Level.WARNING,
    "Amounts are whole numbers.",
    effect="Kueue charges whole units: a fraction is rounded up, so the quota fills before the devices do.",
    remedy="Publish the amount in a smaller unit.",
    since="Kueue 0.18",
)
def amounts_are_whole(context: VendorContext) -> Found:
    """Look for fractions in counters, capacities and policies."""
    for device in context.inventory.devices:
        for what, path, amount in _amounts(device):
            if amount.denominator != 1:
                yield about(device, path, f"{what} is {shown(amount)}")


def _rest(taken: list[Fraction], whole: Fraction) -> str:
    """Say what the parts leave, where a whole device and parts consume a counter; empty where they leave nothing."""
    parts = [each for each in taken if 0 < each < whole]
    total = sum(parts, Fraction(0))
    if not parts or total >= whole or len(parts) == len(taken):
        return ""
    return f"the parts consume {shown(total)} of {shown(whole)}"


def _parts(context: VendorContext, pool: Pool, set_name: str) -> Amounts:
    """Give by counter what each device of a pool consumes of a set."""
    found: Amounts = {}
    for device in context.inventory.of_pool(pool):
        for name, counter, amount in consumed(device):
            if name == set_name:
                found.setdefault(counter, []).append(amount)
    return found


def _described(names: frozenset[str], device: InventoryDevice) -> str:
    return f"{', '.join(sorted(names)) or 'no capacity'} on {device.title}"


def _amounts(device: InventoryDevice) -> Iterator[tuple[str, str, Fraction]]:
    for set_name, counter, amount in consumed(device):
        yield f"counter {counter} of set {set_name}", "consumesCounters", amount
    for name, capacity in capacities(device):
        path = f"capacity[{name}]"
        policy = capacity.get("requestPolicy") or {}
        limits = policy.get("validRange") or {}
        yield f"capacity {name}", path, amount_of(capacity)
        for key, value in {"default": policy.get("default"), **limits}.items():
            if value is not None:
                yield f"{key} of capacity {name}", path, amount_of(value)
