"""The scheduler: each cycle takes the head of every ClusterQueue and admits it, preempts for it or requeues it.

Kueue: pkg/scheduler/scheduler.go (Scheduler, schedule, admit, issuePreemptions, requeueAndUpdate)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.cache.cluster_queue import Key, WorkloadInfo
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.controllers.requeue_status import RequeueStatus
from kueue_dra_ref.controllers.workload_conditions import apply_condition, evict
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.preemption.preemption_policies import (
    Preemption,
)
from kueue_dra_ref.rules.queue.pending_workloads import ReasonMessage
from kueue_dra_ref.scheduler.cycle import Cycle
from kueue_dra_ref.scheduler.entry import Entry, RequeueReason
from kueue_dra_ref.scheduler.nominate import Nominator
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget, told
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.resources import unfit


class Scheduler:
    """Runs scheduling cycles over the pending workloads of one Kueue."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.rules = kueue.behaviour
        self._number = 0
        self._requeue_status = RequeueStatus(kueue)
        self._preemption_steps: dict[Key, tuple[Step, ...]] = {}
        """How each pending preemptor found the workloads that it preempted last."""
        self._just_admitted: set[Key] = set()
        """The workloads admitted in the last cycle, unless time has passed since."""
        self.preemptions = 0
        """The number of workloads preempted so far."""

    def cycle(self) -> bool:
        """Schedule the heads of all active ClusterQueues together; False when nothing changed."""
        version = self.kueue.store.version
        heads = self._heads()
        if not heads:
            return False
        self._number += 1
        snapshot = self.kueue.snapshot()
        entries = self._cycle(snapshot).run(heads)
        self._just_admitted.clear()
        moved = [self._apply(snapshot, entry) for entry in entries]
        return any(moved) or self.kueue.store.version != version

    def next_cycle_delay(self) -> None:
        """Note that time has passed, so every admission is written."""
        self._just_admitted.clear()

    def _heads(self) -> list[tuple[ClusterQueue, WorkloadInfo]]:
        active = [
            queue
            for queue in map(self._active, self._names_with_pending())
            if queue is not None
        ]
        heads = []
        for queue in active:
            head = self.kueue.pending[queue.name].head()
            if head is not None:
                heads.append((queue, head))
        return heads

    def _names_with_pending(self) -> list[str]:
        return [name for name, pending in self.kueue.pending.items() if pending.heap]

    def _active(self, name: str) -> ClusterQueue | None:
        queue = self.kueue.informers.queue(name)
        if queue is None or self.kueue.informers.inactive(queue):
            return None
        return queue

    def _cycle(self, snapshot: Snapshot) -> Cycle:
        configuration = self.kueue.configuration
        strategy = configuration.quota_check_strategy
        nominator = Nominator(
            behaviour=self.rules,
            snapshot=snapshot,
            number=self._number,
            moves=self.kueue.moves,
            strategies=configuration.fair_sharing,
            ignore_undeclared=self.rules.assigning.ignore_undeclared(strategy),
            chance=self.kueue.map_order,
        )
        return Cycle(
            behaviour=self.rules,
            snapshot=snapshot,
            nominator=nominator,
            fair=configuration.fair_sharing is not None,
            refused=self._inadmissible,
            fresh=self._just_admitted,
        )

    def _inadmissible(
        self, queue: ClusterQueue, head: WorkloadInfo
    ) -> tuple[RequeueReason, str, tuple[Step, ...]] | None:
        """Say why a ClusterQueue cannot admit a workload, however much quota is free."""
        rules = self.rules
        if queue.name in self.kueue.hierarchy.looped:
            stopped = rules.cohorts.on_cycle.answer(queue)
            if stopped:
                return _stated(RequeueReason.STOPPED, stopped)
        labels = self.kueue.informers.labels(head.key[0])
        mismatch = rules.queueing.namespace.answer(queue, labels)
        if mismatch:
            return _stated(RequeueReason.UNFIT, mismatch)
        limits = self.kueue.lister.surroundings(head.key[0])
        invalid = unfit(rules.adjusting, limits, self._validated(head))
        if invalid is None:
            return None
        step = Step(requirements=invalid.requirements, text=invalid.message)
        return RequeueReason.UNSUITABLE, invalid.message, (step,)

    def _validated(self, head: WorkloadInfo) -> Workload:
        """Give the requests to validate: the adjusted ones at first, those as written once the workload was tried."""
        if head.remembered is None or head.written is None:
            return head.workload
        return self.rules.queueing.retry_from.or_else(head.written, head.workload)

    def _apply(self, snapshot: Snapshot, entry: Entry) -> bool:
        """Carry out the decision on a head; True when its ClusterQueue can try another head."""
        if entry.why is None:
            if _is_complete(entry):
                self._admit(entry)
            else:
                self._reject_admission(entry)
            return True
        if entry.why is RequeueReason.PREEMPTING:
            self._issue_preemptions(snapshot, entry)
        return self._requeue_and_update(entry)

    def _requeue_and_update(self, entry: Entry) -> bool:
        moved = self._requeue(entry)
        self._requeue_status.update(entry, self._number)
        return moved

    def _requeue(self, entry: Entry) -> bool:
        """Requeue a head at once or as inadmissible; True when its ClusterQueue can try another head."""
        rules = self.rules.queueing
        queue, head = entry.queue, entry.queued
        pending = self.kueue.pending[queue.name]
        head.progress = entry.progress
        head.remembered = rules.requeue_from(head.workload) or head.written
        self._refresh_status(head)
        if entry.why is RequeueReason.PREEMPTING and rules.sticky_preemptor(queue):
            pending.sticky_workload = head.key
        if not head.may_be_tried or not self._requeues_immediately(entry):
            self._mark_inadmissible(entry)
            return True
        pending.requeue_if_not_present(head)
        can_resume = bool(self.rules.assigning.resume_from_last_tried)
        return _is_unfinished(entry) and can_resume

    def _requeues_immediately(self, entry: Entry) -> bool:
        if _is_unfinished(entry) or entry.why in _IMMEDIATELY:
            return True
        if entry.why is RequeueReason.UNFIT:
            return False
        return self.rules.queueing.requeue_immediately(entry.queue)

    def _mark_inadmissible(self, entry: Entry) -> None:
        rules, queue = self.rules.queueing, entry.queue
        pending = self.kueue.pending[queue.name]
        marked = rules.mark_inadmissible(queue)
        is_unfit = entry.why is RequeueReason.UNFIT
        if marked or is_unfit or rules.requeue_immediately(queue):
            pending.mark_inadmissible(entry.queued)
        is_no_fit = entry.why is RequeueReason.NO_FIT
        if marked and is_no_fit and rules.bulk_move_equivalent(queue):
            self._move_equivalent(entry)

    def _move_equivalent(self, entry: Entry) -> None:
        """Mark the workloads equal to a head that did not fit as inadmissible, too.

        Kueue reconciles at once each of them whose condition says that it is pending evaluation, and corrects it.
        """
        pending = self.kueue.pending[entry.queue.name]
        for key in pending.handle_inadmissible_hash(entry.queued, entry.cause):
            found = self.kueue.store.find("Workload", key[1], key[0])
            if found is not None and _is_pending_evaluation(found):
                self.kueue.reconcile("Workload", key)

    def _refresh_status(self, head: WorkloadInfo) -> None:
        """Read the stored status of a head where it excludes the head from requeues of inadmissible workloads."""
        found = self.kueue.store.find("Workload", head.key[1], head.key[0])
        if found and self.rules.queueing.skip_in_requeue(found):
            head.obj = found

    def _admit(self, entry: Entry) -> None:
        """Write the quota reservation and the admission of a head to its status."""
        head, rules = entry.queued, self.rules.reporting
        now = self.kueue.clock.now
        self._requeue_status.forget(head.key)
        self._just_admitted.add(head.key)
        self._record_admission(entry)
        working = self.kueue.patched(head.obj, head)
        working["status"].pop("resourceRequests", None)
        admission = rules.admission(entry.queue.name, entry.assignment.pod_sets)
        if admission is not None:
            working["status"]["admission"] = copied(dict(admission))
        for each in rules.admitted(entry.queue.name):
            apply_condition(working, each, now)
        for kind in ("Evicted", "Preempted"):
            _reset(working, kind, now)
        self.kueue.store.put(working)

    def _record_admission(self, entry: Entry) -> None:
        """Keep the steps that led to an admission, with those of the preemptions that made it fit."""
        head = entry.queued
        admitted = Step(
            requirements=cited(self.rules.reporting.admitted.rules),
            text="quota is reserved; admitted",
        )
        preempted = self._preemption_steps.pop(head.key, ())
        steps = (*head.steps, *preempted, *entry.assignment.steps, admitted)
        self.kueue.decisions[head.key] = steps

    def _reject_admission(self, entry: Entry) -> None:
        """Keep a head pending whose admission would lack a pod set: the API server rejects such a status.

        Kueue tries it again in every cycle without effect while other workloads have their turn, so it is inadmissible
        here.
        """
        head = entry.queued
        left = head.workload.pod_sets[len(entry.assignment.pod_sets)].name
        rejected = Step(
            requirements=cited(self.rules.assigning.stop_at_empty_pod_set.rules),
            text=f"the pod set before {left} needs no flavor, so assignment stops; "
            "a workload is not admitted partially",
        )
        self.kueue.decisions[head.key] = (*head.steps, *entry.steps, rejected)
        self.kueue.pending[entry.queue.name].mark_inadmissible(head)

    def _issue_preemptions(self, snapshot: Snapshot, entry: Entry) -> None:
        entry.steps += told(entry.victims)
        if not all(target.hold.evicted for target in entry.victims):
            self._preemption_steps[entry.queued.key] = entry.steps
        for target in entry.victims:
            self._preempt(snapshot, entry, target)

    def _preempt(
        self, snapshot: Snapshot, entry: Entry, target: PreemptionTarget
    ) -> None:
        """Evict one target, unless an eviction of it is under way."""
        namespace, name = target.hold.key
        found = self.kueue.store.find("Workload", name, namespace)
        if found is None or is_true(found, "Evicted"):
            return
        preemption = _preemption(snapshot, entry, target)
        message = self.rules.preempting.preempted_message.or_else("", preemption)
        working = self.kueue.patched(found)
        for each in self.rules.reporting.preempted(target.reason, message):
            apply_condition(working, each, self.kueue.clock.now)
        self.preemptions += 1
        eviction = ReasonMessage(reason="Preempted", message=message)
        evict(self.kueue, working, eviction)
        self.kueue.store.put(working)


_IMMEDIATELY = (RequeueReason.LOST, RequeueReason.PREEMPTING)


def _stated(
    reason: RequeueReason, answer: Answer[str]
) -> tuple[RequeueReason, str, tuple[Step, ...]]:
    step = Step(requirements=cited([answer.rule]), text=answer.value)
    return reason, answer.value, (step,)


def _is_complete(entry: Entry) -> bool:
    return len(entry.assignment.pod_sets) == len(entry.queued.workload.pod_sets)


def _is_unfinished(entry: Entry) -> bool:
    """Whether the search for flavors goes on in the next cycle."""
    return entry.progress is not None and entry.progress.is_unfinished


def _is_pending_evaluation(obj: Manifest) -> bool:
    found = condition(obj, "QuotaReserved")
    return found is not None and found["reason"] == "PendingEvaluation"


def _preemption(
    snapshot: Snapshot, entry: Entry, target: PreemptionTarget
) -> Preemption:
    meta = entry.queued.obj["metadata"]
    labels = meta.get("labels") or {}
    return Preemption(
        reason=target.reason,
        preemptor=meta["uid"],
        job=labels.get("kueue.x-k8s.io/job-uid", ""),
        path=snapshot.path(entry.queue.name),
        victim_path=snapshot.path(target.hold.cluster_queue),
    )


def _reset(obj: Manifest, kind: str, now: str) -> None:
    """Set an eviction or preemption condition to False once quota is reserved again."""
    found = condition(obj, kind)
    if found and found["status"] == "True":
        message = f"Previously: {found['message']}"
        set_condition(obj, kind, False, "QuotaReserved", message, now)
