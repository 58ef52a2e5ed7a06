"""Admission fair sharing: what a LocalQueue has used over time, and the order of pending workloads by it.

Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage, CalculateEntryPenalty,
    CalculateDecayedConsumed); pkg/cache/queue/cluster_queue.go (queueOrderingFunc);
    pkg/controller/core/localqueue_controller.go (reconcileConsumedUsage, initializeAfsIfNeeded)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from kueue_dra_ref.api.admission_fair_sharing import USAGE_BASED
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.model.rule import rule

Billionths = int
"""An amount of a resource in 1e-9 of its unit: cores, bytes, devices."""
Consumed = Mapping[str, Billionths]
"""Amounts by resource."""
BILLIONTHS_IN_A_THOUSANDTH = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusChange:
    """The status of a Workload before and after a change: Pending, QuotaReserved, Admitted or Finished."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyHolder:
    """A change of a workload that may have an entry penalty which is not settled."""

    deleted: bool
    moved: bool
    """Whether it names another LocalQueue than before."""
    released_inactive: bool
    """Whether it is inactive without quota, which it was not before."""
    finished: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What there is of a LocalQueue of which Kueue keeps no usage yet."""

    status: Consumed
    """What its status says that it consumed."""
    admitted: Consumed
    """What its admitted workloads use."""
    updated: float = math.inf
    """When its status was updated, in seconds; infinite if it does not say."""


@rule("AFS-001", "AFS-002")
def usage_based_mode(queue: ClusterQueue) -> bool:
    """A ClusterQueue with admissionMode UsageBasedAdmissionFairSharing orders workloads by the usage of LocalQueues.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (ResourceWeights)
    """
    return queue.admission_mode == USAGE_BASED


@rule("AFS-001", "AFS-005")
def lower_usage_first(usage: float) -> float:
    """Kueue tries the pending workloads of the LocalQueue with the lower usage first.

    Kueue: pkg/cache/queue/cluster_queue.go (queueOrderingFunc)
    """
    return usage


@rule("AFS-003")
def configured_resource_weight(weights: Mapping[str, float], name: str) -> float | None:
    """The usage of a resource counts with its weight in resourceWeights.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage)
    """
    return weights.get(name)


@rule("AFS-004")
def default_resource_weight(weights: Mapping[str, float], name: str) -> float:
    """A resource without a weight counts with 1 for each of its units: a byte as much as a device.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage)
    """
    return 1.0


@rule("AFS-006")
def usage_by_weight(usage: float, weight: float) -> float | None:
    """The usage of a LocalQueue is divided by its weight.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage)
    """
    return usage / weight if weight else None


@rule("AFS-007")
def weight_of_zero_is_last(usage: float, weight: float) -> float | None:
    """A LocalQueue with weight 0 or less comes last, whatever it has used.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage)
    """
    return math.inf if weight <= 0 else None


@rule("AFS-008")
def unused_weight_of_zero_is_first(usage: float, weight: float) -> float | None:
    """A LocalQueue with weight 0 that has used nothing comes first, and last once it has.

    Kueue 0.18: pkg/workload/workload.go (CalcFSUsageFromResources)
    """
    return math.inf if usage else -math.inf


@rule("AFS-010")
def half_life_decay(elapsed: float, half_life: float) -> float | None:
    """After each half-life, half of the usage is that of the time since, and half of what was before is left.

    Kueue: pkg/util/admissionfairsharing/admission_fair_sharing.go (calculateAlphaRate, CalculateDecayedConsumed)
    """
    return None if half_life == 0 else 1.0 - 0.5 ** (elapsed / half_life)


@rule("AFS-011")
def half_life_of_zero_resets(half_life: float) -> bool:
    """With a half-life of 0, nothing counts as used.

    Kueue: pkg/controller/core/localqueue_controller.go (reconcileConsumedUsage)
    """
    return half_life == 0


@rule("AFS-010", "AFS-012")
def scaled_to_billionths(amount: Billionths, factor: float) -> Billionths:
    """Kueue keeps nine decimal places of what is used, rounded down.

    Kueue: pkg/util/resource/resource.go (MulByFloat)
    """
    exact = Fraction(Decimal(repr(factor)))
    return math.trunc(amount * exact)


@rule("AFS-013")
def scaled_to_thousandths(amount: Billionths, factor: float) -> Billionths:
    """Kueue keeps thousandths of what is used, rounded down.

    Kueue 0.18: pkg/util/resource/resource.go (MulByFloat)
    """
    thousandths = amount // BILLIONTHS_IN_A_THOUSANDTH
    return int(float(thousandths) * factor) * BILLIONTHS_IN_A_THOUSANDTH


@rule("AFS-014")
def admission_in_mode_is_penalized(queue: ClusterQueue) -> bool:
    """When quota is reserved, Kueue adds an entry penalty to the usage: what the workload uses in a sampling interval.

    Kueue: pkg/scheduler/scheduler.go (shouldApplyEntryPenalty, updateEntryPenalty)
    """
    return queue.admission_mode == USAGE_BASED


@rule("AFS-014", "AFS-030")
def each_admission_is_penalized(queue: ClusterQueue) -> bool:
    """When quota is reserved, Kueue adds an entry penalty to the usage, in ClusterQueues of any mode.

    Kueue 0.18: pkg/scheduler/scheduler.go (assumeWorkload, updateEntryPenalty)
    """
    return True


@rule("AFS-015", "AFS-028", "AFS-032")
def admission_settles_penalty(change: StatusChange) -> bool:
    """Once the workload is admitted, the penalty becomes a part of what its LocalQueue has consumed.

    Kueue: pkg/controller/core/workload_controller.go (reconcileAfsPenaltiesOnUpdate, updateAfsConsumedUsage)
    """
    return change.after == "Admitted" and change.before != "Admitted"


@rule("AFS-015", "AFS-029")
def admission_at_once_settles_penalty(change: StatusChange) -> bool:
    """A workload that is admitted at once settles the penalty; one that waits for checks never does.

    Kueue 0.18: pkg/controller/core/workload_controller.go (Update, updateAfsConsumedUsage)
    """
    return change.after == "Admitted" and change.before == "Pending"


@rule("AFS-031")
def sampling_settles_penalties(waiting: bool) -> bool:
    """The next status update of the LocalQueue makes its penalties a part of what it has consumed.

    Kueue 0.14: pkg/controller/core/localqueue_controller.go (reconcileConsumedUsage)
    """
    return waiting


@rule("AFS-016")
def one_penalty_per_workload() -> bool:
    """A workload has one penalty at most, however often it reserves quota before it is admitted.

    Kueue: pkg/cache/queue/afs/usage_ledger.go (UsageLedgerEntry)
    """
    return True


@rule("AFS-017")
def deletion_drops_penalty(holder: PenaltyHolder) -> bool:
    """The penalty of a workload that is deleted before it was admitted goes.

    Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler)
    """
    return holder.deleted


@rule("AFS-018")
def deactivation_drops_penalty(holder: PenaltyHolder) -> bool:
    """The penalty of a workload that is deactivated and loses its quota before it was admitted goes.

    Kueue: pkg/controller/core/workload_controller.go (reconcileAfsPenaltiesOnUpdate)
    """
    return holder.released_inactive


@rule("AFS-018")
def finish_drops_penalty(holder: PenaltyHolder) -> bool:
    """The penalty of a workload that finishes before it was admitted goes.

    Kueue: pkg/controller/core/workload_controller.go (reconcileAfsPenaltiesOnUpdate)
    """
    return holder.finished


@rule("AFS-024")
def move_drops_penalty(holder: PenaltyHolder) -> bool:
    """The penalty of a workload that moves to another LocalQueue goes.

    Kueue: pkg/controller/core/workload_controller.go (reconcileAfsPenaltiesOnUpdate)
    """
    return holder.moved


@rule("AFS-019")
def usage_is_sampled() -> bool:
    """The status of each LocalQueue of an active ClusterQueue says what it has consumed, and when that was updated.

    Kueue: pkg/controller/core/localqueue_controller.go (reconcileConsumedUsage, updateAdmissionFsStatus)
    """
    return True


@rule("AFS-020")
def history_from_status(history: History) -> Consumed:
    """A Kueue that starts goes on from what the status of the LocalQueue says.

    Kueue: pkg/controller/core/localqueue_controller.go (initializeAfsIfNeeded)
    """
    return history.status


@rule("AFS-021")
def history_from_admitted_usage(history: History) -> Consumed:
    """A Kueue that starts takes what the LocalQueue uses at that time for what it has consumed.

    Kueue 0.17: pkg/controller/core/localqueue_controller.go (initializeAfsIfNeeded, getCurrentUsageForLocalQueue)
    """
    return history.admitted
