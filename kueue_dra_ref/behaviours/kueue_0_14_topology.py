"""Kueue 0.14: the rules that place pods on nodes (topology-aware scheduling)."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.flavorassigner import topology
from kueue_dra_ref.rules.queue import retries


def placing(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while topology-aware scheduling is on."""
    return when(each, TopologyAwareScheduling=True)


TOPOLOGY = TopologyRules(
    implied=AnyOf(placing(topology.all_topology_flavors_imply_placement)),
    flavor=Each(
        placing(topology.placed_pods_need_topology_flavor),
        placing(topology.topology_has_requested_level),
        placing(topology.topology_flavor_needs_request),
    ),
    # Devices of claims count as what pods request of their nodes (up to 0.15).
    place_charged=AnyOf(topology.charged_amounts_are_placed),
    use_charged=AnyOf(topology.charged_amounts_are_placed),
    exclude_node=First(
        topology.untolerated_taint_excludes_node_0_15,
        topology.node_selector_excludes_node,
    ),
    least_free=AnyOf(
        when(
            topology.least_free_capacity_for_unconstrained,
            TASProfileMixed=True,
        ),
        when(topology.least_free_capacity_for_all, TASProfileLeastFreeCapacity=True),
    ),
    retry_all=AnyOf(placing(retries.flavor_with_topology_retries_all)),
    scheduling_gates=Each(topology.placed_pods_wait_for_their_nodes),
    pod_annotations=First(topology.implied_pods_are_annotated),
)
