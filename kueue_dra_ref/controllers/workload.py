"""The Workload controller: refuse, queue, block, evict; the checks in the order in which Kueue 0.19 makes them.

Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import (
    condition,
    drop_condition,
    is_false,
    is_true,
    set_condition,
)
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controllers.queue_readiness import QueueReadiness
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    evict,
    no_quota_reservation,
    renew_unreserved,
    say_unreserved,
)
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.dra.preprocess import processed
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.rules.queue.pending_workloads import QuotaHolder, ReasonMessage
from kueue_dra_ref.target import Manifest


class WorkloadController:
    """Reconciles Workloads one at a time."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour
        self.standing = QueueReadiness(kueue)
        self.retries = Backoff(kueue, "Workload")

    def on(self, event: Event) -> None:
        """Follow a change of a Workload into the queues and the ledger, as Kueue's event handlers do."""
        kueue, key, obj = self.kueue, event.key, event.new
        self._refresh(event)
        if (
            event.old is None
            and event.new is not None
            and is_true(event.new, "Finished")
        ):
            return  # one that is done when Kueue starts is not looked at, even where its LocalQueue has queued it
        freed = kueue.usage.record(key, self._cache_usage(event))
        if freed or self._is_over(event) or self._reprioritised(event):
            self._release(event)
        if (
            obj is None
            or is_true(obj, "Finished")
            or not is_active(obj)
            or is_true(obj, "QuotaReserved")
        ):
            kueue.dequeue(key)
        elif not self.kueue.asks_for_devices(obj):
            kueue.derivations.pop(key, None)
            kueue.enqueue(obj)
        if obj is None:
            kueue.assigned.pop(key, None)
            kueue.derivations.pop(key, None)
            kueue.decisions.pop(key, None)
            self.retries.forget(key)
        else:
            kueue.reconcile("Workload", key)

    def _is_over(self, event: Event) -> bool:
        """Whether a workload is gone, done or deactivated, so that others are tried again."""
        if event.new is not None:
            return is_true(event.new, "Finished") or not is_active(event.new)
        return event.old is None or not any(
            rule(event.old) for rule in self.rules.queueing.ignore_delete
        )

    def _reprioritised(self, event: Event) -> bool:
        """Whether a workload that holds quota has another priority now, and others are tried again for that."""
        if (
            event.old is None
            or event.new is None
            or not is_true(event.new, "QuotaReserved")
        ):
            return False
        before, after = (
            each["spec"].get("priority", 0) for each in (event.old, event.new)
        )
        return any(rule(before, after) for rule in self.rules.priorities.moved)

    def _cache_usage(self, event: Event) -> Manifest | None:
        """The workload, where a reservation of it counts: deactivated ones may when Kueue has just started."""
        if event.new is None or is_active(event.new):
            return event.new
        starts = event.old is None
        return (
            event.new
            if starts
            and all(rule(False) for rule in self.rules.queueing.count_on_start)
            else None
        )

    def reconcile(self, key: Key) -> None:
        """Make one Workload's status say what is decided about it."""
        obj = self.kueue.store.find("Workload", key[1], key[0])
        if obj is None or is_true(obj, "Finished"):
            return
        working = {
            **obj,
            "metadata": dict(obj["metadata"]),
            "status": copied(obj.get("status") or {}),
        }
        if not is_true(obj, "QuotaReserved") and not self._processed(key, working):
            return
        for check in (self._activity, self._restarted, self._blocked, self._drained):
            if check(working):
                self.kueue.store.put(working)
                return

    def _processed(self, key: Key, working: Manifest) -> bool:
        kueue = self.kueue
        done = processed(
            self.rules,
            kueue.lister,
            kueue.informers.workload(working),
            kueue.map_order.for_workload(working),
        )
        kueue.derivations[key] = done
        if done.refused and done.refused.silent:
            self._record_steps(key, *done.steps)
            return False
        if done.refused:
            told = (
                "undecided: no quota is asked for"
                if done.refused.undecided
                else "inadmissible: it is not queued"
            )
            self._record_steps(
                key,
                *done.steps,
                Step(
                    requirements=cited(self.rules.reporting.inadmissible_condition),
                    text=told,
                ),
            )
            self._refuse(key, working, done.refused)
            return False
        if not self.kueue.asks_for_devices(working):
            return True
        if self._resolved(working):
            return False
        _clear_inadmissible(working)
        if is_active(working) and not kueue.enqueue(
            {**working, "status": copied(working["status"])}
        ):
            # A DRA workload without its queues is an error to Kueue 0.19: retried, and nothing is said of the queues.
            # But that is what it says when the queues hear of a stop only after it has looked at the workload.
            blocked, steps = self.standing.objection(working)
            self._record_steps(key, *done.steps, *steps)
            self.retries.failed(key)
            return blocked is not None and kueue.map_order.for_workload(
                working
            ).is_stable(blocked.message)
        self.retries.forget(key)
        return True

    def _resolved(self, working: Manifest) -> bool:
        """Write that devices can be charged after all, where that is told; the change has it reconciled again."""
        before = (
            (condition(working, "Requeued") or {}).get("reason", "")
            if is_false(working, "Requeued")
            else ""
        )
        said = next(
            (said for rule in self.rules.reporting.resolved if (said := rule(before))),
            None,
        )
        if said and apply_condition(working, said, self.kueue.clock.now):
            self.kueue.store.put(working)
        return said is not None

    def _refuse(self, key: Key, working: Manifest, refused: InadmissibleReason) -> None:
        now = self.kueue.clock.now
        if refused.undecided:
            set_condition(
                working, "QuotaReserved", None, "Undecided", refused.message, now
            )
        for rule in (
            self.rules.reporting.inadmissible_condition if not refused.undecided else ()
        ):
            apply_condition(working, rule(refused), now)
        no_quota_reservation(self.kueue, working)
        self.kueue.store.put(working)
        if refused.retryable:
            self.retries.failed(key)
        else:
            self.retries.forget(key)

    def _record_steps(self, key: Key, *steps: Step) -> None:
        self.kueue.decisions[key] = steps

    def _activity(self, working: Manifest) -> bool:
        """Evict what is deactivated; note what is active again."""
        if not is_active(working):
            told = self._eviction(QuotaHolder(active=False))
            return (
                told is not None
                and not is_true(working, "Evicted")
                and evict(self.kueue, working, told)
            )
        requeued = condition(working, "Requeued")
        if (
            requeued is None
            or requeued["status"] != "False"
            or requeued["reason"] != "Deactivated"
        ):
            return False
        return self._requeue(working, "Reactivated", "The workload was reactivated")

    def _restarted(self, working: Manifest) -> bool:
        """Note that a queue that was stopped runs again."""
        requeued = condition(working, "Requeued")
        if requeued is None or requeued["status"] != "False":
            return False
        place = self.standing.place(working)
        if (
            requeued["reason"] == "LocalQueueStopped"
            and place.local_queue_exists
            and place.local_queue_runs
        ):
            return self._requeue(
                working,
                "LocalQueueRestarted",
                "The LocalQueue was restarted after being stopped",
            )
        queue = self.kueue.store.find("ClusterQueue", place.cluster_queue)
        if (
            requeued["reason"] == "ClusterQueueStopped"
            and queue
            and stop_policy(queue) == "None"
        ):
            return self._requeue(
                working,
                "ClusterQueueRestarted",
                "The ClusterQueue was restarted after being stopped",
            )
        return False

    def _blocked(self, working: Manifest) -> bool:
        """Say what is wrong with the queue of a workload that holds no quota."""
        if is_true(working, "QuotaReserved"):
            return False
        blocked, steps = self.standing.objection(working)
        if blocked is None:
            return renew_unreserved(self.kueue, working)
        key = key_of(working)
        charged = self.kueue.derivations.get(key)
        self._record_steps(key, *(charged.steps if charged else ()), *steps)
        changed = False
        pending = self.rules.reporting.blocked(blocked)
        if pending is not None:
            changed = apply_condition(working, pending, self.kueue.clock.now)
        return say_unreserved(self.kueue, working) or changed

    def _drained(self, working: Manifest) -> bool:
        """Evict an admitted workload whose queue is drained; the ClusterQueue is known by a LocalQueue that runs."""
        if not is_true(working, "Admitted") or is_true(working, "Evicted"):
            return False
        key, managed = self.kueue.queue_of(working)
        local = self.kueue.store.find("LocalQueue", key[1], key[0])
        queue = (
            self.kueue.store.find("ClusterQueue", managed.cluster_queue)
            if managed
            else None
        )
        holding = QuotaHolder(
            local_queue_stop=stop_policy(local), cluster_queue_stop=stop_policy(queue)
        )
        told = self._eviction(holding)
        return told is not None and evict(self.kueue, working, told)

    def _eviction(self, holding: QuotaHolder) -> ReasonMessage | None:
        return next(
            (told for rule in self.rules.queueing.evicted if (told := rule(holding))),
            None,
        )

    def _requeue(self, working: Manifest, reason: str, message: str) -> bool:
        return set_condition(
            working, "Requeued", True, reason, message, self.kueue.clock.now
        )

    def _release(self, event: Event) -> None:
        """Try again what waits beside a workload that has given something back, or that is gone; it may have waited."""
        managed = self.kueue.local_queues.get(
            self.kueue.assigned.get(event.key, ("", ""))
        )
        if managed:
            self.kueue.notify_retry_inadmissible(managed.cluster_queue)

    def _refresh(self, event: Event) -> None:
        for obj in (event.old, event.new):
            if obj is None:
                continue
            _, managed = self.kueue.queue_of(obj)
            admission = (obj.get("status") or {}).get("admission") or {}
            for name in {
                managed.cluster_queue if managed else "",
                admission.get("clusterQueue", ""),
            } - {""}:
                self.kueue.refresh(name)


def _clear_inadmissible(working: Manifest) -> None:
    for kind in ("QuotaReserved", "Requeued"):
        if is_false(working, kind):
            drop_condition(working, kind)
