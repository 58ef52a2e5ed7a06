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
from kueue_dra_ref.api.workloads import is_active, local_queue_of
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
            amounts = billionths(each.amounts)
            requests = added(requests, amounts)
        local_queue = local_queue_of(head.obj)
        penalty = ledger.penalty(requests)
        ledger.push(local_queue, head.key, penalty)
        self._refresh(local_queue)

    def on_workload(self, event: Event) -> None:
        """Settle or drop the penalty of a workload that has changed."""
        ledger = self.ledger
        before = event.old
        if ledger is None or before is None:
            return
        if event.new is not None:
            self._settle_admitted(ledger, before, event.new)
        holder = _holder(before, event.new)
        if ledger.rules.drop(holder):
            local_queue = local_queue_of(before)
            ledger.take(local_queue, event.key)

    def _settle_admitted(
        self, ledger: UsageLedger, old: Manifest, new: Manifest
    ) -> None:
        change = StatusChange(before=status_of(old), after=status_of(new))
        if not is_active(new) or not ledger.rules.settle(change):
            return
        admission = new["status"]["admission"]
        name = admission["clusterQueue"]
        queue = self.kueue.informers.queue(name)
        if queue is None or not ledger.rules.usage_based(queue):
            return
        usage = self.kueue.usage
        local_queue, workload = local_queue_of(new), key_of(new)
        penalty = ledger.take(local_queue, workload)
        is_kept_together = not ledger.rules.once_per_workload()
        if is_kept_together:
            used = usage_of(usage, workload, name)
            penalty = ledger.penalty(used)
            ledger.subtract(local_queue, penalty)
        admitted = admitted_usage(usage, local_queue, name)
        now = self.kueue.clock.seconds
        ledger.settle(local_queue, penalty, admitted, now)

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
        interval = ledger.settings.interval
        left = entry.updated + interval - now
        if entry.sampled and not entry.waits and left > 0:
            self._sample_in(left, key, entry)
            return {}
        spec = local_queue["spec"]
        cluster_queue = spec.get("clusterQueue", "")
        admitted = admitted_usage(self.kueue.usage, key, cluster_queue)
        ledger.sample(key, admitted, now)
        self._sample_in(interval, key, entry)
        return self._shown(entry)

    def _shown(self, entry: UsageEntry) -> Manifest:
        consumed = {}
        for name in sorted(entry.consumed):
            exact = Fraction(entry.consumed[name], UNIT)
            quantity = Quantity(amount=exact)
            consumed[name] = str(quantity)
        found = {
            "consumedResources": consumed,
            "lastUpdate": self.kueue.clock.now,
        }
        return {"fairSharing": {"admissionFairSharingStatus": found}}

    def _sample_in(self, seconds: float, key: Key, entry: UsageEntry) -> None:
        """Have the status of a LocalQueue written after some seconds, unless that is due: then it is due before."""
        if not entry.is_due:
            entry.is_due = True
            act = partial(self._sample_due, key, entry)
            self.kueue.later(seconds, act)

    def _sample_due(self, key: Key, entry: UsageEntry) -> None:
        entry.is_due = False
        self._refresh(key)

    def _refresh(self, key: Key) -> None:
        self.kueue.stale["LocalQueue", key] = None


def status_of(workload: Manifest) -> str:
    """Give the status of a Workload in one word."""
    for word in ("Finished", "Admitted", "QuotaReserved"):
        if is_true(workload, word):
            return word
    return "Pending"


def _holder(old: Manifest, new: Manifest | None) -> PenaltyHolder:
    now = new or old
    return PenaltyHolder(
        deleted=new is None,
        moved=local_queue_of(old) != local_queue_of(now),
        released_inactive=_is_released(now) and not _is_released(old),
        finished=is_true(now, "Finished") and not is_true(old, "Finished"),
    )


def _is_released(workload: Manifest) -> bool:
    """Whether a Workload is inactive, and holds no quota."""
    return not is_active(workload) and not is_true(workload, "QuotaReserved")
