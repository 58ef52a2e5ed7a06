"""Kueue 0.17 (0.17.1): what differs from Kueue 0.18."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_17_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
from kueue_dra_ref.rule import swapped, when
from kueue_dra_ref.rules import (
    affinity,
    claims,
    cohorts,
    detection,
    earlier_claims,
    earlier_devices,
    extended,
    pod_requests,
    reporting,
    tolerating,
    transforming,
    workload_definition,
)
from kueue_dra_ref.rules.gates import kueue_0_17_gates
from kueue_dra_ref.rules.matching import Matching
from kueue_dra_ref.rules.sourcing import Sourcing

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
                    (workload_definition.at_most_10_pod_sets, workload_definition.at_most_8_pod_sets),
                ),
            ),
        ),
        dependants=(EXTENDED,),
        # Slices are not read.
        role=tuple(rule for rule in later.role if rule["resources"][0] != "resourceslices"),
        mapping=replace(
            later.mapping, before_sources=(), source_type=(), source=(), sources=(), after=later.mapping.after[:2]
        ),
        processing=replace(
            later.processing,
            detected=(when(detection.a_template_makes_a_device_workload, **{GATE: True}),),
            refused=(when(detection.direct_claims_are_refused_by_the_older_gate, **{GATE: True}),),
            template=(
                claims.the_template_must_exist,
                earlier_claims.constraints_are_refused,
                earlier_claims.device_config_is_refused,
            ),
            request=(
                claims.first_available_is_refused,
                earlier_claims.selectors_are_refused,
                claims.admin_access_is_refused,
                claims.mode_all_is_refused,
            ),
            retried=(earlier_claims.every_fault_is_retried,),
            matching=Matching(),
            sourcing=Sourcing(),
        ),
        charging=replace(
            later.charging,
            in_claim=(earlier_claims.requests_of_a_claim_wrap_around,),
            transformed=(transforming.outputs_are_computed_from_whole_units,),
        ),
        # Of a class that comes, changes or goes nobody is told.
        extended=replace(
            later.extended,
            detected=(when(extended.requests_are_looked_at, **{GATE: True, EXTENDED: True}),),
            asked=(when(extended.requests_and_limits_are_charged, **{GATE: True, EXTENDED: True}),),
            in_container=(earlier_devices.each_container_asks_for_whole_devices,),
            watched=(),
        ),
        # What a pod says of itself as a whole is left as it is.
        adjusting=replace(
            later.adjusting,
            pod_set=(
                pod_requests.a_runtime_class_adds_its_overhead,
                pod_requests.the_namespace_gives_containers_defaults,
                pod_requests.limits_stand_in_for_requests,
            ),
            resources=(pod_requests.containers_keep_to_their_limits,),
        ),
        assigning=replace(
            later.assigning,
            words=(),
            flavor=(tolerating.taints_must_be_tolerated,),
            in_group=(
                affinity.what_is_compared_in_the_group_must_be_an_integer,
                affinity.labels_of_the_group_must_match,
            ),
            # There is no quotaCheckStrategy.
            ignored=(),
        ),
        # Quotas are counted in plain integers.
        cohorts=replace(later.cohorts, counted=(cohorts.cpu_beyond_64_bits_is_counted_as_none,)),
        reporting=replace(later.reporting, beside=(reporting.counted_pods_are_shown_as_requests,)),
        # Whoever preempts frees the pods that its queue counts, too.
        preempting=replace(later.preempting, not_sought=()),
    )
