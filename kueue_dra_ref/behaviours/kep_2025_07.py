"""KEP-2941 of July 2025 (config CRD): how the text differs from that of April 2025.

Device classes are mapped in one object, a DynamicResourceAllocationConfig. A class may be in several mappings; then the
flavor decides. Claims are those of the pod, and ResourceClaims in use are not charged again.

While the gate DynamicResourceAllocation is on (off by default), Kueue charges the number of devices, of templates and
of ResourceClaims. It accepts requests with selectors, which it does not evaluate, and requests with firstAvailable,
adminAccess and mode All: it charges every class that the alternatives name, nothing for adminAccess, and for mode All
the largest number of devices that one claim can get. The text knows no counters, capacities or extended resources of
DeviceClasses. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_04 import kep_2025_04
from kueue_dra_ref.behaviours.phases_dra import Charges, MappingSource, Preprocessing
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.behaviours.phases_validation import APIValidation
from kueue_dra_ref.features.kube_features import KEP_2025_09_GATES
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, First
from kueue_dra_ref.rules.config import dra_config_object
from kueue_dra_ref.rules.dra import (
    admitted_resource_claims,
    device_class_ambiguity,
    direct_claims,
    dra_workloads,
)
from kueue_dra_ref.rules.kubernetes import job_validation


def kep_2025_07() -> Behaviour:
    """KEP-2941, July 2025 as a value."""
    earlier = kep_2025_04()
    return replace(
        earlier,
        name="kep-2025-07",
        title="KEP-2941, July 2025",
        # Feature Gate: another name.
        gates=KEP_2025_09_GATES,
        integration_gate="DynamicResourceAllocation",
        # DynamicResourceAllocationConfig API: an object of its own.
        mapping_source=MappingSource.IN_AN_OBJECT,
        extra_kinds=frozenset({DRA_CONFIG}),
        objects=Collect(
            dra_config_object.config_object_is_named_default,
            dra_config_object.config_object_is_in_kueue_namespace,
            dra_config_object.required_fields,
            dra_config_object.at_most_16_resources,
            dra_config_object.at_most_8_classes_per_resource,
            dra_config_object.resources_are_a_map,
            dra_config_object.classes_of_a_resource_are_a_set,
        ),
        definitions=_definitions(earlier.definitions),
        processing=_processing(earlier.processing),
        charging=_charging(earlier.charging),
        assigning=_assigning(earlier.assigning),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    job = replace(
        earlier.job,
        # The examples of this text are valid Jobs.
        container=earlier.job.container.add(
            job_validation.container_claims_exist,
            before=job_validation.container_name_is_unique,
        ),
    )
    return replace(earlier, job=job)


def _gated(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while the text's gate is on."""
    return when(each, DynamicResourceAllocation=True)


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(
        earlier,
        # Workloads, 1 and 2: claims of podSpec.resourceClaims, from templates or named directly.
        is_dra_workload=AnyOf(
            _gated(dra_workloads.claim_template_makes_a_dra_workload),
            _gated(direct_claims.direct_claim_makes_a_dra_workload),
        ),
        # The text has no RBAC Requirements, and needs no ClusterQueue to map classes.
        rbac_denied=earlier.rbac_denied.drop(
            dra_workloads.target_cluster_queue_must_exist
        ),
        # Workloads, 4.1.1 and 4.1.2: the map is made from the one config object.
        mappings=First(dra_config_object.mappings_from_config_object),
        # Device Class Mapping Ambiguity: a class may be in several mappings.
        lookup=First(dra_config_object.lookup_every_mapping_of_class),
        # Workloads, 4.1.3 to 4.1.5: the map admittedResourceClaims.
        already_charged=AnyOf(
            admitted_resource_claims.claims_in_use_are_not_charged_again
        ),
    )


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # A claim of the pod is charged whether a container lists it or not.
        claims=Collect(direct_claims.claims_of_pod_of_either_kind),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        earlier,
        # Device Class Mapping Ambiguity: top-down through the flavors of the ClusterQueue.
        choices=First(device_class_ambiguity.flavors_for_class_in_listed_order),
        consider_flavor=AllOf(device_class_ambiguity.skip_flavors_not_tried_for_class),
        # All causes have one reason.
        reason_across_flavors=First(),
        reason_across_resources=First(),
        ignore_silent_pod_set=AnyOf(),
    )
