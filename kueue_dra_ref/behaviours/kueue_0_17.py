"""Kueue 0.17 (0.17.1): what differs from Kueue 0.18."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_17_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
from kueue_dra_ref.features.kube_features import kueue_0_17_gates
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.crd import workload_crd
from kueue_dra_ref.rules.dra import (
    claim_templates,
    claim_templates_0_17,
    devices_0_18,
    dra_workloads,
    extended_resource_requests,
)
from kueue_dra_ref.rules.dra.device_matching import DeviceMatchingRules
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.rules.flavorassigner import node_affinity, taints
from kueue_dra_ref.rules.queue import cohort_quota
from kueue_dra_ref.rules.workload import (
    adjust_resources,
    resource_transformations,
    workload_status,
)

GATE, EXTENDED = "DynamicResourceAllocation", "DRAExtendedResources"


def kueue_0_17() -> Behaviour:
    """Kueue 0.17 as a value."""
    # Two gates, of other names; what other gates bring is not there.
    later = kueue_0_18().settled(
        KueueDRAIntegration=True,
        KueueDRARejectWorkloadsWhenDRADisabled=False,
        KueueDRAIntegrationExtendedResource=False,
        KueueDRAIntegrationPartitionableDevices=False,
        WorkloadPriorityClassDefaulting=False,
    )
    return replace(
        later,
        name="kueue-0.17",
        title="Kueue 0.17",
        kueue="0.17",
        versions=KUEUE_0_17_VERSIONS,
        gates=kueue_0_17_gates(),
        integration=GATE,
        definitions=replace(
            later.definitions,
            workload=replace(
                later.definitions.workload,
                limits=swapped(
                    later.definitions.workload.limits,
                    (workload_crd.at_most_10_pod_sets, workload_crd.at_most_8_pod_sets),
                ),
            ),
        ),
        dependants=(EXTENDED,),
        # Slices are not read.
        role=tuple(
            rule for rule in later.role if rule["resources"][0] != "resourceslices"
        ),
        mapping=replace(
            later.mapping,
            before_sources=(),
            source_type=(),
            source=(),
            sources=(),
            after=later.mapping.after[:2],
        ),
        processing=replace(
            later.processing,
            detected=(
                when(dra_workloads.claim_template_makes_a_dra_workload, **{GATE: True}),
            ),
            refused=(
                when(
                    dra_workloads.direct_claims_are_refused_by_the_older_gate,
                    **{GATE: True},
                ),
            ),
            template=(
                claim_templates.the_template_must_exist,
                claim_templates_0_17.constraints_are_refused,
                claim_templates_0_17.device_config_is_refused,
            ),
            request=(
                claim_templates.first_available_unsupported,
                claim_templates_0_17.selectors_are_refused,
                claim_templates.admin_access_is_refused,
                claim_templates.allocation_mode_all_is_rejected,
            ),
            retry_on_error=(claim_templates_0_17.every_error_is_retried,),
            matching=DeviceMatchingRules(),
            sourcing=SourcedRequestRules(),
        ),
        charging=replace(
            later.charging,
            in_claim=(claim_templates_0_17.requests_of_a_claim_wrap_around,),
            transformed=(
                resource_transformations.outputs_are_computed_from_whole_units,
            ),
        ),
        # Of a class that comes, changes or goes nobody is told.
        extended=replace(
            later.extended,
            detected=(
                when(
                    extended_resource_requests.extended_resources_are_detected,
                    **{GATE: True, EXTENDED: True},
                ),
            ),
            asked=(
                when(
                    extended_resource_requests.requests_and_limits_are_charged,
                    **{GATE: True, EXTENDED: True},
                ),
            ),
            in_container=(devices_0_18.each_container_asks_for_whole_devices,),
            watched=(),
        ),
        # What a pod says of itself as a whole is left as it is.
        adjusting=replace(
            later.adjusting,
            pod_set=(
                adjust_resources.runtime_class_overhead,
                adjust_resources.the_namespace_gives_containers_defaults,
                adjust_resources.limits_default_requests,
            ),
            resources=(adjust_resources.containers_keep_to_their_limits,),
        ),
        assigning=replace(
            later.assigning,
            no_fit_message=(),
            flavor=(taints.taints_must_be_tolerated,),
            in_group=(
                node_affinity.affinity_operand_is_integer_in_group,
                node_affinity.node_affinity_matches_in_group,
            ),
            # There is no quotaCheckStrategy.
            ignore_undeclared=(),
        ),
        # Quotas are counted in plain integers.
        cohorts=replace(
            later.cohorts, counted=(cohort_quota.cpu_beyond_64_bits_is_counted_as_none,)
        ),
        reporting=replace(
            later.reporting,
            extra_conditions=(workload_status.pods_resource_in_requests,),
        ),
        # Whoever preempts frees the pods that its queue counts, too.
        preempting=replace(later.preempting, skip_search=()),
    )
