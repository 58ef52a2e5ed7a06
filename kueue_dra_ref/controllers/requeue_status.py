"""The status of requeued workloads: why each is pending, and which of two quick updates the API server keeps.

Kueue: pkg/scheduler/scheduler.go (requeueAndUpdate); pkg/workload/patching/patching.go (PatchAdmissionStatus)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.admission_checks import check_states
from kueue_dra_ref.api.conditions import message_of
from kueue_dra_ref.api.variants import block_on_gate
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    update_unset_quota_reservation,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.pending_reason import NotAdmissible
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.scheduler.ambiguous_classes import interpretations
from kueue_dra_ref.scheduler.entry import Entry, RequeueReason
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import TotalRequests, implicit_requests


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """The last update of a Workload: its message and requests, and the resourceVersion that carries both."""

    message: str
    requests: tuple[TotalRequests, ...]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The cycle of the last update of a Workload, and the message before that update."""

    cycle: int
    before: str


class RequeueStatus:
    """Writes to requeued workloads why they are pending, and remembers what it wrote."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour
        self._updates: dict[Key, Update] = {}
        self._attempts: dict[Key, Attempt] = {}
        self.updates = 0
        """The number of updates so far."""

    def update(self, entry: Entry, cycle: int) -> None:
        """Write why a head is pending, unless its status says so and nothing has changed since."""
        key = entry.info.key
        found = self.store.get("Workload", key)
        if found and self._is_written(entry, found):
            return
        before = message_of(found or entry.info.obj, "QuotaReserved")
        if self._is_lost(entry, cycle, before):
            return
        self._attempts[key] = Attempt(cycle=cycle, before=before)
        rules = self.rules.reporting.pending_condition
        pending = rules.answer(
            NotAdmissible(cause=entry.quota_reserved_reason, message=entry.message)
        )
        if pending is None:
            return  # the API server rejects a condition without a reason, and the whole update with it
        self._record_steps(entry, pending.rule)
        working = self._patched(entry, pending.value)
        written = self.store.put(working)
        self.updates += 1
        self._updates[key] = _update(entry, written)

    def forget(self, key: Key) -> None:
        """Forget the last update of a workload that is not pending any more."""
        self._updates.pop(key, None)

    def _record_steps(self, entry: Entry, rule: Rule[..., Any]) -> None:
        head = entry.info
        step = Step(
            requirements=cited([rule]),
            text=f"pending: {entry.message}",
        )
        steps = (*head.steps, *entry.steps, step)
        self.kueue.decisions[head.key] = steps

    def _is_written(self, entry: Entry, found: Manifest) -> bool:
        update = self._updates.get(entry.info.key)
        return update == _update(entry, found)

    def _is_lost(
        self,
        entry: Entry,
        cycle: int,
        before: str,
    ) -> bool:
        """Whether Kueue drops this update: it follows right after another one, which Kueue has not read yet.

        The patch is empty if the message equals the one that Kueue read, and conflicts if Kueue does not overwrite.
        """
        head = entry.info
        last = self._attempts.get(head.key)
        if last is None or cycle - last.cycle != 1:
            return False
        if entry.message == before:
            return False
        is_empty_patch = entry.message == last.before
        if self.rules.overwrites_unread_status and not is_empty_patch:
            return False
        draw = self.kueue.map_order.for_workload(head.obj)
        return draw.is_stable(before)

    def _patched(self, entry: Entry, pending: Condition) -> Manifest:
        """Give the newest version of a Workload with its pending condition and its requests."""
        kueue, rules = self.kueue, self.rules
        head = entry.info
        working = kueue.patched(head.obj)
        apply_condition(working, pending, kueue.clock.now)
        restored = kueue.checks_when_queued.get(head.key)
        if restored:
            working["status"]["admissionChecks"] = [*check_states(working), *restored]
        if entry.requeue_reason is RequeueReason.PREEMPTION_GATED:
            block_on_gate(working, entry.message, kueue.clock.now)
        update_unset_quota_reservation(kueue, working)
        meanings = interpretations(
            rules.assigning,
            entry.queue,
            head.choices,
            head.total_requests,
        )
        requests = []
        for demand in next(meanings):
            amounts = self._requests(entry, demand)
            requests.append((demand.pod_set.name, amounts))
        reported = rules.reporting.requests(requests, kueue.in_bytes)
        assert reported is not None
        working["status"]["resourceRequests"] = reported
        return working

    def _requests(self, entry: Entry, demand: TotalRequests) -> Mapping[str, int]:
        """Give the requests of a pod set; those that the ClusterQueue implies are known once a flavor was tried."""
        rules = self.rules
        implicit: Mapping[str, int] = {}
        if entry.was_nominated:
            implicit = implicit_requests(rules.assigning, entry.queue, demand)
        requests = dict(demand.amounts)
        for each in rules.reporting.extra_requests(implicit):
            requests.update(each)
        return requests


def _update(entry: Entry, workload: Manifest) -> Update:
    return Update(
        message=entry.message,
        requests=entry.info.total_requests,
        version=workload["metadata"]["resourceVersion"],
    )
