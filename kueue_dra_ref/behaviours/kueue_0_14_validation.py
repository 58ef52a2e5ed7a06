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
from kueue_dra_ref.model.slots import Collect, Each, Fold
from kueue_dra_ref.rules.config import mapping_names_0_15
from kueue_dra_ref.rules.crd import (
    clusterqueue_crd,
    localqueue_crd,
    resourceflavor_crd,
    shared_crd,
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
    resourceflavor_webhook,
    workload_webhook,
)

DEFINITIONS = APIValidation(
    cluster_queue=CRDValidation(
        limits=Collect(
            clusterqueue_crd.at_most_16_resource_groups,
            clusterqueue_crd.a_group_covers_1_to_64_resources,
            clusterqueue_crd.a_group_has_1_to_64_flavors,
            clusterqueue_crd.a_flavor_has_1_to_64_quotas,
            clusterqueue_crd.a_group_says_what_there_is_quota_of,
            clusterqueue_crd.a_quota_says_how_much_there_is,
            clusterqueue_crd.a_group_names_flavors_as_objects_are,
            clusterqueue_crd.a_cohort_without_a_field_of_that_name_is_named_as_objects_are,
            clusterqueue_crd.a_selector_says_what_it_compares,
            clusterqueue_crd.queueing_strategy_is_known,
            shared_crd.stop_policy_is_known,
            clusterqueue_crd.preemption_policies_are_known,
            shared_crd.numbers_have_32_bits,
            clusterqueue_crd.when_can_borrow_is_known,
            clusterqueue_crd.an_admission_scope_has_a_mode,
            clusterqueue_crd.a_flavor_is_once_in_a_group,
            clusterqueue_crd.a_resource_is_once_in_a_flavor,
        ),
        cel=Collect(
            clusterqueue_crd.borrowing_is_limited_in_a_cohort_only,
            clusterqueue_crd.borrow_within_cohort_needs_reclaim,
            clusterqueue_crd.a_flavor_has_a_quota_of_each_resource,
        ),
    ),
    cohort=CRDValidation(
        limits=Collect(
            clusterqueue_crd.a_parent_is_named_as_objects_are,
            clusterqueue_crd.at_most_16_resource_groups,
            clusterqueue_crd.a_group_covers_1_to_64_resources,
            clusterqueue_crd.a_group_has_1_to_64_flavors,
            clusterqueue_crd.a_flavor_has_1_to_64_quotas,
            clusterqueue_crd.a_group_says_what_there_is_quota_of,
            clusterqueue_crd.a_quota_says_how_much_there_is,
            clusterqueue_crd.a_group_names_flavors_as_objects_are,
            clusterqueue_crd.a_flavor_is_once_in_a_group,
            clusterqueue_crd.a_resource_is_once_in_a_flavor,
        ),
        cel=Collect(clusterqueue_crd.a_flavor_has_a_quota_of_each_resource),
    ),
    job=JobValidation(
        before=Collect(
            job_validation.a_job_counts_nothing_below_zero,
            job_completion_validation.failures_of_indexes_are_limited_each,
            job_completion_validation.a_job_completes_by_number_or_by_index,
            job_completion_validation.indexes_are_not_too_many,
            job_validation.pod_template_labels_are_valid,
            job_validation.a_claim_of_a_pod_has_a_name_and_comes_from_somewhere,
            job_validation.a_pod_has_a_container,
        ),
        container=Collect(
            job_validation.a_container_has_a_name_and_an_image,
            job_validation.a_container_asks_for_what_there_is,
            job_validation.a_container_uses_claims_of_its_pod,
            job_validation.a_container_has_a_name_of_its_own,
            job_validation.container_restart_policy_is_known,
        ),
        after=Collect(
            job_validation.a_pod_asks_for_what_its_containers_need,
            job_validation.a_pod_is_started_again_in_known_words,
            job_validation.pods_choose_nodes_by_labels,
            job_validation.pods_tolerate_what_taints_can_be,
            job_validation.pods_name_classes_as_objects_are,
            job_validation.overhead_is_of_what_there_is,
            job_validation.the_pods_of_a_job_end,
            job_update_validation.completions_stay,
            job_update_validation.pods_of_a_job_stay,
            job_update_validation.job_termination_fields_are_immutable,
        ),
    ),
    local_queue=CRDValidation(
        limits=Collect(
            localqueue_crd.a_cluster_queue_is_named_as_objects_are,
            shared_crd.stop_policy_is_known,
        ),
        cel=Collect(localqueue_crd.a_local_queue_stays_with_its_cluster_queue),
    ),
    resource_flavor=CRDValidation(
        limits=Collect(
            resourceflavor_crd.a_flavor_has_at_most_8_labels_taints_and_tolerations,
            resourceflavor_crd.a_taint_has_a_key_and_an_effect,
        ),
        cel=Collect(
            resourceflavor_crd.the_effect_of_a_taint_is_known,
            resourceflavor_crd.toleration_without_key_needs_exists,
            resourceflavor_crd.toleration_seconds_needs_no_execute,
            resourceflavor_crd.the_operator_of_a_toleration_is_known,
            resourceflavor_crd.exists_operator_takes_no_value,
            resourceflavor_crd.the_effect_of_a_toleration_is_known,
        ),
    ),
    workload=CRDValidation(
        limits=Collect(
            workload_crd.a_workload_has_a_pod_set,
            workload_crd.at_most_8_pod_sets,
            workload_crd.a_pod_set_has_a_name_of_its_own,
            workload_crd.the_fewest_pods_are_at_least_one,
            workload_crd.containers_and_claims_differ_in_their_names,
            workload_crd.pods_have_containers_and_names,
            workload_crd.a_container_lists_a_claim_once,
            shared_crd.numbers_have_32_bits,
            workload_crd.a_workload_names_its_queue_as_objects_are,
        ),
        cel=Collect(
            workload_crd.priority_class_is_immutable_with_quota_short_message,
            workload_crd.queue_name_is_immutable_with_quota_short_message,
            workload_crd.a_named_priority_class_comes_with_its_priority,
            workload_crd.the_fewest_pods_are_no_more_than_all,
        ),
    ),
    workload_priority_class=CRDValidation(
        limits=Collect(
            shared_crd.a_priority_class_has_a_value, shared_crd.numbers_have_32_bits
        )
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
            clusterqueue_webhook.a_covered_resource_is_called_as_labels_are,
            clusterqueue_webhook.a_resource_is_covered_once,
        ),
        quota=Collect(
            clusterqueue_webhook.quotas_come_in_the_order_of_the_resources,
            clusterqueue_webhook.no_quota_is_negative,
            clusterqueue_webhook.borrowing_limit_needs_cohort,
            clusterqueue_webhook.no_borrowing_limit_is_negative,
            when(clusterqueue_webhook.no_lending_limit_is_negative, LendingLimit=True),
            when(clusterqueue_webhook.lending_limit_needs_cohort, LendingLimit=True),
            when(
                clusterqueue_webhook.a_cluster_queue_lends_no_more_than_it_has,
                LendingLimit=True,
            ),
        ),
        flavor=Collect(clusterqueue_webhook.a_flavor_is_in_one_group),
    ),
    cluster_queue=Collect(
        clusterqueue_webhook.namespaces_are_selected_by_labels,
        clusterqueue_webhook.weight_is_zero_or_representable,
        clusterqueue_webhook.at_most_256_flavors,
        clusterqueue_webhook.at_most_256_resources,
        clusterqueue_webhook.at_most_512_quotas_in_a_group,
    ),
    cohort=Collect(clusterqueue_webhook.weight_is_zero_or_representable),
    job=Collect(
        job_webhook.a_queue_is_named_as_objects_are,
        job_webhook.the_fewest_pods_are_fewer_than_all,
        job_webhook.a_running_job_stays_in_its_queue,
        when(
            job_webhook.queue_name_is_not_removed_with_default_queue,
            LocalQueueDefaulting=True,
        ),
        job_webhook.a_running_job_keeps_its_priority_class,
        job_webhook.a_running_job_with_fewest_pods_keeps_its_parallelism,
    ),
    resource_flavor=Collect(
        resourceflavor_webhook.node_labels_are_labels,
        resourceflavor_webhook.taints_are_made_of_labels_and_differ,
        resourceflavor_webhook.keys_that_are_tolerated_are_label_keys,
    ),
    workload=Collect(
        workload_webhook.no_request_is_called_pods,
        workload_webhook.at_most_one_pod_set_may_shrink,
        when(
            workload_webhook.pod_sets_with_quota_stay,
            ElasticJobsViaWorkloadSlices=False,
        ),
        when(
            workload_webhook.pod_sets_with_quota_stay_but_for_fewer_pods,
            ElasticJobsViaWorkloadSlices=True,
        ),
    ),
    # In the words of Kubernetes 1.34.
    rephrase=Fold(mapping_names_0_15.names_are_qualified_and_counted_in_characters),
)
