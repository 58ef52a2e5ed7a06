"""Kueue 0.14 (0.14.0): what differs from Kueue 0.15."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_14_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_15 import kueue_0_15
from kueue_dra_ref.features.kube_features import kueue_0_14_gates
from kueue_dra_ref.model.rule import swapped, when
from kueue_dra_ref.rules.crd import clusterqueue_crd, workload_crd
from kueue_dra_ref.rules.dra import claim_templates_0_14
from kueue_dra_ref.rules.flavorassigner import fits_resource_quota, flavor_fungibility
from kueue_dra_ref.rules.preemption import preemption_policies
from kueue_dra_ref.rules.webhooks import job_webhook
from kueue_dra_ref.rules.workload import workload_status

_WITHOUT_PREFERENCE = (clusterqueue_crd.a_preference_needs_a_search_that_goes_on, None)
_IN_OTHER_NAMES = (
    (clusterqueue_crd.a_preference_is_for_borrowing_or_preemption, None),
    (clusterqueue_crd.the_mode_of_an_admission_scope_is_known, None),
    (
        clusterqueue_crd.a_cohort_is_named_as_objects_are,
        clusterqueue_crd.a_cohort_without_a_field_of_that_name_is_named_as_objects_are,
    ),
    (
        clusterqueue_crd.a_search_stops_or_tries_the_next_flavor,
        clusterqueue_crd.a_search_borrows_preempts_or_tries_the_next_flavor,
    ),
)


def kueue_0_14() -> Behaviour:
    """Kueue 0.14 as a value."""
    later = kueue_0_15()
    return replace(
        later,
        name="kueue-0.14",
        title="Kueue 0.14",
        kueue="0.14",
        versions=KUEUE_0_14_VERSIONS,
        gates=kueue_0_14_gates(),
        # What it tells from an old version of the Workload is refused as a conflict.
        overwrites=False,
        processing=replace(
            later.processing,
            template=(claim_templates_0_14.a_missing_template_is_told_in_words,),
            # Nothing of a request is refused.
            request=(),
            unmapped_class=(claim_templates_0_14.an_unmapped_class_is_told_in_words,),
        ),
        # A prioritized list is charged nothing, and mode All none of its class.
        charging=replace(
            later.charging,
            request=(
                *later.charging.request,
                claim_templates_0_14.mode_all_is_charged_none,
            ),
        ),
        # Whoever waits for its victims may be overtaken, and whoever is done may be queued.
        queueing=replace(
            later.queueing, sticky_preemptor=(), skip_on_local_queue_add=()
        ),
        assigning=replace(
            later.assigning,
            quota=(
                fits_resource_quota.more_than_the_capacity_never_fits_in_one_sum,
                fits_resource_quota.more_than_what_is_unused_waits,
            ),
            # A ClusterQueue cannot say what it prefers.
            rank=(
                when(
                    flavor_fungibility.borrowing_is_preferred,
                    FlavorFungibilityImplicitPreferenceDefault=False,
                ),
                when(
                    flavor_fungibility.who_borrows_last_preempts_first,
                    FlavorFungibilityImplicitPreferenceDefault=True,
                ),
            ),
        ),
        # A LocalQueue shows what its ClusterQueue has.
        reporting=replace(
            later.reporting,
            local_queue=(
                *later.reporting.local_queue,
                when(
                    workload_status.a_local_queue_shows_its_flavors,
                    ExposeFlavorsInLocalQueue=True,
                ),
            ),
        ),
        # Who is done keeps what it had.
        jobs=replace(later.jobs, done=(), delete_if_not_equivalent=()),
        # The class that a Job names is never another.
        priorities=replace(later.priorities, followed=(), moved=()),
        # What is refused is told in fewer words.
        definitions=replace(
            later.definitions,
            # It has no preference, and what is refused of it is called by other names.
            cluster_queue=replace(
                later.definitions.cluster_queue,
                limits=swapped(
                    later.definitions.cluster_queue.limits, *_IN_OTHER_NAMES
                ),
                cel=swapped(later.definitions.cluster_queue.cel, _WITHOUT_PREFERENCE),
            ),
            # A Workload names its class; there is no reference.
            workload=replace(
                later.definitions.workload,
                limits=swapped(
                    later.definitions.workload.limits,
                    (workload_crd.a_priority_class_is_of_a_known_kind, None),
                ),
                cel=(
                    workload_crd.a_workload_with_quota_has_a_class_or_none_in_few_words,
                    workload_crd.a_workload_with_quota_stays_in_its_queue_in_few_words,
                    workload_crd.a_named_priority_class_comes_with_its_priority,
                    workload_crd.the_fewest_pods_are_no_more_than_all,
                ),
            ),
        ),
        # A priority class stays what it is.
        webhooks=replace(
            later.webhooks,
            job=swapped(
                later.webhooks.job,
                (
                    job_webhook.a_running_job_is_given_no_priority_class,
                    job_webhook.a_running_job_keeps_its_priority_class,
                ),
                (job_webhook.a_job_keeps_a_priority_class, None),
            ),
        ),
        preempting=replace(
            later.preempting,
            preempted_message=(
                preemption_policies.the_preemptor_is_named_without_paths,
            ),
            # An eviction that comes too early fails for good.
            ignore_just_admitted=(
                preemption_policies.who_has_just_been_admitted_is_missed,
            ),
        ),
    )
