"""KEP-2941 of July 2025 (config CRD): what it changes of the text of April 2025."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_04 import kep_2025_04
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.features.kube_features import KEP_2025_09_GATES
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, First
from kueue_dra_ref.rules.config import dra_config_object
from kueue_dra_ref.rules.dra import (
    admitted_resource_claims,
    device_class_ambiguity,
    direct_claims,
    dra_workloads,
    mapper,
    resource_quota_kind,
)
from kueue_dra_ref.rules.kubernetes import job_validation
from kueue_dra_ref.rules.workload import unadmitted_workloads


def kep_2025_07() -> Behaviour:
    """KEP-2941, July 2025 as a value."""
    earlier = kep_2025_04()
    return replace(
        earlier,
        name="kep-2025-07",
        title="KEP-2941, July 2025",
        gates=KEP_2025_09_GATES,
        integration="DynamicResourceAllocation",
        mapped=MappingSource.IN_AN_OBJECT,
        serves=frozenset({DRA_CONFIG}),
        processing=replace(
            earlier.processing,
            detected=AnyOf(
                when(
                    dra_workloads.claim_template_makes_a_dra_workload,
                    DynamicResourceAllocation=True,
                ),
                when(
                    direct_claims.direct_claim_makes_a_dra_workload,
                    DynamicResourceAllocation=True,
                ),
            ),
            rbac_denied=earlier.processing.rbac_denied.drop(
                dra_workloads.target_cluster_queue_must_exist
            ),
            mappings=earlier.processing.mappings.swap(
                resource_quota_kind.mappings_from_cluster_queue,
                dra_config_object.mappings_from_config_object,
            ),
            lookup=earlier.processing.lookup.swap(
                mapper.lookup_first_mapping_of_class,
                dra_config_object.lookup_every_mapping_of_class,
            ),
            reused=AnyOf(admitted_resource_claims.claims_in_use_are_not_charged_again),
        ),
        charging=replace(
            earlier.charging,
            claims=earlier.charging.claims.swap(
                resource_quota_kind.claims_that_containers_list,
                direct_claims.claims_of_pod_of_either_kind,
            ),
        ),
        assigning=replace(
            earlier.assigning,
            choices=First(device_class_ambiguity.flavors_for_class_in_listed_order),
            considered=AllOf(device_class_ambiguity.skip_flavors_not_tried_for_class),
            reason_across_flavors=earlier.assigning.reason_across_flavors.drop(
                unadmitted_workloads.least_severe_reason
            ),
            reason_across_resources=earlier.assigning.reason_across_resources.drop(
                unadmitted_workloads.most_severe_reason
            ),
        ),
        objects=Collect(
            dra_config_object.config_object_is_named_default,
            dra_config_object.config_object_is_in_kueue_namespace,
            dra_config_object.required_fields,
            dra_config_object.at_most_16_resources,
            dra_config_object.at_most_8_classes_per_resource,
            dra_config_object.resources_are_a_map,
            dra_config_object.classes_of_a_resource_are_a_set,
        ),
        definitions=replace(
            earlier.definitions,
            job=replace(
                earlier.definitions.job,
                container=earlier.definitions.job.container.add(
                    job_validation.container_claims_exist,
                    before=job_validation.container_name_is_unique,
                ),
            ),
        ),
    )
