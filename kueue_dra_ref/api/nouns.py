"""The typed nouns that rules speak of, read from stored Kueue objects: Workload, ClusterQueue, flavors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.pods import (
    Amounts,
    ContainerRequests,
    Resources,
    container_requests,
    pod_requests,
    quota_units,
    resources_of,
)
from kueue_dra_ref.api.reading import child, mappings, quantities, quantity, text
from kueue_dra_ref.target import Manifest


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
        return f"ResourceClaim {self.claim}" if self.claim else f"ResourceClaimTemplate {self.template}"


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
    whole: Resources | None = None
    """What the pod as a whole requests and is limited to, where it says so."""
    overhead: Amounts = field(default_factory=dict)
    runtime_class: str = ""
    passed_over: frozenset[str] = frozenset()
    """Flavors that are not considered, while another one is examined for the classes of its claims."""

    @property
    def requests(self) -> Amounts:
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
    """What a resource of ``kind: DeviceClass`` stands for (April 2025)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that get their flavor together."""

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuota, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A flavor, and the resource of it that a device class would charge there."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionPolicy:
    """Whom a ClusterQueue's workloads may preempt."""

    within: str = "Never"
    reclaim: str = "Never"
    borrow: str = "Never"
    threshold: int | None = None
    """The highest priority that may be preempted in the cohort while the preemptor borrows; None: no such bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fungibility:
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
    fungibility: Fungibility = Fungibility()
    weight: float = 1.0

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


def workload_of(manifest: Manifest) -> Workload:
    """Read a stored Workload.

    Raises:
        ManifestFault: a field is missing or of the wrong type.

    """
    spec, meta = child(manifest, "spec", dict, {}), manifest["metadata"]
    pod_sets = mappings(spec, "podSets", "spec")
    return Workload(
        namespace=meta["namespace"],
        name=meta["name"],
        queue=child(spec, "queueName", str, "", "spec"),
        priority=child(spec, "priority", int, 0, "spec"),
        active=child(spec, "active", bool, True, "spec"),
        pod_sets=tuple(
            _pod_set(index, pod_set, owned=bool(meta.get("ownerReferences"))) for index, pod_set in enumerate(pod_sets)
        ),
    )


def _pod_set(index: int, pod_set: dict[str, Any], *, owned: bool) -> PodSet:
    """Read a pod set; of one that was made from a Job the API server has rewritten the amounts in the Job."""
    path = f"spec.podSets[{index}]"
    spec = child(child(pod_set, "template", dict, {}, path), "spec", dict, {}, f"{path}.template")
    path_of_spec = f"{path}.template.spec"
    return PodSet(
        index=index,
        name=child(pod_set, "name", str, "main", path),
        count=child(pod_set, "count", int, 1, path),
        claims=tuple(
            _claim(i, claim, path_of_spec) for i, claim in enumerate(mappings(spec, "resourceClaims", path_of_spec))
        ),
        node_selector=child(spec, "nodeSelector", dict, {}, path_of_spec),
        affinity_terms=_terms(spec, path_of_spec),
        tolerations=tuple(mappings(spec, "tolerations", path_of_spec)),
        least=pod_set.get("minCount"),
        used=_used(spec, path_of_spec),
        containers=container_requests(spec, path_of_spec, canonical=owned),
        whole=resources_of(spec, path_of_spec) if spec.get("resources") is not None else None,
        overhead=quantities(spec, "overhead", path_of_spec),
        runtime_class=child(spec, "runtimeClassName", str, "", path_of_spec),
    )


def _claim(index: int, claim: dict[str, Any], path: str) -> Claim:
    path = f"{path}.resourceClaims[{index}]"
    return Claim(
        index=index,
        template=child(claim, "resourceClaimTemplateName", str, "", path),
        claim=child(claim, "resourceClaimName", str, "", path),
        name=child(claim, "name", str, "", path),
    )


def _used(spec: dict[str, Any], path: str) -> frozenset[str]:
    containers = (each for kind in ("initContainers", "containers") for each in mappings(spec, kind, path))
    resources = (child(container, "resources", dict, {}, path) for container in containers)
    return frozenset(str(claim.get("name", "")) for found in resources for claim in mappings(found, "claims", path))


def _terms(spec: dict[str, Any], path: str) -> tuple[tuple[dict[str, Any], ...], ...]:
    affinity = child(child(spec, "affinity", dict, {}, path), "nodeAffinity", dict, {}, f"{path}.affinity")
    required = child(
        affinity, "requiredDuringSchedulingIgnoredDuringExecution", dict, {}, f"{path}.affinity.nodeAffinity"
    )
    return tuple(tuple(mappings(term, "matchExpressions")) for term in mappings(required, "nodeSelectorTerms"))


def cluster_queue_of(manifest: Manifest) -> ClusterQueue:
    """Read a stored ClusterQueue.

    Raises:
        ManifestFault: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    selector = spec.get("namespaceSelector")
    return ClusterQueue(
        name=manifest["metadata"]["name"],
        groups=tuple(_group(i, group) for i, group in enumerate(mappings(spec, "resourceGroups", "spec"))),
        strategy=child(spec, "queueingStrategy", str, "BestEffortFIFO", "spec"),
        stop_policy=child(spec, "stopPolicy", str, "None", "spec"),
        namespace_selector=None if selector is None else child(spec, "namespaceSelector", dict, {}, "spec"),
        cohort=child(spec, "cohortName", str, "", "spec"),
        preemption=_preemption(child(spec, "preemption", dict, {}, "spec")),
        fungibility=_fungibility(child(spec, "flavorFungibility", dict, {}, "spec")),
        weight=_weight(spec),
    )


def cohort_of(manifest: Manifest) -> Cohort:
    """Read a stored Cohort.

    Raises:
        ManifestFault: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    return Cohort(
        name=manifest["metadata"]["name"],
        parent=child(spec, "parentName", str, "", "spec"),
        groups=tuple(_group(i, group) for i, group in enumerate(mappings(spec, "resourceGroups", "spec"))),
        weight=_weight(spec),
    )


def _preemption(written: dict[str, Any]) -> PreemptionPolicy:
    borrow = child(written, "borrowWithinCohort", dict, {}, "spec.preemption")
    return PreemptionPolicy(
        within=written.get("withinClusterQueue") or "Never",
        reclaim=written.get("reclaimWithinCohort") or "Never",
        borrow=borrow.get("policy") or "Never",
        threshold=borrow.get("maxPriorityThreshold"),
    )


def _fungibility(written: dict[str, Any]) -> Fungibility:
    return Fungibility(
        when_can_borrow=written.get("whenCanBorrow") or "MayStopSearch",
        when_can_preempt=written.get("whenCanPreempt") or "TryNextFlavor",
        preference=written.get("preference") or "",
    )


def _weight(spec: dict[str, Any]) -> float:
    weight = child(spec, "fairSharing", dict, {}, "spec").get("weight")
    return 1.0 if weight is None else float(quantity(weight, "spec.fairSharing.weight").amount)


def _group(index: int, group: dict[str, Any]) -> ResourceGroup:
    path = f"spec.resourceGroups[{index}]"
    covered = child(group, "coveredResources", list, [], path)
    flavors = tuple(_flavor(f"{path}.flavors[{i}]", f) for i, f in enumerate(mappings(group, "flavors", path)))
    classes = (name for flavor in flavors for name in flavor.device_classes)
    return ResourceGroup(covered=tuple(dict.fromkeys((*covered, *classes))), flavors=flavors)


def _flavor(path: str, flavor: dict[str, Any]) -> FlavorQuota:
    amounts: dict[str, dict[str, int]] = {"nominalQuota": {}, "borrowingLimit": {}, "lendingLimit": {}}
    for index, resource in enumerate(mappings(flavor, "resources", path)):
        at = f"{path}.resources[{index}]"
        name = text(resource, "name", at)
        for key, found in amounts.items():
            if key in resource or key == "nominalQuota":
                found[name] = quota_units(name, quantity(resource.get(key), f"{at}.{key}"))
    return FlavorQuota(
        name=text(flavor, "name", path),
        nominal=amounts["nominalQuota"],
        borrowing_limits=amounts["borrowingLimit"],
        lending_limits=amounts["lendingLimit"],
        device_classes=_device_classes(flavor, path),
    )


def _device_classes(flavor: dict[str, Any], path: str) -> dict[str, tuple[str, ...]]:
    found = enumerate(mappings(flavor, "resources", path))
    return {
        resource["name"]: tuple(child(resource, "deviceClassNames", list, [], f"{path}.resources[{index}]"))
        for index, resource in found
        if resource.get("kind") == "DeviceClass"
    }
