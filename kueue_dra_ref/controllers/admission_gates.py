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
    untried,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.target import Manifest

_RESERVED = "QuotaReserved"


def sync_gates(kueue: Kueue, working: Manifest, closed: ReasonMessage | None) -> bool:
    """Set the condition of a workload whose gates are ``closed``, or of one without; True when it was another one."""
    change = _change(kueue, working, closed)
    if change is None:
        return False
    now = kueue.clock.now
    apply_condition(working, change, now)
    no_quota_reservation(kueue, working)
    return True


def gates_passed_on(kueue: Kueue, work: Manifest) -> dict[str, str]:
    """Give the annotation with admission gates that a new Workload of work gets; empty without any."""
    return _annotation(kueue.behaviour.gating.passed_on(work))


def pass_on_gates(kueue: Kueue, work: Manifest, workload: Manifest) -> bool:
    """Give the Workload of work the admission gates that are left; True if it had others."""
    gates = kueue.behaviour.gating.passed_on(work)
    if gates is None or gates == gates_of(workload):
        return False
    annotations = dict(annotations_of(workload))
    annotations.pop(GATED_BY, None)
    annotations |= _annotation(gates)
    working = kueue.patched(workload)
    working["metadata"]["annotations"] = annotations
    kueue.store.put(working)
    return True


def _annotation(gates: str | None) -> dict[str, str]:
    return {GATED_BY: gates} if gates else {}


def _change(
    kueue: Kueue, working: Manifest, closed: ReasonMessage | None
) -> Condition | None:
    is_gated = reason_of(working, _RESERVED) == GATED
    if closed is None:
        cleared = kueue.behaviour.gating.cleared() if is_gated else None
        return None if cleared is None else untried(kueue, cleared)
    if is_gated:
        return None
    return Condition(
        type=_RESERVED,
        value=False,
        reason=closed.reason,
        message=closed.message,
    )
