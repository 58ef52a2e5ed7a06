"""Kueue 0.19 (0.19.0 to 0.19.2): what it changes in Kueue 0.18.

Mappings can have several sources, and charge consumable capacity as well as counters. Conditions can report precise
reasons for a pending workload (gate UnadmittedWorkloadsObservability), and the order of resources is fixed.

Kueue 0.19 charges the number of devices while the gate KueueDRAIntegration is on (the default), and evaluates selectors
on published devices as 0.18 does. It rejects firstAvailable, adminAccess and mode All. Counters and extended resources
of DeviceClasses are charged by default (gates KueueDRAIntegrationPartitionableDevices and
KueueDRAIntegrationExtendedResource); the capacity that a request takes of a shared device is charged with
KueueDRAIntegrationConsumableCapacity (off by default). An extended resource of a class with counters or capacities is
rejected. Phases: preprocessing, charges, extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.schema_config import KUEUE_0_19_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched
from kueue_dra_ref.behaviours.kueue_0_14_topology import placing
from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
from kueue_dra_ref.behaviours.kueue_0_18_5 import (
    exact_requests,
    exact_sharing,
    overwritten_names,
)
from kueue_dra_ref.behaviours.kueue_0_18_6 import (
    groups_with_own_workloads,
    requests_by_name,
    sharing_with_ledger,
)
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_concurrent_admission import (
    ConcurrentAdmissionRules,
)
from kueue_dra_ref.behaviours.phases_dra import (
    Charges,
    ExtendedResources,
    Preprocessing,
)
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    FlavorAssignment,
    QueueRules,
    SchedulingCycle,
)
from kueue_dra_ref.behaviours.phases_status import JobRules, StatusRules
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.features.kube_features import kueue_0_19_gates
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import NotAdmissible
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.config import (
    device_class_mappings,
    mapping_source_fields,
    mapping_sources,
    mapping_sources_0_18,
    pods_ready_settings,
)
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import workload_crd
from kueue_dra_ref.rules.dra import (
    consumable_capacity,
    devices_0_18,
    extended_resource_requests,
    partitionable_devices,
    sourced_requests,
)
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.flavorassigner import flavor_fungibility
from kueue_dra_ref.rules.jobframework import (
    job_reconciliation,
    managed_jobs,
    ray_jobs,
    workload_slices,
)
from kueue_dra_ref.rules.multikueue import dispatching
from kueue_dra_ref.rules.queue import admissibility, pending_workloads, retries
from kueue_dra_ref.rules.scheduler import scheduling_cycle
from kueue_dra_ref.rules.webhooks import (
    job_webhook,
    pod_owner_webhook,
    ray_webhook,
    reclaimable_pods,
    workload_webhook,
)
from kueue_dra_ref.rules.workload import (
    admission_checks,
    concurrent_admission,
    pods_ready,
    resource_transformations,
    unadmitted_workloads,
    workload_status,
)
from kueue_dra_ref.target import FieldError

ConditionSlot = First[[NotAdmissible], Condition]


def kueue_0_19() -> Behaviour:
    """Kueue 0.19 as a value."""
    earlier = _installed(kueue_0_18())
    return replace(
        earlier,
        random_map_order=False,  # up to 0.18 resources are Go maps
        mapping=_mapping(earlier.mapping),
        definitions=_definitions(earlier.definitions),
        pods=groups_with_own_workloads(earlier.pods),
        webhooks=_ray_webhooks(_webhooks(_validated(earlier.webhooks))),
        jobs=_elastic_jobs(overwritten_names(_jobs(earlier.jobs))),
        processing=_processing(earlier.processing),
        charging=_charging(earlier.charging),
        extended=_extended(requests_by_name(earlier.extended)),
        queueing=_queueing(earlier.queueing),
        topology=_topology(earlier.topology),
        assigning=_assigning(earlier.assigning),
        cycle=_cycle(earlier.cycle),
        # Sharing and groups of pods: as 0.18.5 and 0.18.6 do.
        sharing=sharing_with_ledger(exact_sharing(earlier.sharing)),
        checking=_checking(earlier.checking),
        provisioning=exact_requests(earlier.provisioning),
        dispatching=_dispatching(earlier.dispatching),
        waiting=_waiting(earlier.waiting),
        concurrent=_concurrent(earlier.concurrent),
        reporting=_reporting(earlier.reporting),
    )


def _installed(earlier: Behaviour) -> Behaviour:
    """Name the release and its gates."""
    return replace(
        earlier,
        name="kueue-0.19.2",
        title="Kueue 0.19.2",
        kueue="0.19",
        versions=KUEUE_0_19_VERSIONS,
        gates=kueue_0_19_gates(),
    )


def _observed(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while unadmitted workloads are observable."""
    return when(each, UnadmittedWorkloadsObservability=True)


def _explicit(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while, in addition, each pending workload has an explicit status."""
    return when(_observed(each), UnadmittedWorkloadsExplicitStatus=True)


REASONS = (
    _observed(unadmitted_workloads.reason_no_matching_flavor),
    _observed(unadmitted_workloads.reason_exceeds_capacity),
    _observed(unadmitted_workloads.reason_waiting_for_quota),
    _observed(unadmitted_workloads.reason_waiting_for_preemption),
    _observed(unadmitted_workloads.reason_topology_placement_failed),
    _observed(unadmitted_workloads.reason_admission_gated),
    _observed(unadmitted_workloads.reason_misconfigured),
    _observed(unadmitted_workloads.reason_stopped),
    _observed(unadmitted_workloads.reason_deactivated),
    _observed(unadmitted_workloads.reason_pending_evaluation),
)
"""One condition for each reason for which a workload has no quota."""


_SOURCE_TYPE = Each(
    mapping_sources.source_has_a_type,
    mapping_sources.source_has_one_type,
    when(
        mapping_sources.counters_need_gate,
        KueueDRAIntegrationPartitionableDevices=False,
    ),
    when(
        mapping_sources.capacities_need_gate,
        KueueDRAIntegrationConsumableCapacity=False,
    ),
)


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # A class may be in several mappings if all of them charge counters, and different ones.
        device_class=earlier.device_class.swap(
            device_class_mappings.class_maps_to_one_resource,
            device_class_mappings.class_maps_to_one_resource_unless_both_count,
        ).add(mapping_sources.shared_class_charges_different_counters),
        # waitForPodsReady has a timeout by default, and a gate disables it.
        before=_waiting_settings(earlier.before),
        # A mapping may have several sources, all counters or all capacities; each kind has a gate.
        before_sources=earlier.before_sources.drop(
            mapping_sources_0_18.sources_need_gate,
            mapping_sources_0_18.at_most_one_source,
        ),
        source_type=_SOURCE_TYPE,
        # Names are checked by their syntax, not by their length alone.
        source=Collect(
            mapping_source_fields.counter_name_is_a_dns_label,
            mapping_source_fields.capacity_name_is_qualified,
            mapping_source_fields.driver_is_a_dns_subdomain,
            mapping_source_fields.source_selector_compiles,
        ),
        sources=Collect(mapping_sources.sources_have_one_type),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    return replace(
        earlier,
        workload=replace(
            earlier.workload,
            # Eight more pod sets.
            limits=earlier.workload.limits.swap(
                workload_crd.at_most_10_pod_sets, workload_crd.at_most_18_pod_sets
            ),
            # The queue of a workload with quota cannot be removed either.
            cel=earlier.workload.cel.swap(
                workload_crd.queue_name_is_immutable_with_quota,
                workload_crd.queue_name_is_immutable_with_quota_reservation,
            ),
        ),
    )


def _validated(earlier: WebhookRules) -> WebhookRules:
    return _webhooks_of_admissions(_webhooks_of_pods(earlier))


def _webhooks_of_pods(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # A message lost a word too many.
        job=earlier.job.swap(
            job_webhook.completions_are_equal_to_parallelism_0_18,
            job_webhook.completions_are_equal_to_parallelism,
        ),
        # The groups of a LeaderWorkerSet keep their size.
        pod_owner=earlier.pod_owner.add(
            when(
                pod_owner_webhook.groups_keep_their_size,
                LWSImmutableGroupSize=True,
            )
        ),
        # Labels and annotations of pod templates are checked.
        workload=earlier.workload.add(
            when(
                workload_webhook.pod_sets_have_valid_labels,
                WorkloadValidationForPodSetMetadata=True,
            ),
            before=workload_webhook.requests_have_no_pods,
        ),
    )


def _webhooks_of_admissions(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # What the webhook panicked on is denied in words.
        panics=earlier.panics.drop(
            workload_webhook.reservation_without_admission_is_a_panic
        ),
        workload=earlier.workload.add(
            workload_webhook.reservation_has_an_admission,
            before=workload_webhook.admitted_pod_sets_exist,
        ),
    )


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # Limits, overhead and pod-level resources are checked in addition to requests.
        workload=earlier.workload.swap(
            workload_webhook.requests_have_no_pods,
            workload_webhook.resources_have_no_pods,
        )
        # A pod set that was scaled down has fewer pods than were admitted.
        .swap(
            reclaimable_pods.reclaimable_pods_do_not_decrease_0_18,
            reclaimable_pods.reclaimable_pods_do_not_decrease,
        )
        .add(
            when(
                workload_webhook.resources_are_not_negative,
                WorkloadValidateResourcesAreNonNegative=True,
            ),
            before=workload_webhook.at_most_one_min_count,
        ),
    )


def _ray_webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # Eight more worker groups of a RayCluster, and other words about autoscaling.
        ray_cluster=earlier.ray_cluster.swap(
            ray_webhook.at_most_10_ray_pod_sets, ray_webhook.at_most_18_ray_pod_sets
        ).swap(
            ray_webhook.only_elastic_work_autoscales_0_18,
            ray_webhook.only_elastic_work_autoscales,
        ),
        # Ray work that is running keeps its queue name.
        job_exempt=earlier.job_exempt.gate(
            ray_webhook.update_without_queue_is_not_validated,
            ValidateRayAndSparkJobUpdates=False,
        ),
    )


def _elastic_jobs(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        # The autoscaler of a RayCluster is charged.
        adjust_pod_sets=earlier.adjust_pod_sets.add(
            ray_jobs.autoscaler_is_a_container_of_the_head,
            before=ray_jobs.submitter_is_a_container_of_the_head,
        ),
        # Pods of elastic work that have ended make room for others.
        start_pods=earlier.start_pods.swap(
            workload_slices.elastic_pods_start_within_quota,
            workload_slices.ended_elastic_pods_make_room,
        ),
        # Elastic work follows its priority class.
        prioritize_slices=AnyOf(workload_slices.slices_follow_priority_class),
        # An evicted Workload of it counts as replaced by one that waits.
        finish_evicted=earlier.finish_evicted.add(
            workload_slices.evicted_slice_is_replaced,
            before=workload_slices.evicted_slice_is_finished,
        ),
    )


def _jobs(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        requeue_evicted=_requeue_evicted(earlier.requeue_evicted),
        # Indexes that have failed for good no longer need quota.
        reclaimable_pods=earlier.reclaimable_pods.add(
            when(job_reconciliation.reclaimable_pods_of_indexes, ReclaimablePods=True),
            before=job_reconciliation.reclaimable_pods,
        ),
        # In namespaces that are not managed, Jobs get no default queue.
        default_queue_exempt=earlier.default_queue_exempt.add(
            managed_jobs.no_default_queue_in_unmanaged_namespace
        ),
        # A RayJob that KubeRay has found invalid releases its quota.
        hold=earlier.hold.add(ray_jobs.hold_invalid_ray_job),
        # An owner with another UID than the reference has is not meant.
        stale_owner=AnyOf(managed_jobs.stale_owner_is_ignored),
    )


def _requeue_evicted(earlier: AnyOf[[str, bool]]) -> AnyOf[[str, bool]]:
    """The preempted Workload of a pod is not requeued: it goes with the pod."""
    gate = "SkipReassignmentForPodOwnedWorkloads"
    skipping = job_reconciliation.preempted_workload_of_no_single_pod_is_requeued
    requeued = job_reconciliation.preempted_workload_is_requeued
    return earlier.gate(requeued, **{gate: False}).add(when(skipping, **{gate: True}))


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(earlier, sourcing=_sourcing(earlier.sourcing))


def _sourcing(earlier: SourcedRequestRules) -> SourcedRequestRules:
    return replace(
        _consumable_capacity(earlier),
        # Selectors of classes with sources are tried on the devices of the sources' drivers only.
        drivers=First(sourced_requests.selectors_on_drivers_of_sources),
        # Errors name the right field.
        match_error=earlier.match_error.swap(
            devices_0_18.missing_class_at_request_path,
            sourced_requests.sourced_class_must_exist,
        ).swap(
            devices_0_18.class_selector_error_at_request_path,
            sourced_requests.sourced_class_selectors_compile,
        ),
        # All counter sets of a device that have the counter are read, not the first one alone.
        counter=earlier.counter.swap(
            devices_0_18.first_counter_set_is_charged,
            partitionable_devices.all_counter_sets_are_charged,
        ),
        # Amounts of counters and capacities are printed in powers of 1024.
        in_bytes=First(sourced_requests.sourced_amounts_in_bytes),
    )


def _consumable_capacity(earlier: SourcedRequestRules) -> SourcedRequestRules:
    return replace(
        earlier,
        # What is charged, and how it is rounded to the requestPolicy of the device.
        requested_capacity=First(
            consumable_capacity.requested_capacity,
            consumable_capacity.policy_default,
            consumable_capacity.full_capacity,
        ),
        round_capacity=Fold(
            consumable_capacity.round_to_valid_values,
            consumable_capacity.round_up_to_range_min,
            consumable_capacity.round_up_to_range_step,
            consumable_capacity.reject_above_range_max,
        ),
        amount_error=earlier.amount_error.add(
            consumable_capacity.some_device_has_capacity,
            consumable_capacity.no_device_satisfies_capacity,
        ),
    )


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # A negative output of a transformation no longer reduces what a container requests.
        transformed=earlier.transformed.swap(
            resource_transformations.transformation_outputs_0_18,
            resource_transformations.transformation_outputs_add_to_requests,
        ),
    )


def _extended(earlier: ExtendedResources) -> ExtendedResources:
    return replace(
        earlier,
        # The class is chosen as kube-scheduler chooses it, mapped or not.
        choose_class=Fold(
            extended_resource_requests.newest_device_class_wins,
            extended_resource_requests.name_breaks_tie,
        ),
        # Errors are reported once for a pod set, and overflows are among them.
        in_container=earlier.in_container.drop(
            devices_0_18.each_container_requests_whole_devices,
            devices_0_18.each_container_rejects_counters,
        ),
        reject_resource=Collect(
            extended_resource_requests.classes_with_counters_are_refused,
            extended_resource_requests.classes_with_capacities_are_refused,
            extended_resource_requests.devices_are_whole,
            extended_resource_requests.sum_of_containers_has_64_bits,
        ),
    )


def _topology(earlier: TopologyRules) -> TopologyRules:
    return replace(
        earlier,
        retry_all=earlier.retry_all.add(placing(retries.taints_of_topology_retry_all)),
    )


def _queueing(earlier: QueueRules) -> QueueRules:
    return replace(
        earlier,
        # Observability: conditions report at once what the scheduler would find, until it no longer holds.
        queue_not_ready=First(
            _observed(admissibility.inactive_condition),
            *earlier.queue_not_ready.rules,
            _observed(admissibility.namespace_mismatch_condition),
            _observed(admissibility.invalid_requests_condition),
            _observed(admissibility.closed_gates_condition),
            _observed(admissibility.reason_from_equivalence_hash),
            _explicit(admissibility.reason_from_equivalence_hash_on_arrival),
            _explicit(admissibility.pending_on_arrival),
            _observed(admissibility.clear_stale_condition),
        ),
        # The message begins with a small letter.
        namespace=earlier.namespace.swap(
            pending_workloads.namespace_must_be_selected_0_18,
            pending_workloads.namespace_must_be_selected,
        ),
        retry_with_flavor=AnyOf(retries.changed_flavor_retries_its_queues),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        _one_reason(earlier),
        # All resources that never fit are reported, not the first one alone.
        stop_search=earlier.stop_search.drop(flavor_fungibility.no_fit_stops_search),
        # A flavor without preemption candidates ranks behind one with candidates.
        rank=earlier.rank.add(
            flavor_fungibility.no_preemption_candidates_last,
            before=flavor_fungibility.is_preferred,
        ),
        # The search goes on in the next cycle, even if quota was released.
        resume_from_last_tried=earlier.resume_from_last_tried.add(
            when(
                flavor_fungibility.resume_in_next_cycle,
                FlavorFungibility=True,
                FlavorFungibilityPreserveScanProgress=True,
            )
        ),
        # A head that lost its flavor to another one continues the search behind it.
        keep_progress_on_skip=AnyOf(
            when(
                flavor_fungibility.keep_scan_progress_on_skip,
                FlavorFungibilityPreserveScanProgress=True,
            )
        ),
    )


def _one_reason(assigning: FlavorAssignment) -> FlavorAssignment:
    # Observability: one reason out of several.
    return replace(
        assigning,
        reason_across_flavors=First(
            _observed(unadmitted_workloads.least_severe_reason)
        ),
        reason_across_resources=First(
            _observed(unadmitted_workloads.most_severe_reason)
        ),
        ignore_silent_pod_set=AnyOf(
            _observed(unadmitted_workloads.silent_pod_set_gives_no_reason)
        ),
    )


def _checking(earlier: AdmissionCheckRules) -> AdmissionCheckRules:
    return replace(
        earlier,
        # Observability: a condition says that checks are unsatisfied.
        unsatisfied=Each(_observed(admission_checks.unsatisfied_checks_condition)),
        unreserved=earlier.unreserved.gate(
            admission_checks.no_reservation_unsatisfied_checks,
            UnadmittedWorkloadsObservability=False,
        ),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        # The message of a rejection names the state before.
        rejected=First(dispatched(dispatching.rejection_names_state_before)),
        # The check says that the copy was admitted.
        won=earlier.won.swap(
            dispatching.reservation_on, dispatched(dispatching.admitted_on)
        ),
        # A copy that is out of sync with its work does not end the workload.
        retry_ended=First(dispatched(dispatching.retry_when_copy_is_out_of_sync)),
        # A copy that is gone is retried at once; the time of a lost worker counts from the loss.
        retry_lost=First(
            dispatched(dispatching.retry_when_copy_is_gone),
            dispatched(dispatching.retry_when_worker_is_lost),
        ),
    )


def _waiting_settings(
    earlier: Collect[[Configuration], FieldError],
) -> Collect[[Configuration], FieldError]:
    return earlier.drop(pods_ready_settings.timeout_is_specified).gate(
        pods_ready_settings.first_timeout_is_not_zero,
        pods_ready_settings.waiting_times_are_not_negative,
        pods_ready_settings.requeuing_timestamp_is_known,
        pods_ready_settings.requeuing_numbers_are_not_negative,
        DisableWaitForPodsReady=False,
    )


def _waiting(earlier: PodsReadyRules) -> PodsReadyRules:
    return replace(
        earlier,
        # The second version of the Configuration waits for pods even if it does not say so, and a gate disables that.
        enabled=AnyOf(
            when(pods_ready.first_version_needs_enable, DisableWaitForPodsReady=False),
            when(pods_ready.waiting_is_the_default, DisableWaitForPodsReady=False),
        ),
        # A timeout of zero, too, is the default.
        timeout=First(
            pods_ready.written_timeout_unless_zero,
            pods_ready.first_version_waits_5_minutes,
            pods_ready.default_timeout_is_30_minutes,
        ),
        # Observability: the reason names what the workload waits for.
        blocked=Each(
            when(pods_ready.blocked_condition, UnadmittedWorkloadsObservability=False),
            _observed(pods_ready.blocked_condition_observed),
        ),
    )


def _recomputed(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while overlapping preemption targets cause another assignment."""
    return when(each, RecomputeAssignmentUponPreemptionTargetsOverlap=True)


def _cycle(earlier: SchedulingCycle) -> SchedulingCycle:
    return replace(
        earlier,
        # A head whose victims another head has finds others, or fits once they are gone.
        recompute=AnyOf(_recomputed(scheduling_cycle.recompute_on_overlapping_targets)),
        deferred_fit=First(
            _recomputed(scheduling_cycle.deferred_fit_after_preemptions)
        ),
    )


def _concurrent(earlier: ConcurrentAdmissionRules) -> ConcurrentAdmissionRules:
    def gated(each: Rule[P, R]) -> Rule[P, R]:
        return when(each, ConcurrentAdmission=True)

    return replace(
        earlier,
        # Variants follow the flavors of the ClusterQueue, and preempt one after the other.
        keep=AnyOf(),
        delete=AnyOf(gated(concurrent_admission.variant_of_removed_flavor)),
        gate=Each(gated(concurrent_admission.variant_has_preemption_gate)),
        gated=First(gated(concurrent_admission.closed_gate_blocks_preemption)),
        open_gate=First(gated(concurrent_admission.gates_open_one_by_one)),
    )


def _reporting(earlier: StatusRules) -> StatusRules:
    return replace(
        earlier,
        # Observability: the reason of QuotaReserved says why; without it, it is the same for every cause.
        inadmissible_condition=earlier.inadmissible_condition.gate(
            workload_status.inadmissible_condition,
            UnadmittedWorkloadsObservability=False,
        ).add(
            _observed(unadmitted_workloads.reason_misconfigured_on_inadmissible),
            before=workload_status.requeued_false_condition,
        ),
        queue_not_ready=_with_reasons(earlier.queue_not_ready),
        pending_condition=_with_reasons(earlier.pending_condition),
        quota_released=_with_reasons(earlier.quota_released),
        unset_quota_reservation=Each(
            _observed(unadmitted_workloads.no_quota_reservation_condition)
        ),
        reobserved=AnyOf(_observed(unadmitted_workloads.refresh_on_new_generation)),
        # A ClusterQueue that is deleted while it is in use reports that it is terminating.
        terminating=Each(workload_status.cluster_queue_terminating_condition),
    )


def _with_reasons(earlier: ConditionSlot) -> ConditionSlot:
    """Give the slot with its rules under the gate's off state, and a rule for each reason under its on state."""
    return earlier.gate(*earlier.rules, UnadmittedWorkloadsObservability=False).add(
        *REASONS
    )
