"""The typed objects that rules use: Workload, ClusterQueue, Cohort and what they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.pods import (
    ContainerRequests,
    ResourceList,
    Resources,
    pod_requests,
)
from kueue_dra_ref.api.topologies import NO_REQUEST, TopologyRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One entry of a pod's ``resourceClaims``: a template to make the claim from, or a claim that exists."""

    index: int
    template: str
    claim: str
    name: str = ""

    @property
    def source(self) -> str:
        """What the claim comes from, as Kueue's messages name it."""
        return (
            f"ResourceClaim {self.claim}"
            if self.claim
            else f"ResourceClaimTemplate {self.template}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """Pods of one shape; ``count`` is in pods, everything else is of one pod."""

    index: int
    name: str
    count: int
    claims: tuple[Claim, ...]
    node_selector: dict[str, str]
    affinity_terms: tuple[tuple[dict[str, Any], ...], ...]
    """Required node affinity: any term may hold; a term holds when each of its expressions does."""
    tolerations: tuple[dict[str, Any], ...]
    least: int | None = None
    """The fewest pods that are worth admitting; None: all or nothing."""
    used: frozenset[str] = frozenset()
    """The names of the claims that its containers, initial ones too, list under ``resources.claims``."""
    containers: tuple[ContainerRequests, ...] = ()
    """Init containers first."""
    whole: Resources | None = None
    """What the pod as a whole requests and is limited to, where it says so."""
    overhead: ResourceList = field(default_factory=dict)
    runtime_class: str = ""
    topology: TopologyRequest = NO_REQUEST
    """The domain that its pods request."""
    passed_over: frozenset[str] = frozenset()
    """Flavors that are not considered, while another one is examined for the classes of its claims."""

    @property
    def requests(self) -> ResourceList:
        """The ordinary resources that a pod requests."""
        return pod_requests(self.containers, self.whole, self.overhead)

    @property
    def path(self) -> str:
        """The field path of the pod spec in its Workload."""
        return f"spec.podSets[{self.index}].template.spec"

    def claim_path(self, claim: Claim) -> str:
        """The field path of one of its claims."""
        return f"{self.path}.resourceClaims[{claim.index}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is asked for: pod sets, the queue, the priority."""

    namespace: str
    name: str
    queue: str
    priority: int
    active: bool
    pod_sets: tuple[PodSet, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim of every pod set."""
        return tuple(claim for pod_set in self.pod_sets for claim in pod_set.claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuota:
    """One flavor of a resource group: the nominal quota of each covered resource in Kueue's units, and its limits."""

    name: str
    nominal: dict[str, int]
    borrowing_limits: dict[str, int] = field(default_factory=dict)
    lending_limits: dict[str, int] = field(default_factory=dict)
    device_classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The device classes of a resource of ``kind: DeviceClass`` (April 2025)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that get their flavor together."""

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuota, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorChoice:
    """A flavor, and the resource of it that a device class would charge there."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionPolicy:
    """The workloads that a ClusterQueue's workloads may preempt."""

    within: str = "Never"
    reclaim: str = "Never"
    borrow: str = "Never"
    threshold: int | None = None
    """The highest priority that may be preempted in the cohort while the preemptor borrows; None: no such bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFungibility:
    """Whether the search goes on behind a flavor that would have to be borrowed or freed."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueue:
    """Quota and how it is handed out."""

    name: str
    groups: tuple[ResourceGroup, ...]
    strategy: str
    stop_policy: str
    namespace_selector: dict[str, Any] | None
    cohort: str = ""
    preemption: PreemptionPolicy = PreemptionPolicy()
    fungibility: FlavorFungibility = FlavorFungibility()
    weight: float = 1.0
    admission_checks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The flavors that each AdmissionCheck names; without any it is for all of them."""
    admission_mode: str = ""
    """The admissionMode of its admissionScope."""
    deleted: bool = False
    """Whether it is there only as long as it is in use."""

    @property
    def flavor_names(self) -> list[str]:
        """The names of all its flavors, in their order."""
        return [flavor.name for group in self.groups for flavor in group.flavors]

    @property
    def flavors(self) -> frozenset[str]:
        """The names of all its flavors."""
        return frozenset(self.flavor_names)

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that covers a resource."""
        return next((group for group in self.groups if resource in group.covered), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """ClusterQueues and cohorts that lend to each other, and the quota that the cohort itself brings."""

    name: str
    parent: str = ""
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0
