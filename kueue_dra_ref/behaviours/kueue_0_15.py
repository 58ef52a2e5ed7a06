"""Kueue 0.15 (0.15.0 to 0.15.2): what differs from Kueue 0.16."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_15_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
from kueue_dra_ref.features.kube_features import kueue_0_15_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.rules.config import mapping_names_0_15
from kueue_dra_ref.rules.flavorassigner import flavor_fungibility, taints
from kueue_dra_ref.rules.jobframework import job_reconciliation
from kueue_dra_ref.rules.queue import pending_workloads
from kueue_dra_ref.rules.workload import workload_priority_class


def kueue_0_15() -> Behaviour:
    """Kueue 0.15 as a value."""
    # Under fair sharing, shares decide alone; whether a workload borrows does not matter.
    later = kueue_0_16().settled(FairSharingPrioritizeNonBorrowing=False)
    return replace(
        later,
        name="kueue-0.15",
        title="Kueue 0.15",
        kueue="0.15",
        versions=KUEUE_0_15_VERSIONS,
        gates=kueue_0_15_gates(),
        # Names are told in the words of Kubernetes 1.34.
        mapping=replace(
            later.mapping,
            name=(mapping_names_0_15.name_is_a_qualified_name, *later.mapping.name[1:]),
            device_class=(
                mapping_names_0_15.class_is_a_qualified_name,
                *later.mapping.device_class[1:],
            ),
        ),
        webhooks=replace(
            later.webhooks,
            words=(mapping_names_0_15.names_are_qualified_and_counted_in_characters,),
        ),
        # Whoever waits is tried again at once, beside whom quota came free for.
        sweeps_later=False,
        # Whoever was deactivated with a reservation is counted again.
        queueing=replace(
            later.queueing,
            count_on_start=(),
            ignore_delete=(pending_workloads.deleted_pending_triggers_no_requeue,),
        ),
        assigning=replace(
            later.assigning,
            # Tolerations do not compare numbers.
            flavor=(taints.taints_must_be_tolerated_by_their_value,),
            # Even none of a resource has to be covered.
            ignore_zero_request=(),
            stop_at_empty_pod_set=(),
            # What a ClusterQueue says it prefers is taken for its opposite.
            rank=(
                when(
                    flavor_fungibility.inverted_preference_bug_0_15,
                    FlavorFungibilityImplicitPreferenceDefault=False,
                ),
                when(
                    flavor_fungibility.prefer_preemption_over_borrowing,
                    FlavorFungibilityImplicitPreferenceDefault=True,
                ),
            ),
        ),
        jobs=replace(
            later.jobs,
            done=(job_reconciliation.finished_releases_quota,),
            delete_if_not_equivalent=(
                job_reconciliation.delete_finished_non_equivalent_workload,
            ),
        ),
        # A workload keeps to having no class, and to the value that its class had.
        priorities=replace(
            later.priorities,
            followed=(workload_priority_class.workload_follows_priority_class_change,),
            valued=(),
        ),
    )
