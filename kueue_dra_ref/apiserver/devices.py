"""Validation of a slice's devices: how many entries they have, and what their capacities may be asked for.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDevice, numEntriesDeviceAttribute,
    validateMultiAllocatableDeviceCapacity, validateSingleAllocatableDeviceCapacity)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import counters, nodes, resource_names
from kueue_dra_ref.apiserver.attributes import LISTS, attributes
from kueue_dra_ref.apiserver.binding_conditions import conditions
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    forbidden,
    invalid,
    listed,
    required,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.node_allocatable import mappings
from kueue_dra_ref.apiserver.request_policy import request_policy
from kueue_dra_ref.apiserver.taints import taint

MAX_ENTRIES = 32


def device(
    found: Object,
    path: str,
    *,
    k: Kubernetes,
    spec: Object,
    before: Mapping[str, Object],
) -> Errors:
    """Check one device; taints, and lately capacities, that it had ``before`` are not looked at again."""
    yield from resource_names.label(found.get("name") or "", f"{path}.name")
    if "basic" in found:
        yield required(f"{path}.basic")
        return
    yield from _entries(found, path, k)
    yield from attributes(found.get("attributes") or {}, f"{path}.attributes", k)
    old = before.get(found.get("name") or "")
    if (
        k.checks_old_capacity
        or old is None
        or old.get("capacity") != found.get("capacity")
    ):
        yield from _capacities(found, f"{path}.capacity", k)
    if old is None or old.get("taints") != found.get("taints"):
        yield from listed(
            found.get("taints"),
            f"{path}.taints",
            k,
            partial(taint, k=k),
            at_most=k.limits.taints,
        )
    yield from counters.consumptions(found, path, k, spec)
    yield from nodes.of_device(found, path, bool(spec.get("perDeviceNodeSelection")), k)
    yield from conditions(found, path, k)
    yield from mappings(found, f"{path}.nodeAllocatableResourceMappings")


def _entries(found: Object, path: str, k: Kubernetes) -> Errors:
    described = (found.get("attributes") or {}).values()
    entries = len(described) + len(found.get("capacity") or ())
    if entries > MAX_ENTRIES:
        words = f"the total number of attributes and capacities must not exceed {MAX_ENTRIES}"
        yield invalid(path, entries, words)
    values = sum(
        sum(len(each.get(key) or ()) for key in LISTS) or 1 for each in described
    )
    most = k.limits.attribute_values
    if most is not None and values > most:
        yield invalid(
            path, values, f"the total number of attribute values must not exceed {most}"
        )


def _capacities(found: Object, path: str, k: Kubernetes) -> Errors:
    capacities = found.get("capacity") or {}
    for name in sorted(capacities):
        where = resource_names.key_path(path, name, resource_names.LONGEST_KEY)
        yield from resource_names.qualified(
            name, where if k.keys_have_paths else path, k
        )
        policy = capacities[name].get("requestPolicy")
        if policy is None:
            continue
        if found.get("allowMultipleAllocations"):
            yield from request_policy(
                capacities[name].get("value", "0"), policy, f"{where}.requestPolicy", k
            )
        else:
            yield forbidden(
                f"{where}.requestPolicy", "allowMultipleAllocations must be true"
            )
