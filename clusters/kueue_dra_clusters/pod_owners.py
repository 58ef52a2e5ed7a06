"""Work that Kueue queues through its pods, and what its Workloads and pods do not show yet (Kueue, integrations)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kueue_dra_clusters.applied_objects import AppliedObjects, queue_name
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kind import template_at
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.pod_owners import (
    DEPLOYMENT,
    LEADER_WORKER_SET,
    POD_OWNERS,
    owner_name,
    replicas_of,
    template_paths,
)
from kueue_dra_ref.api.queued_pods import GROUP, MANAGED, PARENT
from kueue_dra_ref.target import Manifest, Ref


def owners_in(
    informers: InformerCache, applied: AppliedObjects, namespace: str
) -> list[Manifest]:
    """Read the applied work of a namespace that is queued through its pods."""
    found: list[Manifest] = []
    for kind in POD_OWNERS.values():
        if not applied.refs(kind.name):
            continue
        for owner in informers.list(kind.api_version, kind.name, namespace):
            if Ref.of(owner) in applied:
                found.append(owner)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PodOwners:
    """Work that is queued through its pods."""

    owners: Sequence[Manifest]
    frameworks: frozenset[str]

    def faults(
        self, pods: Sequence[Manifest], by_owner: Mapping[str, list[Manifest]]
    ) -> Iterator[str]:
        """Name what Kueue has yet to do: Workloads to create or to release, and pods to mark."""
        managed = set()
        for owner in self.owners:
            kind = POD_OWNERS[owner["kind"]]
            if not queue_name(owner) or kind.framework not in self.frameworks:
                continue
            name = owner["metadata"]["name"]
            managed.add((kind.name, name))
            own = by_owner.get(owner["metadata"]["uid"], [])
            if fault := _fault_of(owner, own):
                yield f"{kind.name} {name} {fault}"
        for pod in pods:
            if _is_unmarked(pod) and owner_name(pod) in managed:
                yield f"Pod {pod['metadata']['name']} is not marked yet"


def _fault_of(owner: Manifest, own: Sequence[Manifest]) -> str:
    if owner["kind"] == DEPLOYMENT.name or _names_the_group(owner):
        return ""
    replicas = replicas_of(owner)
    wanted = min(replicas, 1)
    if owner["kind"] == LEADER_WORKER_SET.name:
        wanted = replicas
    if len(own) < wanted:
        return f"has {len(own)} of {wanted} Workloads"
    if not replicas and any(map(_has_active_quota, own)):
        return "has no replicas, but its Workload holds quota"
    return ""


def _has_active_quota(workload: Manifest) -> bool:
    return is_true(workload, "QuotaReserved") and not is_true(workload, "Finished")


def _names_the_group(owner: Manifest) -> bool:
    """Whether the template names a group: up to Kueue 0.15 the Workload of a StatefulSet is made of its pods."""
    template = template_at(owner, template_paths(owner)[0])
    return GROUP in labels_of({"metadata": template.get("metadata") or {}})


def _is_unmarked(pod: Manifest) -> bool:
    if PARENT not in annotations_of(pod):
        return False
    return MANAGED not in labels_of(pod)
