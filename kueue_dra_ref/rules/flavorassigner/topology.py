"""Topology-aware scheduling: which flavors serve pods that nodes have to have room for, and which nodes do.

Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (checkPodSetAndFlavorMatchForTAS, onlyTASFlavor,
    isTASImplied);
    pkg/cache/scheduler/scheduling_simulator_default.go (FindFeasibleNodes);
    pkg/cache/scheduler/tas_flavor_snapshot.go (useLeastFreeCapacityAlgorithm, fillLeafCounts)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.labels import expression_holds
from kueue_dra_ref.api.nodes import Node
from kueue_dra_ref.api.queued_pods import TOPOLOGY_GATE
from kueue_dra_ref.api.topologies import UNCONSTRAINED, TopologyRequest
from kueue_dra_ref.api.types import PodSet
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.tolerations import tolerates, tolerates_by_comparison

_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyMatch:
    """A pod set and a flavor that may serve it, by their topologies."""

    flavor: str
    levels: tuple[str, ...] | None
    """The levels of the flavor's topology; None if the flavor has none."""
    request: TopologyRequest
    implied: bool
    """Whether the pods are placed although they request no topology."""
    quota_only: bool
    """Whether the pods themselves request nothing that the resource group covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMatch:
    """A pod set and a node that may run its pods; the flavor adds tolerations."""

    pod_set: PodSet
    node: Node
    tolerations: Sequence[Mapping[str, Any]]


@rule("TAS-002")
def all_topology_flavors_imply_placement(topologies: Sequence[bool]) -> bool:
    """Kueue places all pods in a ClusterQueue whose flavors all have a topology.

    Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (isTASImplied)
    """
    return all(topologies)


@rule("TAS-003", "TAS-029")
def placed_pods_need_topology_flavor(match: TopologyMatch) -> str | None:
    """Kueue skips a flavor without a topology for pods that request one.

    Kueue 0.16: pkg/scheduler/flavorassigner/tas_flavorassigner.go (checkPodSetAndFlavorMatchForTAS)
    """
    if match.levels is not None or not match.request.is_explicit or match.implied:
        return None
    return f'Flavor "{match.flavor}" does not support TopologyAwareScheduling'


@rule("TAS-003", "TAS-004")
def requested_resources_need_topology_flavor(match: TopologyMatch) -> str | None:
    """Kueue skips a flavor without a topology for such pods unless they request none of its resources.

    Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (checkPodSetAndFlavorMatchForTAS,
        hasOverlapWithPodRequestedResources)
    """
    if match.quota_only:
        return None
    return placed_pods_need_topology_flavor.apply(match)


@rule("TAS-005")
def topology_has_requested_level(match: TopologyMatch) -> str | None:
    """Kueue skips a flavor whose topology lacks the level that the pods request.

    Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (checkPodSetAndFlavorMatchForTAS);
        pkg/cache/scheduler/tas_flavor_snapshot.go (HasLevel)
    """
    if match.levels is None or not match.request.is_explicit:
        return None
    if match.request.level(match.levels) in match.levels:
        return None
    return f'Flavor "{match.flavor}" does not contain the requested level'


@rule("TAS-006")
def topology_flavor_needs_request(match: TopologyMatch) -> str | None:
    """Kueue skips a flavor with a topology for pods that request none, if the ClusterQueue has other flavors.

    Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (checkPodSetAndFlavorMatchForTAS)
    """
    if match.levels is None or match.request.is_explicit or match.implied:
        return None
    return f'Flavor "{match.flavor}" supports only TopologyAwareScheduling'


@rule("TAS-007")
def several_topology_flavors_fail(flavors: Sequence[str]) -> str | None:
    """Kueue admits no pods whose resources get more than one flavor with a topology.

    Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (onlyTASFlavor)
    """
    if len(flavors) < 2:
        return None
    return f"more than one TAS flavor assigned: {', '.join(sorted(flavors))}"


@rule("TAS-009")
def charged_amounts_are_placed() -> bool:
    """Nodes have to have what the quota charges, devices of claims by their resource names included.

    Kueue 0.15: pkg/scheduler/flavorassigner/tas_flavorassigner.go (podSetTopologyRequest)
    """
    return True


@rule("TAS-034")
def charged_amounts_are_used() -> bool:
    """Placed pods use of their nodes what the quota of their flavor charges, devices of claims included.

    Kueue 0.17: pkg/scheduler/flavorassigner/flavorassigner.go (ComputeTASNetUsage)
    """
    return True


@rule("TAS-012")
def untolerated_taint_excludes_node(match: NodeMatch) -> str | None:
    """Kueue places no pod on a node with a taint that neither the pods nor the flavor tolerate.

    Kueue: pkg/cache/scheduler/scheduling_simulator_default.go (FindFeasibleNodes)
    """
    return _untolerated(match, tolerates_by_comparison)


@rule("TAS-012")
def untolerated_taint_excludes_node_0_15(match: NodeMatch) -> str | None:
    """Kueue places no pod on a node with an untolerated taint; operators Gt and Lt tolerate none.

    Kueue 0.15: pkg/cache/scheduler/tas_flavor_snapshot.go (fillInCounts)
    """
    return _untolerated(match, tolerates)


def _untolerated(match: NodeMatch, by: Any) -> str | None:
    tolerations = (*match.pod_set.tolerations, *match.tolerations)
    for taint in match.node.taints:
        if taint.get("effect") not in _EFFECTS:
            continue
        if not any(by(toleration, taint) for toleration in tolerations):
            return f'taint "{_shown(taint)}"'
    return None


def _shown(taint: Mapping[str, Any]) -> str:
    key, value = taint.get("key", ""), taint.get("value") or ""
    effect = taint.get("effect", "")
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


@rule("TAS-013")
def node_selector_excludes_node(match: NodeMatch) -> str | None:
    """Kueue places no pod on a node without the labels of the pod's node selector.

    Kueue: pkg/cache/scheduler/scheduling_simulator_default.go (FindFeasibleNodes)
    """
    labels = match.node.labels
    for key, value in match.pod_set.node_selector.items():
        if labels.get(key) != value:
            return "nodeSelector"
    return None


@rule("TAS-014")
def node_affinity_excludes_node(match: NodeMatch) -> str | None:
    """Kueue places no pod on a node that its required node affinity does not match.

    Kueue: pkg/cache/scheduler/scheduling_simulator_default.go (FindFeasibleNodes)
    """
    terms = match.pod_set.affinity_terms
    labels = match.node.labels
    for term in terms:
        if term and all(expression_holds(each, labels) for each in term):
            return None
    return "affinity" if terms else None


@rule("TAS-011")
def message_counts_excluded_nodes() -> bool:
    """The message about pods that no domain has room for counts the excluded nodes by their reasons.

    Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go (notFitMessage, formatReasons)
    """
    return True


@rule("TAS-018")
def least_free_capacity_for_unconstrained(unconstrained: bool) -> bool:
    """Kueue places unconstrained pods in the domains with the least room, with TASProfileMixed.

    Kueue: pkg/cache/scheduler/tas_flavor_snapshot.go (useLeastFreeCapacityAlgorithm)
    """
    return unconstrained


@rule("TAS-031")
def least_free_capacity_for_all(unconstrained: bool) -> bool:
    """Kueue places all pods in the domains with the least room, with TASProfileLeastFreeCapacity.

    Kueue 0.16: pkg/cache/scheduler/tas_flavor_snapshot.go (useLeastFreeCapacityAlgorithm)
    """
    return True


@rule("TAS-020")
def flavors_share_nodes() -> bool:
    """Pods that Kueue has placed by one flavor take room on their nodes from other flavors.

    Kueue: pkg/cache/scheduler/snapshot.go (snapshotTopologyDomainUsages)
    """
    return True


@rule("TAS-022")
def all_flavors_are_preempted_in() -> bool:
    """Kueue preempts for room on nodes in every flavor of the pods, even where quota is left.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (updateModeForTASRequests)
    """
    return True


@rule("TAS-023")
def placed_pods_wait_for_their_nodes() -> str:
    """Pods that Kueue has placed start with the scheduling gate of their topology.

    Kueue: pkg/podset/podset.go (FromAssignment)
    """
    return TOPOLOGY_GATE


@rule("TAS-023")
def implied_pods_are_annotated(request: TopologyRequest) -> Mapping[str, str]:
    """Pods that Kueue has placed and that request no topology are annotated as unconstrained.

    Kueue: pkg/podset/podset.go (FromAssignment)
    """
    return {} if request.is_explicit else {UNCONSTRAINED: "true"}


def quota_only(requested: Collection[str], covered: Collection[str]) -> bool:
    """Whether pods themselves request none of the resources of a group, so that these are quota alone."""
    return not set(requested).intersection(covered)
