"""What a simulated cluster decided: the state of each workload, and the used and nominal quota of each queue.

No counterpart: both sides of what-if.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import is_true, message_of
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import evictions
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode, plus
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.simulation.explanation import outcome
from kueue_dra_ref.simulation.quota_fields import shown
from kueue_dra_ref.simulation.trials import kueue_of
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.verdict import verdict

Charge = tuple[str, str, str, int]
"""The pod set, the resource, its flavor, and the amount in Kueue's units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadDecision:
    """The decision on one Workload."""

    key: Key
    job: str
    """The Job that owns it; empty without one."""
    cluster_queue: str
    word: str
    """The verdict, such as ``admitted`` or ``pending``."""
    why: str
    """The message of a workload that holds no quota, or its reason."""
    charges: tuple[Charge, ...]
    """What its admission charges; empty if it holds no quota."""
    holds: bool
    preemptions: int
    """How often it has been preempted so far; 0 in releases that do not count."""
    preempted: bool
    evicted: str
    """The message of the last eviction; empty if it is not evicted."""
    amounts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What it holds by flavor and resource, as Kueue prints it."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class QuotaPlace:
    """A resource in a flavor of a ClusterQueue or Cohort."""

    kind: str
    name: str
    flavor: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaTotal:
    """Used and nominal quota, as Kueue prints it; of a Cohort those of everything below it."""

    used: str
    nominal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedCluster:
    """The decisions on all Workloads, and the quotas."""

    workloads: Mapping[Key, WorkloadDecision]
    quotas: Mapping[QuotaPlace, QuotaTotal]


def decided(target: ReferenceTarget) -> DecidedCluster:
    """Read what a settled target decided."""
    kueue = kueue_of(target)
    workloads = {}
    for each in target.store.every("Workload"):
        found = _decision(kueue, each)
        workloads[found.key] = found
    return DecidedCluster(workloads=workloads, quotas=dict(_quotas(kueue)))


def _decision(kueue: Kueue, workload: Manifest) -> WorkloadDecision:
    meta = workload["metadata"]
    key = (meta["namespace"], meta["name"])
    word, reason = outcome(verdict(workload))
    holds = kueue.usage.has(key)
    is_evicted = is_true(workload, "Evicted")
    return WorkloadDecision(
        key=key,
        job=(owner_of(workload) or ("", ""))[1],
        cluster_queue=_cluster_queue(kueue, workload),
        word=word,
        why="" if holds else message_of(workload, "QuotaReserved") or reason,
        charges=tuple(_charges(workload)) if holds else (),
        holds=holds,
        preemptions=evictions(workload)["Preempted"],
        preempted=is_true(workload, "Preempted"),
        evicted=message_of(workload, "Evicted") if is_evicted else "",
        amounts=_amounts(kueue, workload) if holds else {},
    )


def _cluster_queue(kueue: Kueue, workload: Manifest) -> str:
    key, _ = kueue.queue_of(workload)
    queue = kueue.store.get("LocalQueue", key) or {}
    spec = queue.get("spec") or {}
    return str(spec.get("clusterQueue", ""))


def _charges(workload: Manifest) -> Iterator[Charge]:
    """Give what an admission charges, pod set by pod set."""
    admission = workload["status"]["admission"]
    for assigned in admission["podSetAssignments"]:
        usage = assigned.get("resourceUsage") or {}
        flavors = assigned.get("flavors") or {}
        for resource in sorted(usage):
            amount = units(resource, parse(str(usage[resource])))
            yield assigned["name"], resource, flavors.get(resource, ""), amount


def _amounts(kueue: Kueue, workload: Manifest) -> dict[tuple[str, str], str]:
    """Give what an admission charges in total, as Kueue prints it."""
    total: dict[tuple[str, str], int] = {}
    for _, resource, flavor, amount in _charges(workload):
        of = (flavor, resource)
        total[of] = plus(total.get(of, 0), amount)
    printed = {}
    for (flavor, resource), amount in sorted(total.items()):
        printed[flavor, resource] = shown(kueue, resource, amount)
    return printed


def _quotas(kueue: Kueue) -> Iterator[tuple[QuotaPlace, QuotaTotal]]:
    hierarchy = kueue.hierarchy
    for kind, nodes in (
        ("ClusterQueue", hierarchy.queues),
        ("Cohort", hierarchy.cohorts),
    ):
        for name in sorted(nodes):
            yield from _totals(kueue, kind, nodes[name])


def _totals(
    kueue: Kueue, kind: str, node: ResourceNode
) -> Iterator[tuple[QuotaPlace, QuotaTotal]]:
    """Give the totals of a ClusterQueue, or of a Cohort with everything below it."""
    nodes = [node, *node.below()]
    for flavor, resource in sorted(_places(nodes)):
        place = QuotaPlace(
            kind=kind,
            name=node.name,
            flavor=flavor,
            resource=resource,
        )
        used, nominal = _sums(nodes, (flavor, resource))
        total = QuotaTotal(
            used=shown(kueue, resource, used),
            nominal=shown(kueue, resource, nominal),
        )
        yield place, total


def _places(nodes: Iterable[ResourceNode]) -> set[FlavorResource]:
    """Give the flavors and resources that have quota or are in use."""
    places: set[FlavorResource] = set()
    for node in nodes:
        places.update(node.limits)
        if node.is_queue:
            places.update(of for of, used in node.usage.items() if used)
    return places


def _sums(nodes: Iterable[ResourceNode], of: FlavorResource) -> tuple[int, int]:
    """Give the used and the nominal quota of several ClusterQueues and Cohorts together."""
    used = nominal = 0
    for node in nodes:
        nominal = plus(nominal, node.quota_for(of).nominal)
        if node.is_queue:
            used = plus(used, node.used(of))
    return used, nominal
