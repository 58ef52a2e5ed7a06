"""Kueue 0.14: the rules of Jobs, priority classes and status."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First
from kueue_dra_ref.rules.jobframework import job_reconciliation, managed_jobs
from kueue_dra_ref.rules.workload import workload_priority_class, workload_status

JOBS = JobRules(
    default_queue=First(
        when(
            managed_jobs.a_job_without_a_queue_gets_the_default_one,
            LocalQueueDefaulting=True,
        )
    ),
    default_queue_exempt=AnyOf(),
    manage_without_queue=AnyOf(managed_jobs.manage_jobs_without_queue_name),
    managed_namespace_exempt=AnyOf(
        managed_jobs.manage_jobs_without_queue_name_by_namespace
    ),
    unmanaged=AnyOf(
        when(
            managed_jobs.unmanaged_namespace,
            ManagedJobsNamespaceSelectorAlwaysRespected=True,
        )
    ),
    pod_sets=First(job_reconciliation.a_job_is_one_pod_set),
    min_parallelism=First(
        when(job_reconciliation.min_parallelism_annotation, PartialAdmission=True)
    ),
    not_equivalent=AnyOf(job_reconciliation.equivalent_to_workload),
    suspend=AnyOf(job_reconciliation.suspend_job),
    unsuspend=AnyOf(job_reconciliation.unsuspend_on_admission),
    apply_pod_count=Each(job_reconciliation.a_job_runs_as_many_pods_as_were_admitted),
    fail_on_conflicting_labels=First(
        job_reconciliation.conflicting_node_labels_finish_workload
    ),
    reclaimable_pods=First(
        when(
            job_reconciliation.pods_that_will_not_run_again_are_reclaimed,
            ReclaimablePods=True,
        )
    ),
    release_quota=AnyOf(job_reconciliation.release_quota_when_pods_stopped),
    requeue_evicted=AnyOf(job_reconciliation.a_preempted_workload_is_queued_again),
    finished=First(job_reconciliation.a_finished_job_finishes_its_workload),
)

PRIORITIES = PriorityClassRules(
    class_exists=AllOf(workload_priority_class.priority_class_must_exist),
    # The priority of a Workload does not change.
    follow_label=AnyOf(),
    propagate_value=AnyOf(),
    requeue_pending=AnyOf(),
)

REPORTING = StatusRules(
    inadmissible_condition=Each(
        workload_status.inadmissible_condition, workload_status.requeued_false_condition
    ),
    queue_not_ready=First(workload_status.inadmissible_queue_condition),
    pending_condition=First(workload_status.pending_condition),
    requests=First(workload_status.pending_workload_resource_requests),
    # The implicit resource "pods" is listed (up to 0.17).
    extra_requests=Each(workload_status.pods_resource_in_requests),
    admitted=Each(
        workload_status.quota_is_reserved, workload_status.the_workload_is_admitted
    ),
    admission=First(workload_status.the_admission_is_written),
    evicted=Each(workload_status.evicted_condition),
    preempted=Each(workload_status.preempted_condition),
    quota_released=First(workload_status.unset_quota_reservation_condition),
    cluster_queue=Each(
        workload_status.pending_workloads_are_counted,
        workload_status.reserving_and_admitted_workloads_are_counted,
        workload_status.reserved_quota_is_listed,
        workload_status.used_quota_is_listed,
    ),
    cluster_queue_active=Each(workload_status.cluster_queue_active_condition),
    local_queue=Each(
        workload_status.a_local_queue_counts_its_workloads,
        workload_status.a_local_queue_lists_its_quota,
        when(
            workload_status.a_local_queue_shows_its_flavors,
            ExposeFlavorsInLocalQueue=True,
        ),
    ),
    local_queue_active=Each(workload_status.local_queue_active_condition),
)
