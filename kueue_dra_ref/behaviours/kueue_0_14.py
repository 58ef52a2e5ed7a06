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

_WITHOUT_PREFERENCE = (
    clusterqueue_crd.fungibility_preference_needs_try_next_flavor,
    None,
)
_IN_OTHER_NAMES = (
    (clusterqueue_crd.fungibility_preference_is_known, None),
    (clusterqueue_crd.the_mode_of_an_admission_scope_is_known, None),
    (
        clusterqueue_crd.a_cohort_is_named_as_objects_are,
        clusterqueue_crd.a_cohort_without_a_field_of_that_name_is_named_as_objects_are,
    ),
    (
        clusterqueue_crd.when_can_preempt_is_known,
        clusterqueue_crd.when_can_borrow_is_known,
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
            template=(claim_templates_0_14.missing_template_message_0_14,),
            # Nothing of a request is refused.
            request=(),
            unmapped_class=(claim_templates_0_14.unmapped_class_message_0_14,),
        ),
        # A prioritized list is charged nothing, and mode All none of its class.
        charging=replace(
            later.charging,
            request=(
                *later.charging.request,
                claim_templates_0_14.allocation_mode_all_is_charged_zero,
            ),
        ),
        # Whoever waits for its victims may be overtaken, and whoever is done may be queued.
        queueing=replace(
            later.queueing, sticky_preemptor=(), skip_on_local_queue_add=()
        ),
        assigning=replace(
            later.assigning,
            quota=(
                fits_resource_quota.exceeds_maximum_capacity_in_one_sum,
                fits_resource_quota.insufficient_unused_quota,
            ),
            # A ClusterQueue cannot say what it prefers.
            rank=(
                when(
                    flavor_fungibility.borrowing_is_preferred,
                    FlavorFungibilityImplicitPreferenceDefault=False,
                ),
                when(
                    flavor_fungibility.prefer_preemption_over_borrowing,
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
                    workload_crd.priority_class_is_immutable_with_quota_short_message,
                    workload_crd.queue_name_is_immutable_with_quota_short_message,
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
            preempted_message=(preemption_policies.preemption_message_without_paths,),
            # An eviction that comes too early fails for good.
            ignore_just_admitted=(preemption_policies.just_admitted_are_no_candidates,),
        ),
    )
