"""What the scheduler tells a workload that waits, and which of its words are never written.

Kueue: pkg/scheduler/scheduler.go (requeueAndUpdate); pkg/workload/patching/patching.go (PatchAdmissionStatus)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    say_unreserved,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import NotAdmissible
from kueue_dra_ref.scheduler.ambiguous_classes import interpretations
from kueue_dra_ref.scheduler.entry import Entry
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import TotalRequests, counted


@dataclass(slots=True)
class RequeueStatus:
    """Tells workloads why they wait, and remembers what it has told them."""

    kueue: Kueue
    _told: dict[Key, tuple[str, tuple[TotalRequests, ...], str]] = field(
        default_factory=dict
    )
    """The last word to each Workload, what it asked for, and the version of the object that carries both."""
    _spoke: dict[Key, tuple[int, str]] = field(default_factory=dict)
    """The cycle in which each Workload was told something last, and what had been told before."""

    def wait(self, entry: Entry, cycle: int) -> None:
        """Tell a head why it waits, unless it has been told just that and nothing has been said since."""
        head = entry.queued
        found = self.kueue.store.find("Workload", head.key[1], head.key[0])
        if found and self._told.get(head.key) == (
            entry.message,
            head.demands,
            found["metadata"]["resourceVersion"],
        ):
            return
        said = (condition(found or head.obj, "QuotaReserved") or {}).get("message", "")
        if self._is_lost(entry, cycle, said):
            return
        self._spoke[head.key] = cycle, said
        rules = self.kueue.behaviour.reporting.pending_condition
        waiting = NotAdmissible(cause=entry.cause, message=entry.message)
        words = [(rule, one) for rule in rules.rules if (one := rule(waiting))]
        if not words:
            return  # a condition without a reason is refused by the API server, and all that goes with it
        verdict = Step(
            requirements=cited(rule for rule, _ in words),
            text=f"it waits: {entry.message}",
        )
        self.kueue.decisions[head.key] = (*head.steps, *entry.steps, verdict)
        fresh = self.kueue.store.put(self._written(entry, [one for _, one in words]))
        self._told[head.key] = (
            entry.message,
            head.demands,
            fresh["metadata"]["resourceVersion"],
        )

    def forget(self, key: Key) -> None:
        """It waits no more."""
        self._told.pop(key, None)

    def _is_lost(self, entry: Entry, cycle: int, said: str) -> bool:
        """Whether Kueue, having read neither, takes its second word in a row for said already, or may not write it."""
        last, before = self._spoke.get(entry.queued.key, (0, ""))
        in_a_row = cycle - last == 1 and entry.message != said
        at_risk = in_a_row and (
            not self.kueue.behaviour.overwrites or entry.message == before
        )
        return at_risk and self.kueue.map_order.for_workload(
            entry.queued.obj
        ).is_stable(said)

    def _written(self, entry: Entry, words: list[Condition]) -> Manifest:
        """The newest version of a Workload with what it is told, and with what it asks for."""
        kueue, head = self.kueue, entry.queued
        fresh = kueue.patched(head.obj)
        for one in words:
            apply_condition(fresh, one, kueue.clock.now)
        say_unreserved(kueue, fresh)
        meant = next(
            interpretations(
                kueue.behaviour.assigning, entry.queue, head.choices, head.demands
            )
        )
        asked = [(demand.pod_set.name, self._shown(entry, demand)) for demand in meant]
        for rule in kueue.behaviour.reporting.requests:
            fresh["status"]["resourceRequests"] = rule(asked, kueue.in_bytes)
        return fresh

    def _shown(self, entry: Entry, demand: TotalRequests) -> Mapping[str, int]:
        """What a pod set is said to ask for: what the queue counts by itself is known once a flavor was looked for."""
        beside = (
            counted(self.kueue.behaviour.assigning, entry.queue, demand)
            if entry.was_tried
            else {}
        )
        shown = [
            rule(beside) for rule in self.kueue.behaviour.reporting.extra_conditions
        ]
        return {
            **demand.amounts,
            **{name: amount for each in shown for name, amount in each.items()},
        }
