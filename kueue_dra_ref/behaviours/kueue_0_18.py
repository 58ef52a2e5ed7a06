"""Kueue 0.18 (0.18.0 to 0.18.3): what it changes in Kueue 0.17.

Device integration is on by default (gate KueueDRAIntegration). CEL selectors are matched against published devices, and
a mapping can charge a counter of partitionable devices instead of devices.

Kueue 0.18 charges the number of devices while the gate KueueDRAIntegration is on (the default); with the gate off it
rejects workloads with claims. It evaluates the selectors of a request with selectors and of its DeviceClass on
published devices, and retries a workload that requests more devices than match. It rejects firstAvailable, adminAccess
and mode All. With KueueDRAIntegrationPartitionableDevices (off by default) a mapping with sources charges the largest
amount of a counter that a matching device consumes. With KueueDRAIntegrationExtendedResource (off by default) it
charges the extended resource of a DeviceClass as devices. It reads no capacities. Phases: preprocessing, charges,
extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_18_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched
from kueue_dra_ref.behaviours.kueue_0_17 import kueue_0_17
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.behaviours.phases_concurrent_admission import (
    ConcurrentAdmissionRules,
)
from kueue_dra_ref.behaviours.phases_dra import (
    AdjustResources,
    Charges,
    ExtendedResources,
    Preprocessing,
)
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_provisioning import ProvisioningRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    CohortRules,
    FlavorAssignment,
    PreemptionRules,
)
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import (
    APIValidation,
    Denials,
    WebhookRules,
)
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import kueue_0_18_gates
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.config import (
    config_validation,
    mapping_source_fields,
    mapping_sources_0_18,
)
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import clusterqueue_crd, workload_crd
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    claim_templates_0_17,
    device_matching,
    devices_0_18,
    dra_workloads,
    extended_resource_requests,
    partitionable_devices,
    pool_selection,
    sourced_requests,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    node_affinity,
    taints,
    topology,
)
from kueue_dra_ref.rules.jobframework import (
    job_reconciliation,
    pod_groups,
    pod_owners,
    ray_jobs,
    workload_slices,
)
from kueue_dra_ref.rules.multikueue import dispatching
from kueue_dra_ref.rules.preemption import preemption_policies
from kueue_dra_ref.rules.queue import cohort_quota, local_queue_usage
from kueue_dra_ref.rules.scheduler import scheduling_cycle
from kueue_dra_ref.rules.webhooks import (
    concurrent_admission_webhook,
    job_webhook,
    pod_owner_webhook,
    ray_webhook,
    reclaimable_pods,
    topology_webhook,
)
from kueue_dra_ref.rules.workload import (
    adjust_resources,
    admission_checks,
    concurrent_admission,
    pods_ready,
    provisioning,
    resource_transformations,
    workload_priority_class,
    workload_status,
)


def kueue_0_18() -> Behaviour:
    """Kueue 0.18 as a value."""
    earlier = _scheduling(_installed(kueue_0_17()))
    return replace(
        earlier,
        mapping=_mapping(earlier.mapping),
        definitions=_definitions(earlier.definitions),
        pods=_pods(earlier.pods),
        webhooks=_pod_webhooks(_elastic_workloads(_webhooks(earlier.webhooks))),
        jobs=_jobs(earlier.jobs),
        priorities=_priorities(earlier.priorities),
        adjusting=_adjusting(earlier.adjusting),
        processing=_processing(earlier.processing),
        charging=_charging(earlier.charging),
        extended=_extended(earlier.extended),
        cohorts=_cohorts(earlier.cohorts),
        assigning=_assigning(earlier.assigning),
        preempting=_preempting(earlier.preempting),
        sharing=_sharing(earlier.sharing),
        topology=_topology(earlier.topology),
        checking=_checking(earlier.checking),
        provisioning=_provisioning(earlier.provisioning),
        dispatching=_dispatching(earlier.dispatching),
        waiting=_waiting(earlier.waiting),
        concurrent=_CONCURRENT,
        reporting=_reporting(earlier.reporting),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        # A workload goes on without connected clusters.
        idle=AnyOf(),
        # Only the copy that is admitted wins, and each eviction on a worker is followed.
        winner=First(dispatched(dispatching.first_admitted_copy_wins)),
        retry_evicted=First(dispatched(dispatching.retry_when_copy_is_evicted)),
        # Work of the same name that others have created is not a copy.
        foreign=AnyOf(dispatched(dispatching.work_of_others_is_no_copy)),
        # A suspended Job has the status of a copy that is suspended too.
        sync_status=AnyOf(
            dispatched(dispatching.status_follows_running_copy),
            dispatched(dispatching.status_follows_suspended_copy),
        ),
    )


def _sharing(earlier: AdmissionFairSharingRules) -> AdmissionFairSharingRules:
    return replace(
        earlier,
        # A Kueue that starts goes on from the status.
        history=First(local_queue_usage.history_from_status),
    )


def _installed(earlier: Behaviour) -> Behaviour:
    """Name the release, its gates and what Kueue may read."""
    return replace(
        earlier,
        name="kueue-0.18.3",
        title="Kueue 0.18.3",
        kueue="0.18",
        versions=KUEUE_0_18_VERSIONS,
        gates=kueue_0_18_gates(),
        integration_gate="KueueDRAIntegration",
        dependent_gates=(
            "KueueDRAIntegrationExtendedResource",
            "KueueDRAIntegrationPartitionableDevices",
        ),
        # Selectors are matched against the devices of ResourceSlices.
        role=reads(
            "deviceclasses",
            "resourceclaims",
            "resourceclaimtemplates",
            "resourceslices",
        ),
    )


def _concurrent(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while Workloads may have variants."""
    return when(each, ConcurrentAdmission=True)


_CONCURRENT = ConcurrentAdmissionRules(
    enabled=AnyOf(_concurrent(concurrent_admission.policy_makes_variants)),
    variants=Collect(_concurrent(concurrent_admission.variant_for_each_flavor)),
    keep=AnyOf(_concurrent(concurrent_admission.as_many_variants_as_flavors)),
    unnamed=AnyOf(_concurrent(concurrent_admission.names_need_a_hyphen)),
    allow_flavor=First(_concurrent(concurrent_admission.allowed_flavors_only)),
    not_queued=AnyOf(_concurrent(concurrent_admission.parent_is_not_queued)),
    not_charged=AnyOf(_concurrent(concurrent_admission.parent_is_not_charged)),
    not_checked=AnyOf(_concurrent(concurrent_admission.parent_has_no_checks)),
    admitted=Each(_concurrent(concurrent_admission.parent_is_admitted_with_variant)),
    give_up=AnyOf(
        _concurrent(concurrent_admission.retain_first_admission),
        _concurrent(concurrent_admission.less_preferred_flavors_are_given_up),
        _concurrent(concurrent_admission.unacceptable_flavors_are_given_up),
    ),
    deactivate_all=AnyOf(_concurrent(concurrent_admission.variants_of_inactive_parent)),
    activate_all=AnyOf(
        _concurrent(concurrent_admission.variants_are_active_without_admission)
    ),
    activate=AnyOf(_concurrent(concurrent_admission.preferred_variants_stay_active)),
    migrate=First(_concurrent(concurrent_admission.migrate_to_preferred_flavor)),
    evict_with_variant=First(
        _concurrent(concurrent_admission.parent_is_evicted_with_variant)
    ),
    evict_without_variant=First(
        _concurrent(concurrent_admission.parent_is_evicted_without_variant)
    ),
    copy_pods_ready=AnyOf(
        _concurrent(concurrent_admission.variant_shows_pods_of_parent)
    ),
    not_awaited=AnyOf(_concurrent(concurrent_admission.variant_is_not_awaited)),
    finish=Each(_concurrent(concurrent_admission.variants_finish_with_parent)),
)


POLICY = (
    _concurrent(concurrent_admission_webhook.variants_need_one_resource_group),
    _concurrent(concurrent_admission_webhook.at_most_16_variants),
    _concurrent(concurrent_admission_webhook.constraints_are_of_preferred_flavors),
    _concurrent(
        concurrent_admission_webhook.last_acceptable_flavor_is_of_cluster_queue
    ),
    _concurrent(concurrent_admission_webhook.variants_are_not_in_strict_order),
    concurrent_admission_webhook.policy_is_immutable,
)


def _partitionable(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while partitionable devices are enabled."""
    return when(each, KueueDRAIntegrationPartitionableDevices=True)


def _strategic(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while quotaCheckStrategy is read."""
    return when(each, QuotaCheckStrategy=True)


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # A mapping may have one source, a counter; while the gate is off, it may have none.
        before_sources=Collect(
            when(
                mapping_sources_0_18.sources_need_gate,
                KueueDRAIntegrationPartitionableDevices=False,
            ),
            _partitionable(mapping_sources_0_18.at_most_one_source),
        ),
        source_type=Each(_partitionable(mapping_sources_0_18.source_is_a_counter)),
        source=Collect(
            _partitionable(mapping_sources_0_18.counter_name_is_at_most_63_long),
            _partitionable(mapping_sources_0_18.driver_is_at_most_253_long),
            _partitionable(mapping_source_fields.source_selector_compiles),
        ),
        # quotaCheckStrategy is new.
        after=earlier.after.add(
            _strategic(config_validation.exclusions_conflict_with_ignore_undeclared),
            _strategic(config_validation.quota_check_strategy_is_known),
        ),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    return replace(
        earlier,
        cluster_queue=replace(
            earlier.cluster_queue,
            # The concurrentAdmissionPolicy is new.
            limits=earlier.cluster_queue.limits.add(
                clusterqueue_crd.migration_mode_is_known
            ),
        ),
        workload=replace(
            earlier.workload,
            # Two more pod sets.
            limits=earlier.workload.limits.swap(
                workload_crd.at_most_8_pod_sets, workload_crd.at_most_10_pod_sets
            ),
        ),
    )


def _waiting(earlier: PodsReadyRules) -> PodsReadyRules:
    return replace(
        earlier,
        # A group is not ready before all its pods are there.
        group_is_complete=AllOf(pods_ready.group_has_all_its_pods),
        # A SparkApplication is not ready before its executors are.
        work_is_complete=AllOf(pods_ready.application_has_its_executors),
    )


def _pods(earlier: PodRules) -> PodRules:
    return replace(
        earlier,
        # The gate SkipFinalizersForPodsSuspendedByParent is locked on.
        finalize_pods_of_parent=AnyOf(),
        let_go=AnyOf(),
        # What pods request as a whole is part of their role.
        role=earlier.role.swap(pod_groups.role_of_containers, pod_groups.role_of_pod),
        # Names of groups may be longer than a label's value.
        group_name=earlier.group_name.add(
            when(pod_groups.group_of_annotation, WorkloadIdentifierAnnotations=True),
            before=pod_groups.group_of_label,
        ),
        # With fast admission, one pod of a group is enough.
        absent=earlier.absent.add(
            pod_groups.one_pod_is_enough_for_fast_admission,
            before=pod_groups.wait_for_replacement_pods,
        ),
        # A group whose pods are gone waits for others before it is admitted again.
        withheld=AnyOf(pod_groups.not_admitted_while_pods_are_missing),
        # A group that serves stays where it was queued.
        keep_queue=AnyOf(pod_groups.serving_group_keeps_its_queue),
        # A StatefulSet without replicas keeps its Workload, and releases its quota at once.
        disown=AnyOf(),
        hold=earlier.hold.add(pod_owners.hold_without_replicas),
    )


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # The concurrentAdmissionPolicy is new.
        cluster_queue=earlier.cluster_queue.add(*POLICY),
        # Three more worker groups of a RayCluster.
        ray_cluster=earlier.ray_cluster.swap(
            ray_webhook.at_most_7_worker_groups, ray_webhook.at_most_10_ray_pod_sets
        ),
        # Elastic work is on by default, for some kinds only, and not together with partial admission.
        job=earlier.job.swap(
            job_webhook.elastic_work_stays_so_0_17, job_webhook.elastic_work_stays_so
        ).add(
            job_webhook.only_some_kinds_are_elastic,
            job_webhook.elastic_job_has_no_min_parallelism,
        ),
    )


def _pod_webhooks(earlier: WebhookRules) -> WebhookRules:
    old = topology_webhook.pods_request_valid_topology
    new = topology_webhook.pods_request_valid_topology_0_18
    return replace(
        earlier,
        pod_owner=_pod_owners(earlier.pod_owner),
        # Pod sets of JobSets, MPIJobs and RayClusters are made before their templates are checked.
        job=earlier.job.swap(old, when(new, TopologyAwareScheduling=True)),
    )


def _pod_owners(earlier: Denials) -> Denials:
    # A LeaderWorkerSet without ready pods can be moved to another queue.
    movable = earlier.drop(pod_owner_webhook.leader_worker_set_keeps_queue_name)
    return (
        # What pods request as a whole is part of their shape.
        movable.add(
            pod_owner_webhook.pods_of_groups_keep_their_own_requests,
            before=pod_owner_webhook.stateful_set_keeps_its_replicas,
        )
        # A StatefulSet is scaled up if its Workload is on hold.
        .swap(
            pod_owner_webhook.stateful_set_is_scaled_up_without_workload,
            pod_owner_webhook.stateful_set_is_scaled_up_from_hold,
        )
        # None of them is elastic, nor has a LeaderWorkerSet too many groups.
        .add(
            job_webhook.only_some_kinds_are_elastic,
            pod_owner_webhook.leader_worker_set_has_at_most_a_million_groups,
            before=topology_webhook.pods_request_valid_topology,
        )
    )


def _elastic_workloads(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # Elastic work that has become smaller may have fewer reclaimable pods.
        workload=earlier.workload.swap(
            reclaimable_pods.reclaimable_pods_are_pods,
            reclaimable_pods.new_reclaimable_pods_are_pods,
        ).swap(
            reclaimable_pods.reclaimable_pods_do_not_decrease_0_17,
            reclaimable_pods.reclaimable_pods_do_not_decrease_0_18,
        ),
    )


def _jobs(earlier: JobRules) -> JobRules:
    return replace(
        _ray(earlier),
        # A Job with more succeeded pods than it needs releases all its pods.
        limit_reclaimable=AnyOf(job_reconciliation.reclaimable_pods_are_limited),
        # Elastic work whose larger Workload is evicted goes on with the one before it.
        newest_slice_counts=earlier.newest_slice_counts.drop(
            workload_slices.newest_slice_counts_although_evicted
        ),
        # Elastic work starts no more pods than it has quota for.
        start_pods=earlier.start_pods.swap(
            workload_slices.all_elastic_pods_start,
            workload_slices.elastic_pods_start_within_quota,
        ),
        # Only the pods of elastic work name the first Workload.
        own_values=earlier.own_values.swap(
            workload_slices.all_pods_name_their_first_workload,
            when(
                workload_slices.elastic_pods_name_their_first_workload,
                ElasticJobsViaWorkloadSlices=True,
            ),
        ),
    )


def _ray(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        # What KubeRay adds to the head of a cluster is charged.
        adjust_pod_sets=earlier.adjust_pod_sets.add(
            ray_jobs.redis_cleanup_fits_in_the_head,
            ray_jobs.submitter_is_a_container_of_the_head,
        ),
        # The submitter pod of a RayJob runs on the nodes of its flavor.
        writes_default_template=AnyOf(ray_jobs.submitter_template_is_written),
    )


def _priorities(earlier: PriorityClassRules) -> PriorityClassRules:
    return replace(
        earlier,
        # A namespace of Jobs without a class can have a default one.
        default_class=First(
            when(
                workload_priority_class.default_workload_priority_class,
                WorkloadPriorityClassDefaulting=True,
            )
        ),
    )


def _adjusting(earlier: AdjustResources) -> AdjustResources:
    return replace(
        earlier,
        # Pod-level resources are read.
        pod_set=earlier.pod_set.add(adjust_resources.pod_limits_default_pod_requests),
        resources=earlier.resources.add(
            adjust_resources.pod_requests_are_within_limits
        ),
    )


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(
        _integrated(earlier),
        # Constraints and device configuration do not change what is charged.
        template=earlier.template.drop(
            claim_templates_0_17.constraints_are_refused,
            claim_templates_0_17.device_config_is_refused,
        ),
        # Selectors are accepted if they compile ...
        request=earlier.request.swap(
            claim_templates_0_17.selectors_are_refused,
            claim_templates.selectors_must_compile,
        ),
        # ... and enough published devices match.
        matching=_MATCHING,
        # Classes can be charged by counters of partitionable devices.
        sourcing=_SOURCING,
        # Only errors that may go away are retried.
        retry_on_error=earlier.retry_on_error.drop(
            claim_templates_0_17.every_error_is_retried
        ),
    )


def _integrated(earlier: Preprocessing) -> Preprocessing:
    """Say which workloads are DRA workloads, and which of them are rejected."""
    return replace(
        earlier,
        # While the gate is off, workloads with claims are rejected, since their devices cannot be charged.
        reject_workload=First(
            when(
                dra_workloads.claims_need_gate,
                KueueDRAIntegration=False,
                KueueDRARejectWorkloadsWhenDRADisabled=True,
            ),
            when(dra_workloads.direct_claims_are_refused, KueueDRAIntegration=True),
        ),
        # The gate has another name.
        is_dra_workload=earlier.is_dra_workload.gate(
            dra_workloads.claim_template_makes_a_dra_workload, KueueDRAIntegration=True
        ),
    )


_MATCHING = DeviceMatchingRules(
    eligible=AllOf(
        device_matching.device_serves_one_request_of_claim,
        device_matching.class_selectors_match,
        device_matching.request_selectors_match,
    ),
    findings=First(
        device_matching.class_must_exist,
        device_matching.class_selectors_compile,
        device_matching.selector_error_rejects,
        device_matching.too_few_devices_are_retried,
    ),
)

_SOURCING = SourcedRequestRules(
    sources=First(sourced_requests.sources_of_class),
    charge_by_sources=AnyOf(sourced_requests.classes_with_sources_are_not_counted),
    # Which devices are looked at.
    slices=Fold(
        pool_selection.slices_of_driver,
        pool_selection.newest_pool_generation,
        pool_selection.skip_incomplete_pool,
    ),
    eligible=AllOf(
        sourced_requests.source_selector_matches,
        sourced_requests.sourced_class_selectors_match,
        sourced_requests.sourced_request_selectors_match,
    ),
    match_error=First(
        devices_0_18.missing_class_at_request_path,
        devices_0_18.class_selector_error_at_request_path,
        sourced_requests.sourced_selector_error_is_retried,
        sourced_requests.too_few_sourced_devices_are_retried,
    ),
    # What they charge.
    counter=Collect(devices_0_18.first_counter_set_is_charged),
    amount_error=First(partitionable_devices.some_device_consumes_counter),
    worst_case=First(sourced_requests.max_over_devices),
    clamp=Fold(sourced_requests.clamp_negative_to_zero),
    times_count=First(sourced_requests.each_sourced_device_is_charged),
    # Which changes requeue inadmissible workloads.
    watched_drivers=Collect(sourced_requests.source_driver_slices_are_watched),
)


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # A sum no longer overflows.
        in_claim=earlier.in_claim.swap(
            claim_templates_0_17.requests_of_a_claim_wrap_around,
            charges.requests_of_a_claim_add_up,
        ),
        # Transformations multiply exact amounts.
        transformed=earlier.transformed.swap(
            resource_transformations.transformation_outputs_0_17,
            resource_transformations.transformation_outputs_0_18,
        ),
    )


def _extended(earlier: ExtendedResources) -> ExtendedResources:
    return replace(
        earlier,
        # One gate, with another name, in the place of two.
        used_by_workload=earlier.used_by_workload.gate(
            extended_resource_requests.extended_resources_are_detected,
            KueueDRAIntegrationExtendedResource=True,
        ),
        requested_names=earlier.requested_names.gate(
            extended_resource_requests.requests_and_limits_are_charged,
            KueueDRAIntegrationExtendedResource=True,
        ),
        # A class that is charged by counters cannot be requested by name.
        in_container=earlier.in_container.add(
            devices_0_18.each_container_rejects_counters
        ),
        # A new or changed DeviceClass requeues the workloads that request its extended resource.
        affected_by_class=Collect(
            when(
                extended_resource_requests.device_class_change_requeues,
                KueueDRAIntegrationExtendedResource=True,
            )
        ),
    )


def _cohorts(earlier: CohortRules) -> CohortRules:
    return replace(
        earlier,
        # CPU beyond 64 bits of thousandths is counted.
        quota_value=earlier.quota_value.drop(cohort_quota.cpu_overflow_counts_as_zero),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        earlier,
        # quotaCheckStrategy can ignore resources that no quota covers.
        ignore_undeclared=AnyOf(
            when(
                fits_resource_quota.ignore_undeclared_resources, QuotaCheckStrategy=True
            )
        ),
        # Node affinity is compared with the labels of each flavor, no longer with the label keys of its group.
        flavor=Each(
            taints.taints_must_be_tolerated,
            node_affinity.affinity_operand_is_integer,
            node_affinity.node_affinity_matches,
        ),
        in_group=earlier.in_group.drop(
            node_affinity.affinity_operand_is_integer_in_group,
            node_affinity.node_affinity_matches_in_group,
        ),
        # Messages print the largest integer as "unlimited".
        no_fit_message=First(fits_resource_quota.unlimited_in_message),
    )


def _scheduling(earlier: Behaviour) -> Behaviour:
    cycle = replace(
        earlier.cycle,
        # A head whose nodes another head has taken looks for others at once.
        recompute_places=AnyOf(
            when(
                scheduling_cycle.recompute_without_room,
                TASRecomputeAssignmentWithinSchedulingCycle=True,
            )
        ),
    )
    # An assignment that is computed again keeps its flavors.
    keep = First(scheduling_cycle.nominated_flavor_is_kept)
    assigning = replace(earlier.assigning, keep_nominated=keep)
    # The search for a flavor adds counted pods to a copy of the requests.
    queueing = replace(earlier.queueing, retry_updated=AnyOf())
    return replace(earlier, cycle=cycle, assigning=assigning, queueing=queueing)


def _preempting(earlier: PreemptionRules) -> PreemptionRules:
    return replace(
        earlier,
        # No victims are searched to free the implicit resource "pods".
        skip_search=Collect(preemption_policies.pods_resource_is_ignored),
    )


def _checking(earlier: AdmissionCheckRules) -> AdmissionCheckRules:
    return replace(
        earlier,
        # Work that gets no flavor has no check.
        required=earlier.required.drop(
            admission_checks.all_checks_without_assigned_flavors
        ),
        # Messages name the checks, with their messages.
        retry=earlier.retry.swap(
            admission_checks.retry_evicts_0_17, admission_checks.retry_evicts
        ),
        reject=earlier.reject.swap(
            admission_checks.rejection_deactivates_0_17,
            admission_checks.rejection_deactivates,
        ),
    )


def _provisioning(earlier: ProvisioningRules) -> ProvisioningRules:
    return replace(
        earlier,
        # Requests that nothing waits for are deleted, and the check has the number of the next one.
        number=First(provisioning.retries_give_number),
        drop=AnyOf(
            provisioning.finished_work_drops_requests,
            when(
                provisioning.evicted_work_drops_requests,
                CleanupProvisioningRequestsOnEviction=True,
            ),
        ),
    )


def _reporting(earlier: StatusRules) -> StatusRules:
    return replace(
        earlier,
        # The implicit resource "pods" is no longer listed among the requests.
        extra_requests=earlier.extra_requests.drop(
            workload_status.pods_resource_in_requests
        ),
        # A Workload without an owner that was made for work is finished.
        orphaned=First(
            when(
                workload_status.orphaned_workload_finishes, FinishOrphanedWorkloads=True
            )
        ),
    )


def _topology(earlier: TopologyRules) -> TopologyRules:
    return replace(
        earlier,
        # Pods with several topology flavors are rejected; up to 0.17 they are admitted without a placement.
        several_flavors=First(topology.several_topology_flavors_fail),
        # Placed pods use what they request themselves.
        use_charged=AnyOf(),
        share_nodes=AnyOf(
            when(topology.flavors_share_nodes, TASHandleOverlappingFlavors=True)
        ),
    )
