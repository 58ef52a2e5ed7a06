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
        when(dra_workloads.a_template_makes_a_device_workload, **{_INTEGRATION: True}),
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
        claim_templates.first_available_is_refused,
        claim_templates.selectors_must_compile,
        claim_templates.admin_access_is_refused,
        claim_templates.mode_all_is_refused,
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
            device_matching.an_error_on_a_device_refuses,
            device_matching.too_few_devices_refuse,
        ),
    ),
    sourcing=SOURCING,
    unmapped_class=(claim_templates.unmapped_classes_are_refused,),
    mappings=(mapper.the_configuration_maps_the_classes,),
    lookup=(mapper.the_mapping_of_a_class_names_the_resource,),
)

_EXTENDED_RESOURCES = ExtendedResources(
    detected=(
        when(extended_resource_requests.requests_are_looked_at, **{_EXTENDED: True}),
    ),
    asked=(
        when(
            extended_resource_requests.requests_and_limits_are_charged,
            **{_EXTENDED: True},
        ),
    ),
    named=(extended_resource_requests.names_with_a_domain_are_extended,),
    chosen=(
        extended_resource_requests.the_newest_class_stands_for_a_resource,
        extended_resource_requests.the_smallest_name_breaks_a_tie_of_classes,
    ),
    refused=(
        extended_resource_requests.classes_with_counters_are_refused,
        extended_resource_requests.classes_with_capacities_are_refused,
        extended_resource_requests.devices_are_whole,
        extended_resource_requests.the_sum_of_containers_has_64_bits,
    ),
    in_pod=(extended_resource_requests.a_pod_asks_for_the_larger_of_its_phases,),
    charged=(
        extended_resource_requests.the_mapping_of_the_class_is_charged_or_the_name,
    ),
    per_name=(extended_resource_requests.each_name_is_added_up_by_itself,),
    not_charged_natively=(extended_resource_requests.the_name_is_not_charged_as_well,),
    watched=(
        when(
            extended_resource_requests.a_change_of_classes_concerns_their_resources,
            **{_EXTENDED: True},
        ),
    ),
)

ADJUSTING = AdjustResources(
    pod_set=(
        adjust_resources.a_runtime_class_adds_its_overhead,
        adjust_resources.the_namespace_gives_containers_defaults,
        adjust_resources.limits_stand_in_for_requests,
        adjust_resources.limits_of_the_pod_stand_in_for_its_requests,
    ),
    resources=(
        adjust_resources.containers_keep_to_their_limits,
        adjust_resources.pods_keep_to_their_limits,
    ),
    ranges=(
        adjust_resources.containers_keep_to_the_bounds_of_the_namespace,
        adjust_resources.pods_keep_to_the_bounds_of_the_namespace,
    ),
)

CHARGING = Charges(
    claims=(charges.claims_are_those_of_the_pod,),
    request=(charges.the_count_is_charged,),
    in_claim=(charges.requests_of_a_claim_add_up,),
    in_pod=(charges.claims_of_a_pod_add_up,),
    plus_pod_requests=(charges.devices_are_charged_beside_ordinary_requests,),
    pods=(charges.a_pod_set_is_charged_for_each_pod,),
    transformed=(resource_transformations.outputs_are_added_to_what_is_requested,),
)

QUEUEING = QueueRules(
    order=(
        pending_workloads.higher_priority_goes_first,
        pending_workloads.older_goes_first,
    ),
    requeue_immediately=(pending_workloads.strict_fifo_keeps_its_head,),
    mark_inadmissible=(pending_workloads.best_effort_sets_its_head_aside,),
    requeue_from=(pending_workloads.what_waits_is_remembered_as_it_was_counted,),
    retry_from=(pending_workloads.who_is_tried_again_is_judged_as_it_is_counted,),
    skip_in_requeue=(pending_workloads.who_says_not_requeued_is_passed_over,),
    bulk_move_equivalent=(
        when(
            pending_workloads.equals_of_what_does_not_fit_wait_with_it,
            SchedulingEquivalenceHashing=True,
        ),
    ),
    sticky_preemptor=(pending_workloads.a_preemptor_stays_in_front,),
    skip_on_local_queue_add=(pending_workloads.who_is_done_is_not_queued,),
    count_on_start=(pending_workloads.only_who_is_active_is_counted_at_a_start,),
    namespace=(pending_workloads.the_namespace_must_be_selected,),
    queue_not_ready=(
        when(admissibility.deactivation_is_told, **_OBSERVED),
        admissibility.the_local_queue_must_exist,
        admissibility.the_local_queue_must_run,
        admissibility.the_cluster_queue_must_exist,
        admissibility.the_cluster_queue_must_be_active,
        when(admissibility.a_namespace_that_is_not_selected_is_told, **_OBSERVED),
        when(admissibility.requests_that_are_refused_are_told, **_OBSERVED),
        when(admissibility.an_equal_speaks_for_those_passed_over, **_OBSERVED),
        when(admissibility.an_equal_speaks_for_the_new, **_EXPLICIT),
        when(admissibility.the_new_are_told_that_they_wait, **_EXPLICIT),
        when(admissibility.what_no_longer_holds_is_taken_back, **_OBSERVED),
    ),
    inactive=(
        pending_workloads.a_deleted_cluster_queue_is_inactive,
        pending_workloads.a_stopped_cluster_queue_is_inactive,
        pending_workloads.missing_flavors_make_a_cluster_queue_inactive,
    ),
    hold_finalizer=(
        in_use_finalizers.a_cluster_queue_stays_while_quota_is_reserved,
        in_use_finalizers.a_flavor_stays_while_it_is_named,
    ),
    ignore_update=(in_use_finalizers.what_is_deleted_stays_as_it_was,),
    evicted=(
        pending_workloads.deactivation_evicts,
        pending_workloads.a_drained_local_queue_evicts,
        pending_workloads.a_drained_cluster_queue_evicts,
    ),
)

ASSIGNING = FlavorAssignment(
    flavors=(fits_resource_quota.flavors_are_tried_as_listed,),
    uncovered=(fits_resource_quota.uncovered_resources_are_unavailable,),
    counted=(fits_resource_quota.pods_are_counted_where_they_are_covered,),
    ignore_zero_request=(
        fits_resource_quota.none_of_an_uncovered_resource_is_overlooked,
    ),
    ignore_undeclared=(
        when(
            fits_resource_quota.uncovered_resources_are_ignored_on_demand,
            QuotaCheckStrategy=True,
        ),
    ),
    stop_at_empty_pod_set=(fits_resource_quota.no_flavor_for_a_pod_set_ends_the_look,),
    flavor=(
        taints.taints_must_be_tolerated,
        node_affinity.what_is_compared_must_be_an_integer,
        node_affinity.node_labels_must_match,
    ),
    quota=(
        fits_resource_quota.more_than_the_capacity_never_fits,
        fits_resource_quota.more_than_what_is_unused_waits,
    ),
    no_fit_message=(fits_resource_quota.what_knows_no_bounds_is_called_unlimited,),
    try_next_flavor=(
        when(
            flavor_fungibility.what_nobody_frees_is_passed_over, FlavorFungibility=True
        ),
        when(
            flavor_fungibility.preemption_waits_for_other_flavors,
            FlavorFungibility=True,
        ),
        when(
            flavor_fungibility.borrowing_waits_for_other_flavors, FlavorFungibility=True
        ),
        when(
            flavor_fungibility.what_does_not_fit_is_passed_over, FlavorFungibility=False
        ),
    ),
    rank=(
        flavor_fungibility.flavors_that_nobody_frees_come_last,
        flavor_fungibility.the_preference_ranks_flavors,
    ),
    prefer_flavor=(
        when(
            flavor_fungibility.the_way_it_can_be_had_ranks_flavors,
            FlavorFungibility=False,
        ),
    ),
    resume_from_last_tried=(
        when(
            flavor_fungibility.the_search_of_the_last_cycle_is_resumed,
            FlavorFungibility=True,
        ),
    ),
    keep_progress_on_skip=(
        when(
            flavor_fungibility.who_loses_a_flavor_goes_on_behind_it,
            FlavorFungibilityPreserveScanProgress=True,
        ),
    ),
    partial_admission=(
        when(
            fits_resource_quota.fewer_pods_are_admitted_where_they_are_worth_it,
            PartialAdmission=True,
        ),
    ),
    reason_across_flavors=(
        when(unadmitted_workloads.the_mildest_of_alternatives_counts, **_OBSERVED),
    ),
    reason_across_resources=(
        when(unadmitted_workloads.the_gravest_of_what_is_needed_counts, **_OBSERVED),
    ),
)

COHORTS = CohortRules(
    parent_of_cluster_queue=(cohort_quota.queues_of_a_cohort_share,),
    reads_cohorts=(cohort_quota.cohorts_are_looked_at,),
    parent=(cohort_quota.cohorts_form_a_tree,),
    quota=(cohort_quota.a_cohort_may_bring_quota,),
    borrowing=(cohort_quota.a_limit_bounds_borrowing,),
    lending=(cohort_quota.a_limit_bounds_lending,),
    on_cycle=(cohort_quota.a_loop_of_cohorts_stops_its_queues,),
    borrowed=(cohort_quota.use_above_nominal_quota_is_borrowed,),
)

CYCLE = SchedulingCycle(
    order=(
        scheduling_cycle.less_borrowing_goes_first,
        when(
            scheduling_cycle.higher_priority_goes_first_among_queues,
            PrioritySortingWithinCohort=True,
        ),
        scheduling_cycle.older_goes_first_among_queues,
    ),
    victims_overlap=(scheduling_cycle.a_victim_serves_one_preemptor,),
    no_longer_fits=(scheduling_cycle.what_another_took_is_gone,),
    reserve_capacity=(scheduling_cycle.who_cannot_always_reclaim_holds_its_place,),
)

PREEMPTING = PreemptionRules(
    can_preempt=(
        preemption_policies.within_nominal_quota_it_may_preempt,
        preemption_policies.within_a_part_of_the_tree_it_may_preempt,
        preemption_policies.policies_let_borrowers_preempt,
    ),
    within_cluster_queue=(
        preemption_policies.lower_priorities_in_the_queue_are_preempted,
        preemption_policies.newer_equals_in_the_queue_are_preempted,
    ),
    reclaim_within_cohort=(
        preemption_policies.lower_priorities_in_the_cohort_are_preempted,
        preemption_policies.any_priority_in_the_cohort_is_preempted,
    ),
    borrowers=(preemption_policies.only_borrowers_give_back,),
    borrow_within_cohort=(
        preemption_policies.borrowers_preempt_where_they_are_let,
        preemption_policies.borrowers_preempt_lower_priorities_only,
        preemption_policies.a_threshold_protects_from_borrowers,
    ),
    order=(
        preemption_policies.who_is_evicted_already_goes_first,
        preemption_policies.other_queues_give_back_first,
        preemption_policies.whom_the_tree_disfavours_goes_first,
        preemption_policies.the_lowest_priority_goes_first,
        preemption_policies.the_latest_reservation_goes_first,
    ),
    fill_back=(preemption_policies.who_is_not_needed_is_spared,),
    preempted_message=(preemption_policies.the_preemptor_is_named,),
    pending=(preemption_policies.victims_are_counted,),
    at_once=(
        preemption_policies.a_preemptor_is_tried_again_before_its_victims_give_back,
    ),
    skip_search=(preemption_policies.counted_pods_are_not_reckoned_with,),
    ignore_zero_request=(preemption_policies.none_is_not_reckoned_with,),
)

FAIR_SHARING = FairSharingRules(
    order=(
        when(
            fair_sharing.who_does_not_borrow_goes_first,
            FairSharingPrioritizeNonBorrowing=True,
        ),
        fair_sharing.the_smaller_share_goes_first,
        when(
            fair_sharing.higher_priority_breaks_a_tie_of_shares,
            PrioritySortingWithinCohort=True,
        ),
        fair_sharing.age_breaks_a_tie_of_priorities,
    ),
    within_nominal=(
        when(
            fair_sharing.within_nominal_quota_shares_do_not_matter,
            FairSharingPreemptWithinNominal=True,
        ),
    ),
    final_share=(fair_sharing.no_more_than_the_other_keeps,),
    initial_share=(fair_sharing.less_than_the_other_had,),
    status_fields=(fair_sharing.shares_are_shown,),
)

_CAUSES = (
    when(unadmitted_workloads.what_no_flavor_serves_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_never_fits_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_others_hold_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_victims_hold_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_is_misplaced_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_is_stopped_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_is_deactivated_is_told, **_OBSERVED),
    when(unadmitted_workloads.what_is_to_be_tried_is_told, **_OBSERVED),
)

REPORTING = StatusRules(
    admitted=(
        workload_status.quota_is_reserved,
        workload_status.the_workload_is_admitted,
    ),
    admission=(workload_status.the_admission_is_written,),
    pending_condition=(when(workload_status.waiting_is_told, **_PLAIN), *_CAUSES),
    blocked=(when(workload_status.a_blocked_queue_is_told, **_PLAIN), *_CAUSES),
    quota_released=(when(workload_status.quota_given_back_is_told, **_PLAIN), *_CAUSES),
    inadmissible_condition=(
        when(workload_status.a_refusal_is_told, **_PLAIN),
        when(unadmitted_workloads.a_refusal_is_a_misconfiguration, **_OBSERVED),
        workload_status.a_refusal_is_not_requeued,
    ),
    unset_quota_reservation=(
        when(unadmitted_workloads.nothing_is_reserved, **_OBSERVED),
    ),
    reobserved=(
        when(
            unadmitted_workloads.what_was_said_of_another_spec_is_said_anew, **_OBSERVED
        ),
    ),
    evicted=(workload_status.eviction_is_told,),
    preempted=(workload_status.preemption_is_told,),
    requests=(workload_status.requests_of_a_waiting_workload_are_shown,),
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
    cluster_queue_active=(workload_status.a_cluster_queue_says_whether_it_is_active,),
    deleted=(workload_status.a_deleted_cluster_queue_says_so,),
    local_queue_active=(workload_status.a_local_queue_says_whether_it_is_active,),
)

JOBS = JobRules(
    pod_sets=(job_reconciliation.a_job_is_one_pod_set,),
    suspended=(job_reconciliation.a_job_waits_suspended,),
    unsuspend=(job_reconciliation.admission_releases_the_job,),
    release_quota=(job_reconciliation.quota_is_returned_once_no_pod_runs,),
    finished=(job_reconciliation.a_finished_job_finishes_its_workload,),
    requeued=(job_reconciliation.a_preempted_workload_is_queued_again,),
    min_parallelism=(
        when(
            job_reconciliation.a_job_may_say_how_few_pods_it_needs,
            PartialAdmission=True,
        ),
    ),
    reduced=(job_reconciliation.a_job_runs_as_many_pods_as_were_admitted,),
    reclaimed=(
        when(
            job_reconciliation.indexes_that_will_not_run_again_are_reclaimed,
            ReclaimablePods=True,
        ),
        when(
            job_reconciliation.pods_that_will_not_run_again_are_reclaimed,
            ReclaimablePods=True,
        ),
    ),
    unequal=(job_reconciliation.a_workload_is_held_to_the_pods_of_its_job,),
    queued=(managed_jobs.a_job_without_a_queue_gets_the_default_one,),
    default_queue_exempt=(managed_jobs.no_queue_is_given_where_nothing_is_selected,),
    manage_without_queue=(managed_jobs.jobs_without_a_queue_are_managed_too,),
    managed_namespace_exempt=(
        managed_jobs.jobs_without_a_queue_are_spared_where_nothing_is_selected,
    ),
    unmanaged=(
        when(
            managed_jobs.jobs_are_left_alone_where_nothing_is_selected,
            ManagedJobsNamespaceSelectorAlwaysRespected=True,
        ),
    ),
    fail_on_conflicting_labels=(
        job_reconciliation.node_labels_that_the_job_contradicts_finish_its_workload,
    ),
)
PRIORITIES = PriorityClassRules(
    needed=(workload_priority_class.a_class_that_is_named_has_to_be_there,),
    followed=(
        workload_priority_class.a_workload_goes_along_from_class_to_class,
        workload_priority_class.a_waiting_workload_gets_its_first_class,
    ),
    valued=(workload_priority_class.a_changed_value_reaches_who_has_the_class,),
    moved=(workload_priority_class.another_priority_has_what_waits_tried_again,),
    given=(
        when(
            workload_priority_class.a_job_without_a_class_gets_the_default_one,
            WorkloadPriorityClassDefaulting=True,
        ),
    ),
)
