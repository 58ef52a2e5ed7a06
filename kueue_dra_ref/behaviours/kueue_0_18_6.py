"""Kueue 0.18.6, provisional: what it changes in Kueue 0.18.5, by its change notes; it could not be run.

Two extended resource names of one mapping are compared with init containers one by one, and a group of pods does not
take a Workload that is not its own.

It compares init containers with regular containers for each extended resource name, not for all names of a mapping
together. Everything else is as in 0.18.5: the number of devices is charged, selectors are evaluated on published
devices, counters and extended resources have gates that are off by default, and no capacities are read. Phases:
extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_18_5 import kueue_0_18_5
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.features.kube_features import kueue_0_18_6_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Each
from kueue_dra_ref.rules.dra import extended_resource_requests
from kueue_dra_ref.rules.jobframework import pod_groups, pod_owners
from kueue_dra_ref.rules.queue import local_queue_usage


def kueue_0_18_6() -> Behaviour:
    """Kueue 0.18.6 as a value."""
    earlier = kueue_0_18_5()
    return replace(
        earlier,
        name="kueue-0.18.6",
        title="Kueue 0.18.6 (provisional)",
        # A gate for groups of pods is new.
        gates=kueue_0_18_6_gates(),
        pods=groups_with_own_workloads(earlier.pods),
        extended=requests_by_name(earlier.extended),
        sharing=sharing_with_ledger(earlier.sharing),
    )


def sharing_with_ledger(
    earlier: AdmissionFairSharingRules,
) -> AdmissionFairSharingRules:
    """What 0.18.6 changes in admission fair sharing, and 0.19 as well."""
    return replace(
        earlier,
        # Only ClusterQueues that order by usage add penalties, and each workload has one.
        penalize=AnyOf(local_queue_usage.admission_in_mode_is_penalized),
        once_per_workload=AnyOf(local_queue_usage.one_penalty_per_workload),
        # It is settled when checks admit the workload, too, and goes with a workload that is not admitted.
        settle=AnyOf(local_queue_usage.admission_settles_penalty),
        drop=AnyOf(
            local_queue_usage.deletion_drops_penalty,
            local_queue_usage.deactivation_drops_penalty,
            local_queue_usage.finish_drops_penalty,
            local_queue_usage.move_drops_penalty,
        ),
    )


def groups_with_own_workloads(earlier: PodRules) -> PodRules:
    """What 0.18.6 changes in groups of pods, and 0.19 as well."""
    return replace(
        earlier,
        # A group does not take a Workload that another client has created with its name.
        foreign=AnyOf(
            when(
                pod_groups.unmarked_workload_is_not_of_group,
                PodIntegrationValidateGroupOwner=True,
            )
        ),
        # Moved to another queue, a LeaderWorkerSet takes its gated pods along.
        go_along=earlier.go_along.add(
            pod_owners.gated_pods_of_leader_worker_set_go_along
        ),
    )


def requests_by_name(earlier: ExtendedResources) -> ExtendedResources:
    """What 0.18.6 changes in extended resources, and 0.19 as well."""
    return replace(
        earlier,
        # Init containers and containers are compared for each name, not for all names of a resource together.
        per_name=Each(extended_resource_requests.extended_resources_sum_per_name),
        # A default of a LimitRange that is below zero takes no device off.
        is_dropped=AnyOf(extended_resource_requests.requests_below_zero_are_dropped),
    )
