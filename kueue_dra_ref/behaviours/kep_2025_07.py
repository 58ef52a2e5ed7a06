"""KEP-2941 as of July 2025 (config CRD): what differs from the text of September 2025, heading by heading."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import EARLIER_TEXTS_VERSIONS
from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_09 import GATE, kep_2025_09
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.config import dra_config_object
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import clusterqueue_crd
from kueue_dra_ref.rules.dra import (
    admitted_resource_claims,
    claim_templates,
    device_class_ambiguity,
    direct_claims,
    dra_workloads,
)
from kueue_dra_ref.rules.webhooks import clusterqueue_webhook


def kep_2025_07() -> Behaviour:
    """The July 2025 text as a value.

    It is the older one; that it is built from September's says nothing of who learnt from whom.  Where it is silent,
    the same of Kueue 0.19 stands in as there.
    """
    later = kep_2025_09()
    processing = replace(
        later.processing,
        # Workloads, 1 and 2: claims of podSpec.resourceClaims, from templates or named directly.
        detected=(
            when(dra_workloads.claim_template_makes_a_dra_workload, **{GATE: True}),
            when(direct_claims.direct_claim_makes_a_dra_workload, **{GATE: True}),
        ),
        refused=(),
        read_claim=(direct_claims.claims_are_read_where_the_workload_lives,),
        template=(
            claim_templates.the_template_must_exist,
            direct_claims.the_claim_must_exist,
        ),
        # The text has no RBAC Requirements.
        rbac_denied=(),
        # Workloads, 4.1.1 and 4.1.2: the map is made from the singleton.
        mappings=(dra_config_object.the_config_object_maps_the_classes,),
        # Device Class Mapping Ambiguity: a class may be in several mappings.
        lookup=(dra_config_object.every_mapping_of_a_class_names_a_resource,),
        # Workloads, 4.1.3 to 4.1.5: the map admittedResourceClaims.
        reused=(admitted_resource_claims.claims_in_use_are_not_charged_again,),
    )
    return replace(
        later,
        name="kep-2025-07",
        title="KEP-2941, July 2025",
        # DynamicResourceAllocationConfig API: an object of its own instead of Kueue's Configuration.
        versions=EARLIER_TEXTS_VERSIONS,
        mapping=MappingRules(after=later.mapping.after),
        mapped=MappingSource.IN_AN_OBJECT,
        serves=frozenset({DRA_CONFIG}),
        # Flavors of one group with quota of different resources, and groups with one and the same name for devices, are
        # what Device Class Mapping Ambiguity is about.
        definitions=replace(
            later.definitions,
            cluster_queue=replace(
                later.definitions.cluster_queue,
                cel=swapped(
                    later.definitions.cluster_queue.cel,
                    (clusterqueue_crd.a_flavor_has_a_quota_of_each_resource, None),
                ),
            ),
        ),
        webhooks=replace(
            later.webhooks,
            groups=replace(
                later.webhooks.groups,
                resource=swapped(
                    later.webhooks.groups.resource,
                    (clusterqueue_webhook.a_resource_is_covered_once, None),
                ),
                quota=swapped(
                    later.webhooks.groups.quota,
                    (
                        clusterqueue_webhook.quotas_come_in_the_order_of_the_resources,
                        None,
                    ),
                ),
                flavor=(),
            ),
        ),
        objects=(
            dra_config_object.the_config_object_is_called_default,
            dra_config_object.the_config_object_lives_with_kueue,
            dra_config_object.required_fields,
            dra_config_object.at_most_16_resources,
            dra_config_object.at_most_8_classes_of_a_resource,
            dra_config_object.resources_are_a_map,
            dra_config_object.classes_of_a_resource_are_a_set,
        ),
        processing=processing,
        charging=replace(
            later.charging,
            claims=(direct_claims.claims_of_either_kind_are_those_of_the_pod,),
            once_per_workload=(direct_claims.existing_claim_is_charged_once,),
        ),
        # Device Class Mapping Ambiguity: top-down through the flavors of the ClusterQueue.
        assigning=replace(
            later.assigning,
            choices=(device_class_ambiguity.flavors_are_examined_top_down,),
            considered=(
                device_class_ambiguity.only_the_examined_flavor_serves_the_class,
            ),
        ),
    )
