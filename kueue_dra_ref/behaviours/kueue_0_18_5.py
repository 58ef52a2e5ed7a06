"""Kueue 0.18.5, provisional: what it changes in Kueue 0.18.3, by its change notes; it could not be run.

Of several classes with one extended resource name, it charges the one that kube-scheduler allocates from.

It chooses the DeviceClass of an extended resource as kube-scheduler does: the newest one, then the first by name,
mapped or not. It overwrites the names of Workloads on elastic pods, keeps small amounts in admission fair sharing,
leaves pod sets without pods out of ProvisioningRequests, and retries with MultiKueue when a copy is out of sync, as
0.19 does. Everything else is as in 0.18.3: the number of devices is charged, selectors are evaluated on published
devices, counters and extended resources have gates that are off by default, and no capacities are read. Phases:
extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched
from kueue_dra_ref.behaviours.kueue_0_18 import kueue_0_18
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_provisioning import ProvisioningRules
from kueue_dra_ref.behaviours.phases_status import JobRules
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, First, Fold
from kueue_dra_ref.rules.dra import extended_resource_requests
from kueue_dra_ref.rules.jobframework import workload_slices
from kueue_dra_ref.rules.multikueue import dispatching
from kueue_dra_ref.rules.queue import local_queue_usage
from kueue_dra_ref.rules.workload import provisioning


def kueue_0_18_5() -> Behaviour:
    """Kueue 0.18.5 as a value."""
    earlier = kueue_0_18()
    return replace(
        earlier,
        name="kueue-0.18.5",
        title="Kueue 0.18.5 (provisional)",
        extended=_extended(earlier.extended),
        sharing=exact_sharing(earlier.sharing),
        provisioning=exact_requests(earlier.provisioning),
        dispatching=_dispatching(earlier.dispatching),
        jobs=overwritten_names(earlier.jobs),
    )


def overwritten_names(earlier: JobRules) -> JobRules:
    """What 0.18.5 changes in elastic work, and 0.19 as well."""
    return replace(
        earlier,
        # The names of Workloads on its pods are overwritten: work that has grown starts again after it was preempted.
        overwrites=AnyOf(
            when(
                workload_slices.annotations_of_elastic_pods_are_overwritten,
                ElasticJobsViaWorkloadSlices=True,
            )
        ),
        own_values=earlier.own_values.drop(
            workload_slices.elastic_pods_name_their_first_workload
        ),
        fail_to_restart=earlier.fail_to_restart.drop(
            workload_slices.grown_work_does_not_start_again
        ),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        # A copy that is out of sync with its work does not end the workload (#13086, in 0.18.4).
        retry_ended=First(dispatched(dispatching.retry_when_copy_is_out_of_sync)),
    )


def exact_sharing(earlier: AdmissionFairSharingRules) -> AdmissionFairSharingRules:
    """What 0.18.5 changes in admission fair sharing, and 0.19 as well."""
    return replace(
        earlier,
        # Small amounts are no longer lost.
        scaled=First(local_queue_usage.scaled_to_billionths),
        # A LocalQueue with weight 0 or less comes last, even before it has used anything.
        by_weight=earlier.by_weight.drop(
            local_queue_usage.unused_weight_of_zero_is_first
        ).add(
            local_queue_usage.weight_of_zero_is_last,
            before=local_queue_usage.usage_by_weight,
        ),
    )


def exact_requests(earlier: ProvisioningRules) -> ProvisioningRules:
    """What 0.18.5 changes in ProvisioningRequests, and 0.19 as well."""
    return replace(
        earlier,
        # Pod sets without pods are left out.
        skip=AnyOf(provisioning.skip_pod_sets_without_pods),
        # The message of a check is not that of an earlier request.
        answer=earlier.answer.swap(
            provisioning.unanswered_is_pending,
            provisioning.unanswered_has_no_message,
        ),
    )


def _extended(earlier: ExtendedResources) -> ExtendedResources:
    return replace(
        earlier,
        # The class is chosen as kube-scheduler chooses it, mapped or not.
        choose_class=Fold(
            extended_resource_requests.newest_device_class_wins,
            extended_resource_requests.name_breaks_tie,
        ),
    )
