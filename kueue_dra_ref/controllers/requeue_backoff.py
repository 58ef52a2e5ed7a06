"""Evicted workloads that back off: Kueue does not try them until the time that their status names.

Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile);
    apis/kueue/v1beta2/workload_types.go (RequeueState)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_false, is_true, reason_of, set_condition
from kueue_dra_ref.api.workloads import is_active, requeue_at
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.target import Manifest

_BACKING_OFF = ("PodsReadyTimeout", "AdmissionCheck")
"""The reasons of evictions after which a workload backs off."""


def backs_off(kueue: Kueue, working: Manifest) -> bool:
    """Reconcile a workload again when its backoff ends; True until then, and when it has ended just now."""
    until = requeue_at(working)
    if not until or not is_active(working):
        return False
    if kueue.behaviour.waiting.ignore_backoff_end(kueue.asks_for_devices(working)):
        return False
    has_quota = is_true(working, "QuotaReserved")
    if has_quota and kueue.behaviour.provisioning.evict_first():
        return False
    wait = seconds_of(until) - kueue.clock.seconds
    if wait > 0:
        kueue.reconcile_later(wait, key_of(working))
        return True
    _finish(kueue, working)
    kueue.store.put(working)
    return True


def _finish(kueue: Kueue, working: Manifest) -> None:
    """Record that the backoff has ended, so that the workload may be tried."""
    del working["status"]["requeueState"]["requeueAt"]
    ends_backoff(kueue, working)


def ends_backoff(kueue: Kueue, working: Manifest) -> bool:
    """Record that a workload may be tried again, unless it has to wait; True when its status has changed."""
    reason = reason_of(working, "Requeued")
    if not is_false(working, "Requeued") or reason not in _BACKING_OFF:
        return False
    message = "The workload backoff was finished"
    now = kueue.clock.now
    return set_condition(working, "Requeued", True, "BackoffFinished", message, now)
