"""Kueue 0.19: what is refused of objects, by the API server that knows Kueue's definitions and by Kueue itself."""

from __future__ import annotations

from kueue_dra_ref.behaviours.parts_writing import Checks, Definition, Definitions, GroupChecks, JobDefinition, Webhooks
from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import (
    definitions,
    flavor_definition,
    flavor_webhooks,
    job_changes,
    job_completion,
    job_definition,
    job_webhooks,
    local_queue_definition,
    quota_definition,
    quota_webhooks,
    workload_definition,
    workload_webhooks,
)

_GROUPS: Checks = (
    quota_definition.at_most_16_resource_groups,
    quota_definition.a_group_covers_1_to_64_resources,
    quota_definition.a_group_has_1_to_64_flavors,
    quota_definition.a_flavor_has_1_to_64_quotas,
    quota_definition.a_group_says_what_there_is_quota_of,
    quota_definition.a_quota_says_how_much_there_is,
    quota_definition.a_group_names_flavors_as_objects_are,
)
_ONCE: Checks = (quota_definition.a_flavor_is_once_in_a_group, quota_definition.a_resource_is_once_in_a_flavor)

_CLUSTER_QUEUES = Definition(
    limits=(
        *_GROUPS,
        quota_definition.a_cohort_is_named_as_objects_are,
        quota_definition.a_selector_says_what_it_compares,
        quota_definition.a_queue_keeps_to_the_known_strategies,
        definitions.a_queue_runs_is_held_or_drained,
        quota_definition.preemption_keeps_to_the_known_policies,
        definitions.numbers_have_32_bits,
        quota_definition.a_search_stops_or_tries_the_next_flavor,
        quota_definition.a_preference_is_for_borrowing_or_preemption,
        quota_definition.an_admission_scope_has_a_mode,
        quota_definition.the_mode_of_an_admission_scope_is_known,
        *_ONCE,
    ),
    cel=(
        quota_definition.borrowing_is_limited_in_a_cohort_only,
        quota_definition.who_never_reclaims_does_not_preempt_while_borrowing,
        quota_definition.a_preference_needs_a_search_that_goes_on,
        quota_definition.a_flavor_has_a_quota_of_each_resource,
    ),
)

_WORKLOADS = Definition(
    limits=(
        workload_definition.a_workload_has_a_pod_set,
        workload_definition.at_most_18_pod_sets,
        workload_definition.a_pod_set_has_a_name_of_its_own,
        workload_definition.the_fewest_pods_are_at_least_one,
        workload_definition.containers_and_claims_differ_in_their_names,
        workload_definition.pods_have_containers_and_names,
        workload_definition.a_container_lists_a_claim_once,
        definitions.numbers_have_32_bits,
        workload_definition.a_workload_names_its_queue_as_objects_are,
        workload_definition.a_priority_class_is_of_a_known_kind,
    ),
    cel=(
        workload_definition.a_priority_class_is_of_the_kind_of_its_group,
        workload_definition.a_workload_with_quota_has_a_class_or_none,
        workload_definition.a_workload_with_quota_keeps_its_queue,
        workload_definition.a_priority_class_comes_with_its_priority,
        workload_definition.the_fewest_pods_are_no_more_than_all,
    ),
)

_FLAVORS = Definition(
    limits=(
        flavor_definition.a_flavor_has_at_most_8_labels_taints_and_tolerations,
        flavor_definition.a_taint_has_a_key_and_an_effect,
    ),
    cel=(
        flavor_definition.the_effect_of_a_taint_is_known,
        flavor_definition.without_a_key_everything_is_tolerated,
        flavor_definition.only_who_may_stay_is_tolerated_for_a_time,
        flavor_definition.the_operator_of_a_toleration_is_known,
        flavor_definition.what_exists_has_no_value,
        flavor_definition.the_effect_of_a_toleration_is_known,
    ),
)

DEFINITIONS = Definitions(
    cluster_queue=_CLUSTER_QUEUES,
    cohort=Definition(
        limits=(quota_definition.a_parent_is_named_as_objects_are, *_GROUPS, *_ONCE),
        cel=(quota_definition.a_flavor_has_a_quota_of_each_resource,),
    ),
    job=JobDefinition(
        before=(
            job_definition.a_job_counts_nothing_below_zero,
            job_completion.failures_of_indexes_are_limited_each,
            job_completion.a_job_completes_by_number_or_by_index,
            job_completion.indexes_are_not_too_many,
            job_definition.pods_are_labelled_as_objects_are,
            job_definition.a_claim_of_a_pod_has_a_name_and_comes_from_somewhere,
            job_definition.a_pod_has_a_container,
        ),
        container=(
            job_definition.a_container_has_a_name_and_an_image,
            job_definition.a_container_asks_for_what_there_is,
            job_definition.a_container_uses_claims_of_its_pod,
            job_definition.a_container_has_a_name_of_its_own,
            job_definition.a_container_is_started_again_in_known_words,
        ),
        after=(
            job_definition.a_pod_asks_for_what_its_containers_need,
            job_definition.a_pod_is_started_again_in_known_words,
            job_definition.pods_choose_nodes_by_labels,
            job_definition.pods_tolerate_what_taints_can_be,
            job_definition.pods_name_classes_as_objects_are,
            job_definition.overhead_is_of_what_there_is,
            job_definition.the_pods_of_a_job_end,
            job_changes.completions_stay,
            job_changes.pods_of_a_job_stay,
            job_changes.what_ends_a_job_stays,
        ),
    ),
    local_queue=Definition(
        limits=(
            local_queue_definition.a_cluster_queue_is_named_as_objects_are,
            definitions.a_queue_runs_is_held_or_drained,
        ),
        cel=(local_queue_definition.a_local_queue_stays_with_its_cluster_queue,),
    ),
    resource_flavor=_FLAVORS,
    workload=_WORKLOADS,
    workload_priority_class=Definition(
        limits=(definitions.a_priority_class_has_a_value, definitions.numbers_have_32_bits)
    ),
)

WEBHOOKS = Webhooks(
    empty=(quota_webhooks.what_is_not_said_is_empty,),
    dropped=(when(workload_webhooks.nothing_is_said_of_fewer_pods, PartialAdmission=False),),
    groups=GroupChecks(
        resource=(quota_webhooks.a_covered_resource_is_called_as_labels_are, quota_webhooks.a_resource_is_covered_once),
        quota=(
            quota_webhooks.quotas_come_in_the_order_of_the_resources,
            quota_webhooks.no_quota_is_negative,
            quota_webhooks.only_who_has_a_cohort_limits_what_it_borrows,
            quota_webhooks.no_borrowing_limit_is_negative,
            quota_webhooks.no_lending_limit_is_negative,
            quota_webhooks.only_who_has_a_cohort_limits_what_it_lends,
            quota_webhooks.a_cluster_queue_lends_no_more_than_it_has,
        ),
        flavor=(quota_webhooks.a_flavor_is_in_one_group,),
    ),
    cluster_queue=(
        quota_webhooks.namespaces_are_selected_by_labels,
        quota_webhooks.a_weight_is_none_or_can_be_reckoned_with,
        quota_webhooks.at_most_256_flavors,
        quota_webhooks.at_most_256_resources,
        quota_webhooks.at_most_512_quotas_in_a_group,
    ),
    cohort=(quota_webhooks.a_weight_is_none_or_can_be_reckoned_with,),
    resource_flavor=(
        flavor_webhooks.node_labels_are_labels,
        flavor_webhooks.taints_are_made_of_labels_and_differ,
        flavor_webhooks.keys_that_are_tolerated_are_label_keys,
    ),
    job=(
        job_webhooks.a_queue_is_named_as_objects_are,
        job_webhooks.the_fewest_pods_are_fewer_than_all,
        job_webhooks.a_running_job_stays_in_its_queue,
        job_webhooks.a_job_leaves_no_queue_where_there_is_a_default_one,
        job_webhooks.a_running_job_is_given_no_priority_class,
        job_webhooks.a_job_keeps_a_priority_class,
        job_webhooks.a_running_job_with_fewest_pods_keeps_its_parallelism,
    ),
    workload=(
        workload_webhooks.no_amount_is_called_pods,
        when(workload_webhooks.no_amount_is_negative, WorkloadValidateResourcesAreNonNegative=True),
        workload_webhooks.at_most_one_pod_set_may_shrink,
        when(workload_webhooks.pod_sets_with_quota_stay, ElasticJobsViaWorkloadSlices=False),
        when(workload_webhooks.pod_sets_with_quota_stay_but_for_fewer_pods, ElasticJobsViaWorkloadSlices=True),
    ),
)
