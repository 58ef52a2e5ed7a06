"""Whether a simulation places pods: only an input with Nodes says what room there is for them.

No counterpart: inputs of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kueue_dra_ref.api.topologies import HOSTNAME, NODE, TOPOLOGY, levels_of
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.rules.queue.pending_workloads import (
    missing_topologies_deactivate_cluster_queue,
)
from kueue_dra_ref.target import FieldError, Manifest

_SINGLE_NODES = "TASNodeFeasibilityForAllLevels"


def has_nodes(manifests: Iterable[Manifest]) -> bool:
    """Whether any Node says what pods can have of it."""
    return any(
        each.get("kind") == NODE and part(each, "status").get("allocatable")
        for each in manifests
    )


def placing(behaviour: Behaviour, manifests: Iterable[Manifest]) -> Behaviour:
    """Give a behaviour that ignores topologies if an input has no nodes."""
    if has_nodes(manifests):
        return behaviour
    inactive = behaviour.queueing.inactive.keep(
        lambda rule: rule.name != missing_topologies_deactivate_cluster_queue.name
    )
    return replace(
        behaviour,
        topology=TopologyRules(),
        queueing=replace(behaviour.queueing, inactive=inactive),
    )


def checks_single_nodes(behaviour: Behaviour) -> bool:
    """Whether a release checks the room of each node in domains of several, which the reference does not."""
    gate = behaviour.gates.table.get(_SINGLE_NODES)
    return gate is not None and gate.default


def room_of_nodes(
    manifest: Manifest, find: Callable[[str, str], Manifest | None]
) -> Iterator[FieldError]:
    """Name the topology of a flavor whose lowest domains have several nodes."""
    spec = part(manifest, "spec")
    if manifest["kind"] != "ResourceFlavor" or not spec.get("topologyName"):
        return
    topology = find(TOPOLOGY, spec["topologyName"])
    if topology is None or HOSTNAME in levels_of(topology):
        return
    yield FieldError(
        field="spec.topologyName",
        type="Not decided",
        detail="the room of single nodes in a domain: ignored by the simulation",
    )
