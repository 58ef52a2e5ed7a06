"""Admissions: the parts of a Workload's status agree with each other, with its spec and with its LocalQueue."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_audit.causes import is_newer, is_updated
from kueue_dra_audit.cluster import (
    AuditedCluster,
    assignments,
    explain,
    key_of,
    reserved_at,
    title,
)
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.target import Manifest

_EDITED = "the status was changed by hand"


def admissions(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads whose conditions and admission contradict each other."""
    yield from _unreadable(cluster)
    for workload in cluster.of("Workload"):
        if is_true(workload, "Finished"):
            continue
        if is_true(workload, "QuotaReserved"):
            yield from _of_holder(cluster, workload)
        else:
            yield from _of_other(workload)


def _unreadable(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads with a status that no Kueue writes, such as without admission; nothing else of them is checked."""
    for rejection in cluster.unreadable:
        namespace, name = rejection.ref.namespace, rejection.ref.name
        yield Finding(
            requirement="STATUS-001",
            subject=f"Workload {namespace}/{name}",
            field=rejection.error.field if rejection.error else "status",
            says="its conditions say that it holds quota",
            follows=str(rejection.error),
            cause=_EDITED,
            sure=Sure.CERTAIN,
            look=f"kubectl get workload {name} -n {namespace} -o yaml",
        )


def _of_other(workload: Manifest) -> Iterator[Finding]:
    if is_true(workload, "Admitted"):
        yield _finding(
            workload,
            "STATUS-006",
            "status.conditions[Admitted]",
            "True",
            "no quota is reserved for it",
        )
    if part(part(workload, "status"), "admission"):
        yield _finding(
            workload,
            "STATUS-010",
            "status.admission",
            "it has an admission",
            "no quota is reserved for it",
        )


def _of_holder(cluster: AuditedCluster, workload: Manifest) -> Iterator[Finding]:
    admission = workload["status"]["admission"]
    yield from _queue(cluster, workload, str(admission["clusterQueue"]))
    pod_sets = {}
    for pod_set in workload["spec"]["podSets"]:
        pod_sets[pod_set.get("name", "main")] = pod_set.get("count", 1)
    names = [str(each.get("name")) for each in assignments(workload)]
    if sorted(names) != sorted(pod_sets):
        yield _finding(
            workload,
            "STATUS-004",
            "podSetAssignments",
            ", ".join(names) or "none",
            f"its pod sets are {', '.join(pod_sets)}",
        )
    for each in assignments(workload):
        name, count = str(each.get("name")), each.get("count")
        if isinstance(count, int) and count > pod_sets.get(name, count):
            yield _finding(
                workload,
                "STATUS-004",
                f"count of pod set {name}",
                str(count),
                f"the pod set has {pod_sets[name]} pods",
            )
        yield from _without_flavor(workload, each)


def _without_flavor(workload: Manifest, assignment: Manifest) -> Iterator[Finding]:
    """Find an amount that no quota is charged for: Kueue counts only what has a flavor."""
    flavors = assignment.get("flavors") or {}
    for resource, amount in (assignment.get("resourceUsage") or {}).items():
        if resource not in flavors:
            yield _finding(
                workload,
                "STATUS-002",
                f"flavor of {resource}",
                "none",
                f"it is charged {amount}, so it has a flavor",
            )


def _queue(cluster: AuditedCluster, workload: Manifest, name: str) -> Iterator[Finding]:
    """Find an admission to a ClusterQueue that is not the one of the LocalQueue, which cannot change."""
    namespace, _ = key_of(workload)
    local_queue = cluster.kueue.store.get(
        "LocalQueue", (namespace, workload["spec"].get("queueName", ""))
    )
    if local_queue is None or is_updated(local_queue):
        return
    if is_newer(local_queue, reserved_at(workload)):
        return
    expected = local_queue["spec"].get("clusterQueue")
    if expected and expected != name:
        yield _finding(
            workload,
            "STATUS-001",
            "status.admission.clusterQueue",
            name,
            f"{title(local_queue)} leads to {expected}",
        )


def _finding(
    workload: Manifest, requirement: str, field: str, says: str, follows: str
) -> Finding:
    return Finding(
        requirement=requirement,
        subject=title(workload),
        field=field,
        says=says,
        follows=follows,
        cause=_EDITED,
        sure=Sure.CERTAIN,
        look=explain(workload),
    )
