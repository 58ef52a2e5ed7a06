"""Kueue 0.19 (0.19.0 to 0.19.2), whole-device path: every rule that holds there, in the order of application."""

from __future__ import annotations

from kueue_dra_ref.api.schema_config import KUEUE_0_19_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19_mapping import MAPPING, SOURCING
from kueue_dra_ref.behaviours.kueue_0_19_validation import DEFINITIONS, WEBHOOKS
from kueue_dra_ref.behaviours.phases_dra import (
    AdjustResources,
    Charges,
    ExtendedResources,
    MappingSource,
    Preprocessing,
)
from kueue_dra_ref.behaviours.phases_scheduling import (
    CohortRules,
    FairSharingRules,
    FlavorAssignment,
    PreemptionRules,
    QueueRules,
    SchedulingCycle,
)
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.features.kube_features import kueue_0_19_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    device_matching,
    dra_workloads,
    extended_resource_requests,
    mapper,
)
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    flavor_fungibility,
    node_affinity,
    taints,
)
from kueue_dra_ref.rules.jobframework import job_reconciliation, managed_jobs
from kueue_dra_ref.rules.preemption import fair_sharing, preemption_policies
from kueue_dra_ref.rules.queue import (
    admissibility,
    cohort_quota,
    in_use_finalizers,
    pending_workloads,
)
from kueue_dra_ref.rules.scheduler import scheduling_cycle
from kueue_dra_ref.rules.workload import (
    adjust_resources,
    resource_transformations,
    unadmitted_workloads,
    workload_priority_class,
    workload_status,
)

_READ = ("get", "list", "watch")
_INTEGRATION = "KueueDRAIntegration"
_EXTENDED = "KueueDRAIntegrationExtendedResource"
_REJECT = "KueueDRARejectWorkloadsWhenDRADisabled"
OBSERVABILITY = "UnadmittedWorkloadsObservability"
_PLAIN, _OBSERVED = {OBSERVABILITY: False}, {OBSERVABILITY: True}
_EXPLICIT = {**_OBSERVED, "UnadmittedWorkloadsExplicitStatus": True}


def kueue_0_19() -> Behaviour:
    """Kueue 0.19 as a value."""
    return Behaviour(
        name="kueue-0.19",
        title="Kueue 0.19",
        kueue="0.19",
        versions=KUEUE_0_19_VERSIONS,
        gates=kueue_0_19_gates(),
        integration=_INTEGRATION,
        dependants=(_EXTENDED, "KueueDRAIntegrationPartitionableDevices"),
        role=tuple(
            {"apiGroups": ("resource.k8s.io",), "resources": (name,), "verbs": _READ}
            for name in (
                "deviceclasses",
                "resourceclaims",
                "resourceclaimtemplates",
                "resourceslices",
            )
        ),
        mapping=MAPPING,
        mapped=MappingSource.IN_THE_CONFIGURATION,
        processing=_PROCESSING,
        charging=CHARGING,
        queueing=QUEUEING,
        assigning=ASSIGNING,
        cohorts=COHORTS,
        cycle=CYCLE,
        preempting=PREEMPTING,
        fair_sharing=FAIR_SHARING,
        reporting=REPORTING,
        jobs=JOBS,
        priorities=PRIORITIES,
        extended=_EXTENDED_RESOURCES,
        adjusting=ADJUSTING,
        definitions=DEFINITIONS,
        webhooks=WEBHOOKS,
    )


_PROCESSING = Preprocessing(
    detected=(
        when(dra_workloads.claim_template_makes_a_dra_workload, **{_INTEGRATION: True}),
    ),
    refused=(
        when(
            dra_workloads.claims_are_refused_while_the_gate_is_off,
            **{_INTEGRATION: False, _REJECT: True},
        ),
        when(dra_workloads.direct_claims_are_refused, **{_INTEGRATION: True}),
    ),
    read_template=(claim_templates.templates_are_read_where_the_workload_lives,),
    rbac_denied=(dra_workloads.templates_cannot_be_read_without_permission,),
    template=(claim_templates.the_template_must_exist,),
    request=(
        claim_templates.first_available_unsupported,
        claim_templates.selectors_must_compile,
        claim_templates.admin_access_is_refused,
        claim_templates.allocation_mode_all_is_rejected,
    ),
    matching=device_matching.DeviceMatchingRules(
        eligible=(
            device_matching.a_device_serves_one_request_of_a_claim,
            device_matching.the_selectors_of_the_class_hold,
            device_matching.the_selectors_of_the_request_hold,
        ),
        findings=(
            device_matching.the_class_must_exist,
            device_matching.the_selectors_of_the_class_compile,
            device_matching.selector_error_rejects,
            device_matching.too_few_devices_reject,
        ),
    ),
    sourcing=SOURCING,
    unmapped_class=(claim_templates.unmapped_classes_are_refused,),
    mappings=(mapper.the_configuration_maps_the_classes,),
    lookup=(mapper.the_mapping_of_a_class_names_the_resource,),
)

_EXTENDED_RESOURCES = ExtendedResources(
    detected=(
        when(
            extended_resource_requests.extended_resources_are_detected,
            **{_EXTENDED: True},
        ),
    ),
    asked=(
        when(
            extended_resource_requests.requests_and_limits_are_charged,
            **{_EXTENDED: True},
        ),
    ),
    named=(extended_resource_requests.names_with_a_domain_are_extended,),
    chosen=(
        extended_resource_requests.newest_device_class_wins,
        extended_resource_requests.name_breaks_tie,
    ),
    refused=(
        extended_resource_requests.classes_with_counters_are_refused,
        extended_resource_requests.classes_with_capacities_are_refused,
        extended_resource_requests.devices_are_whole,
        extended_resource_requests.the_sum_of_containers_has_64_bits,
    ),
    in_pod=(extended_resource_requests.max_of_init_and_containers,),
    charged=(
        extended_resource_requests.the_mapping_of_the_class_is_charged_or_the_name,
    ),
    per_name=(extended_resource_requests.extended_resources_sum_per_name,),
    not_charged_natively=(
        extended_resource_requests.resolved_name_is_not_charged_natively,
    ),
    watched=(
        when(
            extended_resource_requests.device_class_change_requeues,
            **{_EXTENDED: True},
        ),
    ),
)

ADJUSTING = AdjustResources(
    pod_set=(
        adjust_resources.runtime_class_overhead,
        adjust_resources.the_namespace_gives_containers_defaults,
        adjust_resources.limits_default_requests,
        adjust_resources.limits_of_the_pod_stand_in_for_its_requests,
    ),
    resources=(
        adjust_resources.containers_keep_to_their_limits,
        adjust_resources.pods_keep_to_their_limits,
    ),
    ranges=(
        adjust_resources.limit_range_bounds_containers,
        adjust_resources.pods_keep_to_the_bounds_of_the_namespace,
    ),
)

CHARGING = Charges(
    claims=(charges.claims_are_those_of_the_pod,),
    request=(charges.the_count_is_charged,),
    in_claim=(charges.requests_of_a_claim_add_up,),
    in_pod=(charges.claims_of_a_pod_add_up,),
    plus_pod_requests=(charges.devices_add_to_pod_requests,),
    pods=(charges.a_pod_set_is_charged_for_each_pod,),
    transformed=(resource_transformations.outputs_are_added_to_what_is_requested,),
)

QUEUEING = QueueRules(
    order=(
        pending_workloads.higher_priority_first,
        pending_workloads.older_first,
    ),
    requeue_immediately=(pending_workloads.strict_fifo_requeues_immediately,),
    mark_inadmissible=(pending_workloads.best_effort_fifo_marks_inadmissible,),
    requeue_from=(pending_workloads.requeue_remembers_counted_requests,),
    retry_from=(pending_workloads.requeue_uses_reclaimed_counts,),
    skip_in_requeue=(pending_workloads.requeued_false_is_skipped,),
    bulk_move_equivalent=(
        when(
            pending_workloads.scheduling_equivalence_hashing,
            SchedulingEquivalenceHashing=True,
        ),
    ),
    sticky_preemptor=(pending_workloads.sticky_preemptor,),
    skip_on_local_queue_add=(pending_workloads.finished_is_not_queued,),
    count_on_start=(pending_workloads.inactive_is_not_cached_on_start,),
    namespace=(pending_workloads.the_namespace_must_be_selected,),
    queue_not_ready=(
        when(admissibility.inactive_condition, **_OBSERVED),
        admissibility.the_local_queue_must_exist,
        admissibility.the_local_queue_must_run,
        admissibility.the_cluster_queue_must_exist,
        admissibility.the_cluster_queue_must_be_active,
        when(admissibility.namespace_mismatch_condition, **_OBSERVED),
        when(admissibility.invalid_requests_condition, **_OBSERVED),
        when(admissibility.reason_from_equivalence_hash, **_OBSERVED),
        when(admissibility.reason_from_equivalence_hash_on_arrival, **_EXPLICIT),
        when(admissibility.pending_on_arrival, **_EXPLICIT),
        when(admissibility.clear_stale_condition, **_OBSERVED),
    ),
    inactive=(
        pending_workloads.a_deleted_cluster_queue_is_inactive,
        pending_workloads.a_stopped_cluster_queue_is_inactive,
        pending_workloads.missing_flavors_make_a_cluster_queue_inactive,
    ),
    hold_finalizer=(
        in_use_finalizers.cluster_queue_in_use_finalizer,
        in_use_finalizers.resource_flavor_in_use_finalizer,
    ),
    ignore_update=(in_use_finalizers.deleted_objects_ignore_updates,),
    evicted=(
        pending_workloads.evict_on_deactivation,
        pending_workloads.hold_and_drain_evicts_local_queue,
        pending_workloads.a_drained_cluster_queue_evicts,
    ),
)

ASSIGNING = FlavorAssignment(
    flavors=(fits_resource_quota.flavors_are_tried_as_listed,),
    uncovered=(fits_resource_quota.uncovered_resources_are_unavailable,),
    counted=(fits_resource_quota.pods_resource_when_covered,),
    ignore_zero_request=(fits_resource_quota.zero_of_uncovered_is_ignored,),
    ignore_undeclared=(
        when(
            fits_resource_quota.ignore_undeclared_resources,
            QuotaCheckStrategy=True,
        ),
    ),
    stop_at_empty_pod_set=(fits_resource_quota.empty_pod_set_stops_assignment,),
    flavor=(
        taints.taints_must_be_tolerated,
        node_affinity.affinity_operand_is_integer,
        node_affinity.node_affinity_matches,
    ),
    quota=(
        fits_resource_quota.exceeds_maximum_capacity,
        fits_resource_quota.insufficient_unused_quota,
    ),
    no_fit_message=(fits_resource_quota.unlimited_in_message,),
    try_next_flavor=(
        when(flavor_fungibility.try_next_when_no_candidates, FlavorFungibility=True),
        when(
            flavor_fungibility.when_can_preempt_try_next_flavor,
            FlavorFungibility=True,
        ),
        when(
            flavor_fungibility.when_can_borrow_try_next_flavor, FlavorFungibility=True
        ),
        when(flavor_fungibility.no_fit_tries_next_flavor, FlavorFungibility=False),
    ),
    rank=(
        flavor_fungibility.no_preemption_candidates_last,
        flavor_fungibility.is_preferred,
    ),
    prefer_flavor=(
        when(
            flavor_fungibility.granular_mode_ranks_flavors,
            FlavorFungibility=False,
        ),
    ),
    resume_from_last_tried=(
        when(
            flavor_fungibility.resume_from_last_tried_flavor,
            FlavorFungibility=True,
        ),
    ),
    keep_progress_on_skip=(
        when(
            flavor_fungibility.keep_scan_progress_on_skip,
            FlavorFungibilityPreserveScanProgress=True,
        ),
    ),
    partial_admission=(
        when(
            fits_resource_quota.partial_admission,
            PartialAdmission=True,
        ),
    ),
    reason_across_flavors=(
        when(unadmitted_workloads.least_severe_reason, **_OBSERVED),
    ),
    reason_across_resources=(
        when(unadmitted_workloads.most_severe_reason, **_OBSERVED),
    ),
)

COHORTS = CohortRules(
    parent_of_cluster_queue=(cohort_quota.queues_of_a_cohort_share,),
    reads_cohorts=(cohort_quota.cohort_objects_are_read,),
    parent=(cohort_quota.cohorts_form_a_tree,),
    quota=(cohort_quota.a_cohort_may_bring_quota,),
    borrowing=(cohort_quota.a_limit_bounds_borrowing,),
    lending=(cohort_quota.a_limit_bounds_lending,),
    on_cycle=(cohort_quota.a_loop_of_cohorts_stops_its_queues,),
    borrowed=(cohort_quota.use_above_nominal_quota_is_borrowed,),
)

CYCLE = SchedulingCycle(
    order=(
        scheduling_cycle.less_borrowing_first,
        when(
            scheduling_cycle.higher_priority_entry_first,
            PrioritySortingWithinCohort=True,
        ),
        scheduling_cycle.older_entry_first,
    ),
    victims_overlap=(scheduling_cycle.overlapping_preemption_targets,),
    no_longer_fits=(scheduling_cycle.no_longer_fits_after_usage,),
    reserve_capacity=(scheduling_cycle.reserve_capacity_unless_always_reclaim,),
)

PREEMPTING = PreemptionRules(
    can_preempt=(
        preemption_policies.can_preempt_within_nominal,
        preemption_policies.can_preempt_in_subtree,
        preemption_policies.can_preempt_while_borrowing,
    ),
    within_cluster_queue=(
        preemption_policies.within_cluster_queue_lower_priority,
        preemption_policies.within_cluster_queue_newer_equal_priority,
    ),
    reclaim_within_cohort=(
        preemption_policies.reclaim_within_cohort_lower_priority,
        preemption_policies.reclaim_within_cohort_any,
    ),
    borrowers=(preemption_policies.candidate_is_borrowing,),
    borrow_within_cohort=(
        preemption_policies.borrow_within_cohort_is_allowed,
        preemption_policies.borrow_within_cohort_lower_priority,
        preemption_policies.borrow_within_cohort_max_priority_threshold,
    ),
    order=(
        preemption_policies.evicted_first,
        preemption_policies.other_cluster_queues_first,
        preemption_policies.hierarchical_reclaim_first,
        preemption_policies.lowest_priority_first,
        preemption_policies.latest_quota_reservation_first,
    ),
    fill_back=(preemption_policies.fill_back_workloads,),
    preempted_message=(preemption_policies.preemption_message,),
    pending=(preemption_policies.preemption_pending_message,),
    at_once=(preemption_policies.preemptor_requeues_immediately,),
    skip_search=(preemption_policies.pods_resource_is_ignored,),
    ignore_zero_request=(preemption_policies.zero_requests_are_ignored,),
)

FAIR_SHARING = FairSharingRules(
    order=(
        when(
            fair_sharing.non_borrowing_first,
            FairSharingPrioritizeNonBorrowing=True,
        ),
        fair_sharing.lower_drs_first,
        when(
            fair_sharing.higher_priority_first_on_equal_share,
            PrioritySortingWithinCohort=True,
        ),
        fair_sharing.older_first_on_equal_priority,
    ),
    within_nominal=(
        when(
            fair_sharing.preempt_within_nominal,
            FairSharingPreemptWithinNominal=True,
        ),
    ),
    final_share=(fair_sharing.less_than_or_equal_to_final_share,),
    initial_share=(fair_sharing.less_than_initial_share,),
    status_fields=(fair_sharing.fair_sharing_status,),
)

_CAUSES = (
    when(unadmitted_workloads.reason_no_matching_flavor, **_OBSERVED),
    when(unadmitted_workloads.reason_exceeds_capacity, **_OBSERVED),
    when(unadmitted_workloads.reason_waiting_for_quota, **_OBSERVED),
    when(unadmitted_workloads.reason_waiting_for_preemption, **_OBSERVED),
    when(unadmitted_workloads.reason_misconfigured, **_OBSERVED),
    when(unadmitted_workloads.reason_stopped, **_OBSERVED),
    when(unadmitted_workloads.reason_deactivated, **_OBSERVED),
    when(unadmitted_workloads.reason_pending_evaluation, **_OBSERVED),
)

REPORTING = StatusRules(
    admitted=(
        workload_status.quota_is_reserved,
        workload_status.the_workload_is_admitted,
    ),
    admission=(workload_status.the_admission_is_written,),
    pending_condition=(when(workload_status.pending_condition, **_PLAIN), *_CAUSES),
    blocked=(when(workload_status.inadmissible_queue_condition, **_PLAIN), *_CAUSES),
    quota_released=(
        when(workload_status.unset_quota_reservation_condition, **_PLAIN),
        *_CAUSES,
    ),
    inadmissible_condition=(
        when(workload_status.inadmissible_condition, **_PLAIN),
        when(unadmitted_workloads.reason_misconfigured_on_inadmissible, **_OBSERVED),
        workload_status.requeued_false_condition,
    ),
    unset_quota_reservation=(
        when(unadmitted_workloads.no_quota_reservation_condition, **_OBSERVED),
    ),
    reobserved=(when(unadmitted_workloads.refresh_on_new_generation, **_OBSERVED),),
    evicted=(workload_status.evicted_condition,),
    preempted=(workload_status.preempted_condition,),
    requests=(workload_status.pending_workload_resource_requests,),
    cluster_queue=(
        workload_status.pending_workloads_are_counted,
        workload_status.reserving_and_admitted_workloads_are_counted,
        workload_status.reserved_quota_is_listed,
        workload_status.used_quota_is_listed,
    ),
    local_queue=(
        workload_status.a_local_queue_counts_its_workloads,
        workload_status.a_local_queue_lists_its_quota,
    ),
    cluster_queue_active=(workload_status.cluster_queue_active_condition,),
    deleted=(workload_status.cluster_queue_terminating_condition,),
    local_queue_active=(workload_status.local_queue_active_condition,),
)

JOBS = JobRules(
    pod_sets=(job_reconciliation.a_job_is_one_pod_set,),
    suspended=(job_reconciliation.suspend_job,),
    unsuspend=(job_reconciliation.unsuspend_on_admission,),
    release_quota=(job_reconciliation.release_quota_when_pods_stopped,),
    finished=(job_reconciliation.a_finished_job_finishes_its_workload,),
    requeued=(job_reconciliation.a_preempted_workload_is_queued_again,),
    min_parallelism=(
        when(
            job_reconciliation.min_parallelism_annotation,
            PartialAdmission=True,
        ),
    ),
    reduced=(job_reconciliation.a_job_runs_as_many_pods_as_were_admitted,),
    reclaimed=(
        when(
            job_reconciliation.reclaimable_pods_of_indexes,
            ReclaimablePods=True,
        ),
        when(
            job_reconciliation.pods_that_will_not_run_again_are_reclaimed,
            ReclaimablePods=True,
        ),
    ),
    unequal=(job_reconciliation.equivalent_to_workload,),
    queued=(managed_jobs.a_job_without_a_queue_gets_the_default_one,),
    default_queue_exempt=(managed_jobs.no_default_queue_in_unmanaged_namespace,),
    manage_without_queue=(managed_jobs.manage_jobs_without_queue_name,),
    managed_namespace_exempt=(
        managed_jobs.manage_jobs_without_queue_name_by_namespace,
    ),
    unmanaged=(
        when(
            managed_jobs.unmanaged_namespace,
            ManagedJobsNamespaceSelectorAlwaysRespected=True,
        ),
    ),
    fail_on_conflicting_labels=(
        job_reconciliation.conflicting_node_labels_finish_workload,
    ),
)
PRIORITIES = PriorityClassRules(
    needed=(workload_priority_class.priority_class_must_exist,),
    followed=(
        workload_priority_class.workload_follows_priority_class_change,
        workload_priority_class.pending_workload_gets_first_priority_class,
    ),
    valued=(workload_priority_class.priority_class_value_is_propagated,),
    moved=(workload_priority_class.priority_change_requeues_pending,),
    given=(
        when(
            workload_priority_class.a_job_without_a_class_gets_the_default_one,
            WorkloadPriorityClassDefaulting=True,
        ),
    ),
)
