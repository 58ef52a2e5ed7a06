"""Kueue 0.17 (0.17.1): what it changes of Kueue 0.16."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_17_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import kueue_0_17_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, First, Fold
from kueue_dra_ref.rules.dra import devices_0_18, extended_resource_requests
from kueue_dra_ref.rules.jobframework import managed_jobs
from kueue_dra_ref.rules.preemption import fair_sharing, preemption_policies
from kueue_dra_ref.rules.queue import cohort_quota, pending_workloads
from kueue_dra_ref.rules.webhooks import (
    clusterqueue_webhook,
    job_webhook,
    workload_webhook,
)


def kueue_0_17() -> Behaviour:
    """Kueue 0.17 as a value."""
    earlier = kueue_0_16()
    return replace(
        earlier,
        name="kueue-0.17",
        title="Kueue 0.17",
        kueue="0.17",
        versions=KUEUE_0_17_VERSIONS,
        gates=kueue_0_17_gates(),
        dependants=("DRAExtendedResources",),
        role=reads("deviceclasses", "resourceclaims", "resourceclaimtemplates"),
        queueing=replace(
            earlier.queueing,
            requeue_from=First(pending_workloads.requeue_keeps_adjusted_requests),
            retry_from=First(pending_workloads.requeue_uses_adjusted_requests),
            bulk_move_equivalent=AnyOf(
                when(
                    pending_workloads.scheduling_equivalence_hashing,
                    SchedulingEquivalenceHashing=True,
                )
            ),
        ),
        cohorts=replace(
            earlier.cohorts,
            reads_cohorts=earlier.cohorts.reads_cohorts.swap(
                cohort_quota.cohort_objects_are_read,
                cohort_quota.cohort_objects_are_read,
            ),
            lending=earlier.cohorts.lending.swap(
                cohort_quota.lending_limit, cohort_quota.lending_limit
            ),
        ),
        preempting=replace(
            earlier.preempting,
            ignore_zero_request=AnyOf(preemption_policies.zero_requests_are_ignored),
        ),
        fair_sharing=replace(
            earlier.fair_sharing,
            order=earlier.fair_sharing.order.swap(
                fair_sharing.non_borrowing_first_0_16,
                when(
                    fair_sharing.non_borrowing_first,
                    FairSharingPrioritizeNonBorrowing=True,
                ),
            ),
            within_nominal=AnyOf(
                when(
                    fair_sharing.preempt_within_nominal,
                    FairSharingPreemptWithinNominal=True,
                )
            ),
            skip_zero_share=earlier.fair_sharing.skip_zero_share.drop(
                fair_sharing.skip_zero_drs
            ),
        ),
        jobs=replace(
            earlier.jobs,
            queued=earlier.jobs.queued.swap(
                managed_jobs.default_local_queue,
                managed_jobs.default_local_queue,
            ),
        ),
        extended=ExtendedResources(
            detected=Collect(
                when(
                    extended_resource_requests.extended_resources_are_detected,
                    DRAExtendedResources=True,
                    DynamicResourceAllocation=True,
                )
            ),
            asked=Collect(
                when(
                    extended_resource_requests.requests_and_limits_are_charged,
                    DRAExtendedResources=True,
                    DynamicResourceAllocation=True,
                )
            ),
            named=AnyOf(extended_resource_requests.names_with_a_domain_are_extended),
            chosen=Fold(devices_0_18.mapped_device_class_wins),
            in_container=First(devices_0_18.each_container_requests_whole_devices),
            in_pod=First(extended_resource_requests.max_of_init_and_containers),
            charged=First(extended_resource_requests.mapped_resource_or_own_name),
            not_charged_natively=AnyOf(
                extended_resource_requests.resolved_name_is_not_charged_natively
            ),
        ),
        webhooks=replace(
            earlier.webhooks,
            empty=earlier.webhooks.empty.drop(workload_webhook.pod_template_defaults),
            groups=replace(
                earlier.webhooks.groups,
                quota=earlier.webhooks.groups.quota.swap(
                    clusterqueue_webhook.lending_limit_is_not_negative,
                    clusterqueue_webhook.lending_limit_is_not_negative,
                )
                .swap(
                    clusterqueue_webhook.lending_limit_needs_cohort,
                    clusterqueue_webhook.lending_limit_needs_cohort,
                )
                .swap(
                    clusterqueue_webhook.lending_limit_is_at_most_nominal_quota,
                    clusterqueue_webhook.lending_limit_is_at_most_nominal_quota,
                ),
            ),
            job=earlier.webhooks.job.swap(
                job_webhook.queue_name_is_not_removed_with_default_queue,
                job_webhook.queue_name_is_not_removed_with_default_queue,
            ),
        ),
    )
