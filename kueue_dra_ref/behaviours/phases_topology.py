"""The phase of a behaviour that places pods on nodes: topology-aware scheduling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_ref.api.topologies import TopologyRequest
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.flavorassigner.topology import NodeMatch, TopologyMatch
from kueue_dra_ref.rules.queue.retries import FlavorChange


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRules:
    """Which pods Kueue places on nodes, in which flavors and domains."""

    implied: AnyOf[[Sequence[bool]]] = AnyOf()
    """Are pods placed that request no topology, by which flavors of the ClusterQueue have one?
    Without rules: none are."""
    flavor: Each[[TopologyMatch], str] = Each()
    """What makes a flavor unsuitable for pods by its topology? Without rules: topologies decide nothing."""
    several_flavors: First[[Sequence[str]], str] = First()
    """What is reported of pods that get several flavors with a topology? Without rules: they are not placed."""
    place_charged: AnyOf[[]] = AnyOf()
    """Do nodes need what the quota charges for a pod? Without rules: what the pod itself requests."""
    use_charged: AnyOf[[]] = AnyOf()
    """Do placed pods use of their nodes what the quota charges? Without rules: what the pod itself requests."""
    exclude_node: First[[NodeMatch], str] = First()
    """Why can a node not run the pods, apart from its room? Without rules: every node can."""
    explain_exclusions: AnyOf[[]] = AnyOf()
    """Does the message count the excluded nodes? Without rules: it gives the number of pods alone."""
    least_free: AnyOf[[bool]] = AnyOf()
    """Are domains with little room filled first, by whether the pods are unconstrained?
    Without rules: the domain with the best fit is."""
    share_nodes: AnyOf[[]] = AnyOf()
    """Does one flavor see the pods that another one has placed on its nodes? Without rules: it does not."""
    free_all_flavors: AnyOf[[]] = AnyOf()
    """Does preemption free every flavor of placed pods? Without rules: those of the pod set that has no room."""
    retry_all: AnyOf[[FlavorChange]] = AnyOf()
    """Does this change of a flavor requeue all active ClusterQueues? Without rules: it does not."""
    retry_with_topology: AnyOf[[]] = AnyOf()
    """Does a new topology requeue the ClusterQueues that use it? Without rules: their workloads wait in the queue."""
    scheduling_gates: Each[[], str] = Each()
    """Which scheduling gates do placed pods have when they start? Without rules: none."""
    pod_annotations: First[[TopologyRequest], Mapping[str, str]] = First()
    """How are placed pods annotated when they start? Without rules: as they are."""
