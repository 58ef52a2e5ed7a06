"""Kueue 0.15 (0.15.0 to 0.15.2): what it changes in Kueue 0.14.

Requests for devices that cannot be counted are rejected, Workloads follow their priority class, and ClusterQueues can
state a preference between borrowing and preemption (which 0.15 reads the wrong way round).

Kueue 0.15 charges the number of devices while the gate DynamicResourceAllocation is on (off by default). It rejects
requests with selectors, firstAvailable, adminAccess or allocation mode All, and claims with constraints or device
configuration. It evaluates no selector of a DeviceClass, and reads no ResourceSlices, counters, capacities or extended
resources. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_15_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14 import kueue_0_14
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched, unmanaged
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.behaviours.phases_dra import Charges, Preprocessing
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_provisioning import ProvisioningRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    FlavorAssignment,
    PreemptionRules,
    QueueRules,
)
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import (
    APIValidation,
    CRDValidation,
    Denials,
    LimitRules,
    WebhookRules,
)
from kueue_dra_ref.features.kube_features import kueue_0_15_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First
from kueue_dra_ref.rules.config import pods_ready_settings
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import (
    admissioncheck_crd,
    clusterqueue_crd,
    work_crd,
    workload_crd,
)
from kueue_dra_ref.rules.dra import (
    claim_templates,
    claim_templates_0_14,
    claim_templates_0_17,
)
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    flavor_fungibility,
    topology,
)
from kueue_dra_ref.rules.jobframework import job_reconciliation, train_jobs
from kueue_dra_ref.rules.multikueue import dispatching, dispatching_0_17
from kueue_dra_ref.rules.preemption import preemption_policies
from kueue_dra_ref.rules.queue import (
    in_use_finalizers,
    local_queue_usage,
    pending_workloads,
)
from kueue_dra_ref.rules.webhooks import (
    job_webhook,
    pod_owner_webhook,
    ray_webhook,
    topology_webhook,
)
from kueue_dra_ref.rules.workload import (
    admission_checks,
    pods_ready,
    provisioning,
    workload_priority_class,
    workload_status,
)


def kueue_0_15() -> Behaviour:
    """Kueue 0.15 as a value."""
    earlier = _installed(kueue_0_14())
    return replace(
        earlier,
        # A status update that is computed from an old version of the Workload is no longer rejected as a conflict.
        overwrites_unread_status=True,
        definitions=_definitions(earlier.definitions),
        webhooks=_ray_webhooks(_webhooks(earlier.webhooks)),
        jobs=_jobs(earlier.jobs),
        priorities=_priorities(earlier.priorities),
        processing=_processing(earlier.processing),
        charging=_charging(earlier.charging),
        mapping=_mapping(earlier.mapping),
        queueing=_queueing(earlier.queueing),
        assigning=_assigning(earlier.assigning),
        preempting=_preempting(earlier.preempting),
        sharing=_sharing(earlier.sharing),
        topology=_topology(earlier.topology),
        checking=_checking(earlier.checking),
        waiting=_waiting(earlier.waiting),
        provisioning=_provisioning(earlier.provisioning),
        dispatching=_dispatching(earlier.dispatching),
        reporting=_reporting(earlier.reporting),
    )


def _installed(earlier: Behaviour) -> Behaviour:
    """Name the release and its gates."""
    return replace(
        earlier,
        name="kueue-0.15.2",
        title="Kueue 0.15.2",
        kueue="0.15",
        versions=KUEUE_0_15_VERSIONS,
        gates=kueue_0_15_gates(),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        disconnect=First(dispatched(dispatching.cluster_has_bad_kubeconfig)),
        # The check of a Job is Ready, and the Job waits on the manager by itself if it has no manager of its own.
        pend=AnyOf(),
        # A change of the clusters concerns workloads that wait.
        follow_config=AnyOf(dispatched(dispatching.new_clusters_are_used_at_once)),
        hold=AnyOf(unmanaged(dispatching_0_17.job_waits_on_manager)),
    )


def _sharing(earlier: AdmissionFairSharingRules) -> AdmissionFairSharingRules:
    return replace(
        earlier,
        # The usage is kept in memory, and admission settles a penalty.
        settle=AnyOf(local_queue_usage.admission_at_once_settles_penalty),
        settle_on_sample=AnyOf(),
        history=First(local_queue_usage.history_from_admitted_usage),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    return replace(
        earlier,
        cluster_queue=_cluster_queue(earlier.cluster_queue),
        # A MultiKueueCluster has a kubeconfig, or a ClusterProfile.
        multikueue_cluster=CRDValidation(
            limits=Collect(admissioncheck_crd.cluster_source_is_required)
        ),
        workload=_workload(earlier.workload),
        # The definition of an MPIJob is that of mpi-operator 0.7.
        unknown_fields=earlier.unknown_fields.drop(
            work_crd.mpi_job_pods_have_no_resources
        ),
    )


def _cluster_queue(earlier: CRDValidation) -> CRDValidation:
    return replace(
        earlier,
        limits=_cluster_queue_limits(earlier.limits).add(
            clusterqueue_crd.strategy_names_1_to_64_checks
        ),
        # A preference has no effect unless the search tries further flavors.
        cel=earlier.cel.add(
            clusterqueue_crd.fungibility_preference_needs_try_next_flavor,
            before=clusterqueue_crd.flavor_has_quota_of_each_covered_resource,
        ),
    )


def _cluster_queue_limits(earlier: LimitRules) -> LimitRules:
    return (
        # v1beta2 calls the field of the cohort cohortName.
        earlier.swap(
            clusterqueue_crd.cohort_field_is_valid,
            clusterqueue_crd.cohort_name_is_valid,
        )
        # The values of flavorFungibility have other names.
        .swap(
            clusterqueue_crd.fungibility_policies_are_known_0_14,
            clusterqueue_crd.fungibility_policies_are_known,
        )
        # flavorFungibility.preference is new.
        .add(
            clusterqueue_crd.fungibility_preference_is_known,
            before=clusterqueue_crd.admission_mode_is_required,
        )
        # The modes of an admission scope are an enum.
        .add(
            clusterqueue_crd.admission_mode_is_known,
            before=clusterqueue_crd.flavors_of_group_are_unique,
        )
    )


def _workload(earlier: CRDValidation) -> CRDValidation:
    return replace(
        earlier,
        # A Workload refers to its priority class by group, kind and name; before, it only named it.
        limits=earlier.limits.add(workload_crd.priority_class_ref_is_known),
        # The messages about immutable fields are longer.
        cel=Collect(
            workload_crd.assignments_are_as_many_as_pod_sets,
            workload_crd.priority_class_ref_kind_matches_group,
            workload_crd.priority_class_is_immutable_with_quota,
            workload_crd.queue_name_is_immutable_with_quota,
            workload_crd.priority_class_ref_needs_priority,
            workload_crd.min_count_is_at_most_count,
        ),
    )


_TOPOLOGIES = when(
    topology_webhook.pods_request_valid_topology, TopologyAwareScheduling=True
)


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # A running Job may change its priority class, but neither get its first one nor lose it.
        job=earlier.job.swap(
            job_webhook.running_job_keeps_priority_class,
            job_webhook.running_job_gets_no_priority_class,
        )
        .add(
            job_webhook.priority_class_is_not_removed,
            before=job_webhook.running_job_keeps_parallelism,
        )
        # Annotations of JobSets and of the heads of Ray clusters are named where they are.
        .swap(topology_webhook.pods_request_valid_topology_0_14, _TOPOLOGIES),
        # Every new RayJob with autoscaling has to be elastic.
        new_job=Collect(ray_webhook.new_ray_job_that_autoscales_is_elastic),
        pod_owner=_pod_owners(earlier.pod_owner).swap(
            topology_webhook.pods_request_valid_topology_0_14, _TOPOLOGIES
        ),
    )


def _ray_webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # A RayJob may select an existing RayCluster, and is not managed then; elastic ones may use autoscaling.
        ray_job=Collect(ray_webhook.cluster_is_made_or_selected),
        ray_job_exempt=AnyOf(ray_webhook.ray_job_makes_no_cluster_of_its_own),
        panics=earlier.panics.drop(ray_webhook.no_cluster_is_a_panic),
        ray_cluster=earlier.ray_cluster.drop(
            ray_webhook.existing_cluster_is_refused
        ).swap(
            ray_webhook.only_elastic_work_autoscales_0_14,
            ray_webhook.only_elastic_work_autoscales_0_18,
        ),
    )


def _pod_owners(earlier: Denials) -> Denials:
    return (
        earlier.swap(
            job_webhook.running_job_keeps_priority_class,
            job_webhook.running_job_gets_no_priority_class,
        )
        .add(
            job_webhook.priority_class_is_not_removed,
            before=pod_owner_webhook.pods_of_groups_keep_their_shape,
        )
        .add(
            # A StatefulSet is scaled up once its Workload is gone, too.
            pod_owner_webhook.stateful_set_is_scaled_up_without_workload
        )
    )


def _jobs(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        # The queue is what a label names, and no longer an annotation.
        annotated_queue=First(),
        # The pods of a TrainJob are defaulted as those of a Workload, which Kueue may create.
        unreadable=earlier.unreadable.drop(train_jobs.job_sets_may_not_be_created),
        # A Job that finishes releases its reservation (in this minor only).
        release_when_finished=Each(job_reconciliation.finished_releases_quota),
    )


def _priorities(earlier: PriorityClassRules) -> PriorityClassRules:
    return replace(
        earlier,
        # The priority class of a Job can be changed, and its Workload follows.
        follow_label=AnyOf(
            workload_priority_class.workload_follows_priority_class_change
        ),
        # Pending workloads are tried again when the priority of an admitted workload changes.
        requeue_pending=AnyOf(workload_priority_class.priority_change_requeues_pending),
    )


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(
        earlier,
        # Requests that cannot be counted are rejected; 0.14 checked nothing but that the template exists.
        template=First(
            claim_templates.template_must_exist,
            claim_templates_0_17.constraints_are_refused,
            claim_templates_0_17.device_config_is_refused,
        ),
        request=First(
            claim_templates.first_available_unsupported,
            claim_templates_0_17.selectors_are_refused,
            claim_templates.admin_access_is_refused,
            claim_templates.allocation_mode_all_is_rejected,
        ),
        # The message names the field of the claim.
        unmapped_class=earlier.unmapped_class.swap(
            claim_templates_0_14.unmapped_class_message_0_14,
            claim_templates.unmapped_classes_are_refused,
        ),
    )


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # Mode All is rejected, so it is no longer charged zero.
        request=earlier.request.drop(
            claim_templates_0_14.allocation_mode_all_is_charged_zero
        ),
    )


def _queueing(earlier: QueueRules) -> QueueRules:
    return replace(
        earlier,
        # A workload that waits for its victims can no longer be overtaken.
        sticky_preemptor=AnyOf(pending_workloads.sticky_preemptor),
        # A finished workload is no longer queued when its LocalQueue is created.
        skip_on_local_queue_add=AnyOf(pending_workloads.finished_is_not_queued),
        # A deleted AdmissionCheck goes when no ClusterQueue names it any more.
        release_checks=AnyOf(in_use_finalizers.cluster_queue_change_releases_check),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        earlier,
        # The message names the requests of earlier pod sets and of this one.
        quota=earlier.quota.swap(
            fits_resource_quota.exceeds_maximum_capacity_in_one_sum,
            fits_resource_quota.exceeds_maximum_capacity,
        ),
        # A ClusterQueue can state a preference, which 0.15 reads as its opposite.
        rank=earlier.rank.swap(
            flavor_fungibility.borrowing_is_preferred,
            when(
                flavor_fungibility.inverted_preference_bug_0_15,
                FlavorFungibilityImplicitPreferenceDefault=False,
            ),
        ),
    )


def _preempting(earlier: PreemptionRules) -> PreemptionRules:
    return replace(
        earlier,
        # An eviction that conflicts with the admission is repeated.
        ignore_just_admitted=earlier.ignore_just_admitted.drop(
            preemption_policies.just_admitted_are_no_candidates
        ),
        # The message has the paths of both workloads in the cohort tree.
        preempted_message=earlier.preempted_message.swap(
            preemption_policies.preemption_message_without_paths,
            preemption_policies.preemption_message,
        ),
    )


def _checking(earlier: AdmissionCheckRules) -> AdmissionCheckRules:
    return replace(
        earlier,
        # A check that names no flavor is for all of them, as one that names all of them.
        required=First(
            admission_checks.checks_if_all_are_for_all_flavors,
            admission_checks.checks_of_assigned_flavors,
        ),
        # The scheduler writes why a workload is pending over what has changed since it was queued.
        restore=AnyOf(admission_checks.checks_are_restored),
        # A check can delay the next attempt, and counts its retries.
        delay=First(admission_checks.retry_delay),
        keep=Each(
            admission_checks.eviction_keeps_delay,
            admission_checks.eviction_counts_retry,
        ),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # There is a second version of the Configuration, whose waitForPodsReady needs a timeout.
        before=earlier.before.add(
            pods_ready_settings.timeout_is_specified,
            pods_ready_settings.first_timeout_is_not_zero,
            before=pods_ready_settings.waiting_times_are_not_negative,
        ),
    )


def _waiting(earlier: PodsReadyRules) -> PodsReadyRules:
    return replace(
        earlier,
        # The second version of the Configuration has no field enable.
        enabled=earlier.enabled.add(pods_ready.section_enables),
        # The first backoff has no limit, and a limit of zero is none.
        backoff=First(
            pods_ready.first_backoff_is_the_base,
            pods_ready.backoff_without_a_limit,
            pods_ready.backoff_doubles,
        ),
        # Workloads with devices are tried again when their backoff ends.
        ignore_backoff_end=AnyOf(),
    )


def _provisioning(earlier: ProvisioningRules) -> ProvisioningRules:
    return replace(
        earlier,
        # The check counts the retries, and delays the workload, which keeps its quota until then.
        retries=Each(provisioning.retries_of_check),
        delay=First(provisioning.delay_of_retry),
        delay_workload=First(),
        evict_first=AnyOf(),
    )


def _reporting(earlier: StatusRules) -> StatusRules:
    return replace(
        earlier,
        # status.flavors of a LocalQueue is gone.
        local_queue=earlier.local_queue.drop(
            workload_status.local_queue_flavors_status
        ),
    )


def _topology(earlier: TopologyRules) -> TopologyRules:
    return replace(
        earlier,
        # Node affinity counts, and messages say why nodes are excluded.
        exclude_node=earlier.exclude_node.add(topology.node_affinity_excludes_node),
        explain_exclusions=AnyOf(topology.message_counts_excluded_nodes),
    )
