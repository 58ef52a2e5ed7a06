"""The scheduler: one head per ClusterQueue and cycle, admitted with flavors or told why not."""

from __future__ import annotations

import copy
from typing import Any

from kueue_dra_ref.admission.choices import first_that_fits, readings
from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.flavors import Assignment, Quota, assigned
from kueue_dra_ref.admission.queues import Queued
from kueue_dra_ref.api.conditions import condition, set_condition
from kueue_dra_ref.api.nouns import ClusterQueue
from kueue_dra_ref.cluster.kueue import Kueue
from kueue_dra_ref.cluster.workloads import say
from kueue_dra_ref.rules.quota import Fit
from kueue_dra_ref.target import Manifest


class Scheduler:
    """Runs cycles; `cycle` says whether anything came of it."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour

    def cycle(self) -> bool:
        """Take the head of every active ClusterQueue and decide it; False when nothing has changed."""
        version = self.kueue.store.version
        heads = [
            (queue, head)
            for queue in self._active()
            if (head := self.kueue.lines[queue.name].head(self.rules.queueing))
        ]
        moved = [self._decide(queue, head) for queue, head in heads]
        return any(moved) or self.kueue.store.version != version

    def _active(self) -> list[ClusterQueue]:
        found = [queue for name, line in self.kueue.lines.items() if line.heap and (queue := self.kueue.queue(name))]
        return [queue for queue in found if not self.kueue.inactive(queue)]

    def _decide(self, queue: ClusterQueue, head: Queued) -> bool:
        """Decide one head; whether its queue moved on."""
        mismatch = self._mismatch(queue, head)
        if mismatch:
            self.kueue.lines[queue.name].set_aside(head)
            self._wait(queue, head, mismatch, (Step(requirements=cited(self.rules.queueing.namespace), text=mismatch),))
            return True
        outcome = self.assignment(queue, head)
        if outcome.fit is Fit.NOW:
            self._admit(queue, head, outcome)
            return True
        aside = self._place(queue, head)
        self._wait(queue, head, outcome.message, outcome.steps)
        return aside

    def assignment(self, queue: ClusterQueue, head: Queued) -> Assignment:
        """What a ClusterQueue could give a workload now."""
        ignore = self.kueue.configuration.quota_check_strategy == "IgnoreUndeclared"
        quota = Quota(
            queue=queue, used=self.kueue.ledger.of_cluster_queue(queue.name).reserved, ignore_undeclared=ignore
        )
        meant = readings(self.rules.assigning, queue, head.choices, head.demands)
        return first_that_fits(assigned(self.rules.assigning, quota, self._flavor, demands) for demands in meant)

    def _flavor(self, name: str) -> dict[str, Any] | None:
        found = self.kueue.store.find("ResourceFlavor", name)
        return None if found is None else found.get("spec") or {}

    def _mismatch(self, queue: ClusterQueue, head: Queued) -> str | None:
        labels = self.kueue.labels(head.key[0])
        return next((m for rule in self.rules.queueing.namespace if (m := rule(queue, labels))), None)

    def _place(self, queue: ClusterQueue, head: Queued) -> bool:
        line, rules = self.kueue.lines[queue.name], self.rules.queueing
        if any(rule(queue) for rule in rules.kept) and head.may_be_tried:
            line.put_back(head)
            return False
        if any(rule(queue) for rule in (*rules.set_aside, *rules.kept)):
            line.set_aside(head)
            if any(rule(queue) for rule in rules.set_aside):
                line.set_equals_aside(head)
        return True

    def _wait(self, queue: ClusterQueue, head: Queued, message: str, steps: tuple[Step, ...]) -> None:
        verdict = Step(requirements=cited(self.rules.reporting.waiting), text=f"it waits: {message}")
        self.kueue.decisions[head.key] = (*head.steps, *steps, verdict)
        fresh = self.kueue.patched(head.obj, head)
        for said in (rule(message) for rule in self.rules.reporting.waiting):
            say(fresh, said, self.kueue.clock.now)
        meant = next(readings(self.rules.assigning, queue, head.choices, head.demands))
        asked = [(demand.pod_set.name, demand.amounts) for demand in meant]
        for rule in self.rules.reporting.requests:
            fresh["status"]["resourceRequests"] = rule(asked)
        self.kueue.store.put(fresh)

    def _admit(self, queue: ClusterQueue, head: Queued, outcome: Assignment) -> None:
        fresh = self.kueue.patched(head.obj, head)
        now = self.kueue.clock.now
        verdict = Step(requirements=cited(self.rules.reporting.admitted), text="quota is reserved; admitted")
        self.kueue.decisions[head.key] = (*head.steps, *outcome.steps, verdict)
        fresh["status"].pop("resourceRequests", None)
        for written in (rule(queue.name, outcome.pod_sets) for rule in self.rules.reporting.admission):
            fresh["status"]["admission"] = copy.deepcopy(dict(written))
        for said in (rule(queue.name) for rule in self.rules.reporting.admitted):
            say(fresh, said, now)
        for kind in ("Evicted", "Preempted"):
            _end(fresh, kind, now)
        self.kueue.store.put(fresh)


def _end(obj: Manifest, kind: str, now: str) -> None:
    """An eviction or preemption is over once quota is reserved again."""
    found = condition(obj, kind)
    if found and found["status"] == "True":
        set_condition(obj, kind, False, "QuotaReserved", f"Previously: {found['message']}", now)
