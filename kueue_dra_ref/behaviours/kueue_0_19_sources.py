"""Kueue 0.19, counters and capacity: every rule that holds there, in the order of application."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import capacity, counters, pools, source_fields, sources, sourcing, starting
from kueue_dra_ref.rules.mapping import KUEUE_0_19_MAPPING

MAPPING = replace(
    KUEUE_0_19_MAPPING,
    device_class=(*KUEUE_0_19_MAPPING.device_class, sources.mappings_of_a_class_charge_different_counters),
    source_type=(
        sources.a_source_has_a_type,
        sources.a_source_has_one_type,
        when(sources.counters_need_their_gate, KueueDRAIntegrationPartitionableDevices=False),
        when(sources.capacities_need_their_gate, KueueDRAIntegrationConsumableCapacity=False),
    ),
    source=(
        source_fields.a_counter_is_named_by_a_label,
        source_fields.a_capacity_has_a_qualified_name,
        source_fields.a_driver_is_a_subdomain,
        source_fields.the_selector_of_a_source_compiles,
    ),
    sources=(sources.sources_of_a_mapping_are_of_one_type,),
    before=(starting.strategies_of_fair_sharing_come_in_their_order,),
    transformation=(starting.transformations_retain_or_replace, starting.an_input_is_transformed_once),
    after=(
        starting.the_selector_of_managed_namespaces_is_one,
        starting.namespaces_of_the_system_are_not_managed,
        when(starting.nothing_is_excluded_where_the_uncovered_is_ignored, QuotaCheckStrategy=True),
        when(starting.what_is_not_covered_blocks_or_is_ignored, QuotaCheckStrategy=True),
    ),
)
"""What a Configuration may map."""

SOURCING = sourcing.Sourcing(
    sources=(sourcing.sources_of_a_class_are_those_of_its_mappings,),
    instead=(sourcing.devices_of_such_a_class_are_not_counted,),
    drivers=(sourcing.selectors_are_tried_on_the_drivers_of_the_sources,),
    slices=(
        pools.slices_are_those_of_the_driver,
        pools.the_newest_generation_of_a_pool_counts,
        pools.an_incomplete_pool_does_not_count,
    ),
    eligible=(
        sourcing.the_selector_of_the_source_holds,
        sourcing.the_selectors_of_a_sourced_class_hold,
        sourcing.the_selectors_of_a_sourced_request_hold,
    ),
    lacking=(
        sourcing.a_sourced_class_must_exist,
        sourcing.the_selectors_of_a_sourced_class_compile,
        sourcing.an_error_on_a_sourced_device_is_retried,
        sourcing.too_few_sourced_devices_refuse,
    ),
    counter=(counters.what_a_device_consumes_is_charged,),
    asked=(
        capacity.the_share_that_is_asked_for,
        capacity.the_share_is_the_default_otherwise,
        capacity.without_default_it_is_the_whole,
    ),
    rounded=(
        capacity.a_share_is_one_of_the_values,
        capacity.a_share_is_no_less_than_the_least,
        capacity.a_share_is_a_number_of_steps,
        capacity.a_share_is_no_more_than_the_most,
    ),
    unoffered=(
        counters.some_device_must_consume_the_counter,
        capacity.some_device_must_have_the_capacity,
        capacity.some_device_must_give_the_share,
    ),
    worst=(sourcing.the_largest_is_charged,),
    positive=(sourcing.less_than_nothing_is_nothing,),
    times=(sourcing.each_sourced_device_is_charged,),
    in_bytes=(sourcing.amounts_of_sources_are_shown_in_bytes,),
    followed=(sourcing.slices_of_the_drivers_of_sources_are_followed,),
)
