"""Kueue 0.14: the rules by which the API server and webhooks reject or default objects."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_validation import (
    APIValidation,
    CRDValidation,
    JobValidation,
    ResourceGroupValidation,
    WebhookRules,
)
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, Fold
from kueue_dra_ref.rules.config import mapping_names_0_15
from kueue_dra_ref.rules.crd import (
    admissioncheck_crd,
    clusterqueue_crd,
    localqueue_crd,
    resourceflavor_crd,
    shared_crd,
    topology_crd,
    work_crd,
    workload_crd,
)
from kueue_dra_ref.rules.kubernetes import (
    job_completion_validation,
    job_update_validation,
    job_validation,
)
from kueue_dra_ref.rules.webhooks import (
    clusterqueue_webhook,
    job_webhook,
    pod_owner_webhook,
    pod_webhook,
    ray_webhook,
    reclaimable_pods,
    resourceflavor_webhook,
    topology_webhook,
    workload_webhook,
)

_TOPOLOGY = (
    when(topology_webhook.pods_request_one_topology, TopologyAwareScheduling=True),
    when(topology_webhook.requested_topology_is_valid, TopologyAwareScheduling=True),
)
_CONTAINER = Collect(
    job_validation.container_name_and_image_are_required,
    job_validation.container_resources_are_valid,
    job_validation.container_claims_exist,
    job_validation.container_name_is_unique,
    job_validation.container_restart_policy_is_known,
)
"""What is checked of each container, of a pod and of a pod template."""
_POD = (
    job_validation.pod_resources_are_valid,
    job_validation.pod_restart_policy_is_known,
    job_validation.node_selection_is_valid,
    job_validation.pod_tolerations_are_valid,
    job_validation.pod_class_names_are_valid,
    job_validation.pod_overhead_is_valid,
)
"""What is checked after the containers, of a pod and of a pod template."""

DEFINITIONS = APIValidation(
    admission_check=CRDValidation(
        limits=Collect(admissioncheck_crd.controller_name_is_required),
        cel=Collect(admissioncheck_crd.controller_name_is_immutable),
    ),
    cluster_queue=CRDValidation(
        limits=Collect(
            clusterqueue_crd.at_most_16_resource_groups,
            clusterqueue_crd.group_covers_1_to_64_resources,
            clusterqueue_crd.group_has_1_to_64_flavors,
            clusterqueue_crd.flavor_has_1_to_64_quotas,
            clusterqueue_crd.group_fields_are_required,
            clusterqueue_crd.nominal_quota_is_required,
            clusterqueue_crd.flavor_name_is_valid,
            clusterqueue_crd.cohort_field_is_valid,
            clusterqueue_crd.selector_expression_is_complete,
            clusterqueue_crd.queueing_strategy_is_known,
            shared_crd.stop_policy_is_known,
            clusterqueue_crd.preemption_policies_are_known,
            shared_crd.integers_have_32_bits,
            clusterqueue_crd.fungibility_policies_are_known_0_14,
            clusterqueue_crd.admission_mode_is_required,
            clusterqueue_crd.flavors_of_group_are_unique,
            clusterqueue_crd.quotas_of_flavor_are_unique,
        ),
        cel=Collect(
            clusterqueue_crd.borrowing_limit_needs_cohort_name,
            clusterqueue_crd.borrow_within_cohort_needs_reclaim,
            clusterqueue_crd.flavor_has_quota_of_each_covered_resource,
        ),
    ),
    cohort=CRDValidation(
        limits=Collect(
            clusterqueue_crd.parent_name_is_valid,
            clusterqueue_crd.at_most_16_resource_groups,
            clusterqueue_crd.group_covers_1_to_64_resources,
            clusterqueue_crd.group_has_1_to_64_flavors,
            clusterqueue_crd.flavor_has_1_to_64_quotas,
            clusterqueue_crd.group_fields_are_required,
            clusterqueue_crd.nominal_quota_is_required,
            clusterqueue_crd.flavor_name_is_valid,
            clusterqueue_crd.flavors_of_group_are_unique,
            clusterqueue_crd.quotas_of_flavor_are_unique,
        ),
        cel=Collect(clusterqueue_crd.flavor_has_quota_of_each_covered_resource),
    ),
    job=JobValidation(
        before=Collect(
            job_validation.job_numbers_are_not_negative,
            job_completion_validation.max_failed_indexes_needs_limit_per_index,
            job_completion_validation.completion_mode_is_valid,
            job_completion_validation.indexes_are_limited,
            job_validation.pod_template_labels_are_valid,
            job_validation.pod_claims_are_valid,
            job_validation.pod_has_a_container,
        ),
        container=_CONTAINER,
        after=Collect(
            *_POD,
            job_validation.job_restart_policy_is_not_always,
            job_update_validation.completions_are_immutable,
            job_update_validation.pod_template_is_immutable,
            job_update_validation.job_termination_fields_are_immutable,
        ),
    ),
    local_queue=CRDValidation(
        limits=Collect(
            localqueue_crd.cluster_queue_name_is_valid,
            shared_crd.stop_policy_is_known,
        ),
        cel=Collect(localqueue_crd.cluster_queue_is_immutable),
    ),
    multikueue_cluster=CRDValidation(
        limits=Collect(admissioncheck_crd.kubeconfig_is_required_0_14)
    ),
    multikueue_config=CRDValidation(
        limits=Collect(admissioncheck_crd.multikueue_clusters_are_required)
    ),
    pod=JobValidation(
        before=Collect(
            job_validation.pod_claims_are_valid,
            job_validation.pod_has_a_container,
        ),
        container=_CONTAINER,
        after=Collect(*_POD),
    ),
    provisioning_request_config=CRDValidation(
        limits=Collect(admissioncheck_crd.provisioning_class_is_required)
    ),
    resource_flavor=CRDValidation(
        limits=Collect(
            resourceflavor_crd.at_most_8_labels_taints_and_tolerations,
            resourceflavor_crd.taint_key_and_effect_are_required,
        ),
        cel=Collect(
            resourceflavor_crd.taint_effect_is_known,
            resourceflavor_crd.toleration_without_key_needs_exists,
            resourceflavor_crd.toleration_seconds_needs_no_execute,
            resourceflavor_crd.toleration_operator_is_known,
            resourceflavor_crd.exists_operator_takes_no_value,
            resourceflavor_crd.toleration_effect_is_known,
            resourceflavor_crd.topology_needs_node_labels,
            resourceflavor_crd.flavor_with_topology_is_immutable,
        ),
    ),
    topology=CRDValidation(
        limits=Collect(
            topology_crd.levels_are_required, topology_crd.between_1_and_16_levels
        ),
        cel=Collect(
            topology_crd.levels_are_immutable,
            topology_crd.levels_are_unique,
            topology_crd.hostname_is_the_lowest_level,
        ),
    ),
    work=CRDValidation(
        limits=Collect(
            work_crd.pods_have_containers,
            work_crd.ray_groups_have_start_params,
            work_crd.replicated_job_names_are_unique,
        )
    ),
    workload=CRDValidation(
        limits=Collect(
            workload_crd.at_least_one_pod_set,
            workload_crd.at_most_8_pod_sets,
            workload_crd.pod_set_names_are_unique_labels,
            workload_crd.min_count_is_at_least_one,
            workload_crd.container_and_claim_names_are_unique,
            workload_crd.pod_template_fields_are_required,
            workload_crd.container_claims_are_unique,
            shared_crd.integers_have_32_bits,
            workload_crd.queue_name_is_valid,
        ),
        cel=Collect(
            workload_crd.assignments_are_as_many_as_pod_sets,
            workload_crd.priority_class_is_immutable_with_quota_short_message,
            workload_crd.queue_name_is_immutable_with_quota_short_message,
            workload_crd.priority_class_name_needs_priority,
            workload_crd.min_count_is_at_most_count,
        ),
    ),
    unknown_fields=Collect(work_crd.mpi_job_pods_have_no_resources),
    workload_priority_class=CRDValidation(
        limits=Collect(shared_crd.value_is_required, shared_crd.integers_have_32_bits)
    ),
)

WEBHOOKS = WebhookRules(
    defaults=Each(
        clusterqueue_webhook.default_empty, workload_webhook.pod_template_defaults
    ),
    drop_fields=Collect(
        when(workload_webhook.min_count_is_dropped, PartialAdmission=False)
    ),
    groups=ResourceGroupValidation(
        resource=Collect(
            clusterqueue_webhook.covered_resource_is_a_label_key,
            clusterqueue_webhook.resource_is_covered_once,
        ),
        quota=Collect(
            clusterqueue_webhook.quotas_follow_covered_resources,
            clusterqueue_webhook.nominal_quota_is_not_negative,
            clusterqueue_webhook.borrowing_limit_needs_cohort,
            clusterqueue_webhook.borrowing_limit_is_not_negative,
            when(clusterqueue_webhook.lending_limit_is_not_negative, LendingLimit=True),
            when(clusterqueue_webhook.lending_limit_needs_cohort, LendingLimit=True),
            when(
                clusterqueue_webhook.lending_limit_is_at_most_nominal_quota,
                LendingLimit=True,
            ),
        ),
        flavor=Collect(clusterqueue_webhook.flavor_is_in_one_group),
    ),
    cluster_queue=Collect(
        clusterqueue_webhook.namespace_selector_is_valid,
        clusterqueue_webhook.weight_is_zero_or_representable,
        clusterqueue_webhook.at_most_256_flavors,
        clusterqueue_webhook.at_most_256_resources,
        clusterqueue_webhook.at_most_512_quotas_in_a_group,
    ),
    cohort=Collect(clusterqueue_webhook.weight_is_zero_or_representable),
    off=AnyOf(job_webhook.work_is_off),
    job_exempt=AnyOf(ray_webhook.update_without_queue_is_not_validated),
    job=Collect(
        ray_webhook.existing_cluster_is_refused,
        ray_webhook.cluster_is_deleted_at_the_end,
        ray_webhook.only_elastic_work_autoscales_0_14,
        ray_webhook.elastic_cluster_keeps_its_gates,
        ray_webhook.at_most_7_worker_groups,
        ray_webhook.no_worker_group_is_called_head,
        job_webhook.job_queue_name_is_valid,
        job_webhook.jax_job_has_no_prebuilt_workload,
        when(
            job_webhook.runtime_of_train_job_exists,
            TopologyAwareScheduling=True,
        ),
        job_webhook.execution_time_is_positive,
        job_webhook.min_parallelism_is_below_pod_count,
        *_TOPOLOGY,
        job_webhook.running_job_keeps_queue_name,
        when(
            job_webhook.queue_name_is_not_removed_with_default_queue,
            LocalQueueDefaulting=True,
        ),
        job_webhook.running_work_keeps_execution_time,
        job_webhook.running_job_keeps_priority_class,
        job_webhook.running_job_keeps_parallelism,
        when(job_webhook.elastic_work_stays_so_0_17, ElasticJobsViaWorkloadSlices=True),
        job_webhook.changed_execution_time_is_positive,
    ),
    pod=Collect(
        *_TOPOLOGY,
        pod_webhook.group_has_name_and_total,
        pod_webhook.group_total_is_above_zero,
        pod_webhook.group_name_is_immutable,
        pod_webhook.unretriable_pods_stay_so,
    ),
    pod_owner=Collect(
        job_webhook.job_queue_name_is_valid,
        pod_owner_webhook.work_with_ready_pods_keeps_queue_name,
        pod_owner_webhook.leader_worker_set_keeps_queue_name,
        job_webhook.running_job_keeps_priority_class,
        pod_owner_webhook.pods_of_groups_keep_their_shape,
        pod_owner_webhook.stateful_set_keeps_its_replicas,
    ),
    resource_flavor=Collect(
        resourceflavor_webhook.node_labels_are_valid,
        resourceflavor_webhook.taints_are_valid_and_unique,
        resourceflavor_webhook.toleration_key_is_a_label_key,
    ),
    workload=Collect(
        workload_webhook.requests_have_no_pods,
        workload_webhook.at_most_one_min_count,
        reclaimable_pods.reclaimable_pods_are_pods,
        reclaimable_pods.reclaimable_pods_do_not_decrease_0_17,
        workload_webhook.updates_of_ready_checks_are_immutable,
        when(
            workload_webhook.pod_sets_are_immutable_with_quota,
            ElasticJobsViaWorkloadSlices=False,
        ),
        when(
            workload_webhook.pod_sets_may_only_shrink_with_quota,
            ElasticJobsViaWorkloadSlices=True,
        ),
    ),
    # In the words of Kubernetes 1.34.
    rephrase=Fold(mapping_names_0_15.qualified_name_messages),
)
