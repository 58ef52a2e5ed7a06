"""Validation of a device's mappings to node-allocatable resources (resource.k8s.io in Kubernetes 1.36).

Kubernetes: pkg/apis/resource/validation/validation.go (validateNodeAllocatableResourceMappings)
"""

from __future__ import annotations

from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, not_found


def mappings(device: Object, path: str) -> Errors:
    """Check what a device takes of cpu, memory and the like."""
    for name, mapping in sorted(
        (device.get("nodeAllocatableResourceMappings") or {}).items()
    ):
        where = f"{path}[{name}]"
        if "/" in name and "kubernetes.io/" not in name:
            yield invalid(where, name, "must be a node allocatable resource name")
        multiplier, key = (
            mapping.get("allocationMultiplier"),
            mapping.get("capacityKey"),
        )
        if multiplier is not None and parse(multiplier).amount <= 0:
            yield invalid(
                f"{where}.allocationMultiplier", multiplier, "must be positive"
            )
        if key == "":
            yield invalid(
                f"{where}.capacityKey", "", "capacityKey must not be an empty string"
            )
        elif key is not None and key not in (device.get("capacity") or {}):
            yield not_found(f"{where}.capacityKey", key)
