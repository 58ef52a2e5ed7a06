"""KEP-2941 of April 2025 (ResourceQuota kind): what it states otherwise than Kueue 0.19, which decides where it is silent."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import EARLIER_TEXTS_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import KEP_2025_04_GATES
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import Collect, Each, First
from kueue_dra_ref.rules.config import (
    config_validation,
    device_class_mappings,
    mapping_sources,
)
from kueue_dra_ref.rules.crd import clusterqueue_crd
from kueue_dra_ref.rules.dra import (
    charges,
    direct_claims,
    dra_workloads,
    mapper,
    resource_quota_kind,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.flavorassigner import fits_resource_quota
from kueue_dra_ref.rules.kubernetes import job_validation
from kueue_dra_ref.rules.queue import admissibility, pending_workloads
from kueue_dra_ref.rules.webhooks import clusterqueue_webhook
from kueue_dra_ref.rules.workload import (
    unadmitted_workloads,
    workload_priority_class,
    workload_status,
)


def kep_2025_04() -> Behaviour:
    """KEP-2941, April 2025 as a value."""
    earlier = kueue_0_19()
    return replace(
        earlier,
        name="kep-2025-04",
        title="KEP-2941, April 2025",
        kueue="",
        versions=EARLIER_TEXTS_VERSIONS,
        gates=KEP_2025_04_GATES,
        integration="KueueDynamicResourceAllocation",
        dependants=(),
        role=reads("resourceclaims", "resourceclaimtemplates"),
        mapped=MappingSource.IN_CLUSTER_QUEUES,
        mapping=replace(
            earlier.mapping,
            all_mappings=earlier.mapping.all_mappings.drop(
                device_class_mappings.at_most_16_mappings
            ),
            name=earlier.mapping.name.drop(
                device_class_mappings.name_is_a_label_key,
                device_class_mappings.name_is_at_most_253_long,
                device_class_mappings.name_is_used_once,
            ),
            class_list=earlier.mapping.class_list.drop(
                device_class_mappings.at_least_one_class,
                device_class_mappings.at_most_8_classes,
            ),
            device_class=Each(),
            source_type=Each(),
            source=Collect(),
            sources=earlier.mapping.sources.drop(mapping_sources.sources_have_one_type),
            before=earlier.mapping.before.drop(
                config_validation.fair_sharing_strategies_are_valid
            ),
            transformation=earlier.mapping.transformation.drop(
                config_validation.transformation_strategy_is_known,
                config_validation.transformation_input_is_unique,
            ),
            after=earlier.mapping.after.drop(
                config_validation.exclusions_conflict_with_ignore_undeclared,
                config_validation.quota_check_strategy_is_known,
            ),
        ),
        processing=replace(
            earlier.processing,
            detected=earlier.processing.detected.swap(
                dra_workloads.claim_template_makes_a_dra_workload,
                when(
                    resource_quota_kind.container_claim_makes_a_dra_workload,
                    KueueDynamicResourceAllocation=True,
                ),
            ),
            refused=earlier.processing.refused.drop(
                dra_workloads.claims_need_gate,
                dra_workloads.direct_claims_are_refused,
            ),
            read_claim=First(direct_claims.claim_from_workload_namespace),
            rbac_denied=earlier.processing.rbac_denied.swap(
                dra_workloads.templates_need_rbac,
                when(
                    dra_workloads.target_cluster_queue_must_exist,
                    KueueDynamicResourceAllocation=True,
                ),
            ),
            template=earlier.processing.template.add(direct_claims.claim_must_exist),
            request=First(),
            matching=DeviceMatchingRules(),
            mappings=earlier.processing.mappings.swap(
                mapper.mappings_from_configuration,
                resource_quota_kind.mappings_from_cluster_queue,
            ),
        ),
        charging=replace(
            earlier.charging,
            claims=earlier.charging.claims.swap(
                charges.claims_of_pod,
                resource_quota_kind.claims_that_containers_list,
            ),
            request=First(
                charges.admin_access_is_not_charged,
                charges.every_subrequest_is_charged,
                charges.allocation_mode_all_is_charged_worst_case,
                charges.the_count_is_charged,
            ),
            once_per_workload=First(direct_claims.existing_claim_is_charged_once),
        ),
        queueing=replace(
            earlier.queueing,
            queue_not_ready=First(
                admissibility.local_queue_must_exist,
                admissibility.local_queue_must_be_active,
                admissibility.cluster_queue_must_exist,
                admissibility.cluster_queue_must_be_active,
            ),
            skip_in_requeue=earlier.queueing.skip_in_requeue.drop(
                pending_workloads.requeued_false_is_skipped
            ),
        ),
        assigning=replace(
            earlier.assigning,
            stop_at_empty_pod_set=earlier.assigning.stop_at_empty_pod_set.drop(
                fits_resource_quota.empty_pod_set_stops_assignment
            ),
        ),
        reporting=replace(
            earlier.reporting,
            pending_condition=earlier.reporting.pending_condition.drop(
                unadmitted_workloads.reason_no_matching_flavor,
                unadmitted_workloads.reason_exceeds_capacity,
                unadmitted_workloads.reason_waiting_for_quota,
                unadmitted_workloads.reason_waiting_for_preemption,
                unadmitted_workloads.reason_misconfigured,
                unadmitted_workloads.reason_stopped,
                unadmitted_workloads.reason_deactivated,
                unadmitted_workloads.reason_pending_evaluation,
            ).swap(
                workload_status.pending_condition, workload_status.pending_condition
            ),
            blocked=earlier.reporting.blocked.drop(
                unadmitted_workloads.reason_no_matching_flavor,
                unadmitted_workloads.reason_exceeds_capacity,
                unadmitted_workloads.reason_waiting_for_quota,
                unadmitted_workloads.reason_waiting_for_preemption,
                unadmitted_workloads.reason_misconfigured,
                unadmitted_workloads.reason_stopped,
                unadmitted_workloads.reason_deactivated,
                unadmitted_workloads.reason_pending_evaluation,
            ).swap(
                workload_status.inadmissible_queue_condition,
                workload_status.inadmissible_queue_condition,
            ),
            quota_released=earlier.reporting.quota_released.drop(
                unadmitted_workloads.reason_no_matching_flavor,
                unadmitted_workloads.reason_exceeds_capacity,
                unadmitted_workloads.reason_waiting_for_quota,
                unadmitted_workloads.reason_waiting_for_preemption,
                unadmitted_workloads.reason_misconfigured,
                unadmitted_workloads.reason_stopped,
                unadmitted_workloads.reason_deactivated,
                unadmitted_workloads.reason_pending_evaluation,
            ).swap(
                workload_status.unset_quota_reservation_condition,
                workload_status.unset_quota_reservation_condition,
            ),
            inadmissible_condition=earlier.reporting.inadmissible_condition.drop(
                unadmitted_workloads.reason_misconfigured_on_inadmissible
            ).swap(
                workload_status.inadmissible_condition,
                workload_status.inadmissible_condition,
            ),
            unset_quota_reservation=earlier.reporting.unset_quota_reservation.drop(
                unadmitted_workloads.no_quota_reservation_condition
            ),
            reobserved=earlier.reporting.reobserved.drop(
                unadmitted_workloads.refresh_on_new_generation
            ),
        ),
        priorities=replace(
            earlier.priorities,
            given=earlier.priorities.given.drop(
                workload_priority_class.default_workload_priority_class
            ),
        ),
        objects=Collect(
            resource_quota_kind.kind_is_device_class,
            resource_quota_kind.device_class_names_need_kind,
            resource_quota_kind.kind_needs_device_class_names,
            resource_quota_kind.class_has_one_name,
            resource_quota_kind.name_has_one_kind,
        ),
        definitions=replace(
            earlier.definitions,
            cluster_queue=replace(
                earlier.definitions.cluster_queue,
                cel=earlier.definitions.cluster_queue.cel.drop(
                    clusterqueue_crd.flavor_has_quota_of_each_covered_resource
                ),
            ),
            job=replace(
                earlier.definitions.job,
                container=earlier.definitions.job.container.drop(
                    job_validation.container_claims_exist
                ),
            ),
        ),
        webhooks=replace(
            earlier.webhooks,
            groups=replace(
                earlier.webhooks.groups,
                resource=earlier.webhooks.groups.resource.drop(
                    clusterqueue_webhook.resource_is_covered_once
                ),
                quota=earlier.webhooks.groups.quota.drop(
                    clusterqueue_webhook.quotas_follow_covered_resources
                ),
                flavor=earlier.webhooks.groups.flavor.drop(
                    clusterqueue_webhook.flavor_is_in_one_group
                ),
            ),
        ),
    )
