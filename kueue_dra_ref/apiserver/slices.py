"""Validation of ResourceSlices: driver, pool, nodes, devices, and the counters that they share.

Kubernetes: pkg/apis/resource/validation/validation.go (ValidateResourceSlice, validateResourceSliceSpec,
    validateResourcePool)
"""

from __future__ import annotations

from functools import partial

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import counters, nodes, resource_names
from kueue_dra_ref.apiserver.devices import device
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    invalid,
    invalid_as,
    listed_once,
    shown,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.partition_type import partition_type

_LISTS = frozenset({"ints", "bools", "strings", "versions"})


def slice_spec(spec: Object, path: str, k: Kubernetes, old: Object | None) -> Errors:
    """Check a slice's spec, and against the ``old`` one what must not change."""
    driver = spec.get("driver") or ""
    at = f"{path}.driver"
    yield from resource_names.driver(driver, at, k)
    pool = spec.get("pool") or {}
    yield from _pool(pool, f"{path}.pool", k)
    if old is not None:
        yield from _unchanged(spec, old, path, k)
    yield from nodes.of_slice(spec, path, k)
    has_both = "sharedCounters" in spec and "devices" in spec
    if has_both and not k.checks_counter_references:
        yield invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _devices(spec, f"{path}.devices", k, old or {})
    yield from counters.totals(spec, path, k)
    sets = spec.get("sharedCounters")
    at = f"{path}.sharedCounters"
    yield from counters.sets(sets, at, k)
    yield from partition_type(spec, path)


def _pool(pool: Object, path: str, k: Kubernetes) -> Errors:
    name = pool.get("name") or ""
    at = f"{path}.name"
    yield from resource_names.pool(name, at, k)
    count = pool.get("resourceSliceCount") or 0
    if count <= 0:
        at = f"{path}.resourceSliceCount"
        yield invalid(at, count, "must be greater than zero")
    generation = pool.get("generation") or 0
    if generation < 0:
        at = f"{path}.generation"
        yield invalid(at, generation, "must be greater than or equal to zero")


def _unchanged(spec: Object, old: Object, path: str, k: Kubernetes) -> Errors:
    immutable = "field is immutable"
    pool = spec.get("pool") or {}
    name = pool.get("name")
    before = old.get("pool") or {}
    if name != before.get("name"):
        at = f"{path}.pool.name"
        yield invalid(at, name or "", immutable)
    driver = spec.get("driver")
    if driver != old.get("driver"):
        at = f"{path}.driver"
        yield invalid(at, driver or "", immutable)
    node = spec.get("nodeName")
    if node != old.get("nodeName"):
        at = f"{path}.nodeName"
        shown_name = _shown_name(spec, k)
        yield invalid_as(at, shown_name, immutable)


def _shown_name(spec: Object, k: Kubernetes) -> str:
    if "nodeName" in spec:
        name = spec["nodeName"]
        return shown(name)
    if k.has_flat_paths:
        return '""'
    return k.null


def _devices(spec: Object, path: str, k: Kubernetes, old: Object) -> Errors:
    devices = spec.get("devices") or []
    earlier = old.get("devices") or ()
    before = {each.get("name"): each for each in earlier}
    check = partial(device, k=k, spec=spec, before=before)
    most = k.limits.devices
    fewer = k.limits.devices_with_features
    if fewer is not None and any(map(_has_features, devices)):
        most = fewer
    yield from listed_once(
        devices,
        path,
        k,
        check,
        _name,
        named="name",
        at_most=most,
    )


def _name(device: Object) -> str:
    return device.get("name") or ""


def _has_features(device: Object) -> bool:
    if device.get("taints") or device.get("consumesCounters"):
        return True
    attributes = device.get("attributes") or {}
    return not all(map(_LISTS.isdisjoint, attributes.values()))
