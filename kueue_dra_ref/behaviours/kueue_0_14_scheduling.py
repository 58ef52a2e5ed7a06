"""Kueue 0.14: the rules of queues, cohorts, flavors, preemption, fair sharing and the scheduling cycle."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_scheduling import (
    CohortRules,
    FairSharingRules,
    FlavorAssignment,
    PreemptionRules,
    QueueRules,
    SchedulingCycle,
)
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, Each, First, Fold, Order
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    flavor_fungibility,
    node_affinity,
    taints,
)
from kueue_dra_ref.rules.jobframework import workload_slices
from kueue_dra_ref.rules.preemption import fair_sharing, preemption_policies
from kueue_dra_ref.rules.queue import (
    admissibility,
    cohort_quota,
    in_use_finalizers,
    pending_workloads,
)
from kueue_dra_ref.rules.scheduler import scheduling_cycle

QUEUEING = QueueRules(
    queue_not_ready=First(
        admissibility.local_queue_must_exist,
        admissibility.local_queue_must_be_active,
        admissibility.cluster_queue_must_exist,
        admissibility.cluster_queue_must_be_active,
    ),
    inactive=Each(
        pending_workloads.terminating_cluster_queue_is_inactive,
        pending_workloads.stopped_cluster_queue_is_inactive,
        pending_workloads.missing_flavors_deactivate_cluster_queue,
        pending_workloads.missing_admission_checks_deactivate_cluster_queue,
        pending_workloads.inactive_admission_checks_deactivate_cluster_queue,
        when(
            pending_workloads.missing_topologies_deactivate_cluster_queue,
            TopologyAwareScheduling=True,
        ),
    ),
    order=Order(pending_workloads.higher_priority_first, pending_workloads.older_first),
    # A workload that waits for its victims can be overtaken.
    sticky_preemptor=AnyOf(),
    namespace=First(pending_workloads.namespace_must_be_selected_0_18),
    requeue_immediately=AnyOf(pending_workloads.strict_fifo_requeues_immediately),
    mark_inadmissible=AnyOf(pending_workloads.best_effort_fifo_marks_inadmissible),
    skip_in_requeue=AnyOf(pending_workloads.requeued_false_is_skipped),
    # Up to 0.15, a deleted pending workload requeues nothing.
    ignore_delete=AnyOf(pending_workloads.deleted_pending_triggers_no_requeue),
    # Up to 0.15, a workload with devices that moves is in both queues.
    keep_when_moved=AnyOf(pending_workloads.moved_work_with_devices_stays_queued),
    take_back=First(
        pending_workloads.local_queue_takes_reservation_back,
        pending_workloads.cluster_queue_takes_reservation_back,
    ),
    evict=First(
        pending_workloads.evict_on_deactivation,
        pending_workloads.hold_and_drain_evicts_local_queue,
        pending_workloads.hold_and_drain_evicts_cluster_queue,
    ),
    hold_finalizer=AnyOf(
        in_use_finalizers.cluster_queue_in_use_finalizer,
        in_use_finalizers.resource_flavor_in_use_finalizer,
        in_use_finalizers.admission_check_in_use_finalizer,
        in_use_finalizers.topology_in_use_finalizer,
    ),
    ignore_update=AnyOf(in_use_finalizers.deleted_objects_ignore_updates),
)

COHORTS = CohortRules(
    reads_cohorts=AnyOf(
        when(cohort_quota.cohort_objects_are_read, HierarchicalCohorts=True)
    ),
    parent_of_cluster_queue=First(cohort_quota.cohort_of_cluster_queue),
    parent=First(cohort_quota.parent_of_cohort),
    on_cycle=First(cohort_quota.cohort_cycle_deactivates_queues),
    quota=First(cohort_quota.quota_of_cohort),
    # Quotas are plain integers (up to 0.17).
    quota_value=First(cohort_quota.cpu_overflow_counts_as_zero),
    borrowing=First(cohort_quota.borrowing_limit),
    lending=First(when(cohort_quota.lending_limit, LendingLimit=True)),
    borrowed_amount=First(cohort_quota.borrowed_in_status),
    requeue_tree=AnyOf(cohort_quota.queue_update_requeues_tree),
)

ASSIGNING = FlavorAssignment(
    implicit_requests=Each(fits_resource_quota.pods_resource_when_covered),
    uncovered=First(fits_resource_quota.uncovered_resources_are_unavailable),
    flavors=Collect(fits_resource_quota.flavors_in_listed_order),
    resume_from_last_tried=AnyOf(
        when(flavor_fungibility.resume_from_last_tried_flavor, FlavorFungibility=True)
    ),
    flavor=Each(taints.taints_must_be_tolerated_0_15),
    # Node affinity is compared by the label keys of the group (up to 0.17).
    in_group=Each(
        node_affinity.affinity_operand_is_integer_in_group,
        node_affinity.node_affinity_matches_in_group,
    ),
    quota=First(
        fits_resource_quota.exceeds_maximum_capacity_in_one_sum,
        fits_resource_quota.insufficient_unused_quota,
    ),
    replaced_slice=First(
        when(
            workload_slices.annotation_names_the_replaced_slice,
            ElasticJobsViaWorkloadSlices=True,
        )
    ),
    count_off=First(workload_slices.count_off_the_replaced_slice),
    keep_flavor=First(workload_slices.flavor_of_the_replaced_slice_is_kept),
    stop_search=AnyOf(flavor_fungibility.no_fit_stops_search),
    try_next_flavor=AnyOf(
        when(flavor_fungibility.try_next_when_no_candidates, FlavorFungibility=True),
        when(
            flavor_fungibility.when_can_preempt_try_next_flavor, FlavorFungibility=True
        ),
        when(
            flavor_fungibility.when_can_borrow_try_next_flavor, FlavorFungibility=True
        ),
        when(flavor_fungibility.no_fit_tries_next_flavor, FlavorFungibility=False),
    ),
    # A ClusterQueue cannot state a preference; a gate decides.
    rank=Order(
        when(
            flavor_fungibility.borrowing_is_preferred,
            FlavorFungibilityImplicitPreferenceDefault=False,
        ),
        when(
            flavor_fungibility.prefer_preemption_over_borrowing,
            FlavorFungibilityImplicitPreferenceDefault=True,
        ),
    ),
    prefer_flavor=Order(
        when(flavor_fungibility.granular_mode_ranks_flavors, FlavorFungibility=False)
    ),
    partial_admission=AnyOf(
        when(fits_resource_quota.partial_admission, PartialAdmission=True)
    ),
)

PREEMPTING = PreemptionRules(
    can_preempt=AnyOf(
        preemption_policies.can_preempt_within_nominal,
        preemption_policies.can_preempt_in_subtree,
        preemption_policies.can_preempt_while_borrowing,
    ),
    within_cluster_queue=AnyOf(
        preemption_policies.within_cluster_queue_lower_priority,
        preemption_policies.within_cluster_queue_newer_equal_priority,
    ),
    reclaim_within_cohort=AnyOf(
        preemption_policies.reclaim_within_cohort_lower_priority,
        preemption_policies.reclaim_within_cohort_any,
    ),
    borrowers=AllOf(preemption_policies.candidate_is_borrowing),
    borrow_within_cohort=AllOf(
        preemption_policies.borrow_within_cohort_is_allowed,
        preemption_policies.borrow_within_cohort_lower_priority,
        preemption_policies.borrow_within_cohort_max_priority_threshold,
    ),
    order=Order(
        preemption_policies.evicted_first,
        preemption_policies.other_cluster_queues_first,
        preemption_policies.hierarchical_reclaim_first,
        when(preemption_policies.higher_usage_first, AdmissionFairSharing=True),
        preemption_policies.lowest_priority_first,
        preemption_policies.latest_quota_reservation_first,
    ),
    fill_back=Fold(preemption_policies.fill_back_workloads),
    # An eviction that comes too early fails for good.
    ignore_just_admitted=AnyOf(preemption_policies.just_admitted_are_no_candidates),
    preempted_message=First(preemption_policies.preemption_message_without_paths),
    pending=First(preemption_policies.preemption_pending_message),
    start_next_cycle=AnyOf(preemption_policies.preemptor_requeues_immediately),
)

FAIR_SHARING = FairSharingRules(
    order=Order(
        fair_sharing.lower_drs_first,
        when(
            fair_sharing.higher_priority_first_on_equal_share,
            PrioritySortingWithinCohort=True,
        ),
        fair_sharing.older_first_on_equal_priority,
    ),
    # The strategies decide alone.
    within_nominal=AnyOf(),
    skip_zero_share=AnyOf(fair_sharing.skip_zero_drs),
    final_share=AnyOf(fair_sharing.less_than_or_equal_to_final_share),
    initial_share=AnyOf(fair_sharing.less_than_initial_share),
    status_fields=Each(fair_sharing.fair_sharing_status),
)

CYCLE = SchedulingCycle(
    order=Order(
        scheduling_cycle.less_borrowing_first,
        when(
            scheduling_cycle.higher_priority_entry_first,
            PrioritySortingWithinCohort=True,
        ),
        scheduling_cycle.older_entry_first,
    ),
    victims_overlap=First(scheduling_cycle.overlapping_preemption_targets),
    no_longer_fits=First(scheduling_cycle.no_longer_fits_after_usage),
    reserve_nothing=AnyOf(scheduling_cycle.can_always_reclaim),
    reserve_capacity=First(scheduling_cycle.reserve_up_to_limits),
)
