"""KEP-2941 of April 2025 (ResourceQuota kind): how the text differs from Kueue 0.19, which decides where it is silent.

Device classes are listed in the flavors of a ClusterQueue (`kind: DeviceClass`). Claims are those that containers list.

While the gate KueueDynamicResourceAllocation is on (off by default), Kueue charges the number of devices, of templates
and of ResourceClaims. It accepts requests with selectors, which it does not evaluate, and requests with firstAvailable,
adminAccess and mode All: it charges every class that the alternatives name, nothing for adminAccess, and for mode All
the largest number of devices that one claim can get. The text knows no counters, capacities or extended resources of
DeviceClasses. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import EARLIER_TEXTS_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_18 import POLICY
from kueue_dra_ref.behaviours.kueue_0_19 import REASONS, kueue_0_19
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_concurrent_admission import (
    ConcurrentAdmissionRules,
)
from kueue_dra_ref.behaviours.phases_dra import Charges, MappingSource, Preprocessing
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment, QueueRules
from kueue_dra_ref.behaviours.phases_status import (
    JobRules,
    PriorityClassRules,
    StatusRules,
)
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import KEP_2025_04_GATES
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First
from kueue_dra_ref.rules.config import (
    config_validation,
)
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import clusterqueue_crd
from kueue_dra_ref.rules.dra import (
    charges,
    direct_claims,
    dra_workloads,
    resource_quota_kind,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.flavorassigner import fits_resource_quota
from kueue_dra_ref.rules.jobframework import pod_groups, topology_requests
from kueue_dra_ref.rules.kubernetes import job_validation
from kueue_dra_ref.rules.queue import (
    admissibility,
    in_use_finalizers,
    pending_workloads,
)
from kueue_dra_ref.rules.webhooks import clusterqueue_webhook, topology_webhook
from kueue_dra_ref.rules.workload import (
    admission_checks,
    pods_ready,
    unadmitted_workloads,
    workload_priority_class,
    workload_status,
)


def kep_2025_04() -> Behaviour:
    """KEP-2941, April 2025 as a value."""
    kueue = _installed(kueue_0_19())
    return replace(
        kueue,
        mapping=_mapping(kueue.mapping),
        # Resource Quota API: rules for kind and deviceClassNames.
        objects=Collect(
            resource_quota_kind.kind_is_device_class,
            resource_quota_kind.device_class_names_need_kind,
            resource_quota_kind.kind_needs_device_class_names,
            resource_quota_kind.class_has_one_name,
            resource_quota_kind.name_has_one_kind,
        ),
        definitions=_definitions(kueue.definitions),
        webhooks=_webhooks(kueue.webhooks),
        priorities=_priorities(kueue.priorities),
        processing=_processing(kueue.processing),
        charging=_charging(kueue.charging),
        queueing=_queueing(kueue.queueing),
        assigning=_assigning(kueue.assigning),
        jobs=_jobs(kueue.jobs),
        pods=_pods(kueue.pods),
        checking=_checking(kueue.checking),
        waiting=_waiting(kueue.waiting),
        reporting=_reporting(kueue.reporting),
    )


def _installed(kueue: Behaviour) -> Behaviour:
    """Name the text, its APIs, its gate and what Kueue may read."""
    return replace(
        kueue,
        name="kep-2025-04",
        title="KEP-2941, April 2025",
        kueue="",
        # Resource Quota API: device classes are listed in ClusterQueues, the Configuration does not map them.
        versions=EARLIER_TEXTS_VERSIONS,
        mapping_source=MappingSource.IN_CLUSTER_QUEUES,
        # Feature Gate: one gate, with a name of its own.
        gates=KEP_2025_04_GATES,
        integration_gate="KueueDynamicResourceAllocation",
        dependent_gates=(),
        # Claims and templates are read; the text has no use for classes or slices.
        role=reads("resourceclaims", "resourceclaimtemplates"),
        # Concurrent admission is no subject of these texts.
        concurrent=ConcurrentAdmissionRules(),
        # Topology-aware scheduling is no subject of the text; the next ones exclude it.
        topology=TopologyRules(),
    )


def _mapping(kueue: MappingRules) -> MappingRules:
    return replace(
        kueue,
        # The Configuration has no mappings, so nothing is checked but the namespaces that it manages.
        all_mappings=Each(),
        name=Each(),
        class_list=Each(),
        device_class=Each(),
        source_type=Each(),
        source=Collect(),
        sources=Collect(),
        before=Collect(),
        transformation=Each(),
        after=kueue.after.drop(
            config_validation.exclusions_conflict_with_ignore_undeclared,
            config_validation.quota_check_strategy_is_known,
        ),
    )


def _definitions(kueue: APIValidation) -> APIValidation:
    cluster_queue = replace(
        kueue.cluster_queue,
        # There is no concurrentAdmissionPolicy.
        limits=kueue.cluster_queue.limits.drop(
            clusterqueue_crd.migration_mode_is_known
        ),
        # In the examples, flavors of a group have quota for different resources.
        cel=kueue.cluster_queue.cel.drop(
            clusterqueue_crd.flavor_has_quota_of_each_covered_resource
        ),
    )
    job = replace(
        kueue.job,
        # Workloads: in the example a container lists a claim that its pod does not have.
        container=kueue.job.container.drop(job_validation.container_claims_exist),
    )
    return replace(kueue, cluster_queue=cluster_queue, job=job)


def _webhooks(kueue: WebhookRules) -> WebhookRules:
    groups = replace(
        kueue.groups,
        # Groups may share a resource name and a flavor, and list quotas in any order.
        resource=kueue.groups.resource.drop(
            clusterqueue_webhook.resource_is_covered_once
        ),
        quota=kueue.groups.quota.drop(
            clusterqueue_webhook.quotas_follow_covered_resources
        ),
        flavor=kueue.groups.flavor.drop(clusterqueue_webhook.flavor_is_in_one_group),
    )
    # There is no concurrentAdmissionPolicy.
    cluster_queue = kueue.cluster_queue.drop(*POLICY)
    return replace(
        kueue,
        groups=groups,
        cluster_queue=cluster_queue,
        # Nor is there a topology.
        job=kueue.job.drop(
            topology_webhook.pods_request_valid_topology_0_18,
            topology_webhook.elastic_job_requests_no_domain,
        ),
        pod_owner=kueue.pod_owner.drop(topology_webhook.pods_request_valid_topology),
    )


def _priorities(kueue: PriorityClassRules) -> PriorityClassRules:
    return replace(
        kueue,
        # Default priority classes come with a gate of Kueue, which the text does not have.
        default_class=kueue.default_class.drop(
            workload_priority_class.default_workload_priority_class
        ),
    )


def _gated(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while the text's gate is on."""
    return when(each, KueueDynamicResourceAllocation=True)


def _processing(kueue: Preprocessing) -> Preprocessing:
    return replace(
        kueue,
        # Direct claims are supported.
        reject_workload=First(),
        read_claim=First(direct_claims.claim_from_workload_namespace),
        template=kueue.template.add(direct_claims.claim_must_exist),
        # Workloads, 1: claims are those of the containers' resources.claims.
        is_dra_workload=AnyOf(
            _gated(resource_quota_kind.container_claim_makes_a_dra_workload)
        ),
        # Workloads, 4.1: the map is made from the ClusterQueue, which has to exist.
        rbac_denied=First(_gated(dra_workloads.target_cluster_queue_must_exist)),
        mappings=First(resource_quota_kind.mappings_from_cluster_queue),
        # Prioritized lists, administrative access and mode All are counted, not rejected.
        request=First(),
        # Quota does not depend on which devices a selector matches.
        matching=DeviceMatchingRules(),
    )


def _charging(kueue: Charges) -> Charges:
    return replace(
        kueue,
        # Workloads, 1: a claim that no container lists is not charged.
        claims=Collect(resource_quota_kind.claims_that_containers_list),
        # Pods that name one ResourceClaim share it.
        once_per_workload=First(direct_claims.existing_claim_is_charged_once),
        # What Kueue rejects because it cannot be counted is charged at its most.
        request=First(
            charges.admin_access_is_not_charged,
            charges.every_subrequest_is_charged,
            charges.allocation_mode_all_is_charged_worst_case,
            charges.the_count_is_charged,
        ),
    )


def _queueing(kueue: QueueRules) -> QueueRules:
    return replace(
        kueue,
        # The text has no observability gate.
        queue_not_ready=kueue.queue_not_ready.drop(
            admissibility.inactive_condition,
            admissibility.namespace_mismatch_condition,
            admissibility.invalid_requests_condition,
            admissibility.reason_from_equivalence_hash,
            admissibility.reason_from_equivalence_hash_on_arrival,
            admissibility.pending_on_arrival,
            admissibility.clear_stale_condition,
        ),
        # The text does not say that a requeue skips workloads that were rejected; Kueue does.
        skip_in_requeue=kueue.skip_in_requeue.drop(
            pending_workloads.requeued_false_is_skipped
        ),
        inactive=kueue.inactive.drop(
            pending_workloads.missing_topologies_deactivate_cluster_queue
        ),
        hold_finalizer=kueue.hold_finalizer.drop(
            in_use_finalizers.topology_in_use_finalizer
        ),
    )


def _jobs(kueue: JobRules) -> JobRules:
    return replace(
        kueue,
        adjust_pod_sets=kueue.adjust_pod_sets.drop(
            topology_requests.annotated_pods_request_topology,
            topology_requests.pods_are_numbered,
        ),
        # The text does not say what else Kueue writes on pods that start.
        own_values=Each(),
    )


def _pods(kueue: PodRules) -> PodRules:
    return replace(
        kueue,
        # The text does not place pods on nodes.
        index=First(),
        topology=First(),
        incomplete=kueue.incomplete.drop(pod_groups.group_index_is_too_high),
    )


def _assigning(kueue: FlavorAssignment) -> FlavorAssignment:
    return replace(
        kueue,
        # The text does not say that a pod set without a flavor ends the assignment; Kueue does.
        stop_at_empty_pod_set=kueue.stop_at_empty_pod_set.drop(
            fits_resource_quota.empty_pod_set_stops_assignment
        ),
    )


def _checking(kueue: AdmissionCheckRules) -> AdmissionCheckRules:
    return replace(
        kueue,
        # The text has no observability gate: a workload that has lost its quota has one reason in Admitted.
        unsatisfied=Each(),
        unreserved=kueue.unreserved.ungate(
            admission_checks.no_reservation_unsatisfied_checks
        ),
    )


def _waiting(kueue: PodsReadyRules) -> PodsReadyRules:
    return replace(
        kueue,
        # The text has no gates for it, and the first version of the Configuration.
        enabled=AnyOf(pods_ready.first_version_needs_enable),
        blocked=Each(pods_ready.blocked_condition),
    )


def _reporting(kueue: StatusRules) -> StatusRules:
    return replace(
        kueue,
        # Nor does the text say what becomes of a workload without an owner.
        orphaned=First(),
        # The text has no observability gate: the reason of QuotaReserved is the same for every cause.
        inadmissible_condition=kueue.inadmissible_condition.drop(
            unadmitted_workloads.reason_misconfigured_on_inadmissible
        ).ungate(workload_status.inadmissible_condition),
        queue_not_ready=kueue.queue_not_ready.drop(*REASONS).ungate(
            workload_status.inadmissible_queue_condition
        ),
        pending_condition=kueue.pending_condition.drop(*REASONS).ungate(
            workload_status.pending_condition
        ),
        quota_released=kueue.quota_released.drop(*REASONS).ungate(
            workload_status.unset_quota_reservation_condition
        ),
        unset_quota_reservation=kueue.unset_quota_reservation.drop(
            unadmitted_workloads.no_quota_reservation_condition
        ),
        reobserved=kueue.reobserved.drop(
            unadmitted_workloads.refresh_on_new_generation
        ),
    )
