"""Kueue 0.16 (0.16.0 to 0.16.2): what it changes of Kueue 0.15."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_16_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_15 import kueue_0_15
from kueue_dra_ref.features.kube_features import kueue_0_16_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AllOf, AnyOf
from kueue_dra_ref.rules.config import device_class_mappings, mapping_names_0_15
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    flavor_fungibility,
    taints,
)
from kueue_dra_ref.rules.jobframework import job_reconciliation
from kueue_dra_ref.rules.preemption import fair_sharing
from kueue_dra_ref.rules.queue import pending_workloads
from kueue_dra_ref.rules.workload import workload_priority_class


def kueue_0_16() -> Behaviour:
    """Kueue 0.16 as a value."""
    earlier = kueue_0_15()
    return replace(
        earlier,
        name="kueue-0.16",
        title="Kueue 0.16",
        kueue="0.16",
        versions=KUEUE_0_16_VERSIONS,
        gates=kueue_0_16_gates(),
        mapping=replace(
            earlier.mapping,
            name=earlier.mapping.name.swap(
                mapping_names_0_15.name_is_a_qualified_name,
                device_class_mappings.name_is_a_label_key,
            ),
            device_class=earlier.mapping.device_class.swap(
                mapping_names_0_15.class_is_a_qualified_name,
                device_class_mappings.class_is_a_label_key,
            ),
        ),
        queueing=replace(
            earlier.queueing,
            count_on_start=AllOf(pending_workloads.inactive_is_not_cached_on_start),
            ignore_delete=earlier.queueing.ignore_delete.drop(
                pending_workloads.deleted_pending_triggers_no_requeue
            ),
        ),
        assigning=replace(
            earlier.assigning,
            ignore_zero_request=AnyOf(fits_resource_quota.zero_of_uncovered_is_ignored),
            stop_at_empty_pod_set=AnyOf(
                fits_resource_quota.empty_pod_set_stops_assignment
            ),
            flavor=earlier.assigning.flavor.swap(
                taints.taints_must_be_tolerated_0_15,
                taints.taints_must_be_tolerated,
            ),
            rank=earlier.assigning.rank.drop(
                flavor_fungibility.prefer_preemption_over_borrowing
            ).swap(
                flavor_fungibility.inverted_preference_bug_0_15,
                flavor_fungibility.is_preferred,
            ),
        ),
        fair_sharing=replace(
            earlier.fair_sharing,
            order=earlier.fair_sharing.order.add(
                when(
                    fair_sharing.non_borrowing_first_0_16,
                    FairSharingPrioritizeNonBorrowing=True,
                ),
                before=fair_sharing.lower_drs_first,
            ),
        ),
        jobs=replace(
            earlier.jobs,
            done=earlier.jobs.done.drop(job_reconciliation.finished_releases_quota),
            delete_if_not_equivalent=earlier.jobs.delete_if_not_equivalent.drop(
                job_reconciliation.delete_finished_non_equivalent_workload
            ),
        ),
        priorities=replace(
            earlier.priorities,
            followed=earlier.priorities.followed.add(
                workload_priority_class.pending_workload_gets_first_priority_class
            ),
            valued=AnyOf(workload_priority_class.priority_class_value_is_propagated),
        ),
        sweeps_later=True,
        webhooks=replace(
            earlier.webhooks,
            words=earlier.webhooks.words.drop(
                mapping_names_0_15.qualified_name_messages
            ),
        ),
    )
