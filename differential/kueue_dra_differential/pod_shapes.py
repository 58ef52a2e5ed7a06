"""Init containers and other fields of the pods of generated scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_fixtures.containers import a_container, containers

Shapes = Mapping[str, Mapping[str, Any]]
STAYS = "Always"
"""The restartPolicy of a sidecar: an init container that keeps running."""
SINGLE = "single"


def _a_sidecar(**resources: Mapping[str, str]) -> dict[str, Any]:
    return {**a_container("sidecar", **resources), "restartPolicy": STAYS}


_FIRST = a_container("first", requests={"cpu": "3"})
_SIDECAR = _a_sidecar(requests={"cpu": "1"})
SHAPES: Shapes = {
    SINGLE: {},
    "prepared": {"initContainers": [_FIRST]},
    "attended": {"initContainers": [_SIDECAR]},
    "both": {"initContainers": [_SIDECAR, _FIRST]},
    "the other way round": {"initContainers": [_FIRST, _SIDECAR]},
    "silent": {"initContainers": [a_container("first"), _a_sidecar()]},
    "limited": {"initContainers": [_a_sidecar(limits={"cpu": "2"})]},
    "as a whole": {"resources": {"requests": {"cpu": "4"}}},
}


def with_extended(name: str) -> Shapes:
    """`SHAPES`, and some with init containers or sidecars that request an extended resource."""
    return {
        **SHAPES,
        f"prepared with {name}": {
            "initContainers": containers({name: "2"}, initial=True)
        },
        f"attended with {name}": {
            "initContainers": containers({name: "1"}, initial=True, restartPolicy=STAYS)
        },
    }
