"""Kueue 0.15 (0.15.0 to 0.15.2): what it changes of Kueue 0.14."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_15_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14 import kueue_0_14
from kueue_dra_ref.features.kube_features import kueue_0_15_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Collect, Each, First
from kueue_dra_ref.rules.crd import clusterqueue_crd, workload_crd
from kueue_dra_ref.rules.dra import (
    claim_templates,
    claim_templates_0_14,
    claim_templates_0_17,
)
from kueue_dra_ref.rules.flavorassigner import fits_resource_quota, flavor_fungibility
from kueue_dra_ref.rules.jobframework import job_reconciliation
from kueue_dra_ref.rules.preemption import preemption_policies
from kueue_dra_ref.rules.queue import pending_workloads
from kueue_dra_ref.rules.webhooks import job_webhook
from kueue_dra_ref.rules.workload import workload_priority_class, workload_status


def kueue_0_15() -> Behaviour:
    """Kueue 0.15 as a value."""
    earlier = kueue_0_14()
    return replace(
        earlier,
        name="kueue-0.15",
        title="Kueue 0.15",
        kueue="0.15",
        versions=KUEUE_0_15_VERSIONS,
        gates=kueue_0_15_gates(),
        processing=replace(
            earlier.processing,
            template=First(
                claim_templates.template_must_exist,
                claim_templates_0_17.constraints_are_refused,
                claim_templates_0_17.device_config_is_refused,
            ),
            request=First(
                claim_templates.first_available_unsupported,
                claim_templates_0_17.selectors_are_refused,
                claim_templates.admin_access_is_refused,
                claim_templates.allocation_mode_all_is_rejected,
            ),
            unmapped_class=earlier.processing.unmapped_class.swap(
                claim_templates_0_14.unmapped_class_message_0_14,
                claim_templates.unmapped_classes_are_refused,
            ),
        ),
        charging=replace(
            earlier.charging,
            request=earlier.charging.request.drop(
                claim_templates_0_14.allocation_mode_all_is_charged_zero
            ),
        ),
        queueing=replace(
            earlier.queueing,
            sticky_preemptor=AnyOf(pending_workloads.sticky_preemptor),
            skip_on_local_queue_add=AnyOf(pending_workloads.finished_is_not_queued),
        ),
        assigning=replace(
            earlier.assigning,
            quota=earlier.assigning.quota.swap(
                fits_resource_quota.exceeds_maximum_capacity_in_one_sum,
                fits_resource_quota.exceeds_maximum_capacity,
            ),
            rank=earlier.assigning.rank.swap(
                flavor_fungibility.borrowing_is_preferred,
                when(
                    flavor_fungibility.inverted_preference_bug_0_15,
                    FlavorFungibilityImplicitPreferenceDefault=False,
                ),
            ),
        ),
        preempting=replace(
            earlier.preempting,
            preempted_message=earlier.preempting.preempted_message.swap(
                preemption_policies.preemption_message_without_paths,
                preemption_policies.preemption_message,
            ),
            ignore_just_admitted=earlier.preempting.ignore_just_admitted.drop(
                preemption_policies.just_admitted_are_no_candidates
            ),
        ),
        reporting=replace(
            earlier.reporting,
            local_queue=earlier.reporting.local_queue.drop(
                workload_status.local_queue_flavors_status
            ),
        ),
        jobs=replace(
            earlier.jobs,
            done=Each(job_reconciliation.finished_releases_quota),
            delete_if_not_equivalent=AnyOf(
                job_reconciliation.delete_finished_non_equivalent_workload
            ),
        ),
        priorities=replace(
            earlier.priorities,
            followed=AnyOf(
                workload_priority_class.workload_follows_priority_class_change
            ),
            moved=AnyOf(workload_priority_class.priority_change_requeues_pending),
        ),
        overwrites=True,
        definitions=replace(
            earlier.definitions,
            cluster_queue=replace(
                earlier.definitions.cluster_queue,
                limits=earlier.definitions.cluster_queue.limits.swap(
                    clusterqueue_crd.cohort_field_is_valid,
                    clusterqueue_crd.cohort_name_is_valid,
                )
                .swap(
                    clusterqueue_crd.fungibility_policies_are_known_0_14,
                    clusterqueue_crd.fungibility_policies_are_known,
                )
                .add(
                    clusterqueue_crd.fungibility_preference_is_known,
                    before=clusterqueue_crd.admission_mode_is_required,
                )
                .add(
                    clusterqueue_crd.admission_mode_is_known,
                    before=clusterqueue_crd.flavors_of_group_are_unique,
                ),
                cel=earlier.definitions.cluster_queue.cel.add(
                    clusterqueue_crd.fungibility_preference_needs_try_next_flavor,
                    before=clusterqueue_crd.flavor_has_quota_of_each_covered_resource,
                ),
            ),
            workload=replace(
                earlier.definitions.workload,
                limits=earlier.definitions.workload.limits.add(
                    workload_crd.priority_class_ref_is_known
                ),
                cel=Collect(
                    workload_crd.priority_class_ref_kind_matches_group,
                    workload_crd.priority_class_is_immutable_with_quota,
                    workload_crd.queue_name_is_immutable_with_quota,
                    workload_crd.priority_class_ref_needs_priority,
                    workload_crd.min_count_is_at_most_count,
                ),
            ),
        ),
        webhooks=replace(
            earlier.webhooks,
            job=earlier.webhooks.job.swap(
                job_webhook.running_job_keeps_priority_class,
                job_webhook.running_job_gets_no_priority_class,
            ).add(
                job_webhook.priority_class_is_not_removed,
                before=job_webhook.running_job_keeps_parallelism,
            ),
        ),
    )
