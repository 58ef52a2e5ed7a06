"""Kueue 0.19, counters and capacity: every rule that holds there, in the order of application."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.model.rule import when
from kueue_dra_ref.rules.config import (
    config_validation,
    mapping_source_fields,
    mapping_sources,
)
from kueue_dra_ref.rules.config.device_class_mappings import KUEUE_0_19_MAPPING
from kueue_dra_ref.rules.dra import (
    consumable_capacity,
    partitionable_devices,
    pool_selection,
    sourced_requests,
)

MAPPING = replace(
    KUEUE_0_19_MAPPING,
    device_class=(
        *KUEUE_0_19_MAPPING.device_class,
        mapping_sources.mappings_of_a_class_charge_different_counters,
    ),
    source_type=(
        mapping_sources.a_source_has_a_type,
        mapping_sources.a_source_has_one_type,
        when(
            mapping_sources.counters_need_gate,
            KueueDRAIntegrationPartitionableDevices=False,
        ),
        when(
            mapping_sources.capacities_need_their_gate,
            KueueDRAIntegrationConsumableCapacity=False,
        ),
    ),
    source=(
        mapping_source_fields.a_counter_is_named_by_a_label,
        mapping_source_fields.a_capacity_has_a_qualified_name,
        mapping_source_fields.a_driver_is_a_subdomain,
        mapping_source_fields.the_selector_of_a_source_compiles,
    ),
    sources=(mapping_sources.sources_have_one_type,),
    before=(config_validation.strategies_of_fair_sharing_come_in_their_order,),
    transformation=(
        config_validation.transformations_retain_or_replace,
        config_validation.an_input_is_transformed_once,
    ),
    after=(
        config_validation.the_selector_of_managed_namespaces_is_one,
        config_validation.namespaces_of_the_system_are_not_managed,
        when(
            config_validation.exclusions_conflict_with_ignore_undeclared,
            QuotaCheckStrategy=True,
        ),
        when(
            config_validation.quota_check_strategy_is_known,
            QuotaCheckStrategy=True,
        ),
    ),
)
"""What a Configuration may map."""

SOURCING = sourced_requests.SourcedRequestRules(
    sources=(sourced_requests.sources_of_a_class_are_those_of_its_mappings,),
    instead=(sourced_requests.uncountable_classes_are_not_charged,),
    drivers=(sourced_requests.selectors_are_tried_on_the_drivers_of_the_sources,),
    slices=(
        pool_selection.slices_are_those_of_the_driver,
        pool_selection.newest_pool_generation,
        pool_selection.skip_incomplete_pool,
    ),
    eligible=(
        sourced_requests.the_selector_of_the_source_holds,
        sourced_requests.the_selectors_of_a_sourced_class_hold,
        sourced_requests.the_selectors_of_a_sourced_request_hold,
    ),
    lacking=(
        sourced_requests.a_sourced_class_must_exist,
        sourced_requests.the_selectors_of_a_sourced_class_compile,
        sourced_requests.sourced_selector_error_is_retried,
        sourced_requests.too_few_sourced_devices_reject,
    ),
    counter=(partitionable_devices.what_a_device_consumes_is_charged,),
    asked=(
        consumable_capacity.requested_capacity,
        consumable_capacity.policy_default,
        consumable_capacity.full_capacity,
    ),
    rounded=(
        consumable_capacity.round_to_valid_values,
        consumable_capacity.round_up_to_range_min,
        consumable_capacity.round_up_to_range_step,
        consumable_capacity.reject_above_range_max,
    ),
    unoffered=(
        partitionable_devices.some_device_must_consume_the_counter,
        consumable_capacity.some_device_must_have_the_capacity,
        consumable_capacity.no_device_satisfies_capacity,
    ),
    worst=(sourced_requests.max_over_devices,),
    positive=(sourced_requests.clamp_negative_to_zero,),
    times=(sourced_requests.each_sourced_device_is_charged,),
    in_bytes=(sourced_requests.sourced_amounts_in_bytes,),
    followed=(sourced_requests.source_driver_slices_are_watched,),
)
