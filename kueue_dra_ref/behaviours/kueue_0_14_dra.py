"""Kueue 0.14, the oldest release known here: its rules about dra."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_dra import AdjustResources, Charges, Preprocessing
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.config import (
    config_validation,
    device_class_mappings,
    mapping_names_0_15,
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
    before=Collect(config_validation.fair_sharing_strategies_are_valid),
    transformation=Each(
        config_validation.transformation_strategy_is_known,
        config_validation.transformation_input_is_unique,
    ),
    after=Collect(
        config_validation.managed_jobs_namespace_selector_is_valid,
        config_validation.system_namespaces_are_not_selected,
    ),
)

PROCESSING = Preprocessing(
    detected=AnyOf(
        when(
            dra_workloads.claim_template_makes_a_dra_workload,
            DynamicResourceAllocation=True,
        )
    ),
    refused=First(
        when(
            dra_workloads.direct_claims_are_refused_0_17,
            DynamicResourceAllocation=True,
        )
    ),
    read_template=First(claim_templates.template_from_workload_namespace),
    rbac_denied=First(dra_workloads.templates_need_rbac),
    template=First(claim_templates_0_14.missing_template_message_0_14),
    request=First(),
    matching=DeviceMatchingRules(),
    unmapped_class=First(claim_templates_0_14.unmapped_class_message_0_14),
    mappings=First(mapper.mappings_from_configuration),
    lookup=First(mapper.lookup_first_mapping_of_class),
    retry_on_error=AnyOf(claim_templates_0_17.every_error_is_retried),
)

CHARGING = Charges(
    claims=Collect(charges.claims_of_pod),
    request=First(
        charges.the_count_is_charged,
        claim_templates_0_14.allocation_mode_all_is_charged_zero,
    ),
    in_claim=First(claim_templates_0_17.requests_of_a_claim_wrap_around),
    in_pod=First(charges.claims_of_a_pod_add_up),
    plus_pod_requests=First(charges.devices_add_to_pod_requests),
    pods=First(charges.multiply_by_pod_count),
    transformed=First(resource_transformations.transformation_outputs_0_17),
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
