"""WaitForPodsReady: whether the pods of a workload are ready, and what happens if they are not in time.

Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition);
    pkg/controller/core/workload_controller.go (reconcileNotReadyTimeout, admittedNotReadyWorkload,
    triggerDeactivation);
    pkg/cache/scheduler/cache.go (PodsReadyForAllAdmittedWorkloads)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.api.pods_ready import (
    CREATION,
    PODS_READY,
    PODS_READY_TIMEOUT,
    WAIT_FOR_RECOVERY,
    WAIT_FOR_START,
    WaitForPodsReady,
)
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION, executors_are_ready
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_UNREADY = "Not all pods are ready or succeeded"
_LOST = "At least one pod has failed, waiting for recovery"
_LONGEST_BACKOFF = 4_611_686_018
"""Half of the longest time in Go, in seconds."""
_READY = "All pods reached readiness and the workload is running"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsState:
    """Whether a workload is admitted, whether its pods are ready now, and what its condition says."""

    admitted: bool
    ready: bool
    was_ready: bool
    reason: str
    """The reason of the condition; empty without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unready:
    """An admitted workload whose pods are not ready: since when, in seconds, and the reason of its condition."""

    waiting: WaitForPodsReady
    reason: str
    admitted_at: float
    unready_at: float


Deadline = tuple[str, float]
"""Why a workload waits, and until when in seconds."""


@rule("READY-001")
def pods_of_unadmitted_work_wait(state: PodsState) -> Condition | None:
    """PodsReady of a workload that is not admitted is False with reason WaitForStart.

    Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition)
    """
    return None if state.admitted else _condition(False, WAIT_FOR_START, _UNREADY)


@rule("READY-004")
def pods_are_ready_again(state: PodsState) -> Condition | None:
    """PodsReady is True with reason Recovered when pods that were ready before are ready again.

    Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition)
    """
    if not state.ready or state.reason not in (WAIT_FOR_RECOVERY, "Recovered"):
        return None
    return _condition(True, "Recovered", _READY)


@rule("READY-002")
def pods_are_ready(state: PodsState) -> Condition | None:
    """PodsReady is True with reason Started when all pods of an admitted workload are ready or have succeeded.

    Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition)
    """
    return _condition(True, "Started", _READY) if state.ready else None


@rule("READY-003")
def pods_are_not_ready_any_more(state: PodsState) -> Condition | None:
    """PodsReady is False with reason WaitForRecovery when pods of an admitted workload are not ready any more.

    Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition)
    """
    if state.ready or not (state.was_ready or state.reason == WAIT_FOR_RECOVERY):
        return None
    return _condition(False, WAIT_FOR_RECOVERY, _LOST)


@rule("READY-001")
def pods_have_not_started(state: PodsState) -> Condition | None:
    """PodsReady of an admitted workload whose pods were never ready is False with reason WaitForStart.

    Kueue: pkg/controller/jobframework/reconciler.go (generatePodsReadyCondition)
    """
    return None if state.ready else _condition(False, WAIT_FOR_START, _UNREADY)


def _condition(value: bool, reason: str, message: str) -> Condition:
    return Condition(type=PODS_READY, value=value, reason=reason, message=message)


@rule("READY-018")
def first_version_needs_enable(waiting: WaitForPodsReady) -> bool:
    """A Configuration of version v1beta1 enables waitForPodsReady with its field enable.

    Kueue: apis/config/v1beta1/defaults.go (SetDefaults_Configuration)
    """
    return waiting.is_first_version and waiting.enable


@rule("READY-019")
def section_enables(waiting: WaitForPodsReady) -> bool:
    """A Configuration of version v1beta2 enables waitForPodsReady by its presence.

    Kueue: pkg/util/waitforpodsready/waitforpodsready.go (Enabled)
    """
    return waiting.is_written and not waiting.is_first_version


@rule("READY-020")
def waiting_is_the_default(waiting: WaitForPodsReady) -> bool:
    """A Configuration of version v1beta2 without waitForPodsReady waits as well.

    Kueue: apis/config/v1beta2/defaults.go (SetDefaults_Configuration)
    """
    return not waiting.is_first_version


@rule("READY-018")
def first_version_blocks_by_default(waiting: WaitForPodsReady) -> bool:
    """A Configuration of version v1beta1 that enables waitForPodsReady blocks admission unless it says otherwise.

    Kueue: apis/config/v1beta1/defaults.go (SetDefaults_Configuration)
    """
    return waiting.is_first_version and waiting.block_admission is None


@rule("READY-012")
def block_admission(waiting: WaitForPodsReady) -> bool:
    """With blockAdmission, Kueue admits no workload while pods of another one with quota are not ready.

    Kueue: pkg/cache/scheduler/cache.go (PodsReadyForAllAdmittedWorkloads);
        pkg/scheduler/scheduler.go (waitForPodsReadyIfNeeded)
    """
    return bool(waiting.block_admission)


@rule("READY-005", "READY-032")
def written_timeout(waiting: WaitForPodsReady) -> float | None:
    """A workload waits for its pods for the timeout; with a timeout of zero it does not wait.

    Kueue 0.14: pkg/controller/core/core.go (waitForPodsReady)
    """
    return waiting.timeout


@rule("READY-005", "READY-020")
def written_timeout_unless_zero(waiting: WaitForPodsReady) -> float | None:
    """A workload waits for its pods for the timeout; a timeout of zero is none.

    Kueue: apis/config/v1beta2/defaults.go (SetDefaults_Configuration)
    """
    return waiting.timeout or None


@rule("READY-018")
def first_version_waits_5_minutes(waiting: WaitForPodsReady) -> float | None:
    """Without a timeout, a Configuration of version v1beta1 waits for five minutes.

    Kueue: apis/config/v1beta1/defaults.go (SetDefaults_Configuration)
    """
    return seconds("5m") if waiting.is_first_version else None


@rule("READY-020")
def default_timeout_is_30_minutes(waiting: WaitForPodsReady) -> float:
    """Without a timeout, a Configuration of version v1beta2 waits for thirty minutes.

    Kueue: apis/config/v1beta2/defaults.go (SetDefaults_Configuration)
    """
    return seconds("30m")


@rule("READY-006")
def written_recovery_timeout(waiting: WaitForPodsReady) -> float | None:
    """A workload whose pods were ready before waits for them for the recoveryTimeout.

    Kueue: pkg/controller/core/core.go (waitForPodsReady)
    """
    return waiting.recovery_timeout


@rule("READY-007")
def recovery_takes_as_long_as_the_start(waiting: WaitForPodsReady) -> float | None:
    """Without a recoveryTimeout, a workload whose pods were ready before waits for the timeout again.

    Kueue: apis/config/v1beta2/defaults.go (SetDefaults_Configuration)
    """
    return waiting.timeout


@rule("READY-008")
def recovery_timeout_of_zero_never_ends(seconds: float) -> bool:
    """With a recoveryTimeout of zero, a workload whose pods were ready before waits forever.

    Kueue: pkg/controller/core/core.go (waitForPodsReady)
    """
    return seconds == 0


@rule("READY-005")
def start_deadline(unready: Unready, timeout: float) -> Deadline | None:
    """The timeout begins with the admission.

    Kueue: pkg/controller/core/workload_controller.go (admittedNotReadyWorkload)
    """
    if unready.reason == WAIT_FOR_RECOVERY:
        return None
    return WAIT_FOR_START, unready.admitted_at + timeout


@rule("READY-006")
def recovery_deadline(unready: Unready, timeout: float) -> Deadline | None:
    """The recoveryTimeout begins when pods are not ready any more.

    Kueue: pkg/controller/core/workload_controller.go (admittedNotReadyWorkload)
    """
    return WAIT_FOR_RECOVERY, unready.unready_at + timeout


@rule("READY-005", "READY-006")
def timeout_evicts(workload: str, cause: str) -> ReasonMessage:
    """Kueue evicts a workload whose pods are not ready in time, which releases its quota.

    Kueue: pkg/controller/core/workload_controller.go (reconcileNotReadyTimeout)
    """
    return ReasonMessage(
        reason=PODS_READY_TIMEOUT,
        message=f"Exceeded the PodsReady timeout {workload}",
        cause=cause,
    )


@rule("READY-011")
def too_many_requeues_deactivate(
    waiting: WaitForPodsReady, requeues: int
) -> ReasonMessage | None:
    """Kueue deactivates a workload that exceeds the timeout more often than backoffLimitCount says.

    Kueue: pkg/controller/core/workload_controller.go (triggerDeactivation)
    """
    limit = waiting.backoff_limit
    if limit is None or requeues + 1 <= limit:
        return None
    return ReasonMessage(
        reason="RequeuingLimitExceeded",
        message="exceeding the maximum number of re-queuing retries",
    )


@rule("READY-026")
def first_backoff_is_the_base(waiting: WaitForPodsReady, requeues: int) -> int | None:
    """After its first eviction a workload backs off for backoffBaseSeconds, even if backoffMaxSeconds is less.

    Kueue: pkg/util/wait/backoff.go (WaitTime)
    """
    return waiting.backoff_base if requeues == 1 else None


@rule("READY-028")
def backoff_without_a_limit(waiting: WaitForPodsReady, requeues: int) -> int | None:
    """With a backoffMaxSeconds of zero, the backoff doubles without a limit.

    Kueue: pkg/util/wait/backoff.go (NewBackoff)
    """
    if waiting.backoff_max:
        return None
    return min(_doubled(waiting, requeues), _LONGEST_BACKOFF)


@rule("READY-009", "READY-010", "READY-027")
def backoff_doubles(waiting: WaitForPodsReady, requeues: int) -> int:
    """An evicted workload backs off for backoffBaseSeconds, twice as long each time, up to backoffMaxSeconds.

    Kueue: pkg/workload/workload.go (UpdateRequeueState)
    """
    return min(_doubled(waiting, requeues), waiting.backoff_max)


def _doubled(waiting: WaitForPodsReady, requeues: int) -> int:
    return waiting.backoff_base << min(requeues - 1, 60)


@rule("READY-016")
def ordered_by_eviction(waiting: WaitForPodsReady, reason: str) -> bool:
    """Kueue orders a workload that exceeded the timeout as if it had been created when it was evicted.

    Kueue: pkg/workload/workload.go (GetQueueOrderTimestamp)
    """
    return reason == PODS_READY_TIMEOUT and waiting.timestamp != CREATION


@rule("READY-022")
def devices_are_not_retried_after_backoff(has_devices: bool) -> bool:
    """When the backoff of a workload with devices ends, Kueue does not try it until the next requeue of its queue.

    Kueue 0.14: pkg/controller/core/workload_controller.go (WorkloadReconciler, Update)
    """
    return has_devices


@rule("READY-025")
def group_has_all_its_pods(found: int, total: int) -> bool:
    """The pods of a group are ready once all that it announces are there, and ready.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (PodsReady)
    """
    return found >= total


@rule("READY-036")
def application_has_its_executors(work: Manifest) -> bool:
    """A SparkApplication is ready once its driver runs, and its executors run or have completed.

    Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodsReady)
    """
    return work["kind"] != SPARK_APPLICATION.name or executors_are_ready(work)


@rule("READY-013")
def blocked_condition() -> Condition:
    """QuotaReserved of a workload that waits for the pods of others is False with reason Waiting.

    Kueue: pkg/scheduler/scheduler.go (waitForPodsReadyIfNeeded)
    """
    return _blocked("Waiting")


@rule("READY-014")
def blocked_condition_observed() -> Condition:
    """With observability, the reason of a workload that waits for the pods of others is WaitingForPodsReady.

    Kueue: pkg/scheduler/scheduler.go (waitForPodsReadyIfNeeded)
    """
    return _blocked("WaitingForPodsReady")


def _blocked(reason: str) -> Condition:
    return Condition(
        type="QuotaReserved",
        value=False,
        reason=reason,
        message="waiting for all admitted workloads to be in PodsReady condition",
    )
