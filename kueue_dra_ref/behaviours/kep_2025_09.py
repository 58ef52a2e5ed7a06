"""KEP-2941 of September 2025 (Configuration API): how the text differs from that of July 2025.

Device classes are mapped in Kueue's Configuration, each to one resource. Only claim templates are supported.

While the gate DynamicResourceAllocation is on (off by default), Kueue charges the number of devices of templates; it
rejects a workload that names a ResourceClaim. It accepts requests with selectors, which it does not evaluate, and
requests with firstAvailable, adminAccess and mode All: it charges every class that the alternatives name, nothing for
adminAccess, and for mode All the largest number of devices that one claim can get. The text knows no counters,
capacities or extended resources of DeviceClasses. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config import KEP_2025_09_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_07 import kep_2025_07
from kueue_dra_ref.behaviours.phases_dra import Charges, MappingSource, Preprocessing
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, Each, First
from kueue_dra_ref.rules.config import device_class_mappings
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.crd import clusterqueue_crd
from kueue_dra_ref.rules.dra import (
    charges,
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
        # Configuration API Extension for DRA: deviceClassMappings in the Configuration, no object of its own.
        versions=KEP_2025_09_VERSIONS,
        mapping_source=MappingSource.IN_THE_CONFIGURATION,
        extra_kinds=frozenset(),
        objects=Collect(),
        mapping=_mapping(earlier.mapping),
        definitions=_definitions(earlier.definitions),
        webhooks=_webhooks(earlier.webhooks),
        processing=_processing(earlier.processing),
        charging=_charging(earlier.charging),
        assigning=_assigning(earlier.assigning),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # Configuration API Extension for DRA: names, and at least one class.
        name=Each(
            device_class_mappings.name_is_a_dns_label_with_optional_subdomain,
            device_class_mappings.name_is_at_most_253_long,
            device_class_mappings.name_is_used_once,
        ),
        class_list=Each(device_class_mappings.at_least_one_class),
        # Device Class Mapping Uniqueness.
        device_class=Each(
            device_class_mappings.class_is_at_most_253_long,
            device_class_mappings.class_is_named_once_in_a_mapping,
            device_class_mappings.class_maps_to_one_resource,
        ),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    cluster_queue = replace(
        earlier.cluster_queue,
        # Without ambiguity, ClusterQueues are as Kueue has them.
        cel=earlier.cluster_queue.cel.add(
            clusterqueue_crd.flavor_has_quota_of_each_covered_resource
        ),
    )
    return replace(earlier, cluster_queue=cluster_queue)


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    groups = replace(
        earlier.groups,
        # The same for resource groups.
        resource=earlier.groups.resource.add(
            clusterqueue_webhook.resource_is_covered_once
        ),
        quota=earlier.groups.quota.add(
            clusterqueue_webhook.quotas_follow_covered_resources,
            before=clusterqueue_webhook.nominal_quota_is_not_negative,
        ),
        flavor=Collect(clusterqueue_webhook.flavor_is_in_one_group),
    )
    return replace(earlier, groups=groups)


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(
        earlier,
        # Workload Processing Flow: claims that are named directly are rejected while the gate is on.
        reject_workload=First(
            when(
                dra_workloads.direct_claims_are_refused, DynamicResourceAllocation=True
            )
        ),
        is_dra_workload=earlier.is_dra_workload.drop(
            direct_claims.direct_claim_makes_a_dra_workload
        ),
        read_claim=First(),
        template=earlier.template.drop(direct_claims.claim_must_exist),
        already_charged=AnyOf(),
        # RBAC Requirements: Kueue may read claims and templates, and waits if it may not.
        rbac_denied=First(dra_workloads.templates_need_rbac),
        mappings=First(mapper.mappings_from_configuration),
        # Device Class Resolution and Conflict Prevention: a class has one mapping.
        lookup=First(mapper.lookup_first_mapping_of_class),
    )


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # All claims come from templates, so each pod has its own.
        claims=Collect(charges.claims_of_pod),
        once_per_workload=First(),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        earlier,
        # A class has one resource, so the flavor has nothing to decide.
        choices=First(),
        consider_flavor=AllOf(),
    )
