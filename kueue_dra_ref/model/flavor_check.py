"""A flavor that Kueue checks for a pod set.

No counterpart: a value, it decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import PodSet


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorCheck:
    """A pod set, and a flavor that may serve it."""

    pod_set: PodSet
    name: str
    """The name of the flavor."""
    spec: Mapping[str, Any]
    """The spec of the ResourceFlavor."""
    group_label_keys: Collection[str] = frozenset()
    """The node label keys of all flavors of the resource group, if the behaviour uses them."""

    @property
    def node_labels(self) -> dict[str, str]:
        """Give the node labels of the flavor."""
        return self.spec.get("nodeLabels") or {}
