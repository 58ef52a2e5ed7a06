"""Kueue 0.16 (0.16.0 to 0.16.2): what differs from Kueue 0.17."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_16_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_17 import kueue_0_17
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.phases_validation import WebhookRules
from kueue_dra_ref.features.kube_features import kueue_0_16_gates
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.jobframework import managed_jobs
from kueue_dra_ref.rules.preemption import fair_sharing
from kueue_dra_ref.rules.queue import cohort_quota
from kueue_dra_ref.rules.webhooks import (
    clusterqueue_webhook,
    job_webhook,
    workload_webhook,
)


def kueue_0_16() -> Behaviour:
    """Kueue 0.16 as a value."""
    later = kueue_0_17()
    return replace(
        later,
        name="kueue-0.16",
        title="Kueue 0.16",
        kueue="0.16",
        versions=KUEUE_0_16_VERSIONS,
        gates=kueue_0_16_gates(),
        dependants=(),
        # Classes are not read, and there are no extended resources.
        role=tuple(
            rule for rule in later.role if rule["resources"][0] != "deviceclasses"
        ),
        extended=ExtendedResources(),
        # Each workload is looked at, however many equal ones did not fit; what was added to it is forgotten then,
        # and when it is tried again it is judged as it is written.
        queueing=replace(
            later.queueing, bulk_move_equivalent=(), requeue_from=(), retry_from=()
        ),
        preempting=replace(later.preempting, ignore_zero_request=()),
        # Lending limits, Cohorts and default queues can be switched off.
        cohorts=replace(
            later.cohorts,
            reads_cohorts=(
                when(cohort_quota.cohort_objects_are_read, HierarchicalCohorts=True),
            ),
            lending=(when(cohort_quota.a_limit_bounds_lending, LendingLimit=True),),
        ),
        webhooks=_with_gates(later.webhooks),
        jobs=replace(
            later.jobs,
            queued=(
                when(
                    managed_jobs.a_job_without_a_queue_gets_the_default_one,
                    LocalQueueDefaulting=True,
                ),
            ),
        ),
        # Who borrows is not asked of each branch; the nominal quota is taken back by the strategies only.
        fair_sharing=replace(
            later.fair_sharing,
            order=(
                when(
                    fair_sharing.non_borrowing_first_0_15,
                    FairSharingPrioritizeNonBorrowing=True,
                ),
                *later.fair_sharing.order[1:],
            ),
            within_nominal=(),
            skip_zero_share=(fair_sharing.skip_zero_drs,),
        ),
    )


_ON_LENDING = (
    clusterqueue_webhook.no_lending_limit_is_negative,
    clusterqueue_webhook.lending_limit_needs_cohort,
    clusterqueue_webhook.a_cluster_queue_lends_no_more_than_it_has,
)
_ON_DEFAULT_QUEUES = job_webhook.queue_name_is_not_removed_with_default_queue


def _with_gates(later: WebhookRules) -> WebhookRules:
    """What is said of lending and of default queues is held to nothing where their gates are off; texts are filled."""
    lending = ((rule, when(rule, LendingLimit=True)) for rule in _ON_LENDING)
    by_default = (
        _ON_DEFAULT_QUEUES,
        when(_ON_DEFAULT_QUEUES, LocalQueueDefaulting=True),
    )
    return replace(
        later,
        empty=(*later.empty, workload_webhook.pod_template_defaults),
        groups=replace(later.groups, quota=swapped(later.groups.quota, *lending)),
        job=swapped(later.job, by_default),
    )
