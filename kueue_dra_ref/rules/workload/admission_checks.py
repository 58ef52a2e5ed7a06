"""Admission checks: which of them a workload needs, and what their states do to it.

Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition, HasAllChecksReady);
    pkg/workload/workload.go (AdmissionChecksForWorkload);
    pkg/controller/core/workload_controller.go (reconcileCheckBasedEviction)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.admission_checks import PENDING, READY, REJECTED, RETRY
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

States = Sequence[Manifest]
"""The states of the checks of a workload."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckScope:
    """The flavors that each check names, all those of the ClusterQueue, and those of an admission if there is one."""

    checks: Mapping[str, frozenset[str]]
    flavors: frozenset[str]
    assigned: frozenset[str] | None

    @property
    def unbound(self) -> frozenset[str]:
        """The checks that name no flavor."""
        return frozenset(name for name, flavors in self.checks.items() if not flavors)

    def names(self, within: frozenset[str]) -> frozenset[str]:
        """Name the checks for one of some flavors."""
        return frozenset(name for name, flavors in self._bound() if flavors & within)

    def for_all_flavors(self) -> frozenset[str]:
        """Name the checks for every flavor of the ClusterQueue."""
        return frozenset(
            name for name, flavors in self._bound() if flavors >= self.flavors
        )

    def _bound(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Give each check with its flavors; one that names none is for all of them."""
        for name, flavors in self.checks.items():
            yield name, flavors or self.flavors

    def only_if_all(self, names: frozenset[str]) -> frozenset[str] | None:
        """Give names if they are those of all checks."""
        return names if names == self.checks.keys() else None


@rule("CHECK-023", "CHECK-024")
def evicted_by_check_is_ordered_by_that(reason: str) -> bool:
    """Kueue orders a workload that a check in state Retry evicted as if it had been created then.

    Kueue: pkg/workload/workload.go (GetQueueOrderTimestamp)
    """
    return reason == "AdmissionCheck"


@rule("CHECK-026")
def checks_are_restored() -> bool:
    """With the reason why a workload is pending, the scheduler applies the checks that it had when it was queued.

    The Workload controller, which queues a workload with devices before it drops a check, drops that check once more,
    and with it the condition QuotaReserved, which it takes for out of date.

    Kueue: pkg/workload/patching/patching.go (admissionChecksStatusPatch);
        pkg/controller/core/workload_controller.go (reconcileSyncAdmissionChecks)
    """
    return True


@rule("CHECK-003")
def checks_of_assigned_flavors(scope: CheckScope) -> frozenset[str] | None:
    """A workload with quota needs the checks for the flavors that it is assigned.

    Kueue: pkg/workload/workload.go (AdmissionChecksForWorkload)
    """
    if scope.assigned is None:
        return None
    return scope.names(scope.assigned)


@rule("CHECK-022")
def all_checks_without_assigned_flavors(scope: CheckScope) -> frozenset[str] | None:
    """A workload with quota that is assigned no flavor needs all checks.

    Kueue 0.17: pkg/workload/workload.go (admissionChecksForAdmission)
    """
    if scope.assigned is None or scope.assigned:
        return None
    return frozenset(scope.checks)


@rule("CHECK-003", "CHECK-021")
def checks_of_assigned_flavors_0_14(scope: CheckScope) -> frozenset[str] | None:
    """A workload with quota needs the checks that name no flavor, whatever it is assigned, and those for its flavors.

    Kueue 0.14: pkg/workload/workload.go (AdmissionChecksForWorkload)
    """
    if scope.assigned is None:
        return None
    return scope.unbound | scope.names(scope.assigned)


@rule("CHECK-002")
def checks_of_all_flavors(scope: CheckScope) -> frozenset[str]:
    """A workload without quota has the checks for all flavors of its ClusterQueue.

    Kueue: pkg/workload/workload.go (AdmissionChecksForWorkload)
    """
    return scope.for_all_flavors()


@rule("CHECK-002", "CHECK-021")
def checks_if_all_are_for_all_flavors(scope: CheckScope) -> frozenset[str] | None:
    """A workload has the checks of its ClusterQueue, with quota or without, if each of them is for all flavors.

    Kueue 0.16: pkg/workload/workload.go (AdmissionChecksForWorkload)
    """
    return scope.only_if_all(scope.for_all_flavors())


@rule("CHECK-002")
def checks_if_none_names_a_flavor(scope: CheckScope) -> frozenset[str] | None:
    """A workload without quota has the checks of its ClusterQueue if none of them names a flavor.

    Kueue 0.14: pkg/workload/workload.go (AdmissionChecksForWorkload)
    """
    return scope.only_if_all(scope.unbound)


@rule("CHECK-001", "CHECK-004")
def unready_check_blocks_admission(states: States) -> bool:
    """Kueue does not admit a workload with quota before all its checks are Ready.

    Kueue: pkg/workload/admissionchecks.go (HasAllChecksReady)
    """
    return any(each["state"] != READY for each in states)


@rule("CHECK-005")
def unsatisfied_checks_condition() -> Condition:
    """Admitted says that checks are unsatisfied, with observability.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    return Condition(
        type="Admitted",
        value=False,
        reason="UnsatisfiedAdmissionChecks",
        message="The workload has not all checks ready",
    )


@rule("CHECK-011")
def no_reservation_unsatisfied_checks(states: States) -> tuple[str, str] | None:
    """Admitted says of a workload that has lost its quota that checks are not ready either.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    if not unready_check_blocks_admission.apply(states):
        return None
    return (
        "NoReservationUnsatisfiedChecks",
        "The workload has no reservation and not all checks ready",
    )


@rule("CHECK-006")
def retry_evicts(states: States) -> str | None:
    """Kueue evicts a workload with a check in state Retry; the message names the checks.

    Kueue: pkg/controller/core/workload_controller.go (reconcileCheckBasedEviction, buildAdmissionChecksMessage)
    """
    message = _listed(states, RETRY)
    return f"Evicted due to {message}" if message else None


@rule("CHECK-006")
def retry_evicts_0_17(states: States) -> str | None:
    """Kueue evicts a workload with a check in state Retry; the message names no check.

    Kueue 0.17: pkg/controller/core/workload_controller.go (reconcileCheckBasedEviction)
    """
    if not _in_state(states, RETRY):
        return None
    return "At least one admission check is false"


@rule("CHECK-007")
def rejection_deactivates(states: States) -> str | None:
    """Kueue deactivates a workload with a check in state Rejected; the message names the checks.

    Kueue: pkg/controller/core/workload_controller.go (reconcileCheckBasedEviction, buildAdmissionChecksMessage)
    """
    return _listed(states, REJECTED) or None


@rule("CHECK-007")
def rejection_deactivates_0_17(states: States) -> str | None:
    """Kueue deactivates a workload with a check in state Rejected; the message lists the names of the checks.

    Kueue 0.17: pkg/controller/core/workload_controller.go (reconcileCheckBasedEviction)
    """
    names = [each["name"] for each in _in_state(states, REJECTED)]
    if not names:
        return None
    return f"Admission check(s): {','.join(names)}, were rejected"


@rule("CHECK-020")
def failed_check_blocks_nomination(states: States) -> str | None:
    """The scheduler does not try a workload with a check in state Retry or Rejected.

    Kueue: pkg/scheduler/scheduler.go (nominate); pkg/workload/admissionchecks.go (HasRetryChecks, HasRejectedChecks)
    """
    if not _in_state(states, RETRY) and not _in_state(states, REJECTED):
        return None
    return "The workload has failed admission checks"


@rule("CHECK-008")
def eviction_resets_check(state: Manifest) -> Manifest | None:
    """An eviction sets each check of the workload to Pending.

    Kueue: pkg/workload/evict/evict.go (resetChecksOnEviction)
    """
    if state["state"] == PENDING:
        return None
    return {
        "name": state["name"],
        "state": PENDING,
        "message": f"Reset to Pending after eviction. Previously: {state['state']}",
    }


@rule("CHECK-009")
def eviction_keeps_delay(state: Manifest) -> Mapping[str, Any]:
    """A check that is reset keeps its requeueAfterSeconds.

    Kueue: pkg/workload/evict/evict.go (resetChecksOnEviction)
    """
    seconds = state.get("requeueAfterSeconds")
    return {} if seconds is None else {"requeueAfterSeconds": seconds}


@rule("CHECK-009")
def eviction_counts_retry(state: Manifest) -> Mapping[str, Any]:
    """A check that is reset after Retry counts its retries.

    Kueue: pkg/workload/evict/evict.go (resetChecksOnEviction)
    """
    if state["state"] != RETRY:
        return {}
    return {"retryCount": state.get("retryCount", 0) + 1}


@rule("CHECK-010")
def retry_delay(state: Manifest) -> int | None:
    """A check in state Retry with requeueAfterSeconds delays the workload.

    Kueue: pkg/workload/admissionchecks.go (GetMaxRetryTime, NeedsRequeueAtUpdate)
    """
    if state["state"] != RETRY:
        return None
    return state.get("requeueAfterSeconds")


@rule("CHECK-014")
def pod_set_updates(states: States) -> Sequence[tuple[str, Manifest]]:
    """When work starts, its pods get what the podSetUpdates of its checks name.

    Kueue: pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus)
    """
    return list(_updates(states))


def _updates(states: States) -> Iterator[tuple[str, Manifest]]:
    for state in states:
        for update in state.get("podSetUpdates") or ():
            yield state["name"], update


def _in_state(states: States, name: str) -> list[Manifest]:
    found = [each for each in states if each["state"] == name]
    return sorted(found, key=lambda each: str(each["name"]))


def _listed(states: States, name: str) -> str:
    """Name the checks in a state with their messages; empty without one."""
    found = _in_state(states, name)
    if not found:
        return ""
    noun = "AdmissionCheck" if len(found) == 1 else "AdmissionChecks"
    parts = map(_named, found)
    return f"{noun} in {name} state: {'; '.join(parts)}"


def _named(state: Manifest) -> str:
    message = state.get("message")
    return f'"{state["name"]}" ({message})' if message else f'"{state["name"]}"'
