"""Retention: Kueue has deleted what objectRetentionPolicies does not let it keep for so long."""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_audit.cluster import AuditedCluster, is_ending, shown, title
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.clock import since, time_of
from kueue_dra_ref.target import Manifest

_LATE = 60.0
"""Seconds after which a deletion is overdue."""
_CAUSE = "Kueue runs with another Configuration than this one, or a finalizer was added"


def retention(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find finished Workloads, and work that Kueue has deactivated, that should have been deleted."""
    if not cluster.dumped.has_configuration:
        return
    for workload in cluster.of("Workload"):
        if is_ending(workload):
            continue
        if is_true(workload, "Finished"):
            yield from _of_finished(cluster, workload)
        elif is_true(workload, "Evicted") and not is_active(workload):
            yield from _of_deactivated(cluster, workload)


def _of_finished(cluster: AuditedCluster, workload: Manifest) -> Iterator[Finding]:
    kueue = cluster.kueue
    began = since(workload, "Finished")
    end = kueue.behaviour.retaining.finished(kueue.configuration.retention, began)
    if end is not None and _is_overdue(cluster, end):
        yield _finding("RETAIN-001", workload, "it is finished", end)


def _of_deactivated(cluster: AuditedCluster, workload: Manifest) -> Iterator[Finding]:
    kueue = cluster.kueue
    rules = kueue.behaviour.retaining
    evicted = condition(workload, "Evicted") or {}
    began = since(workload, "Evicted")
    end = rules.deactivated(kueue.configuration.retention, began)
    if end is None or not _is_overdue(cluster, end):
        return
    if not rules.by_kueue(evicted["reason"]):
        return
    for work in _owners(cluster, workload):
        if not is_ending(work) and not rules.keep(work):
            yield _finding("RETAIN-005", work, "Kueue has deactivated it", end)


def _owners(cluster: AuditedCluster, workload: Manifest) -> Iterator[Manifest]:
    uids = {each["uid"] for each in owners_of(workload)}
    for kind in JOB_KINDS:
        for work in cluster.of(kind):
            if work["metadata"].get("uid") in uids:
                yield work


def _is_overdue(cluster: AuditedCluster, end: float) -> bool:
    """Whether the newest time in the cluster is well past the end of a retention."""
    return cluster.dumped.seconds > end + _LATE


def _finding(requirement: str, found: Manifest, state: str, end: float) -> Finding:
    return Finding(
        requirement=requirement,
        subject=title(found),
        field="metadata.deletionTimestamp",
        says=f"{state}, and is still there",
        follows=f"Kueue deletes it at {time_of(end)}",
        cause=_CAUSE,
        sure=Sure.CERTAIN,
        look=shown(found),
    )
