"""Admission gates in the status of a Workload: that they are closed, and that they are gone.

Kueue: pkg/controller/core/workload_controller.go (mayUpdateConditionForAdmissionGatedBy, hasAdmissionGatedCondition);
    pkg/controller/jobframework/reconciler.go (UpdateAdmissionGatedBy)
"""

from __future__ import annotations

from kueue_dra_ref.api.admission_gates import GATED, GATED_BY, gates_of
from kueue_dra_ref.api.conditions import reason_of
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    no_quota_reservation,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.target import Manifest

_RESERVED = "QuotaReserved"


def sync_gates(kueue: Kueue, working: Manifest) -> bool:
    """Set the condition that fits the admission gates of a workload now; True when it was another one."""
    change = _change(kueue, working)
    if change is None:
        return False
    now = kueue.clock.now
    apply_condition(working, change, now)
    no_quota_reservation(kueue, working)
    return True


def gates_passed_on(kueue: Kueue, work: Manifest) -> dict[str, str]:
    """Give the annotation with admission gates that a new Workload of work gets; empty without any."""
    gates = kueue.behaviour.gating.passed_on(work)
    return {GATED_BY: gates} if gates else {}


def pass_on_gates(kueue: Kueue, work: Manifest, workload: Manifest) -> bool:
    """Give the Workload of work the admission gates that are left; True if it had others."""
    gates = kueue.behaviour.gating.passed_on(work)
    if gates is None or gates == gates_of(workload):
        return False
    annotations = dict(annotations_of(workload))
    annotations.pop(GATED_BY, None)
    annotations |= gates_passed_on(kueue, work)
    working = kueue.patched(workload)
    working["metadata"]["annotations"] = annotations
    kueue.store.put(working)
    return True


def _change(kueue: Kueue, working: Manifest) -> Condition | None:
    rules = kueue.behaviour.gating
    closed = rules.closed(working)
    is_gated = reason_of(working, _RESERVED) == GATED
    if closed is None:
        cleared = rules.cleared() if is_gated else None
        return None if cleared is None else _untried(kueue, cleared)
    if is_gated:
        return None
    return Condition(
        type=_RESERVED,
        value=False,
        reason=closed.reason,
        message=closed.message,
    )


def _untried(kueue: Kueue, message: str) -> Condition | None:
    untried = NotAdmissible(cause=QuotaReservedReason.UNTRIED, message=message)
    return kueue.behaviour.reporting.quota_released(untried)
