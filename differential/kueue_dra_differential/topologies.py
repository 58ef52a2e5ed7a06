"""Topologies in generated scenarios: nodes in racks, flavors of these nodes, and what pods request of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.queue_events import Refit
from kueue_dra_differential.whole_devices import CARD
from kueue_dra_fixtures.manifests import a_node, an_object
from kueue_dra_ref.api.topologies import (
    HOSTNAME,
    PREFERRED,
    REQUIRED,
    TOPOLOGY,
    UNCONSTRAINED,
)
from kueue_dra_ref.target import Manifest

RACK = "example.com/rack"
POOL = "example.com/pool"
LEVELS = ({"nodeLabel": RACK}, {"nodeLabel": HOSTNAME})
MOST_NODES = 4
RACKED: Mapping[str, Mapping[str, Any]] = {
    "racked": {},
    "racked-zone-a": {"nodeLabels": {"zone": "a"}},
}
"""The kinds of flavors with a topology, as what they have in addition to it."""
NEAR: Mapping[str, Mapping[str, str]] = {
    "": {},
    "one-rack": {REQUIRED: RACK},
    "one-node": {REQUIRED: HOSTNAME},
    "rather-one-rack": {PREFERRED: RACK},
    "rather-one-node": {PREFERRED: HOSTNAME},
    "any-node": {UNCONSTRAINED: "true"},
    "one-block": {REQUIRED: "example.com/block"},
}
"""What pods request of the topology, as their annotations; it has no blocks."""
_OFTEN = ("", "", *NEAR, "one-rack", "rather-one-rack", "any-node")
_TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNode:
    """A node of a scenario."""

    rack: int
    cpu: int
    cards: int
    zone: str
    tainted: bool
    late: bool
    """Whether it does not exist at first."""


def near() -> SearchStrategy[str]:
    """What the pods of a job request, by its name."""
    return st.sampled_from(_OFTEN)


def nodes() -> SearchStrategy[tuple[DrawnNode, ...]]:
    """The nodes of a scenario."""
    sometimes = st.sampled_from((False, False, False, True))
    one = st.builds(
        DrawnNode,
        rack=st.integers(0, 1),
        cpu=st.sampled_from((2, 4, 1)),
        cards=st.sampled_from((2, 1)),
        zone=st.sampled_from(("a", "a", "b")),
        tainted=sometimes,
        late=sometimes,
    )
    return st.lists(one, min_size=2, max_size=MOST_NODES).map(tuple)


def refits() -> SearchStrategy[Refit]:
    """A node that gets another amount of CPU, or pods no longer, or again; a late one is created so."""
    return st.builds(
        Refit,
        node=st.integers(0, MOST_NODES - 1),
        cpu=st.sampled_from((None, 1, 4, 8)),
        cordoned=st.sampled_from((False, False, True)),
    )


def a_topology(name: str) -> Manifest:
    """Give the Topology of racks and nodes."""
    return an_object(TOPOLOGY, name, levels=[*LEVELS])


def spec_of(kind: str, topology: str, pool: str) -> dict[str, Any]:
    """Give the spec of a flavor with a topology."""
    own = RACKED[kind]
    labels = {POOL: pool, **own.get("nodeLabels", {})}
    return {**own, "nodeLabels": labels, "topologyName": topology}


def manifest(name: str, node: DrawnNode, pool: str, event: Refit | None) -> Manifest:
    """Give a Node, as it is at first or after an event."""
    labels = {POOL: pool, RACK: f"r{node.rack}", "zone": node.zone}
    cpu = node.cpu
    cordoned = False
    if event is not None:
        cordoned = event.cordoned
        cpu = cpu if event.cpu is None else event.cpu
    amounts = {"pods": "100", "cpu": str(cpu), CARD: str(node.cards)}
    taints = [_TAINT] if node.tainted else []
    return a_node(name, labels, amounts, taints, True, cordoned)
