"""Kueue 0.15 (0.15.0 to 0.15.2): what differs from Kueue 0.16."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_15_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import earlier_names, fungibility, jobs, priorities, queueing, tolerating
from kueue_dra_ref.rules.gates import kueue_0_15_gates


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
            name=(earlier_names.name_is_a_qualified_name, *later.mapping.name[1:]),
            device_class=(earlier_names.class_is_a_qualified_name, *later.mapping.device_class[1:]),
        ),
        webhooks=replace(later.webhooks, words=(earlier_names.names_are_qualified_and_counted_in_characters,)),
        # Whoever waits is tried again at once, beside whom quota came free for.
        sweeps_later=False,
        # Whoever was deactivated with a reservation is counted again.
        queueing=replace(later.queueing, at_start=(), unnoticed=(queueing.who_only_waited_leaves_unnoticed,)),
        assigning=replace(
            later.assigning,
            # Tolerations do not compare numbers.
            flavor=(tolerating.taints_must_be_tolerated_by_their_value,),
            # Even none of a resource has to be covered.
            overlooked=(),
            cut_short=(),
            # What a ClusterQueue says it prefers is taken for its opposite.
            rank=(
                when(
                    fungibility.the_preference_is_taken_for_its_opposite,
                    FlavorFungibilityImplicitPreferenceDefault=False,
                ),
                when(fungibility.who_borrows_last_preempts_first, FlavorFungibilityImplicitPreferenceDefault=True),
            ),
        ),
        jobs=replace(
            later.jobs,
            done=(jobs.who_is_done_gives_its_reservation_back,),
            unlike=(jobs.who_is_done_and_unlike_its_job_is_deleted,),
        ),
        # A workload keeps to having no class, and to the value that its class had.
        priorities=replace(
            later.priorities, followed=(priorities.a_workload_goes_along_from_class_to_class,), valued=()
        ),
    )
