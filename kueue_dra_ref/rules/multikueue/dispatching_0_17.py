"""MultiKueue up to Kueue 0.17: what these releases decide otherwise.

Kueue 0.17: pkg/controller/admissionchecks/multikueue/workload.go (wlReconciler);
Kueue 0.17: pkg/controller/jobs/job/job_multikueue_adapter.go (multiKueueAdapter)
"""

from __future__ import annotations

from kueue_dra_ref.model.dispatching import (
    JOB,
    CopyTimes,
    JobPair,
    earliest,
)
from kueue_dra_ref.model.rule import rule

_EVICTED_ON_MANAGER = "DeactivatedDueToEvictedOnManagerCluster"


@rule("MK-060")
def cluster_has_bad_config() -> str:
    """A cluster whose kubeconfig cannot be read is inactive for the reason that a check with a bad configuration has.

    Kueue 0.14: pkg/controller/admissionchecks/multikueue/multikueuecluster.go (Reconcile)
    """
    return "BadConfig"


@rule("MK-025")
def nothing_happens_without_clusters(connected: int) -> bool:
    """A workload keeps its state and its copies while none of its clusters is connected.

    Kueue 0.17: pkg/controller/admissionchecks/multikueue/workload.go (remoteClientsForAC)
    """
    return connected == 0


@rule("MK-026", "MK-035")
def first_reserving_copy_wins(times: CopyTimes) -> str | None:
    """The copy that got quota first runs, whether its own admission checks are Ready or not.

    Kueue 0.15: pkg/controller/admissionchecks/multikueue/workload.go (FirstReserving)
    """
    return earliest(times.reserved)


@rule("MK-009")
def status_follows_while_pods_run(pair: JobPair) -> bool:
    """A suspended Job has the status of its copy until no pod of it runs.

    Kueue 0.17: pkg/controller/jobs/job/job_multikueue_adapter.go (SyncJob)
    """
    return pair.active


@rule("MK-027")
def status_follows_finished_copy(pair: JobPair) -> bool:
    """A Job has the status of its copy when that is finished; work of other kinds always has.

    Kueue 0.16: pkg/controller/jobs/job/job_multikueue_adapter.go (SyncJob)
    """
    return pair.kind != JOB or pair.copy_finished


@rule("MK-017")
def copy_evicted_by_manager_is_followed(_evicted: bool, reason: str) -> bool:
    """Work has the status of a copy that its manager has evicted.

    Kueue 0.16: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return reason == _EVICTED_ON_MANAGER


@rule("MK-027")
def job_waits_on_manager(kind: str) -> bool:
    """A Job that runs on a worker stays suspended on the manager, where it has no manager of its own.

    Kueue 0.16: pkg/controller/jobframework/reconciler.go (startJob)
    """
    return kind == JOB


@rule("MK-028")
def check_of_jobs_stays_pending(kind: str) -> bool:
    """The check of a Job that runs on a worker stays Pending.

    Kueue 0.14: pkg/controller/jobs/job/job_multikueue_adapter.go (KeepAdmissionCheckPending)
    """
    return kind == JOB
