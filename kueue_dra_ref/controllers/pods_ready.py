"""WaitForPodsReady: the condition PodsReady of Workloads, and evictions of those whose pods are not ready in time.

Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition);
    pkg/controller/core/workload_controller.go (reconcileNotReadyTimeout); pkg/workload/workload.go (UpdateRequeueState)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import condition, is_true, reason_of, set_condition
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.pods_ready import PODS_READY, WaitForPodsReady
from kueue_dra_ref.api.variants import is_variant
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controllers.workload_conditions import apply_condition, evict
from kueue_dra_ref.controlplane.clock import seconds_of, time_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.rules.workload.pods_ready import Deadline, PodsState, Unready
from kueue_dra_ref.target import Manifest


class PodsReady:
    """Keeps the condition of Workloads, and acts when their time is over."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour.waiting

    def sync(self, workload: Manifest, ready: bool) -> None:
        """Write whether the pods of a Workload are ready."""
        if not self.kueue.waiting:
            return
        was_ready = is_true(workload, PODS_READY)
        reason = reason_of(workload, PODS_READY)
        state = PodsState(
            admitted=is_true(workload, "Admitted"),
            ready=ready,
            was_ready=was_ready,
            reason=reason,
        )
        now = self.rules.condition(state)
        if now is None or (was_ready, reason) == (now.value, now.reason):
            return
        working = self.kueue.patched(workload)
        apply_condition(working, now, self.kueue.clock.now)
        self.kueue.store.put(working)

    @property
    def blocks(self) -> bool:
        """Whether Kueue admits no workload while pods of another one are not ready."""
        waiting = self.kueue.waiting
        return waiting is not None and bool(waiting.block_admission)

    def are_missing(self) -> bool:
        """Whether pods of a workload that holds quota are not ready."""
        for found in self.kueue.store.every("Workload"):
            if not self.kueue.usage.has(key_of(found)):
                continue
            if not is_true(found, PODS_READY):
                return True
        return False

    def evict(self, working: Manifest) -> bool:
        """Evict or deactivate an admitted workload whose time is over; True when its status has changed."""
        deadline = self._deadline(working)
        if deadline is None:
            return False
        cause, until = deadline
        if until > self.kueue.clock.seconds:
            wait = until - self.kueue.clock.seconds
            self.kueue.reconcile_later(wait, key_of(working))
            return False
        return self._deactivate(working) or self._evict_for(working, cause)

    def _deadline(self, working: Manifest) -> Deadline | None:
        """Say what a workload waits for and until when; None if it does not wait."""
        waiting = self.kueue.waiting
        if waiting is None or waiting.timeout is None:
            return None
        not_awaited = self.kueue.behaviour.concurrent.not_awaited
        if not_awaited(is_variant(working)) or not _waits(working):
            return None
        unready = _unready(waiting, working)
        if self.kueue.continues and unready.admitted_at <= self.kueue.timeouts.began:
            # What holds quota in the input keeps it: its pods may have been ready all the time.
            return None
        start = self.rules.start(unready, waiting.timeout)
        if start is not None or waiting.recovery_timeout is None:
            return start
        return self.rules.recovery(unready, waiting.recovery_timeout)

    def _deactivate(self, working: Manifest) -> bool:
        waiting = self.kueue.waiting
        assert waiting is not None
        requeues = _requeues(working)
        target = self.rules.deactivate(waiting, requeues)
        if target is None:
            return False
        now = self.kueue.clock.now
        return set_condition(
            working, "DeactivationTarget", True, target.reason, target.message, now
        )

    def _evict_for(self, working: Manifest, cause: str) -> bool:
        name = "/".join(key_of(working))
        for eviction in self.rules.evict(name, cause):
            self._back_off(working)
            evict(self.kueue, working, eviction)
        return True

    def _back_off(self, working: Manifest) -> None:
        """Count the eviction, and say until when the workload is not tried."""
        waiting = self.kueue.waiting
        assert waiting is not None
        requeues = _requeues(working) + 1
        wait = self.rules.backoff.or_else(0, waiting, requeues)
        until = int(self.kueue.clock.seconds) + wait
        state = {"count": requeues, "requeueAt": time_of(until)}
        working["status"]["requeueState"] = state


def _waits(working: Manifest) -> bool:
    """Whether a workload is admitted and its pods are not ready, as far as its Job has reported that."""
    if not is_active(working) or is_true(working, "Evicted"):
        return False
    if not is_true(working, "Admitted") or is_true(working, PODS_READY):
        return False
    is_reported = condition(working, PODS_READY) is not None
    return is_reported or not owners_of(working)


def _unready(waiting: WaitForPodsReady, working: Manifest) -> Unready:
    admitted = condition(working, "Admitted")
    assert admitted is not None
    found = condition(working, PODS_READY) or admitted
    return Unready(
        waiting=waiting,
        reason=found["reason"],
        admitted_at=seconds_of(admitted["lastTransitionTime"]),
        unready_at=seconds_of(found["lastTransitionTime"]),
    )


def _requeues(working: Manifest) -> int:
    """Give how often a workload was requeued."""
    state = working["status"].get("requeueState") or {}
    return int(state.get("count") or 0)
