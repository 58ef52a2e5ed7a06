"""The Workload controller: it rejects, queues and evicts workloads, with the checks in the order of Kueue 0.19.

Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile)
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.conditions import (
    condition,
    drop_condition,
    is_false,
    is_true,
    message_of,
    reason_of,
    set_condition,
)
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.workloads import (
    admission_of,
    is_active,
    is_on_hold,
    priority_of,
)
from kueue_dra_ref.controllers.admission_checks import AdmissionChecks
from kueue_dra_ref.controllers.admission_gates import sync_gates
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controllers.concurrent_admission import VariantReconciler
from kueue_dra_ref.controllers.deviceclass import may_queue
from kueue_dra_ref.controllers.execution_time import ExecutionLimit
from kueue_dra_ref.controllers.local_queue_usage import LocalQueueUsage
from kueue_dra_ref.controllers.pods_ready import PodsReady
from kueue_dra_ref.controllers.queue_readiness import QueueReadiness
from kueue_dra_ref.controllers.requeue_backoff import (
    backs_off,
    ends_backoff,
)
from kueue_dra_ref.controllers.retention import Retention
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    evict,
    finish,
    no_quota_reservation,
    renew_unset_quota_reservation,
    update_unset_quota_reservation,
)
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, is_deleted, key_of
from kueue_dra_ref.dra.preprocess import preprocess_dra_resources
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.rules.queue.pending_workloads import QuotaHolder
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.dra_resources import DRAResources


class WorkloadReconciler:
    """Reconciles Workloads one at a time."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour
        self.readiness = QueueReadiness(kueue)
        self.backoff = Backoff(kueue, "Workload")
        self.checks = AdmissionChecks(kueue)
        self.sharing = LocalQueueUsage(kueue)
        self.pods_ready = PodsReady(kueue)
        self.execution = ExecutionLimit(kueue)
        self.retention = Retention(kueue)
        self.variants = VariantReconciler(kueue)

    def on(self, event: Event) -> None:
        """Carry a change of a Workload over to the cache and the queues, and have it reconciled before its queues."""
        self._cache(event)
        self._refresh(event)

    def _cache(self, event: Event) -> None:
        obj = event.new
        if event.old is None and obj is not None and is_true(obj, "Finished"):
            # When Kueue starts it queues no finished workload, not even one that its LocalQueue has queued.
            self.kueue.reconcile("Workload", event.key)
            return
        released = self.kueue.usage.record(event.key, self._cache_usage(event))
        if released or self._is_over(event) or self._is_reprioritized(event):
            self._retry_inadmissible(event)
        self.sharing.on_workload(event)
        self._queue(event)
        if obj is None:
            self._forget(event.key)
        else:
            self.kueue.reconcile("Workload", event.key)

    def _queue(self, event: Event) -> None:
        """Queue a pending workload; one that requests devices is queued when it is reconciled."""
        key, obj = event.key, event.new
        if obj is None or not may_queue(obj) or is_true(obj, "QuotaReserved"):
            self.kueue.dequeue(key)
        elif not self.kueue.asks_for_devices(obj):
            self.kueue.derivations.pop(key, None)
            had_quota = event.old is not None and is_true(event.old, "QuotaReserved")
            released = had_quota and not self.kueue.backs_off(obj)
            self.kueue.enqueue(obj, released=released)

    def _forget(self, key: Key) -> None:
        self.kueue.assigned.pop(key, None)
        self.kueue.derivations.pop(key, None)
        self.kueue.decisions.pop(key, None)
        self.kueue.timeouts.forget(("Workload", key))
        self.backoff.forget(key)

    def _is_over(self, event: Event) -> bool:
        """Whether a workload is gone, finished or deactivated, so that Kueue retries inadmissible workloads."""
        if event.new is not None:
            return not may_queue(event.new)
        assert event.old is not None
        return not self.rules.queueing.ignore_delete(event.old)

    def _is_reprioritized(self, event: Event) -> bool:
        """Whether a workload that holds quota got another priority, so that Kueue retries inadmissible workloads."""
        if event.old is None or event.new is None:
            return False
        if not is_true(event.new, "QuotaReserved"):
            return False
        before, after = priority_of(event.old), priority_of(event.new)
        return self.rules.priorities.requeue_pending(before, after)

    def _cache_usage(self, event: Event) -> Manifest | None:
        """Give the workload if its reservation counts; that of a deactivated one may count when Kueue starts."""
        if event.new is None or not self.kueue.is_charged(event.new):
            return None
        if is_active(event.new):
            return event.new
        is_start = event.old is None
        if is_start and self.rules.queueing.count_on_start(False):
            return event.new
        return None

    def reconcile(self, key: Key) -> None:
        """Bring the status of one Workload in line with its spec, its queue and its devices."""
        obj = self.store.get("Workload", key)
        if obj is None:
            return
        steps = (self._finish_orphan, self.variants.mark, self._sync_finished)
        if any(step(obj) for step in steps):
            return
        working = {
            **obj,
            "metadata": dict(obj["metadata"]),
            "status": copied(status_of(obj)),
        }
        if self.checks.delay(working):
            self.store.put(working)
            return
        is_waiting = not is_true(obj, "QuotaReserved") and not is_on_hold(obj)
        if is_waiting and not self._processed(key, working):
            return
        if backs_off(self.kueue, working):
            return
        self._sync(working)

    def _finish_orphan(self, workload: Manifest) -> bool:
        """Finish a Workload that has lost its owner, and say whether it was not finished yet."""
        if is_true(workload, "Finished") or is_deleted(workload):
            return False
        finished = self.rules.reporting.orphaned(workload)
        if finished is not None:
            finish(self.kueue, workload, *finished)
        return finished is not None

    def _sync_finished(self, workload: Manifest) -> bool:
        """Delete a finished Workload when its time is over, and say whether it is finished."""
        is_finished = is_true(workload, "Finished")
        if is_finished:
            self.retention.sync_finished(workload)
        return is_finished

    def _sync(self, working: Manifest) -> None:
        """Write the first change that the status needs; each write triggers the next reconcile."""
        syncs = (
            self._sync_activity,
            self._sync_restart,
            self._sync_gates,
            self.checks.sync,
            self._sync_queue_not_ready,
            self.checks.admit,
            self.checks.evict,
            self._sync_drain,
            self.pods_ready.evict,
            self.execution.deactivate,
        )
        for sync in syncs:
            if sync(working):
                self.store.put(working)
                return

    def _processed(self, key: Key, working: Manifest) -> bool:
        """Compute what the devices of a workload charge and queue it; False if its queues are not checked now."""
        kueue = self.kueue
        resources = preprocess_dra_resources(
            self.rules,
            kueue.lister,
            kueue.informers.workload(working),
            kueue.map_order.for_workload(working),
        )
        kueue.derivations[key] = resources
        if resources.refused:
            self._mark_inadmissible(key, working, resources, resources.refused)
            return False
        if not kueue.asks_for_devices(working):
            return True
        resolved = self._resolved(working)
        if resolved is not None:
            apply_condition(working, resolved, self.kueue.clock.now)
            self.store.put(working)
            return False
        _clear_inadmissible(working)
        status = copied(working["status"])
        if is_active(working) and not self.kueue.enqueue({**working, "status": status}):
            return self._not_queued(key, working, resources)
        self.backoff.forget(key)
        return True

    def _not_queued(
        self,
        key: Key,
        working: Manifest,
        resources: DRAResources,
    ) -> bool:
        """Retry a DRA workload without its queues: to Kueue 0.19 that is an error, and it reports nothing on them.

        It does report them if they stop only after it has looked at the workload, as recordings show.
        """
        blocked, steps = self.readiness.objection(working)
        self._record_steps(key, *resources.steps, *steps)
        self.backoff.failed(key)
        assert blocked is not None
        draw = self.kueue.map_order.for_workload(working)
        return draw.is_stable(blocked.message)

    def _resolved(self, working: Manifest) -> Condition | None:
        """Give what a behaviour reports of devices that can be charged; that change triggers the next reconcile."""
        reason = reason_of(working, "Requeued")
        return self.rules.reporting.dra_resolved(reason)

    def _mark_inadmissible(
        self,
        key: Key,
        working: Manifest,
        resources: DRAResources,
        refused: InadmissibleReason,
    ) -> None:
        """Record why a workload is inadmissible and write it to its status, unless the refusal is silent."""
        if refused.silent:
            self._record_steps(key, *resources.steps)
            return
        rules = self.rules.reporting.inadmissible_condition
        text = "inadmissible: it is not queued"
        if refused.undecided:
            text = "undecided: no quota is requested"
        step = Step(requirements=cited(rules.rules), text=text)
        self._record_steps(key, *resources.steps, step)
        self._write_inadmissible(working, refused)
        if refused.retryable:
            self.backoff.failed(key)
        else:
            self.backoff.forget(key)

    def _write_inadmissible(
        self, working: Manifest, refused: InadmissibleReason
    ) -> None:
        now, message = self.kueue.clock.now, refused.message
        rules = self.rules.reporting.inadmissible_condition
        if refused.undecided:
            set_condition(working, "QuotaReserved", None, "Undecided", message, now)
        else:
            for each in rules(refused):
                apply_condition(working, each, now)
        no_quota_reservation(self.kueue, working)
        self.store.put(working)

    def _record_derivation(self, key: Key, *steps: Step) -> None:
        """Record what the devices of a workload charge, and then these steps."""
        charged = self.kueue.derivations.get(key)
        before = charged.steps if charged else ()
        self._record_steps(key, *before, *steps)

    def _record_steps(self, key: Key, *steps: Step) -> None:
        self.kueue.decisions[key] = steps

    def _sync_activity(self, working: Manifest) -> bool:
        """Evict a deactivated workload, or note that it is active again; True when its status changed."""
        if not is_active(working):
            return self._evict_deactivated(working)
        if is_true(working, "DeactivationTarget"):
            working["spec"] = {**working["spec"], "active": False}
            return True
        if ends_backoff(self.kueue, working):
            return True
        if not _is_not_requeued(working, "Deactivated"):
            return False
        return self._requeue(working, "Reactivated", "The workload was reactivated")

    def _evict_deactivated(self, working: Manifest) -> bool:
        """Evict a deactivated workload, with the reason for which Kueue has deactivated it."""
        eviction = self.rules.queueing.evict(self._holder(working))
        if eviction is None:
            return False
        requeues = working["status"].pop("requeueState", None)
        if is_true(working, "Evicted"):
            return requeues is not None
        target = condition(working, "DeactivationTarget")
        if target is not None:
            message = f"{eviction.message} due to {target['message']}"
            eviction = replace(eviction, message=message, cause=target["reason"])
            drop_condition(working, "DeactivationTarget")
        return evict(self.kueue, working, eviction)

    def _sync_restart(self, working: Manifest) -> bool:
        """Note that a stopped queue runs again; True when the status of the workload changed."""
        key, _ = self.kueue.queue_of(working)
        cluster_queue = ("", self.kueue.cluster_queue_of(working))
        for kind, named in (("LocalQueue", key), ("ClusterQueue", cluster_queue)):
            queue = self.store.get(kind, named)
            runs = queue is not None and stop_policy(queue) == "None"
            if runs and _is_not_requeued(working, f"{kind}Stopped"):
                message = f"The {kind} was restarted after being stopped"
                return self._requeue(working, f"{kind}Restarted", message)
        return False

    def _sync_gates(self, working: Manifest) -> bool:
        """Note that admission gates are closed, or that they are gone; True when the status of the workload changed."""
        closed = self.rules.gating.closed.answer(working)
        if closed is None:
            return sync_gates(self.kueue, working, None)
        step = Step.by(closed.value.message, closed.rule)
        self._record_derivation(key_of(working), step)
        return sync_gates(self.kueue, working, closed.value)

    def _sync_queue_not_ready(self, working: Manifest) -> bool:
        """Write what blocks the queue of a workload without quota; True when its status changed."""
        if is_true(working, "QuotaReserved"):
            return False
        blocked, steps = self.readiness.objection(working)
        if blocked is None:
            return renew_unset_quota_reservation(self.kueue, working)
        if self._is_overtaken(working):
            return False
        self._record_derivation(key_of(working), *steps)
        pending = self.rules.reporting.queue_not_ready(blocked)
        changed = apply_condition(working, pending, self.kueue.clock.now)
        return update_unset_quota_reservation(self.kueue, working) or changed

    def _is_overtaken(self, working: Manifest) -> bool:
        """Whether a recording shows that Kueue looked at a workload with devices only once its queue was deleted."""
        name = self.kueue.cluster_queue_of(working)
        queue = self.store.find("ClusterQueue", name)
        if queue is None or not is_deleted(queue):
            return False
        stored = self.store.get("Workload", key_of(working)) or working
        draw = self.kueue.map_order.for_workload(working)
        is_last = draw.is_stable(message_of(stored, "QuotaReserved"))
        return is_last and self.kueue.asks_for_devices(working)

    def _sync_drain(self, working: Manifest) -> bool:
        """Evict an admitted workload of a drained queue, and release what another one has reserved in a stopped one."""
        if not is_true(working, "QuotaReserved"):
            return False
        holder = self._holder(working)
        if not is_true(working, "Admitted"):
            return self._take_back(working, holder)
        if is_true(working, "Evicted"):
            return False
        eviction = self.rules.queueing.evict(holder)
        return eviction is not None and evict(self.kueue, working, eviction)

    def _holder(self, working: Manifest) -> QuotaHolder:
        """Describe the queues of a workload; only a running LocalQueue leads to its ClusterQueue."""
        key, _ = self.kueue.queue_of(working)
        local_queue = self.store.get("LocalQueue", key)
        name = self.kueue.cluster_queue_of(working)
        cluster_queue = self.store.find("ClusterQueue", name)
        return QuotaHolder(
            active=is_active(working),
            local_queue=key[1],
            local_queue_stop=stop_policy(local_queue),
            local_queue_stays=_stays(local_queue),
            cluster_queue=name,
            cluster_queue_stop=stop_policy(cluster_queue),
            cluster_queue_stays=_stays(cluster_queue),
        )

    def _take_back(self, working: Manifest, holder: QuotaHolder) -> bool:
        """Release the quota of a workload that is not admitted yet, if its queue is stopped; True if it did."""
        taken = self.rules.queueing.take_back(holder)
        if taken is None:
            return False
        pending = self.rules.reporting.queue_not_ready(taken)
        apply_condition(working, pending, self.kueue.clock.now)
        no_quota_reservation(self.kueue, working)
        return True

    def _requeue(
        self,
        working: Manifest,
        reason: str,
        message: str,
    ) -> bool:
        now = self.kueue.clock.now
        return set_condition(working, "Requeued", True, reason, message, now)

    def _retry_inadmissible(self, event: Event) -> None:
        """Retry the inadmissible workloads that a workload may have blocked; it may have been inadmissible itself."""
        local_queue = self.kueue.assigned.get(event.key, ("", ""))
        managed = self.kueue.local_queues.get(local_queue)
        if managed:
            self.kueue.notify_retry_inadmissible(managed.cluster_queue)

    def _refresh(self, event: Event) -> None:
        """Refresh the status of the ClusterQueues that a workload names, and those that admitted it."""
        for obj in (event.old, event.new):
            if obj is None:
                continue
            _, managed = self.kueue.queue_of(obj)
            names = {admission_of(obj).get("clusterQueue", "")}
            if managed:
                names.add(managed.cluster_queue)
            for name in names - {""}:
                self.kueue.refresh(name)


def _stays(queue: Manifest | None) -> bool:
    """Whether a queue exists and is not being deleted."""
    return queue is not None and not is_deleted(queue)


def _is_not_requeued(working: Manifest, reason: str) -> bool:
    """Whether the Requeued condition is False for a reason."""
    return is_false(working, "Requeued") and reason_of(working, "Requeued") == reason


def _clear_inadmissible(working: Manifest) -> None:
    for kind in ("QuotaReserved", "Requeued"):
        if is_false(working, kind):
            drop_condition(working, kind)
