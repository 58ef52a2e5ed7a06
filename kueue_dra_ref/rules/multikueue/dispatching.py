"""MultiKueue: which workers get a copy of work, which copy runs, and when the manager tries again.

Kueue: pkg/controller/admissionchecks/multikueue/workload.go (wlReconciler);
    pkg/controller/admissionchecks/multikueue/admissioncheck.go (ACReconciler)
"""

from __future__ import annotations

from kueue_dra_ref.api.multikueue import CONTROLLER, is_from_manager
from kueue_dra_ref.api.queued_pods import prebuilt_name
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.dispatching import (
    JOB,
    WORKLOAD,
    ClusterUse,
    CopyTimes,
    JobPair,
    LostCopy,
    earliest,
)
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


def _active(value: bool, reason: str, message: str) -> Condition:
    return Condition(type="Active", value=value, reason=reason, message=message)


@rule("MK-010")
def no_usable_cluster(use: ClusterUse) -> Condition | None:
    """A check of MultiKueue is not active while none of its clusters is connected.

    Kueue: pkg/controller/admissionchecks/multikueue/admissioncheck.go (ACReconciler)
    """
    if len(use.missing) + len(use.inactive) < len(use.clusters):
        return None
    return _active(False, "NoUsableClusters", use.message)


@rule("MK-010")
def some_usable_clusters(use: ClusterUse) -> Condition | None:
    """A check of MultiKueue is active while some of its clusters are connected.

    Kueue: pkg/controller/admissionchecks/multikueue/admissioncheck.go (ACReconciler)
    """
    if not use.message:
        return None
    return _active(True, "SomeActiveClusters", use.message)


@rule("MK-001")
def all_usable_clusters(use: ClusterUse) -> Condition:
    """A check of MultiKueue is active while all of its clusters are connected.

    Kueue: pkg/controller/admissionchecks/multikueue/admissioncheck.go (ACReconciler)
    """
    message = "The admission check is active"
    return _active(not use.message, "Active", message)


@rule("MK-002")
def multikueue_manages_jobs(kind: str, controllers: frozenset[str]) -> bool:
    """A Job of a ClusterQueue with a check of MultiKueue is managed by MultiKueue.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultForManagedBy)
    """
    return kind == JOB and CONTROLLER in controllers


@rule("MK-022")
def multikueue_manages_other_work(kind: str, controllers: frozenset[str]) -> bool:
    """Work of other kinds in a ClusterQueue with a check of MultiKueue is managed by MultiKueue.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultForManagedBy)
    """
    return kind != JOB and CONTROLLER in controllers


@rule("MK-012")
def reject_other_managers(kind: str, managed_by: str) -> str | None:
    """MultiKueue rejects a Job that names another manager.

    Kueue: pkg/controller/jobs/job/job_multikueue_adapter.go (IsJobManagedByKueue)
    """
    if kind != JOB or managed_by == CONTROLLER:
        return None
    expected = f'Expecting spec.managedBy to be "{CONTROLLER}" not "{managed_by}"'
    return f"The owner is not managed by Kueue: {expected}"


@rule("MK-052")
def reject_work_without_owner(kind: str, _managed_by: str) -> str | None:
    """MultiKueue rejects a Workload that no work owns.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (wlReconciler, adapter)
    """
    return "No multikueue adapter found" if kind == WORKLOAD else None


@rule("MK-053")
def rejection_names_state_before(state: str) -> str:
    """The message of a check that MultiKueue rejects names its state before.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (updateACS)
    """
    return f', Previously: "{state}"'


@rule("MK-001")
def dispatch_to_every_cluster(connected: frozenset[str]) -> frozenset[str]:
    """Each connected cluster gets a copy of a workload with quota.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (nominateAndSynchronizeWorkers)
    """
    return connected


@rule("MK-043")
def new_clusters_are_used_at_once() -> bool:
    """The workloads of a check are reconciled when its MultiKueueConfig changes.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (configHandler)
    """
    return True


@rule("MK-030")
def other_checks_come_first(others: bool) -> bool:
    """No copy is created before the other checks of a workload are Ready.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (allNonMKAdmissionChecksReady)
    """
    return not others


@rule("MK-040")
def first_admitted_copy_wins(times: CopyTimes) -> str | None:
    """The copy that was admitted first runs; of copies of the same second any may win.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (bestMatchByCondition)
    """
    return earliest(times.admitted)


@rule("MK-005")
def other_copies_go() -> bool:
    """The copies on the other clusters are deleted once one is admitted.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (RemoveRemoteObjects)
    """
    return True


@rule("MK-034")
def admitted_on(cluster: str) -> str:
    """The check is Ready once a copy is admitted, and names the cluster.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (syncAdmittingRemoteState)
    """
    return f'The workload was admitted on "{cluster}"'


@rule("MK-033")
def reservation_on(cluster: str) -> str:
    """The check is Ready once a copy is admitted, and says that it got reservation.

    Kueue 0.18: pkg/controller/admissionchecks/multikueue/workload.go (syncReservingRemoteState)
    """
    return f'The workload got reservation on "{cluster}"'


@rule("MK-006")
def copies_go_without_quota(reserved: bool, finished: bool) -> bool:
    """All copies are deleted while the workload has no quota on the manager.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return not reserved and not finished


@rule("MK-007")
def copies_go_when_finished(_reserved: bool, finished: bool) -> bool:
    """All copies are deleted when the workload is finished.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return finished


@rule("MK-008")
def copies_go_with_workload() -> bool:
    """All copies are deleted with the workload.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (Reconcile)
    """
    return True


@rule("MK-020")
def orphaned_copies_go() -> bool:
    """Copies without a workload on the manager are deleted, once in a gcInterval.

    Kueue: pkg/controller/admissionchecks/multikueue/multikueuecluster.go (runGC)
    """
    return True


@rule("MK-009")
def status_follows_running_copy(pair: JobPair) -> bool:
    """A Job that is not suspended on the manager has the status of its copy; work of other kinds always has.

    Kueue: pkg/controller/jobs/job/job_multikueue_adapter.go (determineStatusUpdate)
    """
    return pair.kind != JOB or not pair.suspended


@rule("MK-009")
def status_follows_suspended_copy(pair: JobPair) -> bool:
    """A suspended Job has the status of a copy that is suspended too, or finished.

    Kueue: pkg/controller/jobs/job/job_multikueue_adapter.go (determineStatusUpdate)
    """
    return pair.copy_suspended or pair.copy_finished


@rule("MK-059")
def cluster_has_bad_kubeconfig() -> str:
    """A cluster whose kubeconfig cannot be read is inactive for a reason of its own.

    Kueue: pkg/controller/admissionchecks/multikueue/multikueuecluster.go (loadClientConfig)
    """
    return "BadKubeConfig"


@rule("MK-017")
def copy_of_evicted_workload_is_followed(evicted: bool, _reason: str) -> bool:
    """Work whose workload is evicted has the status of a copy that is evicted too.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return evicted


@rule("MK-013", "MK-041")
def retry_when_copy_is_evicted(cluster: str) -> str:
    """The check is set to Retry when the copy that runs is evicted on its worker.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    found = f'Workload evicted on worker cluster: "{cluster}"'
    return f'{found}, resetting for re-admission. Previously: "Ready"'


@rule("MK-055")
def retry_when_copy_is_out_of_sync(reason: str, cluster: str) -> str | None:
    """The check is set to Retry when a copy ends because its work does not match it any more.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    if reason != "OutOfSync":
        return None
    found = f'Remote workload on worker cluster "{cluster}" is out of sync with its user job'
    return f'{found}, resetting for re-dispatch, Previously: "Ready"'


@rule("MK-014", "MK-050")
def retry_when_copy_is_gone(lost: LostCopy) -> str | None:
    """The check is set to Retry at once when a worker that is not lost has no admitted copy, or is not used any more.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    if lost.unavailable:
        return None
    return 'Admitting remote no longer exists, Previously: "Ready"'


@rule("MK-015")
def retry_when_worker_is_lost(lost: LostCopy) -> str | None:
    """The check is set to Retry when the worker has been lost for workerLostTimeout.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (admittingWorkerLostSince)
    """
    if not lost.unavailable or lost.lost_for < lost.timeout:
        return None
    return 'Admitting remote lost, Previously: "Ready"'


@rule("MK-014", "MK-015")
def retry_when_copy_is_lost(lost: LostCopy) -> str | None:
    """The check is set to Retry when the copy is not found workerLostTimeout after the check was Ready.

    Kueue 0.18: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return "Reserving remote lost" if lost.ready_for >= lost.timeout else None


@rule("MK-047")
def copies_get_the_priority() -> bool:
    """The priority of a workload is written to its copies when it changes.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return True


@rule("MK-016")
def copies_go_when_they_differ(spec: Manifest, copied: Manifest) -> bool:
    """A copy whose spec is not that of the workload is deleted, and made again.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (isRemoteSpecOutOfSync)
    """
    return spec != copied


@rule("MK-017")
def eviction_forgets_the_cluster() -> bool:
    """An eviction on the manager clears the cluster of a workload, so that it is dispatched again.

    Kueue: pkg/workload/evict/evict.go (resetClusterNomination)
    """
    return True


@rule("MK-017")
def copy_is_evicted_with_workload(message: str) -> str:
    """A copy is deactivated while the workload is evicted on the manager and has its quota.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (reconcileGroup)
    """
    return f"Evicted on manager: {message}"


@rule("MK-023")
def work_of_others_is_no_copy(work: Manifest) -> bool:
    """Work on a worker that no manager has created is neither followed nor deleted.

    Kueue: pkg/controller/jobframework/utils.go (ValidateRemoteObjectOwnership)
    """
    return not is_from_manager(work)


@rule("MK-031")
def work_without_workload_goes() -> bool:
    """Copies of work are deleted with the copies of Workloads, even if those are gone.

    Kueue: pkg/controller/admissionchecks/multikueue/workload.go (RemoveRemoteObjects)
    """
    return True


@rule("MK-018")
def work_takes_prebuilt_workload(job: Manifest) -> str | None:
    """Work gets the Workload that it names, instead of one that Kueue creates.

    Kueue: pkg/controller/jobframework/reconciler.go (EnsurePrebuiltWorkloadOwnership)
    """
    return prebuilt_name(job) or None
