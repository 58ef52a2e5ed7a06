"""Quota: no ClusterQueue and no cohort has more in use than nominal quota and limits allow."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_audit.causes import is_updated
from kueue_dra_audit.cluster import AuditedCluster, explain, key_of, shown, title
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode, plus
from kueue_dra_ref.target import Manifest

_LOWERED = (
    "{changed} was changed after it was created: "
    "if its quota was lowered, Kueue evicts nothing"
)
_OVER = "more was admitted than there is quota for, or a status was changed by hand"
_REMOVED = (
    "a flavor or a resource was removed from the ClusterQueue after the admission"
)


def quota(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find usage beyond nominal quota, borrowing limits, lending limits, and quota of cohorts."""
    hierarchy = cluster.kueue.hierarchy
    nodes = (*hierarchy.queues.values(), *hierarchy.cohorts.values())
    for node in nodes:
        if node.name not in hierarchy.looped:
            yield from _of_node(cluster, node)
    yield from _uncovered(cluster)


def _of_node(cluster: AuditedCluster, node: ResourceNode) -> Iterator[Finding]:
    for of in sorted(node.usage):
        allowed = _allowed(node, of)
        if allowed is None or node.used(of) <= allowed:
            continue
        flavor, resource = of
        in_bytes = cluster.kueue.in_bytes
        used = printed(resource, node.used(of), in_bytes)
        most = printed(resource, allowed, in_bytes)
        sure, cause = _cause(cluster, node)
        yield Finding(
            requirement=_requirement(node),
            subject=node.title,
            field=f"usage of {resource} in flavor {flavor}",
            says=f"its Workloads hold {used}",
            follows=f"at most {most}{_bound(node, of)}",
            cause=cause,
            sure=sure,
            look=f"kubectl get {node.title.split()[0].lower()} {node.name} -o yaml",
        )


def _allowed(node: ResourceNode, of: FlavorResource) -> int | None:
    """Give the most that a node may use; None if only the nodes above limit it."""
    quota = node.quota(of)
    if node.parent is None:
        return quota
    borrowing = node.quota_for(of).borrowing
    return None if borrowing is None else plus(quota, borrowing)


def _bound(node: ResourceNode, of: FlavorResource) -> str:
    if node.parent is not None:
        return " (quota and borrowingLimit)"
    return " (nominalQuota)" if node.is_queue else " (quota and what its members lend)"


def _requirement(node: ResourceNode) -> str:
    if node.parent is not None:
        return "COHORT-003"
    return "QUOTA-002" if node.is_queue else "COHORT-016"


def _cause(cluster: AuditedCluster, node: ResourceNode) -> tuple[Sure, str]:
    """Say whether a quota that decides here was changed since it was created."""
    names = {each.name for each in (node, *node.below())}
    for each in (*cluster.of("ClusterQueue"), *cluster.of("Cohort")):
        if is_updated(each) and each["metadata"]["name"] in names:
            return Sure.QUOTA, _LOWERED.format(changed=title(each))
    return Sure.CERTAIN, _OVER


def _uncovered(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads that hold a resource in a flavor for which their ClusterQueue has no quota."""
    reserved = cluster.reserved()
    for workload in cluster.holders:
        name = workload["status"]["admission"]["clusterQueue"]
        queue = cluster.kueue.store.find("ClusterQueue", name)
        node = cluster.kueue.hierarchy.queues.get(name)
        held = reserved.get(key_of(workload))
        if queue is not None and node is not None and held is not None:
            unknown = sorted(set(held.amounts) - set(node.limits))
            yield from _unknown(workload, queue, unknown)


def _unknown(
    workload: Manifest, queue: Manifest, unknown: list[FlavorResource]
) -> Iterator[Finding]:
    is_changed = is_updated(queue)
    for flavor, resource in unknown:
        yield Finding(
            requirement="STATUS-002",
            subject=title(workload),
            field=f"flavor of {resource}",
            says=flavor,
            follows=f"{title(queue)} has no quota for {resource} in flavor {flavor}",
            cause=_REMOVED if is_changed else _OVER,
            sure=Sure.QUOTA if is_changed else Sure.CERTAIN,
            look=f"{explain(workload)}; {shown(queue)}",
        )
