"""What pods of generated worlds have beside their one regular container, as fields of a pod spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_fixtures.containers import a_container, containers

Shapes = Mapping[str, Mapping[str, Any]]
STAYS = "Always"
"""The restartPolicy of an initial container that runs beside the regular ones."""
SINGLE = "single"


def _beside(**resources: Mapping[str, str]) -> dict[str, Any]:
    return {**a_container("beside", **resources), "restartPolicy": STAYS}


_FIRST, _BESIDE = (
    a_container("first", requests={"cpu": "3"}),
    _beside(requests={"cpu": "1"}),
)
SHAPES: Shapes = {
    SINGLE: {},
    "prepared": {"initContainers": [_FIRST]},
    "attended": {"initContainers": [_BESIDE]},
    "both": {"initContainers": [_BESIDE, _FIRST]},
    "the other way round": {"initContainers": [_FIRST, _BESIDE]},
    "silent": {"initContainers": [a_container("first"), _beside()]},
    "limited": {"initContainers": [_beside(limits={"cpu": "2"})]},
    "as a whole": {"resources": {"requests": {"cpu": "4"}}},
}


def with_extended(name: str) -> Shapes:
    """The same, and some in which containers before or beside the regular one ask for an extended resource."""
    return {
        **SHAPES,
        f"prepared with {name}": {
            "initContainers": containers({name: "2"}, initial=True)
        },
        f"attended with {name}": {
            "initContainers": containers({name: "1"}, initial=True, restartPolicy=STAYS)
        },
    }
