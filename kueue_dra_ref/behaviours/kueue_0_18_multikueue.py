"""What Kueue 0.18 dispatches to other clusters (gate MultiKueue, on by default); earlier releases are not modelled.

No counterpart: the rules of one phase as a value.
"""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, First
from kueue_dra_ref.rules.multikueue import dispatching


def _on(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while MultiKueue is on."""
    return when(each, MultiKueue=True)


DISPATCHING = MultiKueueRules(
    active=First(
        _on(dispatching.no_usable_cluster),
        _on(dispatching.some_usable_clusters),
        _on(dispatching.all_usable_clusters),
    ),
    manage=AnyOf(_on(dispatching.multikueue_manages_jobs)),
    reject=First(_on(dispatching.reject_other_managers)),
    nominate=First(_on(dispatching.dispatch_to_every_cluster)),
    winner=First(_on(dispatching.first_admitted_copy_wins)),
    withdraw_others=AnyOf(_on(dispatching.other_copies_go)),
    won=First(_on(dispatching.reservation_on)),
    withdraw=AnyOf(
        _on(dispatching.copies_go_without_quota),
        _on(dispatching.copies_go_when_finished),
    ),
    withdraw_deleted=AnyOf(_on(dispatching.copies_go_with_workload)),
    collect=AnyOf(_on(dispatching.orphaned_copies_go)),
    sync_status=AnyOf(
        _on(dispatching.status_follows_running_copy),
        _on(dispatching.status_follows_suspended_copy),
    ),
    retry_evicted=First(_on(dispatching.retry_when_copy_is_evicted)),
    retry_lost=First(_on(dispatching.retry_when_copy_is_lost)),
    differs=AnyOf(_on(dispatching.copies_go_when_they_differ)),
    evict_copy=First(_on(dispatching.copy_is_evicted_with_workload)),
    forget_cluster=AnyOf(dispatching.eviction_forgets_the_cluster),
    prebuilt=First(dispatching.work_takes_prebuilt_workload),
)
