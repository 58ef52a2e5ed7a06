"""Validation of a device's mappings to node-allocatable resources (resource.k8s.io in Kubernetes 1.36).

Kubernetes: pkg/apis/resource/validation/validation.go (validateNodeAllocatableResourceMappings)
"""

from __future__ import annotations

from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, not_found


def mappings(device: Object, path: str) -> Errors:
    """Check the node-allocatable resources, such as cpu and memory, that a device consumes."""
    found = device.get("nodeAllocatableResourceMappings") or {}
    capacities = device.get("capacity") or {}
    for name, mapping in sorted(found.items()):
        where = f"{path}[{name}]"
        if "/" in name and "kubernetes.io/" not in name:
            yield invalid(where, name, "must be a node allocatable resource name")
        yield from _multiplier(mapping, f"{where}.allocationMultiplier")
        yield from _capacity_key(mapping, f"{where}.capacityKey", capacities)


def _multiplier(mapping: Object, path: str) -> Errors:
    written = mapping.get("allocationMultiplier")
    multiplier = written or "1"
    amount = parse(multiplier).amount
    if amount <= 0:
        yield invalid(path, multiplier, "must be positive")


def _capacity_key(mapping: Object, path: str, capacities: Object) -> Errors:
    key = mapping.get("capacityKey")
    if key is None:
        return
    if key == "":
        yield invalid(path, "", "capacityKey must not be an empty string")
    elif key not in capacities:
        yield not_found(path, key)
