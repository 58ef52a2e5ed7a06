"""The status of Workloads: conditions in the wording of a behaviour, evictions, and the end of a reservation.

Kueue: pkg/workload/workload.go (SetQuotaReservation, UnsetQuotaReservationWithCondition, SetRequeuedCondition);
pkg/workload/admissionchecks.go (SyncAdmittedCondition); pkg/workload/evict/evict.go (Evict)
"""

from __future__ import annotations

from kueue_dra_ref.api.admission_checks import check_states
from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.queued_pods import is_of_one_pod
from kueue_dra_ref.api.variants import unblock
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.controllers.execution_time import ExecutionLimit
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.target import Manifest

_NO_RESERVATION = ("NoReservation", "The workload has no reservation")


def apply_condition(
    obj: Manifest,
    change: Condition | None,
    now: str,
) -> bool:
    """Set one condition; True when it changed."""
    assert change is not None
    return set_condition(
        obj, change.type, change.value, change.reason, change.message, now
    )


def update_unset_quota_reservation(kueue: Kueue, obj: Manifest) -> bool:
    """Set the conditions that accompany QuotaReserved=False, with the observed generation; True when one changed."""
    changed = False
    for each in kueue.behaviour.reporting.unset_quota_reservation():
        changed |= apply_condition(obj, each, kueue.clock.now)
        found = condition(obj, each.type)
        assert found is not None
        found["observedGeneration"] = obj["metadata"]["generation"]
    return changed


def renew_unset_quota_reservation(kueue: Kueue, obj: Manifest) -> bool:
    """Set these conditions again where they observed another generation; True when they did."""
    rules = kueue.behaviour.reporting
    generation = obj["metadata"]["generation"]
    for each in rules.unset_quota_reservation():
        found = condition(obj, each.type)
        if found is None:
            continue
        observed = found.get("observedGeneration", generation)
        if rules.reobserved(observed, generation):
            update_unset_quota_reservation(kueue, obj)
            return True
    return False


def evict(
    kueue: Kueue,
    working: Manifest,
    eviction: ReasonMessage,
) -> bool:
    """Mark a workload as evicted and count the eviction; it releases its quota once its pods are gone."""
    _count_eviction(working, eviction)
    unblock(working, eviction.full_reason, eviction.message, kueue.clock.now)
    reset_checks(kueue, working)
    if kueue.behaviour.dispatching.forget_cluster():
        working["status"].pop("clusterName", None)
        working["status"].pop("nominatedClusterNames", None)
    changed = False
    for each in kueue.behaviour.reporting.evicted(
        eviction.full_reason, eviction.message
    ):
        changed |= apply_condition(working, each, kueue.clock.now)
    return changed


def reset_checks(kueue: Kueue, working: Manifest) -> None:
    """Set the admission checks of an evicted workload to Pending."""
    rules = kueue.behaviour.checking
    states = []
    for state in check_states(working):
        reset = rules.reset(state)
        if reset is None:
            states.append(state)
            continue
        changed = {**reset, "lastTransitionTime": kueue.clock.now}
        for kept in rules.keep(state):
            changed |= kept
        states.append(changed)
    if states:
        working["status"]["admissionChecks"] = states


def _count_eviction(working: Manifest, eviction: ReasonMessage) -> None:
    stats = working["status"].setdefault("schedulingStats", {})
    evictions = stats.setdefault("evictions", [])
    reason, cause = eviction.reason, eviction.cause
    for known in evictions:
        if (known["reason"], known["underlyingCause"]) == (reason, cause):
            known["count"] += 1
            return
    evictions.append({"reason": reason, "underlyingCause": cause, "count": 1})


def finish(kueue: Kueue, workload: Manifest, reason: str, message: str) -> None:
    """Mark a workload as finished, which frees its quota."""
    working = kueue.patched(workload)
    set_condition(working, "Finished", True, reason, message, kueue.clock.now)
    for released in kueue.behaviour.jobs.release_when_finished():
        _release_when_finished(kueue, working, *released)
    kueue.store.put(working)


def _release_when_finished(
    kueue: Kueue, working: Manifest, reason: str, message: str
) -> None:
    now = kueue.clock.now
    was_admitted = is_true(working, "Admitted")
    set_condition(working, "QuotaReserved", False, reason, message, now)
    if was_admitted:
        set_condition(working, "Admitted", False, reason, message, now)
    working["status"].pop("admission", None)


def unset_quota_reservation(kueue: Kueue, working: Manifest) -> None:
    """Release the quota of an evicted workload, and say whether Kueue requeues it; it always does after preemption."""
    evicted = condition(working, "Evicted")
    assert evicted is not None
    reason, message = evicted["reason"], evicted["message"]
    now = kueue.clock.now
    is_requeued = kueue.behaviour.jobs.requeue_evicted(reason, is_of_one_pod(working))
    set_condition(working, "Requeued", is_requeued, reason, message, now)
    apply_condition(working, untried(kueue, message), now)
    no_quota_reservation(kueue, working)
    kueue.store.put(working)


def untried(kueue: Kueue, message: str) -> Condition | None:
    """Give the condition of a workload without quota that the scheduler has not tried since then."""
    cause = QuotaReservedReason.UNTRIED
    pending = NotAdmissible(cause=cause, message=message)
    return kueue.behaviour.reporting.quota_released(pending)


def no_quota_reservation(kueue: Kueue, working: Manifest) -> None:
    """Remove the admission of a workload, and set the conditions of one without a quota reservation."""
    working["status"].pop("admission", None)
    if is_true(working, "Admitted"):
        unready = kueue.behaviour.checking.unreserved(check_states(working))
        reason, message = unready or _NO_RESERVATION
        now = kueue.clock.now
        ExecutionLimit(kueue).count(working)
        set_condition(working, "Admitted", False, reason, message, now)
    update_unset_quota_reservation(kueue, working)


def reset_condition(obj: Manifest, kind: str, now: str) -> None:
    """Set an eviction or preemption condition to False once quota is reserved again."""
    found = condition(obj, kind)
    if found and found["status"] == "True":
        message = f"Previously: {found['message']}"
        set_condition(obj, kind, False, "QuotaReserved", message, now)


def reclaim(kueue: Kueue, workload: Manifest, reclaimable: list[Manifest]) -> bool:
    """Write how many pods need no quota any more; True when that number has changed, even if the webhook denies it.

    Kueue: pkg/workload/workload.go (UpdateReclaimablePods)
    """
    if reclaimable == status_of(workload).get("reclaimablePods", []):
        return False
    working = kueue.patched(workload)
    working["status"]["reclaimablePods"] = reclaimable
    if not is_denied(kueue, working, workload):
        kueue.store.put(working)
    return True


def is_denied(kueue: Kueue, working: Manifest, workload: Manifest) -> bool:
    """Whether the webhook for Workloads denies a change of one."""
    write = AdmissionRequest(new=working, old=workload)
    return any(kueue.behaviour.webhooks.faults(write))
