"""Placement of the pods of a workload: which flavors suit their topology, and which domains have room for them.

Kueue: pkg/scheduler/flavorassigner/tas_flavorassigner.go (WorkloadsTopologyRequests, podSetTopologyRequest);
    pkg/cache/scheduler/clusterqueue_snapshot.go (FindTopologyAssignmentsForWorkload)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.topology_assignment import TopologyAssignment
from kueue_dra_ref.api.types import ClusterQueue, PodSet
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.cache.topology_placement import (
    Assumed,
    Placement,
    PlacementRequest,
    assume,
)
from kueue_dra_ref.cache.topology_tree import PlacedPods
from kueue_dra_ref.explain.step import Step, named
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.flavorassigner.topology import TopologyMatch, quota_only

Amounts = Mapping[str, int]
_HAS_ROOM = ("TAS-008",)
"""The requirement that nodes have to have room for placed pods; no rule decides it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementFailure:
    """A pod set that no domain has room for."""

    pod_set: str
    flavor: str
    reason: str


@dataclass(slots=True, kw_only=True)
class Placements:
    """The domains of each pod set, or the failure that ends the search."""

    assignments: dict[str, TopologyAssignment] = field(default_factory=dict)
    placed: tuple[PlacedPods, ...] = ()
    failure: PlacementFailure | None = None

    def steps(self) -> Iterator[Step]:
        """Give a step for each pod set that is placed."""
        for name, assignment in self.assignments.items():
            domains = [
                f"{named(count, 'pod')} in {'/'.join(values)}"
                for values, count in assignment.domains
            ]
            text = f"pod set {name} is placed: {', '.join(domains) or 'no pods'}"
            yield Step(requirements=_HAS_ROOM, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyPlacer:
    """Places the pods of workloads in one ClusterQueue."""

    rules: TopologyRules
    snapshot: Snapshot
    queue: ClusterQueue

    def is_implied(self, pod_set: PodSet) -> bool:
        """Whether pods are placed although they request no topology."""
        if pod_set.topology.is_explicit:
            return False
        flavors = sorted(self.queue.flavors)
        return self.rules.implied(
            [each in self.snapshot.topologies for each in flavors]
        )

    def unsuitable(
        self, pod_set: PodSet, flavor: str, covered: Collection[str]
    ) -> Answer[str] | None:
        """Say why a flavor does not suit pods by its topology; None if it does."""
        tree = self.snapshot.topologies.get(flavor)
        match = TopologyMatch(
            flavor=flavor,
            levels=tree.levels if tree else None,
            request=pod_set.topology,
            implied=self.is_implied(pod_set),
            quota_only=quota_only(pod_set.requests, covered),
        )
        return next(self.rules.flavor.answers(match), None)

    def flavors(self, flavors: Collection[str]) -> list[str]:
        """Give those of some flavors that have a topology."""
        return sorted(set(flavors).intersection(self.snapshot.topologies))

    def is_placed(self, pod_set: PodSet) -> bool:
        """Whether Kueue places the pods of a pod set on nodes, if it places any."""
        return pod_set.topology.is_explicit or self.is_implied(pod_set)

    def request(
        self, pod_set: PodSet, flavor: str, count: int, charged: Amounts
    ) -> PlacementRequest:
        """Give what the pods of a pod set request of the nodes of a flavor, which has the quota for ``charged``."""
        own = {name: units(name, each) for name, each in pod_set.requests.items()}
        of_quota = {name: amount // count for name, amount in charged.items()}
        return PlacementRequest(
            pod_set=pod_set,
            flavor=flavor,
            count=count,
            requests=of_quota if self.rules.place_charged() else own,
            used=of_quota if self.rules.use_charged() else own,
            request=pod_set.topology,
            implied=self.is_implied(pod_set),
        )

    def place(
        self, requests: Sequence[PlacementRequest], *, empty: bool = False
    ) -> Placements:
        """Find domains for all pods, flavor by flavor; ``empty`` ignores the usage of Workloads."""
        found = Placements()
        shared: Assumed = {}
        own: dict[str, Assumed] = {}
        for wanted in sorted(requests, key=lambda each: each.flavor):
            tree = self.snapshot.topologies[wanted.flavor]
            shares = tree.has_node_level and self.rules.share_nodes()
            assumed = shared if shares else own.setdefault(wanted.flavor, {})
            search = Placement(
                rules=self.rules, tree=tree, wanted=wanted, assumed=assumed, empty=empty
            )
            assignment = search.find()
            if isinstance(assignment, str):
                found.failure = PlacementFailure(
                    pod_set=wanted.pod_set.name,
                    flavor=wanted.flavor,
                    reason=assignment,
                )
                return found
            assume(assumed, wanted.assumed(assignment))
            found.assignments[wanted.pod_set.name] = assignment
            found.placed += wanted.placed(assignment)
        return found
