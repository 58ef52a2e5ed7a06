"""The status of requeued workloads: why each is pending, and which of two quick updates the API server keeps.

Kueue: pkg/scheduler/scheduler.go (requeueAndUpdate); pkg/workload/patching/patching.go (PatchAdmissionStatus)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    update_unset_quota_reservation,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.scheduler.ambiguous_classes import interpretations
from kueue_dra_ref.scheduler.entry import Entry
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import TotalRequests, counted


@dataclass(slots=True)
class RequeueStatus:
    """Writes to requeued workloads why they are pending, and remembers what it wrote."""

    kueue: Kueue
    _written: dict[Key, tuple[str, tuple[TotalRequests, ...], str]] = field(
        default_factory=dict
    )
    """The last message on each Workload, its requests, and the resourceVersion that carries both."""
    _last_update: dict[Key, tuple[int, str]] = field(default_factory=dict)
    """The cycle of the last update of each Workload, and the message before that update."""

    def update(self, entry: Entry, cycle: int) -> None:
        """Write why a head is pending, unless its status says so and nothing has changed since."""
        head = entry.queued
        found = self.kueue.store.find("Workload", head.key[1], head.key[0])
        if found and self._is_written(entry, found):
            return
        reserved = condition(found or head.obj, "QuotaReserved") or {}
        before = reserved.get("message", "")
        if self._is_lost(entry, cycle, before):
            return
        self._last_update[head.key] = cycle, before
        rules = self.kueue.behaviour.reporting.pending_condition
        pending = rules.answer(entry.cause, entry.message)
        if pending is None:
            return  # the API server rejects a condition without a reason, and the whole update with it
        step = Step(
            requirements=cited([pending.rule]),
            text=f"pending: {entry.message}",
        )
        self.kueue.decisions[head.key] = (*head.steps, *entry.steps, step)
        fresh = self.kueue.store.put(self._patched(entry, pending.value))
        version = fresh["metadata"]["resourceVersion"]
        self._written[head.key] = entry.message, head.demands, version

    def forget(self, key: Key) -> None:
        """Forget the last update of a workload that is not pending any more."""
        self._written.pop(key, None)

    def _is_written(self, entry: Entry, found: Manifest) -> bool:
        version = found["metadata"]["resourceVersion"]
        update = (entry.message, entry.queued.demands, version)
        return self._written.get(entry.queued.key) == update

    def _is_lost(self, entry: Entry, cycle: int, before: str) -> bool:
        """Whether Kueue drops this update: it follows right after another one, which Kueue has not read yet.

        The patch is empty if the message equals the one that Kueue read, and conflicts if Kueue does not overwrite.
        """
        head = entry.queued
        last, read = self._last_update.get(head.key, (0, ""))
        if cycle - last != 1 or entry.message == before:
            return False
        if self.kueue.behaviour.overwrites_unread_status and entry.message != read:
            return False
        return self.kueue.map_order.for_workload(head.obj).is_stable(before)

    def _patched(self, entry: Entry, pending: Condition) -> Manifest:
        """Give the newest version of a Workload with its pending condition and its requests."""
        kueue, head = self.kueue, entry.queued
        working = kueue.patched(head.obj)
        apply_condition(working, pending, kueue.clock.now)
        update_unset_quota_reservation(kueue, working)
        demands = next(
            interpretations(
                kueue.behaviour.assigning, entry.queue, head.choices, head.demands
            )
        )
        requests = [
            (demand.pod_set.name, self._requests(entry, demand)) for demand in demands
        ]
        reported = kueue.behaviour.reporting.requests(requests, kueue.in_bytes)
        if reported is not None:
            working["status"]["resourceRequests"] = reported
        return working

    def _requests(self, entry: Entry, demand: TotalRequests) -> Mapping[str, int]:
        """Give the requests of a pod set; those that the ClusterQueue implies are known once a flavor was tried."""
        behaviour = self.kueue.behaviour
        implicit: Mapping[str, int] = {}
        if entry.was_tried:
            implicit = counted(behaviour.assigning, entry.queue, demand)
        requests = dict(demand.amounts)
        for each in behaviour.reporting.extra_requests(implicit):
            requests.update(each)
        return requests
