"""Validation of counter sets and of what devices consume of them (resource.k8s.io: partitionable devices).

Kubernetes: pkg/apis/resource/validation/validation.go (validateCounterSet, validateDeviceCounterConsumption)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    invalid,
    listed_once,
    required,
    too_many,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes


def sets(found: list[Object] | None, path: str, k: Kubernetes) -> Errors:
    """Check the counter sets of a slice."""
    most = k.limits.counter_sets
    check = partial(_set, k=k)
    yield from listed_once(
        found,
        path,
        k,
        check,
        lambda each: each.get("name") or "",
        named="name",
        at_most=most,
    )


def consumptions(device: Object, path: str, k: Kubernetes, spec: Object) -> Errors:
    """Check what a device consumes; up to 1.34, also that its slice has the counters."""
    found = device.get("consumesCounters") or []
    where = f"{path}.consumesCounters"
    yield from listed_once(
        found,
        where,
        k,
        partial(_consumption, k=k),
        _set_name,
        named="counterSet",
        at_most=k.limits.consumptions,
    )
    yield from _at_most(_count(found), k.limits.counters_per_device, path, "counters")
    if not k.checks_counter_references:
        return
    for index, each in enumerate(found):
        yield from _resolved(each, f"{where}[{index}]", spec)


def _count(holders: Iterable[Object]) -> int:
    return sum(len(each.get("counters") or ()) for each in holders)


def totals(spec: Object, path: str, k: Kubernetes) -> Errors:
    """Check the sums over a slice, which limit it up to 1.34."""
    consumed = sum(
        _count(device.get("consumesCounters") or ())
        for device in spec.get("devices") or ()
    )
    shared = _count(spec.get("sharedCounters") or ())
    of_devices = k.limits.counters_per_slice
    of_sets = k.limits.shared_counters
    yield from _at_most(consumed, of_devices, f"{path}.devices", "counters in devices")
    yield from _at_most(shared, of_sets, f"{path}.sharedCounters", "shared counters")


def _at_most(total: int, most: int | None, path: str, words: str) -> Errors:
    if most is not None and total > most:
        detail = f"the total number of {words} must not exceed {most}"
        yield invalid(path, total, detail)


def _set_name(consumption: Object) -> str:
    return consumption.get("counterSet") or ""


def _set(found: Object, path: str, *, k: Kubernetes) -> Errors:
    name = found.get("name")
    yield from (
        resource_names.label(name, f"{path}.name")
        if name
        else [required(f"{path}.name")]
    )
    yield from _counters(
        found.get("counters") or {}, f"{path}.counters", k, k.limits.counters_per_set
    )


def _consumption(found: Object, path: str, *, k: Kubernetes) -> Errors:
    name = _set_name(found)
    if not name:
        yield required(f"{path}.counterSet")
    elif not k.checks_counter_references:
        yield from resource_names.label(name, f"{path}.counterSet")
    yield from _counters(
        found.get("counters") or {},
        f"{path}.counters",
        k,
        k.limits.counters_per_consumption,
    )


def _counters(found: Object, path: str, k: Kubernetes, most: int | None) -> Errors:
    if not found:
        yield required(path)
    if most is not None and len(found) > most:
        yield too_many(path, len(found), most, k)
        if k.stops_at_sizes:
            return
    for name in sorted(found):
        yield from resource_names.label(
            name,
            resource_names.key_path(path, name, resource_names.MAX_DOMAIN)
            if k.keys_have_paths
            else path,
        )


def _resolved(consumption: Object, path: str, spec: Object) -> Errors:
    shared = {
        each.get("name"): each.get("counters") or {}
        for each in spec.get("sharedCounters") or ()
    }
    name = _set_name(consumption)
    if name not in shared:
        words = (
            "must reference a counterSet defined in the ResourceSlice sharedCounters"
        )
        yield invalid(f"{path}.counterSet", name, words)
        return
    for counter in sorted(set(consumption.get("counters") or ()) - set(shared[name])):
        words = "must reference a counter defined in the ResourceSlice sharedCounters"
        yield invalid(f"{path}.counters", counter, words)
