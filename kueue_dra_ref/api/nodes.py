"""Nodes, as far as Kueue reads them to place pods: labels, taints, and what they can allocate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.unstructured import child, mappings, quantities
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node that is ready for pods or not; amounts in Kueue's units."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, Any], ...]
    allocatable: Mapping[str, int]
    is_usable: bool
    """Whether it is Ready and schedulable."""


def node_of(manifest: Manifest) -> Node:
    """Read a stored Node.

    Raises:
        ManifestError: a field is of the wrong type, or an amount is no quantity.

    """
    meta = manifest["metadata"]
    spec = child(manifest, "spec", dict, {})
    status = child(manifest, "status", dict, {})
    amounts = quantities(status, "allocatable", "status")
    ready = is_true({"status": status}, "Ready")
    return Node(
        name=meta["name"],
        labels=labels_of(manifest),
        taints=tuple(mappings(spec, "taints", "spec")),
        allocatable={name: units(name, each) for name, each in amounts.items()},
        is_usable=ready and not spec.get("unschedulable"),
    )
