"""The status of Workloads: conditions as behaviours word them, evictions counted, quota taken back.

Kueue: pkg/workload/workload.go (SetQuotaReservation, UnsetQuotaReservationWithCondition, SetRequeuedCondition);
pkg/workload/admissionchecks.go (SyncAdmittedCondition); pkg/workload/evict/evict.go (Evict)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.rules.queue.pending_workloads import ReasonMessage
from kueue_dra_ref.target import Manifest


def apply_condition(obj: Manifest, said: Condition, now: str) -> bool:
    """Write one condition; whether it changed."""
    return set_condition(obj, said.type, said.value, said.reason, said.message, now)


def say_unreserved(kueue: Kueue, obj: Manifest) -> bool:
    """Write what stands beside a QuotaReserved that is False, and of which generation; whether anything changed."""
    said = [rule() for rule in kueue.behaviour.reporting.unset_quota_reservation]
    changed = [apply_condition(obj, one, kueue.clock.now) for one in said]
    for found in (condition(obj, one.type) for one in said):
        assert found is not None
        found["observedGeneration"] = obj["metadata"]["generation"]
    return any(changed)


def renew_unreserved(kueue: Kueue, obj: Manifest) -> bool:
    """Write it again where it was written of another generation; whether it was."""
    rules, now = kueue.behaviour.reporting, obj["metadata"]["generation"]
    found = [
        each
        for rule in rules.unset_quota_reservation
        if (each := condition(obj, rule().type))
    ]
    if not any(
        rule(each.get("observedGeneration", now), now)
        for each in found
        for rule in rules.reobserved
    ):
        return False
    say_unreserved(kueue, obj)
    return True


def evict(kueue: Kueue, working: Manifest, told: ReasonMessage) -> bool:
    """Mark a workload as evicted and count the eviction; its quota goes back once its pods are gone."""
    evictions = (
        working["status"].setdefault("schedulingStats", {}).setdefault("evictions", [])
    )
    known = next((e for e in evictions if e["reason"] == told.reason), None)
    if known is None:
        known = {"reason": told.reason, "underlyingCause": "", "count": 0}
        evictions.append(known)
    known["count"] += 1
    said = [
        rule(told.reason, told.message) for rule in kueue.behaviour.reporting.evicted
    ]
    return any([apply_condition(working, each, kueue.clock.now) for each in said])


def unset_quota_reservation(kueue: Kueue, working: Manifest) -> None:
    """Take the quota of an evicted workload back; unless it was preempted, it is not queued again by itself."""
    evicted = condition(working, "Evicted")
    assert evicted is not None
    now = kueue.clock.now
    again = any(rule(evicted["reason"]) for rule in kueue.behaviour.jobs.requeued)
    set_condition(
        working, "Requeued", again, evicted["reason"], evicted["message"], now
    )
    untried = NotAdmissible(
        cause=QuotaReservedReason.UNTRIED, message=evicted["message"]
    )
    released = kueue.behaviour.reporting.quota_released(untried)
    if released is not None:
        apply_condition(working, released, now)
    no_quota_reservation(kueue, working)
    kueue.store.put(working)


def no_quota_reservation(kueue: Kueue, working: Manifest) -> None:
    """Take its admission from a workload, and say that it holds no quota."""
    working["status"].pop("admission", None)
    if is_true(working, "Admitted"):
        set_condition(
            working,
            "Admitted",
            False,
            "NoReservation",
            "The workload has no reservation",
            kueue.clock.now,
        )
    say_unreserved(kueue, working)
