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

_LISTS = ("ints", "bools", "strings", "versions")


def slice_spec(spec: Object, path: str, k: Kubernetes, old: Object | None) -> Errors:
    """Check a slice's spec, and against the ``old`` one what must not change."""
    yield from resource_names.driver(spec.get("driver") or "", f"{path}.driver", k)
    yield from _pool(spec.get("pool") or {}, f"{path}.pool", k)
    if old is not None:
        yield from _unchanged(spec, old, path, k)
    yield from nodes.of_slice(spec, path, k)
    if (
        "sharedCounters" in spec
        and "devices" in spec
        and not k.checks_counter_references
    ):
        yield invalid(path, "", "only one of `sharedCounters` or `devices` is allowed")
    yield from _devices(spec, f"{path}.devices", k, old or {})
    yield from counters.totals(spec, path, k)
    yield from counters.sets(spec.get("sharedCounters"), f"{path}.sharedCounters", k)
    yield from partition_type(spec, path)


def _pool(pool: Object, path: str, k: Kubernetes) -> Errors:
    yield from resource_names.pool(pool.get("name") or "", f"{path}.name", k)
    if (count := pool.get("resourceSliceCount") or 0) <= 0:
        yield invalid(f"{path}.resourceSliceCount", count, "must be greater than zero")
    if (generation := pool.get("generation") or 0) < 0:
        yield invalid(
            f"{path}.generation", generation, "must be greater than or equal to zero"
        )


def _unchanged(spec: Object, old: Object, path: str, k: Kubernetes) -> Errors:
    name, before = ((each.get("pool") or {}).get("name") for each in (spec, old))
    if name != before:
        yield invalid(f"{path}.pool.name", name or "", "field is immutable")
    if spec.get("driver") != old.get("driver"):
        yield invalid(f"{path}.driver", spec.get("driver") or "", "field is immutable")
    if spec.get("nodeName") != old.get("nodeName"):
        unset = '""' if k.has_flat_paths else k.null
        shown_name = shown(spec["nodeName"]) if "nodeName" in spec else unset
        yield invalid_as(f"{path}.nodeName", shown_name, "field is immutable")


def _devices(spec: Object, path: str, k: Kubernetes, old: Object) -> Errors:
    devices = spec.get("devices")
    before = {each.get("name"): each for each in old.get("devices") or ()}
    most = (
        k.limits.devices_with_features
        if any(map(_has_features, devices or ()))
        else k.limits.devices
    )
    check = partial(device, k=k, spec=spec, before=before)
    yield from listed_once(
        devices,
        path,
        k,
        check,
        lambda each: each.get("name") or "",
        named="name",
        at_most=most,
    )


def _has_features(device: Object) -> bool:
    attributes = (device.get("attributes") or {}).values()
    return bool(
        device.get("taints")
        or device.get("consumesCounters")
        or any(key in attribute for attribute in attributes for key in _LISTS)
    )
