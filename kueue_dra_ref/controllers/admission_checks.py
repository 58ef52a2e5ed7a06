"""Admission checks of Workloads: their states, the admission that waits for them, and evictions by them.

Kueue: pkg/controller/core/workload_controller.go (reconcileSyncAdmissionChecks, syncAdmissionCheckConditions,
    reconcileCheckBasedEviction); pkg/workload/admissionchecks.go (SyncAdmittedCondition, NeedsRequeueAtUpdate)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.admission_checks import (
    PENDING,
    assigned_flavors,
    check_states,
)
from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.api.variants import is_parent
from kueue_dra_ref.api.workloads import requeue_at
from kueue_dra_ref.controllers.workload_conditions import apply_condition, evict
from kueue_dra_ref.controlplane.clock import seconds_of, time_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.rules.workload.admission_checks import CheckScope
from kueue_dra_ref.target import Manifest

CAUSE = "AdmissionCheck"
"""The reason of an eviction by a check, and the underlying cause of a deactivation by one."""


class AdmissionChecks:
    """Keeps the checks of Workloads, and acts on their states."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.checking
        self._dropped: dict[Key, Sequence[Manifest]] = {}
        """The checks that Workloads have lost, and that the scheduler has not brought back since."""

    def delay(self, working: Manifest) -> bool:
        """Write until when checks delay a workload; True when that has changed."""
        now = self.kueue.clock.seconds
        known = requeue_at(working)
        before = seconds_of(known) if known else now
        times = []
        for state in check_states(working):
            seconds = self.rules.delay(state)
            if seconds is not None:
                times.append(seconds_of(state["lastTransitionTime"]) + seconds)
        until = max([now, before, *times])
        if until in (now, before):
            return False
        state = working["status"].setdefault("requeueState", {})
        state["requeueAt"] = time_of(until)
        return True

    def sync(self, working: Manifest) -> bool:
        """List the checks that a workload needs, new ones as Pending; True when the list has changed."""
        queue = self._cluster_queue(working)
        if queue is None or self._is_unchecked(working):
            return False
        known = {each["name"]: each for each in check_states(working)}
        names = self._required(queue, assigned_flavors(working))
        if names == known.keys():
            return False
        if self._queued_before(working):
            dropped = [each for name, each in known.items() if name not in names]
            self._note_dropped(key_of(working), dropped)
        now = self.kueue.clock.now
        states = []
        for name in sorted(names):
            new = {
                "name": name,
                "state": PENDING,
                "message": "",
                "lastTransitionTime": now,
            }
            states.append(known.get(name, new))
        if states:
            working["status"]["admissionChecks"] = states
        else:
            del working["status"]["admissionChecks"]
        return True

    def _note_dropped(self, key: Key, dropped: Sequence[Manifest]) -> None:
        """Note the checks that the scheduler brings back, as it has read them, but only once."""
        if self._dropped.pop(key, None) != dropped:
            self._dropped[key] = self.kueue.checks_when_queued[key] = dropped

    def _queued_before(self, working: Manifest) -> bool:
        """Whether Kueue has queued a workload for a look at its quota before it lists the checks that are needed."""
        waits = not is_true(working, "QuotaReserved")
        return waits and self.kueue.asks_for_devices(working) and self.rules.restore()

    def _is_unchecked(self, working: Manifest) -> bool:
        """Whether the variants of a workload have its checks."""
        return is_parent(working) and self.kueue.behaviour.concurrent.not_checked()

    def lists_all(self, working: Manifest, queue: ClusterQueue) -> bool:
        """Whether the status of a workload with an admission lists all checks that it needs."""
        known = {each["name"] for each in check_states(working)}
        return self._required(queue, assigned_flavors(working)) <= known

    def admit(self, working: Manifest) -> bool:
        """Admit a workload that has quota, unless a check is not ready; True when its status has changed."""
        if is_true(working, "Admitted") or not is_true(working, "QuotaReserved"):
            return False
        if self.rules.block_admission(check_states(working)):
            conditions = self.rules.unsatisfied()
        else:
            conditions = self.kueue.behaviour.reporting.admitted()
        changed = False
        for each in conditions:
            changed |= apply_condition(working, each, self.kueue.clock.now)
        return changed

    def evict(self, working: Manifest) -> bool:
        """Evict or deactivate a workload with quota by the states of its checks; True when it has changed."""
        if not is_true(working, "QuotaReserved") or is_true(working, "Evicted"):
            return False
        states = check_states(working)
        rejected = self.rules.reject(states)
        if rejected:
            now = self.kueue.clock.now
            return set_condition(
                working, "DeactivationTarget", True, CAUSE, rejected, now
            )
        message = self.rules.retry(states)
        if not message:
            return False
        eviction = ReasonMessage(reason=CAUSE, message=message)
        return evict(self.kueue, working, eviction)

    def _required(
        self, queue: ClusterQueue, assigned: frozenset[str] | None
    ) -> frozenset[str]:
        scope = CheckScope(
            checks=queue.admission_checks, flavors=queue.flavors, assigned=assigned
        )
        return self.rules.required.or_else(frozenset(), scope)

    def _cluster_queue(self, working: Manifest) -> ClusterQueue | None:
        _, managed = self.kueue.queue_of(working)
        if managed is None:
            return None
        return self.kueue.informers.queue(managed.cluster_queue)
