"""The usage ledger: what each LocalQueue has consumed over time, and the entry penalties that are not settled.

Kueue: pkg/cache/queue/afs/usage_ledger.go (AfsUsageLedger, UsageLedgerEntry);
    pkg/cache/queue/afs/entry_penalties.go (PushPenalty, SubPenalty);
    pkg/util/admissionfairsharing/admission_fair_sharing.go (CalculateUsage, CalculateDecayedConsumed)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.admission_fair_sharing import AdmissionFairSharing
from kueue_dra_ref.behaviours.phases_admission_fair_sharing import (
    AdmissionFairSharingRules,
)
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.queue.local_queue_usage import Billionths, Consumed

UNIT = 10**9
"""One unit of a resource in billionths."""


@dataclass(slots=True, kw_only=True)
class UsageEntry:
    """The usage of one LocalQueue; times in seconds."""

    consumed: Consumed
    updated: float
    """When it was brought up to date."""
    penalties: dict[Key, Consumed] = field(default_factory=dict)
    """The penalty of each workload that is not settled."""
    unassigned: Consumed = field(default_factory=dict)
    """The sum of penalties that are not kept by workload."""
    sampled: bool = False
    """Whether a sample of it was shown since Kueue started."""
    is_due: bool = False
    """Whether another sample is due at some time."""

    @property
    def pending(self) -> Consumed:
        """All penalties together."""
        found = self.unassigned
        for penalty in self.penalties.values():
            found = added(found, penalty)
        return found

    @property
    def waits(self) -> bool:
        """Whether a penalty is not settled."""
        return any(self.pending.values())


class UsageLedger:
    """The usage of the LocalQueues, by the settings of admission fair sharing."""

    def __init__(
        self,
        rules: AdmissionFairSharingRules,
        settings: AdmissionFairSharing,
        begin: Callable[[Key], UsageEntry],
    ) -> None:
        self.rules = rules
        self.settings = settings
        self.entries: dict[Key, UsageEntry] = {}
        self._begin = begin

    def entry(self, local_queue: Key) -> UsageEntry:
        """Give the usage of a LocalQueue, which begins with its history."""
        if local_queue not in self.entries:
            self.entries[local_queue] = self._begin(local_queue)
        return self.entries[local_queue]

    def usage(self, local_queue: Key, weight: float) -> float:
        """Give the usage by which the workloads of a LocalQueue with a weight are ordered."""
        entry = self.entry(local_queue)
        amounts = added(entry.consumed, entry.pending)
        total = 0.0
        for name in sorted(amounts):
            share = self.rules.resource_weight.or_else(0.0, self.settings.weights, name)
            total += share * (amounts[name] / UNIT)
        return self.rules.by_weight.or_else(total, total, weight)

    def penalty(self, requests: Mapping[str, Billionths]) -> Consumed:
        """Give the penalty of a workload: the part of what it requests that a sampling interval would add."""
        return self._scaled(requests, self._alpha(self.settings.interval))

    def push(self, local_queue: Key, workload: Key, penalty: Consumed) -> None:
        """Add the penalty of a workload that reserves quota."""
        entry = self.entry(local_queue)
        if self.rules.once_per_workload():
            entry.penalties[workload] = penalty
        else:
            entry.unassigned = added(entry.unassigned, penalty)

    def take(self, local_queue: Key, workload: Key) -> Consumed:
        """Remove the penalty of a workload, and give it; nothing if it has none."""
        return self.entry(local_queue).penalties.pop(workload, {})

    def settle(
        self, local_queue: Key, penalty: Consumed, admitted: Consumed, now: float
    ) -> None:
        """Bring a LocalQueue up to date, and add a penalty to what it has consumed."""
        entry = self.entry(local_queue)
        entry.consumed = added(self._decayed(entry, admitted, now), penalty)
        entry.updated = now

    def subtract(self, local_queue: Key, penalty: Consumed) -> None:
        """Subtract a settled penalty from those that are not kept by workload."""
        entry = self.entry(local_queue)
        negative = {name: -amount for name, amount in penalty.items()}
        entry.unassigned = added(entry.unassigned, negative)

    def sample(self, local_queue: Key, admitted: Consumed, now: float) -> UsageEntry:
        """Bring the usage of a LocalQueue up to date, and give it."""
        entry = self.entry(local_queue)
        if self.rules.reset(self.settings.half_life):
            entry.consumed = {}
        else:
            entry.consumed = self._decayed(entry, admitted, now)
        if self.rules.settle_on_sample(entry.waits):
            entry.consumed = added(entry.consumed, entry.pending)
            entry.unassigned = {}
        entry.updated = now
        entry.sampled = True
        return entry

    def _decayed(self, entry: UsageEntry, admitted: Consumed, now: float) -> Consumed:
        alpha = self._alpha(now - entry.updated)
        old = self._scaled(entry.consumed, 1.0 - alpha)
        return added(old, self._scaled(admitted, alpha))

    def _alpha(self, seconds: float) -> float:
        return self.rules.alpha.or_else(0.0, seconds, self.settings.half_life)

    def _scaled(self, amounts: Consumed, factor: float) -> Consumed:
        found = {}
        for name, amount in amounts.items():
            found[name] = self.rules.scaled.or_else(amount, amount, factor)
        return found


def added(first: Consumed, second: Consumed) -> Consumed:
    """Add amounts by resource."""
    found = Counter(first)
    found.update(second)
    return found
