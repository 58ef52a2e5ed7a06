"""Kueue 0.18 (0.18.0 to 0.18.3): what differs from Kueue 0.19."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_18_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import OBSERVABILITY, kueue_0_19
from kueue_dra_ref.features.kube_features import kueue_0_18_gates
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.config import (
    device_class_mappings,
    mapping_source_fields,
    mapping_sources_0_18,
)
from kueue_dra_ref.rules.crd import workload_crd
from kueue_dra_ref.rules.dra import (
    devices_0_18,
    partitionable_devices,
    sourced_requests,
)
from kueue_dra_ref.rules.flavorassigner import flavor_fungibility
from kueue_dra_ref.rules.queue import pending_workloads
from kueue_dra_ref.rules.webhooks import workload_webhook
from kueue_dra_ref.rules.workload import resource_transformations

_COUNTERS = "KueueDRAIntegrationPartitionableDevices"


def kueue_0_18() -> Behaviour:
    """Kueue 0.18 as a value."""
    # What only a gate of a later minor brings is not there.
    later = kueue_0_19().settled(**{OBSERVABILITY: False})
    processing = replace(
        later.processing,
        sourcing=replace(
            later.processing.sourcing,
            # A claim's selectors are tried on all devices, whoever drives them.
            drivers=(),
            lacking=(
                devices_0_18.missing_class_at_request_path,
                devices_0_18.class_selector_error_at_request_path,
                sourced_requests.sourced_selector_error_is_retried,
                sourced_requests.too_few_sourced_devices_reject,
            ),
            counter=(devices_0_18.the_first_set_of_a_device_is_charged,),
            # There are no capacities.
            asked=(),
            rounded=(),
            unoffered=(partitionable_devices.some_device_must_consume_the_counter,),
            # Amounts are shown as plain numbers.
            in_bytes=(),
        ),
    )
    return replace(
        later,
        name="kueue-0.18",
        title="Kueue 0.18",
        kueue="0.18",
        versions=KUEUE_0_18_VERSIONS,
        gates=kueue_0_18_gates(),
        definitions=replace(
            later.definitions,
            workload=replace(
                later.definitions.workload,
                limits=swapped(
                    later.definitions.workload.limits,
                    (
                        workload_crd.at_most_18_pod_sets,
                        workload_crd.at_most_10_pod_sets,
                    ),
                ),
                # Its queue may be taken away.
                cel=swapped(
                    later.definitions.workload.cel,
                    (
                        workload_crd.queue_name_is_immutable_with_quota_reservation,
                        workload_crd.queue_name_is_immutable_with_quota,
                    ),
                ),
            ),
        ),
        webhooks=replace(
            later.webhooks,
            # Limits, pods as a whole and what is less than nothing are not looked at.
            workload=(
                workload_webhook.no_request_is_called_pods,
                *later.webhooks.workload[2:],
            ),
        ),
        # Requests are Go maps.
        by_chance=True,
        jobs=replace(
            later.jobs,
            # Indexes that have failed for good are not told from those that will be tried again.
            reclaimed=later.jobs.reclaimed[1:],
            # The default queue is given in any namespace.
            default_queue_exempt=(),
        ),
        mapping=replace(
            later.mapping,
            device_class=(
                device_class_mappings.class_is_a_label_key,
                device_class_mappings.class_is_at_most_253_long,
                device_class_mappings.class_is_named_once_in_a_mapping,
                # A class is in one mapping, whatever it charges.
                device_class_mappings.class_maps_to_one_resource,
            ),
            # One source, and a counter at that; while the gate is off nothing is looked at.
            before_sources=(
                when(
                    mapping_sources_0_18.sources_need_the_gate_of_counters,
                    **{_COUNTERS: False},
                ),
                when(
                    mapping_sources_0_18.a_mapping_has_one_source, **{_COUNTERS: True}
                ),
            ),
            source_type=(
                when(mapping_sources_0_18.a_source_is_a_counter, **{_COUNTERS: True}),
            ),
            source=tuple(
                when(each, **{_COUNTERS: True})
                for each in (
                    mapping_sources_0_18.a_counter_has_a_short_name,
                    mapping_sources_0_18.a_driver_has_a_name,
                    mapping_source_fields.the_selector_of_a_source_compiles,
                )
            ),
            sources=(),
        ),
        processing=processing,
        charging=replace(
            later.charging,
            transformed=(
                resource_transformations.outputs_and_what_is_requested_are_one_sum,
            ),
        ),
        extended=replace(
            later.extended,
            chosen=(devices_0_18.a_mapped_class_stands_for_a_resource,),
            in_container=(
                devices_0_18.each_container_asks_for_whole_devices,
                devices_0_18.each_container_is_refused_a_class_with_counters,
            ),
            refused=(),
            # All names of a resource are added up together.
            per_name=(),
        ),
        # A ClusterQueue that is deleted in use says what it said before.
        reporting=replace(later.reporting, deleted=()),
        queueing=replace(
            later.queueing,
            namespace=(pending_workloads.namespace_must_be_selected_0_18,),
        ),
        assigning=replace(
            later.assigning,
            # Of resources that can never be had one is told, whichever comes first.
            stop_search=(flavor_fungibility.no_fit_stops_search,),
            # Whoever prefers preemption to borrowing does so where nobody can be preempted, too.
            rank=(flavor_fungibility.is_preferred,),
            # Whoever lost a flavor begins anew.
            keep_progress_on_skip=(),
        ),
    )
