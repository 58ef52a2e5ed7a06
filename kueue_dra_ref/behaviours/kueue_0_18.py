"""Kueue 0.18 (0.18.0 to 0.18.3): what it changes of Kueue 0.17."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_18_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_17 import kueue_0_17
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import kueue_0_18_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, Each, First, Fold
from kueue_dra_ref.rules.config import (
    config_validation,
    mapping_source_fields,
    mapping_sources_0_18,
)
from kueue_dra_ref.rules.crd import workload_crd
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    claim_templates_0_17,
    device_matching,
    devices_0_18,
    dra_workloads,
    extended_resource_requests,
    partitionable_devices,
    pool_selection,
    sourced_requests,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    node_affinity,
    taints,
)
from kueue_dra_ref.rules.preemption import preemption_policies
from kueue_dra_ref.rules.queue import cohort_quota
from kueue_dra_ref.rules.workload import (
    adjust_resources,
    resource_transformations,
    workload_priority_class,
    workload_status,
)


def kueue_0_18() -> Behaviour:
    """Kueue 0.18 as a value."""
    earlier = kueue_0_17()
    return replace(
        earlier,
        name="kueue-0.18",
        title="Kueue 0.18",
        kueue="0.18",
        versions=KUEUE_0_18_VERSIONS,
        gates=kueue_0_18_gates(),
        integration="KueueDRAIntegration",
        dependants=(
            "KueueDRAIntegrationExtendedResource",
            "KueueDRAIntegrationPartitionableDevices",
        ),
        role=reads(
            "deviceclasses",
            "resourceclaims",
            "resourceclaimtemplates",
            "resourceslices",
        ),
        mapping=replace(
            earlier.mapping,
            before_sources=Collect(
                when(
                    mapping_sources_0_18.sources_need_gate,
                    KueueDRAIntegrationPartitionableDevices=False,
                ),
                when(
                    mapping_sources_0_18.at_most_one_source,
                    KueueDRAIntegrationPartitionableDevices=True,
                ),
            ),
            source_type=Each(
                when(
                    mapping_sources_0_18.source_is_a_counter,
                    KueueDRAIntegrationPartitionableDevices=True,
                )
            ),
            source=Collect(
                when(
                    mapping_sources_0_18.counter_name_is_at_most_63_long,
                    KueueDRAIntegrationPartitionableDevices=True,
                ),
                when(
                    mapping_sources_0_18.driver_is_at_most_253_long,
                    KueueDRAIntegrationPartitionableDevices=True,
                ),
                when(
                    mapping_source_fields.source_selector_compiles,
                    KueueDRAIntegrationPartitionableDevices=True,
                ),
            ),
            after=earlier.mapping.after.add(
                when(
                    config_validation.exclusions_conflict_with_ignore_undeclared,
                    QuotaCheckStrategy=True,
                ),
                when(
                    config_validation.quota_check_strategy_is_known,
                    QuotaCheckStrategy=True,
                ),
            ),
        ),
        processing=replace(
            earlier.processing,
            detected=earlier.processing.detected.swap(
                dra_workloads.claim_template_makes_a_dra_workload,
                when(
                    dra_workloads.claim_template_makes_a_dra_workload,
                    KueueDRAIntegration=True,
                ),
            ),
            refused=First(
                when(
                    dra_workloads.claims_need_gate,
                    KueueDRAIntegration=False,
                    KueueDRARejectWorkloadsWhenDRADisabled=True,
                ),
                when(dra_workloads.direct_claims_are_refused, KueueDRAIntegration=True),
            ),
            template=earlier.processing.template.drop(
                claim_templates_0_17.constraints_are_refused,
                claim_templates_0_17.device_config_is_refused,
            ),
            request=earlier.processing.request.swap(
                claim_templates_0_17.selectors_are_refused,
                claim_templates.selectors_must_compile,
            ),
            matching=DeviceMatchingRules(
                eligible=AllOf(
                    device_matching.device_serves_one_request_of_claim,
                    device_matching.class_selectors_match,
                    device_matching.request_selectors_match,
                ),
                findings=First(
                    device_matching.class_must_exist,
                    device_matching.class_selectors_compile,
                    device_matching.selector_error_rejects,
                    device_matching.too_few_devices_are_retried,
                ),
            ),
            sourcing=SourcedRequestRules(
                sources=First(sourced_requests.sources_of_class),
                instead=AnyOf(sourced_requests.classes_with_sources_are_not_counted),
                slices=Fold(
                    pool_selection.slices_of_driver,
                    pool_selection.newest_pool_generation,
                    pool_selection.skip_incomplete_pool,
                ),
                eligible=AllOf(
                    sourced_requests.source_selector_matches,
                    sourced_requests.sourced_class_selectors_match,
                    sourced_requests.sourced_request_selectors_match,
                ),
                lacking=First(
                    devices_0_18.missing_class_at_request_path,
                    devices_0_18.class_selector_error_at_request_path,
                    sourced_requests.sourced_selector_error_is_retried,
                    sourced_requests.too_few_sourced_devices_are_retried,
                ),
                counter=Collect(devices_0_18.first_counter_set_is_charged),
                unoffered=First(partitionable_devices.some_device_consumes_counter),
                worst=First(sourced_requests.max_over_devices),
                positive=Fold(sourced_requests.clamp_negative_to_zero),
                times=First(sourced_requests.each_sourced_device_is_charged),
                followed=Collect(sourced_requests.source_driver_slices_are_watched),
            ),
            retry_on_error=earlier.processing.retry_on_error.drop(
                claim_templates_0_17.every_error_is_retried
            ),
        ),
        charging=replace(
            earlier.charging,
            in_claim=earlier.charging.in_claim.swap(
                claim_templates_0_17.requests_of_a_claim_wrap_around,
                charges.requests_of_a_claim_add_up,
            ),
            transformed=earlier.charging.transformed.swap(
                resource_transformations.transformation_outputs_0_17,
                resource_transformations.transformation_outputs_0_18,
            ),
        ),
        assigning=replace(
            earlier.assigning,
            ignore_undeclared=AnyOf(
                when(
                    fits_resource_quota.ignore_undeclared_resources,
                    QuotaCheckStrategy=True,
                )
            ),
            flavor=Each(
                taints.taints_must_be_tolerated,
                node_affinity.affinity_operand_is_integer,
                node_affinity.node_affinity_matches,
            ),
            no_fit_message=First(fits_resource_quota.unlimited_in_message),
            in_group=earlier.assigning.in_group.drop(
                node_affinity.affinity_operand_is_integer_in_group,
                node_affinity.node_affinity_matches_in_group,
            ),
        ),
        cohorts=replace(
            earlier.cohorts,
            counted=earlier.cohorts.counted.drop(
                cohort_quota.cpu_overflow_counts_as_zero
            ),
        ),
        preempting=replace(
            earlier.preempting,
            skip_search=Collect(preemption_policies.pods_resource_is_ignored),
        ),
        reporting=replace(
            earlier.reporting,
            extra_conditions=earlier.reporting.extra_conditions.drop(
                workload_status.pods_resource_in_requests
            ),
        ),
        priorities=replace(
            earlier.priorities,
            given=First(
                when(
                    workload_priority_class.default_workload_priority_class,
                    WorkloadPriorityClassDefaulting=True,
                )
            ),
        ),
        extended=replace(
            earlier.extended,
            detected=earlier.extended.detected.swap(
                extended_resource_requests.extended_resources_are_detected,
                when(
                    extended_resource_requests.extended_resources_are_detected,
                    KueueDRAIntegrationExtendedResource=True,
                ),
            ),
            asked=earlier.extended.asked.swap(
                extended_resource_requests.requests_and_limits_are_charged,
                when(
                    extended_resource_requests.requests_and_limits_are_charged,
                    KueueDRAIntegrationExtendedResource=True,
                ),
            ),
            in_container=earlier.extended.in_container.add(
                devices_0_18.each_container_rejects_counters
            ),
            watched=Collect(
                when(
                    extended_resource_requests.device_class_change_requeues,
                    KueueDRAIntegrationExtendedResource=True,
                )
            ),
        ),
        adjusting=replace(
            earlier.adjusting,
            pod_set=earlier.adjusting.pod_set.add(
                adjust_resources.pod_limits_default_pod_requests
            ),
            resources=earlier.adjusting.resources.add(
                adjust_resources.pod_requests_are_within_limits
            ),
        ),
        definitions=replace(
            earlier.definitions,
            workload=replace(
                earlier.definitions.workload,
                limits=earlier.definitions.workload.limits.swap(
                    workload_crd.at_most_8_pod_sets, workload_crd.at_most_10_pod_sets
                ),
            ),
        ),
    )
