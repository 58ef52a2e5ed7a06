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
    """Check one device; skip the capacities from 1.37 on that it had ``before``."""
    name = found.get("name") or ""
    at = f"{path}.name"
    yield from resource_names.label(name, at)
    if "basic" in found:
        yield required(f"{path}.basic")
        return
    yield from _entries(found, path, k)
    described = found.get("attributes") or {}
    yield from attributes(described, f"{path}.attributes", k)
    old = before.get(name)
    if (
        k.checks_old_capacity
        or old is None
        or old.get("capacity") != found.get("capacity")
    ):
        yield from _capacities(found, f"{path}.capacity", k)
    yield from _taints(found, f"{path}.taints", k)
    yield from counters.consumptions(found, path, k, spec)
    selects_nodes = bool(spec.get("perDeviceNodeSelection"))
    yield from nodes.of_device(found, path, selects_nodes, k)
    yield from conditions(found, path, k)
    at = f"{path}.nodeAllocatableResourceMappings"
    yield from mappings(found, at)


def _taints(found: Object, path: str, k: Kubernetes) -> Errors:
    check = partial(taint, k=k)
    return listed(found.get("taints"), path, k, check, at_most=k.limits.taints)


def _entries(found: Object, path: str, k: Kubernetes) -> Errors:
    attributes = found.get("attributes") or {}
    described = attributes.values()
    capacities = found.get("capacity") or ()
    entries = len(described) + len(capacities)
    if entries > MAX_ENTRIES:
        words = f"the total number of attributes and capacities must not exceed {MAX_ENTRIES}"
        yield invalid(path, entries, words)
    values = sum(_values(each) for each in described)
    most = k.limits.attribute_values
    if most is not None and values > most:
        detail = f"the total number of attribute values must not exceed {most}"
        yield invalid(path, values, detail)


def _values(attribute: Object) -> int:
    """Count the values of an attribute; one without lists has one."""
    lists = [attribute.get(key) or () for key in LISTS]
    found = sum(map(len, lists))
    return found or 1


def _capacities(found: Object, path: str, k: Kubernetes) -> Errors:
    capacities = found.get("capacity") or {}
    for name in sorted(capacities):
        where = resource_names.key_path(path, name, resource_names.LONGEST_KEY)
        of_name = where if k.keys_have_paths else path
        yield from resource_names.qualified(name, of_name, k)
        capacity = capacities[name]
        policy = capacity.get("requestPolicy")
        if policy is None:
            continue
        at = f"{where}.requestPolicy"
        if found.get("allowMultipleAllocations"):
            value = capacity.get("value", "0")
            yield from request_policy(value, policy, at, k)
        else:
            yield forbidden(at, "allowMultipleAllocations must be true")
