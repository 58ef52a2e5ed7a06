"""Maximum execution time: for how long a workload may be admitted until Kueue deactivates it.

Kueue: pkg/controller/core/workload_controller.go (reconcileMaxExecutionTime);
    pkg/controller/jobframework/utils.go (MaximumExecutionTimeSecondsForObject);
    pkg/workload/admissionchecks.go (SyncAdmittedCondition)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import rule

_MOST = 2_147_483_647
"""The longest limit, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionTime:
    """How long a workload is admitted now, and was before, and how long it may be; in seconds."""

    limit: int
    before: int
    now: float


@rule("EXEC-001")
def limit_of_label(label: str) -> int | None:
    """The label max-exec-time-seconds of work limits its Workload, if it is a positive number of 32 bits.

    Kueue: pkg/controller/jobframework/utils.go (MaximumExecutionTimeSecondsForObject)
    """
    if not label.isdecimal() or not 0 < int(label) <= _MOST:
        return None
    return int(label)


@rule("EXEC-002")
def execution_time_deactivates(time: ExecutionTime) -> ReasonMessage | None:
    """Kueue deactivates a workload that was admitted for as long as its limit.

    Kueue: pkg/controller/core/workload_controller.go (reconcileMaxExecutionTime)
    """
    if time.before + time.now < time.limit:
        return None
    return ReasonMessage(
        reason="MaximumExecutionTimeExceeded",
        message="exceeding the maximum execution time",
    )


@rule("EXEC-003")
def past_admissions_count(seconds: float) -> int:
    """The time of earlier admissions counts towards the limit, in whole seconds.

    Kueue: pkg/workload/admissionchecks.go (SyncAdmittedCondition)
    """
    return int(seconds)


@rule("EXEC-006")
def other_limit_is_not_equivalent(label: int | None, limit: int | None) -> bool:
    """A Workload is not equivalent to work with another limit.

    Kueue: pkg/controller/jobframework/reconciler.go (EquivalentToWorkload)
    """
    return label != limit
