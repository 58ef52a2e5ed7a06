"""Kueue 0.19 (0.19.0 to 0.19.2), whole-device path: every rule that holds there, in the order of application."""

from __future__ import annotations

from kueue_dra_ref.api.schema_config import KUEUE_0_19_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19_sources import MAPPING, SOURCING
from kueue_dra_ref.behaviours.kueue_0_19_writing import DEFINITIONS, WEBHOOKS
from kueue_dra_ref.behaviours.parts_devices import Adjusting, Charging, Extended, Mapped, Processing
from kueue_dra_ref.behaviours.parts_scheduling import Assigning, Cohorts, Cycle, FairSharing, Preempting, Queueing
from kueue_dra_ref.behaviours.parts_status import Jobs, Priorities, Reporting
from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import (
    affinity,
    blocking,
    claims,
    cohorts,
    counting,
    cycle,
    deleting,
    detection,
    extended,
    fair_sharing,
    fungibility,
    jobs,
    lookup,
    managing,
    matching,
    observing,
    pod_requests,
    preemption,
    priorities,
    queueing,
    quota,
    reporting,
    tolerating,
    transforming,
)
from kueue_dra_ref.rules.gates import kueue_0_19_gates

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
            for name in ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices")
        ),
        mapping=MAPPING,
        mapped=Mapped.IN_THE_CONFIGURATION,
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


_PROCESSING = Processing(
    detected=(when(detection.a_template_makes_a_device_workload, **{_INTEGRATION: True}),),
    refused=(
        when(detection.claims_are_refused_while_the_gate_is_off, **{_INTEGRATION: False, _REJECT: True}),
        when(detection.direct_claims_are_refused, **{_INTEGRATION: True}),
    ),
    read_template=(claims.templates_are_read_where_the_workload_lives,),
    forbidden=(detection.templates_cannot_be_read_without_permission,),
    template=(claims.the_template_must_exist,),
    request=(
        claims.first_available_is_refused,
        claims.selectors_must_compile,
        claims.admin_access_is_refused,
        claims.mode_all_is_refused,
    ),
    matching=matching.Matching(
        eligible=(
            matching.a_device_serves_one_request_of_a_claim,
            matching.the_selectors_of_the_class_hold,
            matching.the_selectors_of_the_request_hold,
        ),
        findings=(
            matching.the_class_must_exist,
            matching.the_selectors_of_the_class_compile,
            matching.an_error_on_a_device_refuses,
            matching.too_few_devices_refuse,
        ),
    ),
    sourcing=SOURCING,
    unmapped=(claims.unmapped_classes_are_refused,),
    mappings=(lookup.the_configuration_maps_the_classes,),
    lookup=(lookup.the_mapping_of_a_class_names_the_resource,),
)

_EXTENDED_RESOURCES = Extended(
    detected=(when(extended.requests_are_looked_at, **{_EXTENDED: True}),),
    asked=(when(extended.requests_and_limits_are_charged, **{_EXTENDED: True}),),
    named=(extended.names_with_a_domain_are_extended,),
    chosen=(extended.the_newest_class_stands_for_a_resource, extended.the_smallest_name_breaks_a_tie_of_classes),
    refused=(
        extended.classes_with_counters_are_refused,
        extended.classes_with_capacities_are_refused,
        extended.devices_are_whole,
        extended.the_sum_of_containers_has_64_bits,
    ),
    in_pod=(extended.a_pod_asks_for_the_larger_of_its_phases,),
    charged=(extended.the_mapping_of_the_class_is_charged_or_the_name,),
    apart=(extended.each_name_is_added_up_by_itself,),
    replaced=(extended.the_name_is_not_charged_as_well,),
    watched=(when(extended.a_change_of_classes_concerns_their_resources, **{_EXTENDED: True}),),
)

ADJUSTING = Adjusting(
    pod_set=(
        pod_requests.a_runtime_class_adds_its_overhead,
        pod_requests.the_namespace_gives_containers_defaults,
        pod_requests.limits_stand_in_for_requests,
        pod_requests.limits_of_the_pod_stand_in_for_its_requests,
    ),
    resources=(pod_requests.containers_keep_to_their_limits, pod_requests.pods_keep_to_their_limits),
    ranges=(
        pod_requests.containers_keep_to_the_bounds_of_the_namespace,
        pod_requests.pods_keep_to_the_bounds_of_the_namespace,
    ),
)

CHARGING = Charging(
    claims=(counting.claims_are_those_of_the_pod,),
    request=(counting.the_count_is_charged,),
    in_claim=(counting.requests_of_a_claim_add_up,),
    in_pod=(counting.claims_of_a_pod_add_up,),
    beside=(counting.devices_are_charged_beside_ordinary_requests,),
    pods=(counting.a_pod_set_is_charged_for_each_pod,),
    transformed=(transforming.outputs_are_added_to_what_is_requested,),
)

QUEUEING = Queueing(
    order=(queueing.higher_priority_goes_first, queueing.older_goes_first),
    kept=(queueing.strict_fifo_keeps_its_head,),
    set_aside=(queueing.best_effort_sets_its_head_aside,),
    remembered=(queueing.what_waits_is_remembered_as_it_was_counted,),
    judged=(queueing.who_is_tried_again_is_judged_as_it_is_counted,),
    passed_over=(queueing.who_says_not_requeued_is_passed_over,),
    equals_aside=(when(queueing.equals_of_what_does_not_fit_wait_with_it, SchedulingEquivalenceHashing=True),),
    in_front=(queueing.a_preemptor_stays_in_front,),
    left_out=(queueing.who_is_done_is_not_queued,),
    at_start=(queueing.only_who_is_active_is_counted_at_a_start,),
    namespace=(queueing.the_namespace_must_be_selected,),
    blocked=(
        when(blocking.deactivation_is_told, **_OBSERVED),
        blocking.the_local_queue_must_exist,
        blocking.the_local_queue_must_run,
        blocking.the_cluster_queue_must_exist,
        blocking.the_cluster_queue_must_be_active,
        when(blocking.a_namespace_that_is_not_selected_is_told, **_OBSERVED),
        when(blocking.requests_that_are_refused_are_told, **_OBSERVED),
        when(blocking.an_equal_speaks_for_those_passed_over, **_OBSERVED),
        when(blocking.an_equal_speaks_for_the_new, **_EXPLICIT),
        when(blocking.the_new_are_told_that_they_wait, **_EXPLICIT),
        when(blocking.what_no_longer_holds_is_taken_back, **_OBSERVED),
    ),
    inactive=(
        queueing.a_deleted_cluster_queue_is_inactive,
        queueing.a_stopped_cluster_queue_is_inactive,
        queueing.missing_flavors_make_a_cluster_queue_inactive,
    ),
    stays=(deleting.a_cluster_queue_stays_while_quota_is_reserved, deleting.a_flavor_stays_while_it_is_named),
    unchanged=(deleting.what_is_deleted_stays_as_it_was,),
    evicted=(
        queueing.deactivation_evicts,
        queueing.a_drained_local_queue_evicts,
        queueing.a_drained_cluster_queue_evicts,
    ),
)

ASSIGNING = Assigning(
    flavors=(quota.flavors_are_tried_as_listed,),
    uncovered=(quota.uncovered_resources_are_unavailable,),
    counted=(quota.pods_are_counted_where_they_are_covered,),
    overlooked=(quota.none_of_an_uncovered_resource_is_overlooked,),
    ignored=(when(quota.uncovered_resources_are_ignored_on_demand, QuotaCheckStrategy=True),),
    cut_short=(quota.no_flavor_for_a_pod_set_ends_the_look,),
    flavor=(
        tolerating.taints_must_be_tolerated,
        affinity.what_is_compared_must_be_an_integer,
        affinity.node_labels_must_match,
    ),
    quota=(quota.more_than_the_capacity_never_fits, quota.more_than_what_is_unused_waits),
    words=(quota.what_knows_no_bounds_is_called_unlimited,),
    goes_on=(
        when(fungibility.what_nobody_frees_is_passed_over, FlavorFungibility=True),
        when(fungibility.preemption_waits_for_other_flavors, FlavorFungibility=True),
        when(fungibility.borrowing_waits_for_other_flavors, FlavorFungibility=True),
        when(fungibility.what_does_not_fit_is_passed_over, FlavorFungibility=False),
    ),
    rank=(fungibility.flavors_that_nobody_frees_come_last, fungibility.the_preference_ranks_flavors),
    chosen=(when(fungibility.the_way_it_can_be_had_ranks_flavors, FlavorFungibility=False),),
    resumed=(when(fungibility.the_search_of_the_last_cycle_is_resumed, FlavorFungibility=True),),
    lost=(when(fungibility.who_loses_a_flavor_goes_on_behind_it, FlavorFungibilityPreserveScanProgress=True),),
    reduced=(when(quota.fewer_pods_are_admitted_where_they_are_worth_it, PartialAdmission=True),),
    alternatives=(when(observing.the_mildest_of_alternatives_counts, **_OBSERVED),),
    together=(when(observing.the_gravest_of_what_is_needed_counts, **_OBSERVED),),
)

COHORTS = Cohorts(
    joined=(cohorts.queues_of_a_cohort_share,),
    read=(cohorts.cohorts_are_looked_at,),
    parent=(cohorts.cohorts_form_a_tree,),
    quota=(cohorts.a_cohort_may_bring_quota,),
    borrowing=(cohorts.a_limit_bounds_borrowing,),
    lending=(cohorts.a_limit_bounds_lending,),
    looped=(cohorts.a_loop_of_cohorts_stops_its_queues,),
    borrowed=(cohorts.use_above_nominal_quota_is_borrowed,),
)

CYCLE = Cycle(
    order=(
        cycle.less_borrowing_goes_first,
        when(cycle.higher_priority_goes_first_among_queues, PrioritySortingWithinCohort=True),
        cycle.older_goes_first_among_queues,
    ),
    overlapping=(cycle.a_victim_serves_one_preemptor,),
    unfitting=(cycle.what_another_took_is_gone,),
    held=(cycle.who_cannot_always_reclaim_holds_its_place,),
)

PREEMPTING = Preempting(
    considered=(
        preemption.within_nominal_quota_it_may_preempt,
        preemption.within_a_part_of_the_tree_it_may_preempt,
        preemption.policies_let_borrowers_preempt,
    ),
    within=(preemption.lower_priorities_in_the_queue_are_preempted, preemption.newer_equals_in_the_queue_are_preempted),
    reclaim=(
        preemption.lower_priorities_in_the_cohort_are_preempted,
        preemption.any_priority_in_the_cohort_is_preempted,
    ),
    borrowers=(preemption.only_borrowers_give_back,),
    while_borrowing=(
        preemption.borrowers_preempt_where_they_are_let,
        preemption.borrowers_preempt_lower_priorities_only,
        preemption.a_threshold_protects_from_borrowers,
    ),
    order=(
        preemption.who_is_evicted_already_goes_first,
        preemption.other_queues_give_back_first,
        preemption.whom_the_tree_disfavours_goes_first,
        preemption.the_lowest_priority_goes_first,
        preemption.the_latest_reservation_goes_first,
    ),
    spared=(preemption.who_is_not_needed_is_spared,),
    told=(preemption.the_preemptor_is_named,),
    pending=(preemption.victims_are_counted,),
    at_once=(preemption.a_preemptor_is_tried_again_before_its_victims_give_back,),
    not_sought=(preemption.counted_pods_are_not_reckoned_with,),
    immaterial=(preemption.none_is_not_reckoned_with,),
)

FAIR_SHARING = FairSharing(
    order=(
        when(fair_sharing.who_does_not_borrow_goes_first, FairSharingPrioritizeNonBorrowing=True),
        fair_sharing.the_smaller_share_goes_first,
        when(fair_sharing.higher_priority_breaks_a_tie_of_shares, PrioritySortingWithinCohort=True),
        fair_sharing.age_breaks_a_tie_of_priorities,
    ),
    entitled=(when(fair_sharing.within_nominal_quota_shares_do_not_matter, FairSharingPreemptWithinNominal=True),),
    final_share=(fair_sharing.no_more_than_the_other_keeps,),
    initial_share=(fair_sharing.less_than_the_other_had,),
    shown=(fair_sharing.shares_are_shown,),
)

_CAUSES = (
    when(observing.what_no_flavor_serves_is_told, **_OBSERVED),
    when(observing.what_never_fits_is_told, **_OBSERVED),
    when(observing.what_others_hold_is_told, **_OBSERVED),
    when(observing.what_victims_hold_is_told, **_OBSERVED),
    when(observing.what_is_misplaced_is_told, **_OBSERVED),
    when(observing.what_is_stopped_is_told, **_OBSERVED),
    when(observing.what_is_deactivated_is_told, **_OBSERVED),
    when(observing.what_is_to_be_tried_is_told, **_OBSERVED),
)

REPORTING = Reporting(
    admitted=(reporting.quota_is_reserved, reporting.the_workload_is_admitted),
    admission=(reporting.the_admission_is_written,),
    waiting=(when(reporting.waiting_is_told, **_PLAIN), *_CAUSES),
    blocked=(when(reporting.a_blocked_queue_is_told, **_PLAIN), *_CAUSES),
    given_back=(when(reporting.quota_given_back_is_told, **_PLAIN), *_CAUSES),
    refused=(
        when(reporting.a_refusal_is_told, **_PLAIN),
        when(observing.a_refusal_is_a_misconfiguration, **_OBSERVED),
        reporting.a_refusal_is_not_requeued,
    ),
    unreserved=(when(observing.nothing_is_reserved, **_OBSERVED),),
    renewed=(when(observing.what_was_said_of_another_spec_is_said_anew, **_OBSERVED),),
    evicted=(reporting.eviction_is_told,),
    preempted=(reporting.preemption_is_told,),
    requests=(reporting.requests_of_a_waiting_workload_are_shown,),
    cluster_queue=(
        reporting.pending_workloads_are_counted,
        reporting.reserving_and_admitted_workloads_are_counted,
        reporting.reserved_quota_is_listed,
        reporting.used_quota_is_listed,
    ),
    local_queue=(reporting.a_local_queue_counts_its_workloads, reporting.a_local_queue_lists_its_quota),
    cluster_queue_active=(reporting.a_cluster_queue_says_whether_it_is_active,),
    deleted=(reporting.a_deleted_cluster_queue_says_so,),
    local_queue_active=(reporting.a_local_queue_says_whether_it_is_active,),
)

JOBS = Jobs(
    pod_sets=(jobs.a_job_is_one_pod_set,),
    suspended=(jobs.a_job_waits_suspended,),
    released=(jobs.admission_releases_the_job,),
    returned=(jobs.quota_is_returned_once_no_pod_runs,),
    finished=(jobs.a_finished_job_finishes_its_workload,),
    requeued=(jobs.a_preempted_workload_is_queued_again,),
    least=(when(jobs.a_job_may_say_how_few_pods_it_needs, PartialAdmission=True),),
    reduced=(jobs.a_job_runs_as_many_pods_as_were_admitted,),
    reclaimed=(
        when(jobs.indexes_that_will_not_run_again_are_reclaimed, ReclaimablePods=True),
        when(jobs.pods_that_will_not_run_again_are_reclaimed, ReclaimablePods=True),
    ),
    unequal=(jobs.a_workload_is_held_to_the_pods_of_its_job,),
    queued=(managing.a_job_without_a_queue_gets_the_default_one,),
    ungiven=(managing.no_queue_is_given_where_nothing_is_selected,),
    unnamed=(managing.jobs_without_a_queue_are_managed_too,),
    spared=(managing.jobs_without_a_queue_are_spared_where_nothing_is_selected,),
    left_alone=(
        when(managing.jobs_are_left_alone_where_nothing_is_selected, ManagedJobsNamespaceSelectorAlwaysRespected=True),
    ),
    unstartable=(jobs.node_labels_that_the_job_contradicts_finish_its_workload,),
)
PRIORITIES = Priorities(
    needed=(priorities.a_class_that_is_named_has_to_be_there,),
    followed=(
        priorities.a_workload_goes_along_from_class_to_class,
        priorities.a_waiting_workload_gets_its_first_class,
    ),
    valued=(priorities.a_changed_value_reaches_who_has_the_class,),
    moved=(priorities.another_priority_has_what_waits_tried_again,),
    given=(when(priorities.a_job_without_a_class_gets_the_default_one, WorkloadPriorityClassDefaulting=True),),
)
