"""Kueue 0.14: the rules of Jobs, priority classes and status."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_execution import ExecutionTimeRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_retention import RetentionRules
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First, Fold
from kueue_dra_ref.rules.jobframework import (
    app_wrappers,
    job_kinds,
    job_reconciliation,
    managed_jobs,
    ray_jobs,
    topology_requests,
    train_jobs,
    workload_slices,
)
from kueue_dra_ref.rules.workload import (
    admission_checks,
    execution_time,
    pods_ready,
    retention,
    workload_priority_class,
    workload_status,
)

JOBS = JobRules(
    annotated_queue=First(managed_jobs.annotation_names_queue),
    default_queue=First(
        when(
            managed_jobs.default_local_queue,
            LocalQueueDefaulting=True,
        )
    ),
    default_queue_exempt=AnyOf(managed_jobs.no_default_queue_for_owned_work),
    owned=AnyOf(managed_jobs.work_of_queued_work),
    suspend_owned=AnyOf(managed_jobs.suspend_work_of_waiting_work),
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
    framework_off=AnyOf(job_kinds.framework_is_not_enabled),
    unreadable=First(train_jobs.job_sets_may_not_be_created),
    elastic=AnyOf(
        when(job_kinds.annotated_work_is_elastic, ElasticJobsViaWorkloadSlices=True)
    ),
    slice_annotations=Each(workload_slices.new_slice_names_the_replaced_one),
    resize_slice=AnyOf(
        workload_slices.pending_slice_is_resized,
        workload_slices.smaller_slice_is_resized,
    ),
    run_on=AnyOf(workload_slices.slice_runs_on_while_its_replacement_waits),
    finish_replaced=First(workload_slices.replaced_slice_is_finished),
    finish_evicted=First(workload_slices.evicted_slice_is_finished),
    newest_slice_counts=AnyOf(workload_slices.newest_slice_counts_although_evicted),
    fail_to_restart=First(
        when(
            workload_slices.grown_work_does_not_start_again,
            TopologyAwareScheduling=True,
        )
    ),
    start_pods=First(workload_slices.all_elastic_pods_start),
    gate_pods=AnyOf(workload_slices.elastic_pods_are_gated),
    pod_sets=First(
        job_kinds.job_set_pod_sets,
        job_kinds.training_job_pod_sets,
        ray_jobs.ray_cluster_pod_sets,
        ray_jobs.ray_job_pod_sets,
        app_wrappers.app_wrapper_pod_sets,
        train_jobs.train_job_pod_sets,
        job_reconciliation.job_pod_sets,
    ),
    adjust_pod_sets=Fold(
        app_wrappers.app_wrapper_pods_are_read_in_part,
        when(
            topology_requests.annotated_pods_request_topology,
            TopologyAwareScheduling=True,
        ),
        when(topology_requests.pods_are_numbered, TopologyAwareScheduling=True),
    ),
    min_parallelism=First(
        when(job_reconciliation.min_parallelism_annotation, PartialAdmission=True)
    ),
    not_equivalent=AnyOf(job_reconciliation.equivalent_to_workload),
    suspend=AnyOf(job_reconciliation.suspend_job),
    unsuspend=AnyOf(job_reconciliation.unsuspend_on_admission),
    apply_pod_count=Each(job_reconciliation.run_with_admitted_pod_count),
    own_values=Each(
        when(job_reconciliation.pods_name_their_workload, TopologyAwareScheduling=True),
        job_reconciliation.pods_name_their_pod_set,
    ),
    fail_on_conflicting_labels=First(
        job_reconciliation.conflicting_node_labels_finish_workload
    ),
    fail_to_start=First(app_wrappers.declared_pod_set_without_pods_fails),
    reclaimable_pods=First(
        when(
            job_reconciliation.reclaimable_pods,
            ReclaimablePods=True,
        )
    ),
    reclaimable_pod_sets=First(
        when(job_kinds.reclaimable_pods_of_replicated_jobs, ReclaimablePods=True),
        when(train_jobs.reclaimable_pods_of_train_job, ReclaimablePods=True),
    ),
    release_quota=AnyOf(job_reconciliation.release_quota_when_pods_stopped),
    requeue_evicted=AnyOf(job_reconciliation.preempted_workload_is_requeued),
    finished=First(
        job_kinds.finished_work_finishes_workload,
        job_reconciliation.finished_job_finishes_workload,
    ),
    compare_finished=AnyOf(job_reconciliation.finished_work_is_compared),
)

PRIORITIES = PriorityClassRules(
    class_exists=AllOf(workload_priority_class.priority_class_must_exist),
    # The priority of a Workload does not change.
    follow_label=AnyOf(),
    propagate_value=AnyOf(),
    requeue_pending=AnyOf(),
)

CHECKING = AdmissionCheckRules(
    required=First(
        admission_checks.checks_of_assigned_flavors_0_14,
        admission_checks.checks_if_none_names_a_flavor,
    ),
    block_admission=AnyOf(admission_checks.unready_check_blocks_admission),
    unreserved=First(admission_checks.no_reservation_unsatisfied_checks),
    retry=First(admission_checks.retry_evicts_0_17),
    reject=First(admission_checks.rejection_deactivates_0_17),
    order_by_eviction=AnyOf(admission_checks.evicted_by_check_is_ordered_by_that),
    block_nomination=First(admission_checks.failed_check_blocks_nomination),
    reset=First(admission_checks.eviction_resets_check),
    pod_set_updates=First(admission_checks.pod_set_updates),
)

WAITING = PodsReadyRules(
    enabled=AnyOf(pods_ready.first_version_needs_enable),
    blocking=AnyOf(
        pods_ready.first_version_blocks_by_default, pods_ready.block_admission
    ),
    blocked=Each(pods_ready.blocked_condition),
    condition=First(
        pods_ready.pods_of_unadmitted_work_wait,
        pods_ready.pods_are_ready_again,
        pods_ready.pods_are_ready,
        pods_ready.pods_are_not_ready_any_more,
        pods_ready.pods_have_not_started,
    ),
    timeout=First(pods_ready.written_timeout, pods_ready.first_version_waits_5_minutes),
    recovery_timeout=First(pods_ready.written_recovery_timeout),
    start=First(pods_ready.start_deadline),
    recovery=First(pods_ready.recovery_deadline),
    evict=Each(pods_ready.timeout_evicts),
    deactivate=First(pods_ready.too_many_requeues_deactivate),
    backoff=First(pods_ready.backoff_doubles),
    order_by_eviction=AnyOf(pods_ready.ordered_by_eviction),
    # The end of the backoff of a workload with devices is missed.
    ignore_backoff_end=AnyOf(pods_ready.devices_are_not_retried_after_backoff),
)

LIMITING = ExecutionTimeRules(
    limit=First(execution_time.limit_of_label),
    not_equivalent=AnyOf(execution_time.other_limit_is_not_equivalent),
    deactivate=First(execution_time.execution_time_deactivates),
    count=First(execution_time.past_admissions_count),
)

RETAINING = RetentionRules(
    finished=First(
        when(retention.finished_workload_expires, ObjectRetentionPolicies=True)
    ),
    deactivated=First(
        when(retention.deactivated_work_expires, ObjectRetentionPolicies=True)
    ),
    by_kueue=AllOf(retention.deactivated_by_kueue),
    keep=AnyOf(retention.job_with_pods_is_kept),
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
    quota_reserved=Each(workload_status.quota_reserved_condition),
    admitted=Each(workload_status.admitted_condition),
    admission=First(workload_status.admission_status),
    evicted=Each(workload_status.evicted_condition),
    preempted=Each(workload_status.preempted_condition),
    quota_released=First(workload_status.unset_quota_reservation_condition),
    cluster_queue=Each(
        workload_status.pending_workloads_status,
        workload_status.reserving_and_admitted_workloads_status,
        workload_status.flavors_reservation_status,
        workload_status.flavors_usage_status,
    ),
    cluster_queue_active=Each(workload_status.cluster_queue_active_condition),
    local_queue=Each(
        workload_status.local_queue_workloads_status,
        workload_status.local_queue_flavors_usage_status,
        when(
            workload_status.local_queue_flavors_status,
            ExposeFlavorsInLocalQueue=True,
        ),
    ),
    local_queue_active=Each(workload_status.local_queue_active_condition),
)
