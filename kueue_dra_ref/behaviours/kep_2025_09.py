"""KEP-2941 of September 2025 (Configuration API): what it changes of the text of July 2025."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import KEP_2025_09_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_07 import kep_2025_07
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.features.kube_features import KEP_2025_09_GATES
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import Collect, Each, First
from kueue_dra_ref.rules.config import device_class_mappings, dra_config_object
from kueue_dra_ref.rules.crd import clusterqueue_crd
from kueue_dra_ref.rules.dra import (
    admitted_resource_claims,
    charges,
    device_class_ambiguity,
    direct_claims,
    dra_workloads,
    mapper,
)
from kueue_dra_ref.rules.webhooks import clusterqueue_webhook


def kep_2025_09() -> Behaviour:
    """KEP-2941, September 2025 as a value."""
    earlier = kep_2025_07()
    return replace(
        earlier,
        name="kep-2025-09",
        title="KEP-2941, September 2025",
        versions=KEP_2025_09_VERSIONS,
        gates=KEP_2025_09_GATES,
        mapped=MappingSource.IN_THE_CONFIGURATION,
        serves=frozenset(),
        mapping=replace(
            earlier.mapping,
            name=Each(
                device_class_mappings.name_is_a_dns_label_with_optional_subdomain,
                device_class_mappings.name_is_at_most_253_long,
                device_class_mappings.name_is_used_once,
            ),
            class_list=Each(device_class_mappings.at_least_one_class),
            device_class=Each(
                device_class_mappings.class_is_at_most_253_long,
                device_class_mappings.class_is_named_once_in_a_mapping,
                device_class_mappings.class_maps_to_one_resource,
            ),
        ),
        processing=replace(
            earlier.processing,
            detected=earlier.processing.detected.drop(
                direct_claims.direct_claim_makes_a_dra_workload
            ),
            refused=First(
                when(
                    dra_workloads.direct_claims_are_refused,
                    DynamicResourceAllocation=True,
                )
            ),
            read_claim=earlier.processing.read_claim.drop(
                direct_claims.claim_from_workload_namespace
            ),
            rbac_denied=First(dra_workloads.templates_need_rbac),
            template=earlier.processing.template.drop(direct_claims.claim_must_exist),
            mappings=earlier.processing.mappings.swap(
                dra_config_object.mappings_from_config_object,
                mapper.mappings_from_configuration,
            ),
            lookup=earlier.processing.lookup.swap(
                dra_config_object.lookup_every_mapping_of_class,
                mapper.lookup_first_mapping_of_class,
            ),
            reused=earlier.processing.reused.drop(
                admitted_resource_claims.claims_in_use_are_not_charged_again
            ),
        ),
        charging=replace(
            earlier.charging,
            claims=earlier.charging.claims.swap(
                direct_claims.claims_of_pod_of_either_kind,
                charges.claims_of_pod,
            ),
            once_per_workload=earlier.charging.once_per_workload.drop(
                direct_claims.existing_claim_is_charged_once
            ),
        ),
        assigning=replace(
            earlier.assigning,
            choices=earlier.assigning.choices.drop(
                device_class_ambiguity.flavors_for_class_in_listed_order
            ),
            considered=earlier.assigning.considered.drop(
                device_class_ambiguity.skip_flavors_not_tried_for_class
            ),
        ),
        objects=Collect(),
        definitions=replace(
            earlier.definitions,
            cluster_queue=replace(
                earlier.definitions.cluster_queue,
                cel=earlier.definitions.cluster_queue.cel.add(
                    clusterqueue_crd.flavor_has_quota_of_each_covered_resource
                ),
            ),
        ),
        webhooks=replace(
            earlier.webhooks,
            groups=replace(
                earlier.webhooks.groups,
                resource=earlier.webhooks.groups.resource.add(
                    clusterqueue_webhook.resource_is_covered_once
                ),
                quota=earlier.webhooks.groups.quota.add(
                    clusterqueue_webhook.quotas_follow_covered_resources,
                    before=clusterqueue_webhook.nominal_quota_is_not_negative,
                ),
                flavor=Collect(clusterqueue_webhook.flavor_is_in_one_group),
            ),
        ),
    )
