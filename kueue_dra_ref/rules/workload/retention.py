"""Retention: when Kueue deletes finished Workloads, and work that it has deactivated.

Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile);
    pkg/controller/jobframework/reconciler.go (handleWorkloadAfterDeactivatedPolicy)
"""

from __future__ import annotations

from kueue_dra_ref.api.job_kinds import JOB, is_active
from kueue_dra_ref.api.retention import ObjectRetention
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_BY_KUEUE = "DeactivatedDueTo"
"""How the reason of an eviction begins if Kueue itself has deactivated the workload."""


@rule("RETAIN-001")
def finished_workload_expires(
    retention: ObjectRetention, finished_at: float
) -> float | None:
    """Kueue deletes a Workload when it has been finished for as long as afterFinished says.

    Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile)
    """
    if retention.after_finished is None:
        return None
    return finished_at + retention.after_finished


@rule("RETAIN-005")
def deactivated_work_expires(
    retention: ObjectRetention, evicted_at: float
) -> float | None:
    """Kueue deletes work when it has been deactivated by Kueue for as long as afterDeactivatedByKueue says.

    Kueue: pkg/controller/jobframework/reconciler.go (handleWorkloadAfterDeactivatedPolicy)
    """
    if retention.after_deactivated is None:
        return None
    return evicted_at + retention.after_deactivated


@rule("RETAIN-006")
def deactivated_by_kueue(reason: str) -> bool:
    """Work counts as deactivated by Kueue if the reason of its eviction names a cause.

    Kueue: pkg/controller/jobframework/reconciler.go (shouldHandleDeletionOfDeactivatedWorkload)
    """
    return reason.startswith(_BY_KUEUE)


@rule("RETAIN-011")
def job_with_pods_is_kept(job: Manifest) -> bool:
    """A Job is kept while its pods run: until they have stopped, Kubernetes rejects that Kueue restores its template.

    Kueue: pkg/controller/jobs/job/job_controller.go (Job, Stop)
    """
    return job["kind"] == JOB.name and is_active(job)
