"""Kueue 0.14: the rules that map, find and charge devices, and those for the requests of pods."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_dra import AdjustResources, Charges, Preprocessing
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.config import (
    config_validation,
    device_class_mappings,
    mapping_names_0_15,
    pods_ready_settings,
    retention_settings,
)
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    claim_templates_0_14,
    claim_templates_0_17,
    dra_workloads,
    mapper,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.workload import adjust_resources, resource_transformations

MAPPING = MappingRules(
    all_mappings=Each(device_class_mappings.at_most_16_mappings),
    # Names, in the words of Kubernetes 1.34.
    name=Each(
        mapping_names_0_15.name_is_a_qualified_name,
        device_class_mappings.name_is_at_most_253_long,
        device_class_mappings.name_is_used_once,
    ),
    class_list=Each(
        device_class_mappings.at_least_one_class,
        device_class_mappings.at_most_8_classes,
    ),
    device_class=Each(
        mapping_names_0_15.class_is_a_qualified_name,
        device_class_mappings.class_is_at_most_253_long,
        device_class_mappings.class_is_named_once_in_a_mapping,
        device_class_mappings.class_maps_to_one_resource,
    ),
    # The rest of the Configuration, before and after its mappings.
    before=Collect(
        pods_ready_settings.waiting_times_are_not_negative,
        pods_ready_settings.requeuing_timestamp_is_known,
        pods_ready_settings.requeuing_numbers_are_not_negative,
        config_validation.fair_sharing_strategies_are_valid,
        config_validation.usage_half_life_is_not_negative,
        config_validation.usage_sampling_interval_is_positive,
        config_validation.resource_weights_are_not_negative,
    ),
    transformation=Each(
        config_validation.transformation_strategy_is_known,
        config_validation.transformation_input_is_unique,
    ),
    after=Collect(
        config_validation.managed_jobs_namespace_selector_is_valid,
        config_validation.system_namespaces_are_not_selected,
        retention_settings.retention_is_not_negative,
    ),
)

ADJUSTING = AdjustResources(
    pod_set=Fold(
        adjust_resources.runtime_class_overhead,
        adjust_resources.limit_range_defaults,
        adjust_resources.limits_default_requests,
    ),
    resources=Collect(adjust_resources.container_requests_are_within_limits),
    ranges=Collect(
        adjust_resources.limit_range_bounds_containers,
        adjust_resources.limit_range_bounds_pods,
    ),
)

PROCESSING = Preprocessing(
    reject_workload=First(
        when(
            dra_workloads.direct_claims_are_refused_0_17,
            DynamicResourceAllocation=True,
        )
    ),
    is_dra_workload=AnyOf(
        when(
            dra_workloads.claim_template_makes_a_dra_workload,
            DynamicResourceAllocation=True,
        )
    ),
    rbac_denied=First(dra_workloads.templates_need_rbac),
    mappings=First(mapper.mappings_from_configuration),
    read_template=First(claim_templates.template_from_workload_namespace),
    # Only a missing template is an error. Requests of all forms pass, and selectors are not evaluated.
    template=First(claim_templates_0_14.missing_template_message_0_14),
    request=First(),
    matching=DeviceMatchingRules(),
    lookup=First(mapper.lookup_first_mapping_of_class),
    unmapped_class=First(claim_templates_0_14.unmapped_class_message_0_14),
    # All errors are retried, those that never go away too.
    retry_on_error=AnyOf(claim_templates_0_17.every_error_is_retried),
)

CHARGING = Charges(
    claims=Collect(charges.claims_of_pod),
    # Mode All has no count; prioritized lists charge nothing.
    request=First(
        charges.the_count_is_charged,
        claim_templates_0_14.allocation_mode_all_is_charged_zero,
    ),
    # Sums inside a claim overflow.
    in_claim=First(claim_templates_0_17.requests_of_a_claim_wrap_around),
    in_pod=First(charges.claims_of_a_pod_add_up),
    transformed=First(resource_transformations.transformation_outputs_0_17),
    plus_pod_requests=First(charges.devices_add_to_pod_requests),
    pods=First(charges.multiply_by_pod_count),
)
