"""Whether a simulation places pods: only an input with Nodes says what room there is for them.

No counterpart: inputs of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, checks_named_by
from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.multikueue import is_multikueue
from kueue_dra_ref.api.provisioning import is_provisioning
from kueue_dra_ref.api.topologies import HOSTNAME, NODE, TOPOLOGY, levels_of
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.rules.queue.pending_workloads import (
    missing_topologies_deactivate_cluster_queue,
)
from kueue_dra_ref.target import FieldError, Manifest

AFTER_CHECKS = "placement of pods after admission checks"
"""What is not decided where quota is reserved first."""
Find = Callable[[str, str], Manifest | None]
"""Gives an object of a kind by its name."""
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


def after_checks(manifest: Manifest, find: Find) -> Iterator[FieldError]:
    """Name the checks of a ClusterQueue before which Kueue reserves quota for pods without placing them."""
    if manifest["kind"] != "ClusterQueue":
        return
    queue = find("ClusterQueue", manifest["metadata"]["name"]) or manifest
    if _has_topology(queue, find) and _places_later(queue, find):
        yield FieldError(
            field="spec.admissionChecksStrategy",
            type="Not decided",
            detail=f"{AFTER_CHECKS}: ignored by the simulation",
        )


def _has_topology(queue: Manifest, find: Find) -> bool:
    """Whether a flavor of a ClusterQueue has a topology."""
    flavors = [find("ResourceFlavor", name) or {} for name in flavors_named_by(queue)]
    return any(part(flavor, "spec").get("topologyName") for flavor in flavors)


def _places_later(queue: Manifest, find: Find) -> bool:
    """Whether Kueue places the pods of a ClusterQueue only when a check is ready."""
    checks = [find(ADMISSION_CHECK, name) for name in checks_named_by(queue)]
    return any(is_provisioning(check) or is_multikueue(check) for check in checks)


def room_of_nodes(manifest: Manifest, find: Find) -> Iterator[FieldError]:
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
