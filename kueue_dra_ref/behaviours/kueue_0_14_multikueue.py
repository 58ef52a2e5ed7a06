"""Kueue 0.14: what it dispatches to other clusters (gate MultiKueue, on by default).

No counterpart: the rules of one phase as a value.
"""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.rules.multikueue import dispatching, dispatching_0_17


def dispatched(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while MultiKueue is on."""
    return when(each, MultiKueue=True)


def managed(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while MultiKueue is on, and the manager of a Job is MultiKueue."""
    return when(each, MultiKueue=True, MultiKueueBatchJobWithManagedBy=True)


def unmanaged(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while MultiKueue is on, and a Job has no manager of its own."""
    return when(each, MultiKueue=True, MultiKueueBatchJobWithManagedBy=False)


DISPATCHING = MultiKueueRules(
    active=First(
        dispatched(dispatching.no_usable_cluster),
        dispatched(dispatching.some_usable_clusters),
        dispatched(dispatching.all_usable_clusters),
    ),
    disconnect=First(dispatched(dispatching_0_17.cluster_has_bad_config)),
    manage=AnyOf(
        managed(dispatching.multikueue_manages_jobs),
        dispatched(dispatching.multikueue_manages_other_work),
    ),
    reject=First(
        managed(dispatching.reject_other_managers),
        dispatched(dispatching.reject_work_without_owner),
    ),
    idle=AnyOf(dispatched(dispatching_0_17.nothing_happens_without_clusters)),
    nominate=First(dispatched(dispatching.dispatch_to_every_cluster)),
    winner=First(dispatched(dispatching_0_17.first_reserving_copy_wins)),
    withdraw_others=AnyOf(dispatched(dispatching.other_copies_go)),
    won=First(dispatched(dispatching.reservation_on)),
    pend=AnyOf(unmanaged(dispatching_0_17.check_of_jobs_stays_pending)),
    withdraw=AnyOf(
        dispatched(dispatching.copies_go_without_quota),
        dispatched(dispatching.copies_go_when_finished),
    ),
    withdraw_deleted=AnyOf(dispatched(dispatching.copies_go_with_workload)),
    collect=AnyOf(dispatched(dispatching.orphaned_copies_go)),
    sync_status=AnyOf(
        managed(dispatching.status_follows_running_copy),
        unmanaged(dispatching_0_17.status_follows_finished_copy),
    ),
    retry_lost=First(dispatched(dispatching.retry_when_copy_is_lost)),
    differs=AnyOf(dispatched(dispatching.copies_go_when_they_differ)),
    forget_cluster=AnyOf(dispatching.eviction_forgets_the_cluster),
    prebuilt=First(dispatching.work_takes_prebuilt_workload),
)
