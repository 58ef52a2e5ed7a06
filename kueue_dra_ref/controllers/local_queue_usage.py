"""The usage of LocalQueues over time: entry penalties, their settlement, samples and the status that shows them.

Kueue: pkg/controller/core/localqueue_controller.go (Reconcile, reconcileConsumedUsage, initializeAfsIfNeeded);
    pkg/controller/core/workload_controller.go (reconcileAfsPenaltiesOnUpdate, updateAfsConsumedUsage);
    pkg/scheduler/scheduler.go (updateEntryPenalty)
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.usage_ledger import UNIT, UsageEntry, UsageLedger, added
from kueue_dra_ref.controlplane.consumed import admitted_usage, billionths, usage_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.queue.local_queue_usage import (
    Consumed,
    PenaltyHolder,
    StatusChange,
)
from kueue_dra_ref.target import Manifest


class LocalQueueUsage:
    """Keeps the usage ledger of one Kueue up to date; without admission fair sharing it does nothing."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue

    @property
    def ledger(self) -> UsageLedger | None:
        """The ledger; None without admission fair sharing."""
        return self.kueue.ledger

    def reserve(self, queue: ClusterQueue, head: WorkloadInfo) -> None:
        """Add the entry penalty of a workload that reserves quota."""
        ledger = self.ledger
        if ledger is None or not ledger.rules.penalize(queue):
            return
        requests: Consumed = {}
        for each in head.total_requests:
            requests = added(requests, billionths(each.amounts))
        local_queue = _local_queue_of(head.obj)
        ledger.push(local_queue, head.key, ledger.penalty(requests))
        self._refresh(local_queue)

    def on_workload(self, event: Event) -> None:
        """Settle or drop the penalty of a workload that has changed."""
        ledger, old, new = self.ledger, event.old, event.new
        if ledger is None:
            return
        if old is not None and new is not None and is_active(new):
            self._settle_admitted(ledger, old, new)
        holder = _holder(old, new)
        before = old or new
        if before is not None and ledger.rules.drop(holder):
            ledger.take(_local_queue_of(before), event.key)

    def _settle_admitted(
        self, ledger: UsageLedger, old: Manifest, new: Manifest
    ) -> None:
        change = StatusChange(before=status_of(old), after=status_of(new))
        if not ledger.rules.settle(change):
            return
        name = new["status"]["admission"]["clusterQueue"]
        queue = self.kueue.informers.queue(name)
        if queue is None or not ledger.rules.usage_based(queue):
            return
        key = _local_queue_of(new)
        admitted = admitted_usage(self.kueue.usage, key, name)
        penalty = ledger.take(key, key_of(new))
        if not ledger.rules.once_per_workload():
            used = usage_of(self.kueue.usage, key_of(new), name)
            penalty = ledger.penalty(used)
        ledger.settle(key, penalty, admitted, self.kueue.clock.seconds)
        if not ledger.rules.once_per_workload():
            ledger.subtract(key, penalty)

    def forget(self, local_queue: Key) -> None:
        """Forget the usage of a LocalQueue that is deleted."""
        if self.ledger is not None:
            self.ledger.entries.pop(local_queue, None)

    def sample(self, local_queue: Manifest) -> Manifest:
        """Bring a LocalQueue of an active ClusterQueue up to date if that is due, and give the status that shows it."""
        ledger = self.ledger
        if ledger is None:
            return {}
        key = key_of(local_queue)
        entry = ledger.entry(key)
        now = self.kueue.clock.seconds
        left = entry.updated + ledger.settings.interval - now
        if entry.sampled and not entry.waits and left > 0:
            self._sample_in(left, key, entry)
            return {}
        cluster_queue = local_queue["spec"].get("clusterQueue", "")
        admitted = admitted_usage(self.kueue.usage, key, cluster_queue)
        ledger.sample(key, admitted, now)
        self._sample_in(ledger.settings.interval, key, entry)
        return self._shown(entry)

    def _shown(self, entry: UsageEntry) -> Manifest:
        consumed = {}
        for name, amount in sorted(entry.consumed.items()):
            consumed[name] = str(Quantity(amount=Fraction(amount, UNIT)))
        found = {"consumedResources": consumed, "lastUpdate": self.kueue.clock.now}
        return {"fairSharing": {"admissionFairSharingStatus": found}}

    def _sample_in(self, seconds: float, key: Key, entry: UsageEntry) -> None:
        """Have the status of a LocalQueue written after some seconds, unless that is due before."""
        at = self.kueue.clock.seconds + seconds
        if entry.due is None or at < entry.due:
            entry.due = at
            self.kueue.later(seconds, partial(self._sample_due, key, entry))

    def _sample_due(self, key: Key, entry: UsageEntry) -> None:
        if entry.due is not None and entry.due <= self.kueue.clock.seconds:
            entry.due = None
            self._refresh(key)

    def _refresh(self, key: Key) -> None:
        if self.kueue.store.get("LocalQueue", key) is not None:
            self.kueue.stale["LocalQueue", key] = None


def status_of(workload: Manifest) -> str:
    """Give the status of a Workload in one word."""
    for word in ("Finished", "Admitted", "QuotaReserved"):
        if is_true(workload, word):
            return word
    return "Pending"


def _holder(old: Manifest | None, new: Manifest | None) -> PenaltyHolder:
    if new is None:
        return PenaltyHolder(deleted=True)
    if old is None:
        return PenaltyHolder()
    return PenaltyHolder(
        moved=_local_queue_of(old) != _local_queue_of(new),
        released_inactive=_is_released(new) and not _is_released(old),
        finished=is_true(new, "Finished") and not is_true(old, "Finished"),
    )


def _is_released(workload: Manifest) -> bool:
    """Whether a Workload is inactive, and holds no quota."""
    return not is_active(workload) and not is_true(workload, "QuotaReserved")


def _local_queue_of(workload: Manifest) -> Key:
    return workload["metadata"]["namespace"], workload["spec"].get("queueName", "")
