"""Whether a simulation places pods: only an input with Nodes says what room there is for them.

No counterpart: inputs of the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kueue_dra_ref.api.topologies import NODE
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.rules.queue.pending_workloads import (
    missing_topologies_deactivate_cluster_queue,
)
from kueue_dra_ref.target import Manifest


def has_nodes(manifests: Iterable[Manifest]) -> bool:
    """Whether any Node says what pods can have of it."""
    return any(
        each.get("kind") == NODE and part(each, "status").get("allocatable")
        for each in manifests
    )


def without_placement(behaviour: Behaviour) -> Behaviour:
    """Give a behaviour that ignores topologies, for an input that has no nodes."""
    inactive = behaviour.queueing.inactive.keep(
        lambda rule: rule.name != missing_topologies_deactivate_cluster_queue.name
    )
    return replace(
        behaviour,
        topology=TopologyRules(),
        queueing=replace(behaviour.queueing, inactive=inactive),
    )
