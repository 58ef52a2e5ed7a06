"""Validation of counter sets and of what devices consume of them (resource.k8s.io: partitionable devices).

Kubernetes: pkg/apis/resource/validation/validation.go (validateCounterSet, validateDeviceCounterConsumption)
"""

from __future__ import annotations

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
    found, where = device.get("consumesCounters") or [], f"{path}.consumesCounters"
    yield from listed_once(
        found,
        where,
        k,
        partial(_consumption, k=k),
        _set_name,
        named="counterSet",
        at_most=k.limits.consumptions,
    )
    total, most = (
        sum(len(each.get("counters") or ()) for each in found),
        k.limits.counters_per_device,
    )
    if most is not None and total > most:
        yield invalid(
            path, total, f"the total number of counters must not exceed {most}"
        )
    for index, each in enumerate(found if k.checks_counter_references else ()):
        yield from _resolved(each, f"{where}[{index}]", spec)


def totals(spec: Object, path: str, k: Kubernetes) -> Errors:
    """Check the sums over a slice, which limit it up to 1.34."""
    consumed = [
        each
        for device in spec.get("devices") or ()
        for each in device.get("consumesCounters") or ()
    ]
    for key, holders, most, words in (
        ("devices", consumed, k.limits.counters_per_slice, "counters in devices"),
        (
            "sharedCounters",
            spec.get("sharedCounters") or [],
            k.limits.shared_counters,
            "shared counters",
        ),
    ):
        total = sum(len(each.get("counters") or ()) for each in holders)
        if most is not None and total > most:
            yield invalid(
                f"{path}.{key}",
                total,
                f"the total number of {words} must not exceed {most}",
            )


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
            name, resource_names.key_path(path, name, 63) if k.keys_have_paths else path
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
