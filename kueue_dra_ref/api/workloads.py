"""A Workload and its pod sets, read from a stored manifest."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kueue_dra_ref.api.conditions import reason_of
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods import Resources, container_requests, resources_of
from kueue_dra_ref.api.topologies import topology_request_of
from kueue_dra_ref.api.types import Claim, PodSet, Workload
from kueue_dra_ref.api.unstructured import child, mappings, quantities
from kueue_dra_ref.target import Manifest


def workload_of(manifest: Manifest) -> Workload:
    """Read a stored Workload.

    Raises:
        ManifestError: a field is missing or of the wrong type.

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
            _pod_set(index, pod_set, owned=bool(owners_of(manifest)))
            for index, pod_set in enumerate(pod_sets)
        ),
    )


def local_queue_of(workload: Manifest) -> tuple[str, str]:
    """Give namespace and name of the LocalQueue that a Workload names; without one the name is empty."""
    meta, spec = workload["metadata"], workload["spec"]
    return meta["namespace"], spec.get("queueName", "")


def priority_of(workload: Manifest) -> int:
    """Give the priority of a Workload: 0 if it has none."""
    priority: int = workload["spec"].get("priority", 0)
    return priority


def requeue_at(workload: Manifest) -> str:
    """Give the time until which an evicted workload backs off; empty if it does not."""
    state = status_of(workload).get("requeueState") or {}
    return str(state.get("requeueAt") or "")


def admission_of(workload: Manifest) -> Manifest:
    """Give the admission in the status of a Workload; empty without one."""
    found: Manifest = status_of(workload).get("admission") or {}
    return found


def admitted_counts(workload: Manifest) -> dict[str, int]:
    """Give the number of admitted pods by the name of the pod set, where the admission has one."""
    counts = {}
    for each in admission_of(workload).get("podSetAssignments") or ():
        if "count" in each:
            counts[each["name"]] = each["count"]
    return counts


def is_on_hold(obj: Manifest) -> bool:
    """Whether the object of a workload needs no quota for the time being."""
    return reason_of(obj, "QuotaReserved") == "OnHold"


def is_active(obj: Manifest) -> bool:
    """Whether a Workload is not deactivated."""
    return obj["spec"].get("active", True) is not False


def _pod_set(index: int, pod_set: dict[str, Any], *, owned: bool) -> PodSet:
    """Read a pod set; of one that was made from a Job the API server has rewritten the amounts in the Job."""
    path = f"spec.podSets[{index}]"
    spec = child(
        child(pod_set, "template", dict, {}, path), "spec", dict, {}, f"{path}.template"
    )
    path_of_spec = f"{path}.template.spec"
    return PodSet(
        index=index,
        name=child(pod_set, "name", str, "main", path),
        count=child(pod_set, "count", int, 1, path),
        claims=tuple(
            _claim(i, claim, path_of_spec)
            for i, claim in enumerate(mappings(spec, "resourceClaims", path_of_spec))
        ),
        node_selector=child(spec, "nodeSelector", dict, {}, path_of_spec),
        affinity_terms=_terms(spec, path_of_spec),
        tolerations=tuple(mappings(spec, "tolerations", path_of_spec)),
        least=pod_set.get("minCount"),
        used=_used(spec, path_of_spec),
        containers=container_requests(spec, path_of_spec, canonical=owned),
        whole=_whole(spec, path_of_spec),
        overhead=quantities(spec, "overhead", path_of_spec),
        runtime_class=child(spec, "runtimeClassName", str, "", path_of_spec),
        topology=topology_request_of(pod_set, path),
    )


def _whole(spec: dict[str, Any], path: str) -> Resources | None:
    """Read what a pod as a whole requests, where it says so."""
    if spec.get("resources") is None:
        return None
    return resources_of(spec, path)


def _claim(index: int, claim: dict[str, Any], path: str) -> Claim:
    path = f"{path}.resourceClaims[{index}]"
    return Claim(
        index=index,
        template=child(claim, "resourceClaimTemplateName", str, "", path),
        claim=child(claim, "resourceClaimName", str, "", path),
        name=child(claim, "name", str, "", path),
    )


def _used(spec: dict[str, Any], path: str) -> frozenset[str]:
    containers = (
        each
        for kind in ("initContainers", "containers")
        for each in mappings(spec, kind, path)
    )
    resources = (
        child(container, "resources", dict, {}, path) for container in containers
    )
    return frozenset(
        str(claim.get("name", ""))
        for found in resources
        for claim in mappings(found, "claims", path)
    )


def _terms(spec: dict[str, Any], path: str) -> tuple[tuple[dict[str, Any], ...], ...]:
    affinity = child(
        child(spec, "affinity", dict, {}, path),
        "nodeAffinity",
        dict,
        {},
        f"{path}.affinity",
    )
    required = child(
        affinity,
        "requiredDuringSchedulingIgnoredDuringExecution",
        dict,
        {},
        f"{path}.affinity.nodeAffinity",
    )
    return tuple(
        tuple(mappings(term, "matchExpressions"))
        for term in mappings(required, "nodeSelectorTerms")
    )


def evictions(obj: Manifest) -> Counter[str]:
    """How often a Workload has been evicted so far, by reason."""
    found: Counter[str] = Counter()
    for each in ((obj.get("status") or {}).get("schedulingStats") or {}).get(
        "evictions"
    ) or ():
        found[each["reason"]] += each["count"]
    return found
