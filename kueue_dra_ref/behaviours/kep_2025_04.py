"""KEP-2941 as of April 2025 (ResourceQuota kind): what differs from the text of July 2025, heading by heading."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kep_2025_07 import kep_2025_07
from kueue_dra_ref.behaviours.kueue_0_19 import ASSIGNING
from kueue_dra_ref.behaviours.phases_dra import MappingSource
from kueue_dra_ref.features.kube_features import KEP_2025_04_GATES
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.dra import dra_workloads, mapper, resource_quota_kind
from kueue_dra_ref.rules.kubernetes import job_validation

_GATE = "KueueDynamicResourceAllocation"


def kep_2025_04() -> Behaviour:
    """The April 2025 text as a value.

    It is the oldest one; that it is built from July's says nothing of who learnt from whom.
    """
    later = kep_2025_07()
    processing = replace(
        later.processing,
        # Workloads, 1: claims of the containers' resources.claims.
        detected=(
            when(
                resource_quota_kind.container_claim_makes_a_dra_workload,
                **{_GATE: True},
            ),
        ),
        # Workloads, 4.1: the map is made from the ClusterQueue, in which a class has one name.
        rbac_denied=(
            when(dra_workloads.target_cluster_queue_must_exist, **{_GATE: True}),
        ),
        mappings=(resource_quota_kind.the_target_queue_maps_the_classes,),
        lookup=(mapper.the_mapping_of_a_class_names_the_resource,),
        # Nothing is said of claims that several workloads use.
        reused=(),
    )
    return replace(
        later,
        name="kep-2025-04",
        title="KEP-2941, April 2025",
        # Feature Gate: a gate of another name.
        gates=KEP_2025_04_GATES,
        integration=_GATE,
        # Resource Quota API: kind and deviceClassNames in the flavors of a ClusterQueue.
        mapped=MappingSource.IN_CLUSTER_QUEUES,
        serves=frozenset(),
        # Workloads: the container of the example lists a claim that its pod does not have.
        definitions=replace(
            later.definitions,
            job=replace(
                later.definitions.job,
                container=swapped(
                    later.definitions.job.container,
                    (job_validation.a_container_uses_claims_of_its_pod, None),
                ),
            ),
        ),
        objects=(
            resource_quota_kind.the_only_kind_is_device_class,
            resource_quota_kind.classes_need_the_kind,
            resource_quota_kind.the_kind_needs_classes,
            resource_quota_kind.a_class_has_one_name,
            resource_quota_kind.a_name_is_of_one_kind,
        ),
        processing=processing,
        charging=replace(
            later.charging,
            claims=(resource_quota_kind.claims_are_those_that_containers_list,),
        ),
        # A class has one name in a ClusterQueue, so nothing is to be chosen.
        assigning=replace(ASSIGNING, stop_at_empty_pod_set=()),
    )
