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
        integration_gate="DynamicResourceAllocation",
        mapping_source=MappingSource.IN_AN_OBJECT,
        extra_kinds=frozenset({DRA_CONFIG}),
        processing=replace(
            earlier.processing,
            is_dra_workload=AnyOf(
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
                resource_quota_kind.the_target_queue_maps_the_classes,
                dra_config_object.the_config_object_maps_the_classes,
            ),
            lookup=earlier.processing.lookup.swap(
                mapper.the_mapping_of_a_class_names_the_resource,
                dra_config_object.every_mapping_of_a_class_names_a_resource,
            ),
            already_charged=AnyOf(
                admitted_resource_claims.claims_in_use_are_not_charged_again
            ),
        ),
        charging=replace(
            earlier.charging,
            claims=earlier.charging.claims.swap(
                resource_quota_kind.claims_are_those_that_containers_list,
                direct_claims.claims_of_either_kind_are_those_of_the_pod,
            ),
        ),
        assigning=replace(
            earlier.assigning,
            choices=First(device_class_ambiguity.flavors_are_examined_top_down),
            consider_flavor=AllOf(
                device_class_ambiguity.only_the_examined_flavor_serves_the_class
            ),
            reason_across_flavors=earlier.assigning.reason_across_flavors.drop(
                unadmitted_workloads.least_severe_reason
            ),
            reason_across_resources=earlier.assigning.reason_across_resources.drop(
                unadmitted_workloads.most_severe_reason
            ),
        ),
        objects=Collect(
            dra_config_object.the_config_object_is_called_default,
            dra_config_object.the_config_object_lives_with_kueue,
            dra_config_object.required_fields,
            dra_config_object.at_most_16_resources,
            dra_config_object.at_most_8_classes_of_a_resource,
            dra_config_object.resources_are_a_map,
            dra_config_object.classes_of_a_resource_are_a_set,
        ),
        definitions=replace(
            earlier.definitions,
            job=replace(
                earlier.definitions.job,
                container=earlier.definitions.job.container.add(
                    job_validation.a_container_uses_claims_of_its_pod,
                    before=job_validation.a_container_has_a_name_of_its_own,
                ),
            ),
        ),
    )
