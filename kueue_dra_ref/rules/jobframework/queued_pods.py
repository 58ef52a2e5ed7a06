"""Pods that Kueue queues one by one: when they are gated, ungated and deleted, and what their Workload is.

Kueue: pkg/controller/jobs/pod/pod_controller.go (Pod); pkg/controller/jobs/pod/pod_webhook.go (Default)
"""

from __future__ import annotations

from kueue_dra_ref.api.queued_pods import outcome_of, pod_template
from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.model.pod_group import PodGroup
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@rule("PODS-001")
def gate_pods(admitted: bool) -> bool:
    """Kueue gates a pod whose Workload is not admitted.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (Default)
    """
    return not admitted


@rule("PODS-001")
def ungate_pods_on_admission(admitted: bool) -> bool:
    """Kueue removes the gate of a pod when it admits its Workload.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Run)
    """
    return admitted


@rule("PODS-002")
def pod_in_unmanaged_namespace(pod: JobOwnership) -> bool:
    """Kueue leaves a pod alone in a namespace that managedJobsNamespaceSelector does not select.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (Default)
    """
    return not pod.selected


@rule("PODS-003")
def pod_set_of_pod(group: PodGroup) -> list[Manifest]:
    """Kueue makes one pod set named main of a pod.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (constructPodSets)
    """
    return [{"name": "main", "count": 1, "template": pod_template(group.first)}]


@rule("PODS-004")
def finished_pod_finishes_workload(group: PodGroup) -> tuple[str, str] | None:
    """Kueue sets Finished on the Workload of a pod that succeeded or failed.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Finished)
    """
    return None if group.name else outcome_of(group.first)


@rule("PODS-005")
def delete_running_pods(held: bool) -> bool:
    """Kueue deletes a pod that runs without an admitted Workload; a gated one stays.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Stop)
    """
    return not held


@rule("PODS-073", "PODS-074")
def workload_outlives_its_pod() -> bool:
    """The garbage collector deletes the Workload of an evicted pod only after Kueue has tried it again.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob);
        pkg/controller/core/workload_controller.go (Reconcile)
    """
    return True


@rule("PODS-006")
def delete_pods_of_deleted_workload(is_gone: bool) -> bool:
    """Kueue deletes every pod of a Workload that a user deletes.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (Stop)
    """
    return is_gone
