"""The scheduler: each cycle takes the head of every ClusterQueue and admits it, preempts for it or requeues it.

Kueue: pkg/scheduler/scheduler.go (Scheduler, schedule, admit, issuePreemptions, requeueAndUpdate)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from kueue_dra_ref.api.admission_checks import check_states
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.jobs import job_uid_of
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.cache.cluster_queue import WorkloadInfo
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.controllers.admission_checks import AdmissionChecks
from kueue_dra_ref.controllers.deviceclass import may_queue
from kueue_dra_ref.controllers.flavor_migration import FlavorMigration
from kueue_dra_ref.controllers.local_queue_usage import LocalQueueUsage
from kueue_dra_ref.controllers.pods_ready import PodsReady
from kueue_dra_ref.controllers.requeue_status import RequeueStatus
from kueue_dra_ref.controllers.workload_conditions import (
    apply_condition,
    evict,
    finish,
    reset_condition,
    update_unset_quota_reservation,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, circle_text, cited
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import Answer
from kueue_dra_ref.rules.preemption.preemption_policies import (
    Preemption,
)
from kueue_dra_ref.scheduler.cycle import Cycle
from kueue_dra_ref.scheduler.entry import Entry, RequeueReason
from kueue_dra_ref.scheduler.nominate import Nominator
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget, target_steps
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.resources import validate_resources
from kueue_dra_ref.workload.total_requests import implicit_requests

_UPDATES = 2
"""Updates of the other heads of a cycle, one after another, that take longer than the write of an admission."""
Inadmissible = tuple[RequeueReason, str, tuple[Step, ...]]
"""Why a head is inadmissible: the reason, the message and the steps."""


@dataclass(slots=True, kw_only=True)
class BlockedCycle:
    """A cycle that is carried out in the order of its entries, and may have to wait for pods in between."""

    snapshot: Snapshot
    left: list[Entry]
    """The entries that are not carried out yet."""
    requeued: list[Entry] = field(default_factory=list)
    """The entries that are requeued when the cycle ends."""

    @classmethod
    def of(
        cls, snapshot: Snapshot, entries: Iterable[Entry], processed: Iterable[Entry]
    ) -> BlockedCycle:
        """Order the entries: first those that were processed, then those that were not nominated."""
        nominated = list(processed)
        known = {id(entry) for entry in nominated}
        others = [entry for entry in entries if id(entry) not in known]
        return cls(snapshot=snapshot, left=[*nominated, *others])


class Scheduler:
    """Runs scheduling cycles over the pending workloads of one Kueue."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour
        self._number = 0
        self._requeue_status = RequeueStatus(kueue)
        self._checks = AdmissionChecks(kueue)
        self._sharing = LocalQueueUsage(kueue)
        self._pods_ready = PodsReady(kueue)
        self._migration = FlavorMigration(kueue)
        self._blocked: BlockedCycle | None = None
        """The cycle that waits for pods of admitted workloads."""
        self._preemption_steps: dict[Key, tuple[Step, ...]] = {}
        """How each pending preemptor found the workloads that it preempted last."""
        self._just_admitted: set[Key] = set()
        """The workloads admitted in the last cycle whose admissions are still being written."""
        self.heads: tuple[WorkloadInfo, ...] = ()
        """The heads of the last cycle."""
        self.preemptions = 0
        """The number of workloads preempted so far."""
        self.last_preemption = -inf
        """When the last one was preempted, in seconds."""

    def cycle(self) -> bool:
        """Schedule the heads of all active ClusterQueues together; False when nothing changed."""
        version = self.store.version
        if self._blocked is not None:
            self._resume(self._blocked)
            return self.store.version != version
        heads = self._heads()
        self.heads = tuple(info for _, info in heads)
        if not heads:
            return False
        self._number += 1
        snapshot = self.kueue.snapshot()
        cycle = self._cycle(snapshot)
        entries = cycle.run(heads)
        self._just_admitted.clear()
        if self._pods_ready.blocks:
            self._resume(BlockedCycle.of(snapshot, entries, cycle.processed))
            return True
        moved, updates = False, self._requeue_status.updates
        for entry in entries:
            moved |= self._apply(snapshot, entry)
        if self._requeue_status.updates >= updates + _UPDATES:
            self._just_admitted.clear()
        return moved or self.store.version != version

    def _resume(self, cycle: BlockedCycle) -> None:
        """Carry out the rest of a cycle, until it has to wait for pods; a workload that is gone waits as well."""
        while cycle.left:
            entry = cycle.left[0]
            if entry.requeue_reason is None and self._pods_ready.are_missing():
                if self._blocked is None and self._is_there(entry):
                    self._report_blocked(entry)
                self._blocked = cycle
                return
            self._blocked = None
            del cycle.left[0]
            self._carry_out(cycle, entry)
        for entry in cycle.requeued:
            self._requeue_and_update(entry)

    def _is_there(self, entry: Entry) -> bool:
        """Whether the workload of an entry exists and may still be queued."""
        found = self.store.get("Workload", entry.info.key)
        return found is not None and may_queue(found)

    def _report_blocked(self, entry: Entry) -> None:
        key = entry.info.key
        working = self.kueue.patched(entry.info.obj, entry.info)
        conditions = self.rules.waiting.blocked
        for each in conditions():
            apply_condition(working, each, self.kueue.clock.now)
        update_unset_quota_reservation(self.kueue, working)
        text = "it fits, and waits until the pods of all workloads with quota are ready"
        step = Step(requirements=cited(conditions.rules), text=text)
        self.kueue.decisions[key] = (
            *entry.info.steps,
            *entry.assignment.steps,
            step,
        )
        self.store.put(working)

    def _carry_out(self, cycle: BlockedCycle, entry: Entry) -> None:
        """Admit a head or preempt for it, as it was decided before the wait."""
        if entry.requeue_reason is None:
            if self._is_there(entry):
                self._admit_or_reject(entry)
            return
        if entry.requeue_reason is RequeueReason.PENDING_PREEMPTION:
            self._issue_preemptions(cycle.snapshot, entry)
        cycle.requeued.append(entry)

    def next_cycle_delay(self) -> None:
        """Note that time has passed, so every admission is written."""
        self._just_admitted.clear()

    def _heads(self) -> list[tuple[ClusterQueue, WorkloadInfo]]:
        heads = []
        for queue in self._active_queues():
            head = self.kueue.pending[queue.name].pop()
            heads.append((queue, head))
        return heads

    def _active_queues(self) -> list[ClusterQueue]:
        """Give the active ClusterQueues that have workloads to schedule."""
        informers = self.kueue.informers
        active = []
        for name, pending in self.kueue.pending.items():
            if not pending.heap:
                continue
            queue = informers.queue(name)
            if queue is not None and not informers.inactive(queue):
                active.append(queue)
        return active

    def _cycle(self, snapshot: Snapshot) -> Cycle:
        configuration = self.kueue.configuration
        strategy = configuration.quota_check_strategy
        nominator = Nominator(
            behaviour=self.rules,
            snapshot=snapshot,
            number=self._number,
            generation=self.kueue.usage.generation,
            moves=self.kueue.moves,
            strategies=configuration.fair_sharing,
            ignore_undeclared=self.rules.assigning.ignore_undeclared(strategy),
            map_order=self.kueue.map_order,
        )
        return Cycle(
            behaviour=self.rules,
            snapshot=snapshot,
            nominator=nominator,
            fair_sharing=configuration.fair_sharing is not None,
            refused=self._inadmissible,
            less_preferred=self._migration.less_preferred,
            just_admitted=self._just_admitted,
        )

    def _inadmissible(
        self, queue: ClusterQueue, head: WorkloadInfo
    ) -> Inadmissible | None:
        """Say why a ClusterQueue cannot admit a workload, however much quota is free."""
        rules, kueue = self.rules, self.kueue
        namespace = head.key[0]
        failed = rules.checking.block_nomination.answer(check_states(head.obj))
        if failed:
            return _stated(RequeueReason.FAILED_CHECKS, failed)
        if queue.name in kueue.hierarchy.looped:
            stopped = rules.cohorts.on_cycle.answer(queue)
            assert stopped is not None
            return self._looped(queue, stopped)
        labels = kueue.informers.labels(namespace)
        mismatch = rules.queueing.namespace.answer(queue, labels)
        if mismatch:
            return _stated(RequeueReason.NAMESPACE_MISMATCH, mismatch)
        limits = kueue.lister.namespace_limits(namespace)
        workload = self._validated(head)
        invalid = validate_resources(rules.adjusting, limits, workload)
        if invalid is None:
            return None
        step = Step(
            requirements=invalid.requirements,
            text=invalid.message,
        )
        return RequeueReason.INVALID_REQUESTS, invalid.message, (step,)

    def _looped(self, queue: ClusterQueue, stopped: Answer[str]) -> Inadmissible:
        """Say which cohorts above a ClusterQueue form a cycle."""
        reason, message, steps = _stated(RequeueReason.QUEUE_INACTIVE, stopped)
        circle = circle_text(self.kueue.hierarchy.circles[queue.name])
        text = f"{circle}, so nothing below them is admitted, although the status of the ClusterQueue says Active"
        return reason, message, (*steps, Step.by(text, stopped.rule))

    def _validated(self, head: WorkloadInfo) -> Workload:
        """Give the requests to validate: the adjusted ones at first, those as written once the workload was tried."""
        written = head.written
        if head.remembered is None or written is None:
            return head.workload
        rules = self.rules.queueing.retry_from
        return rules.or_else(written, head.workload)

    def _is_altered(self, entry: Entry) -> bool:
        """Whether the search for a flavor has added requests to those of the workload."""
        if not entry.was_nominated:
            return False
        return any(
            self.rules.queueing.retry_updated(
                implicit_requests(self.rules.assigning, entry.queue, requests)
            )
            for requests in entry.info.total_requests
        )

    def _apply(self, snapshot: Snapshot, entry: Entry) -> bool:
        """Carry out the decision on a head; True when its ClusterQueue can try another head."""
        if entry.requeue_reason is None:
            self._admit_or_reject(entry)
            return True
        if entry.requeue_reason is RequeueReason.PENDING_PREEMPTION:
            self._issue_preemptions(snapshot, entry)
        self._migration.issue(entry)
        return self._requeue_and_update(entry)

    def _admit_or_reject(self, entry: Entry) -> None:
        if _is_complete(entry):
            self._admit(entry)
        else:
            self._reject_admission(entry)

    def _requeue_and_update(self, entry: Entry) -> bool:
        moved = self._requeue(entry)
        self._requeue_status.update(entry, self._number)
        return moved

    def _requeue(self, entry: Entry) -> bool:
        """Requeue a head at once or as inadmissible; True when its ClusterQueue can try another head."""
        rules = self.rules.queueing
        queue, head = entry.queue, entry.info
        if self._is_withheld(head):
            return True
        pending = self.kueue.pending[queue.name]
        head.progress = entry.progress
        adjusted = rules.requeue_from(head.workload)
        head.remembered = adjusted or head.written
        head.is_altered = self._is_altered(entry)
        self._refresh_status(head)
        is_preemptor = entry.requeue_reason in _PREEMPTING
        if is_preemptor and rules.sticky_preemptor(queue):
            pending.sticky_workload = head.key
        if not head.may_be_tried or not self._requeues_immediately(entry):
            self._mark_inadmissible(entry)
            return True
        pending.requeue_if_not_present(head)
        can_resume = bool(self.rules.assigning.resume_from_last_tried)
        return _is_unfinished(entry) and can_resume

    def _is_withheld(self, head: WorkloadInfo) -> bool:
        """Whether a workload may not be queued by now, so that it leaves its queue.

        What withholds one that was queued for this cycle is stored only after it is requeued.
        """
        if head.key in self.kueue.just_queued:
            return False
        stored = self.kueue.store.get("Workload", head.key)
        return stored is not None and self.rules.pods.withheld(stored)

    def _requeues_immediately(self, entry: Entry) -> bool:
        if _is_unfinished(entry) or entry.requeue_reason in _IMMEDIATELY:
            return True
        if entry.requeue_reason is RequeueReason.NAMESPACE_MISMATCH:
            return False
        return self.rules.queueing.requeue_immediately(entry.queue)

    def _mark_inadmissible(self, entry: Entry) -> None:
        rules = self.rules.queueing
        queue = entry.queue
        pending = self.kueue.pending[queue.name]
        marked = rules.mark_inadmissible(queue)
        if marked or rules.requeue_immediately(queue):
            pending.mark_inadmissible(entry.info)
        is_no_fit = entry.requeue_reason is RequeueReason.NO_FIT
        if marked and is_no_fit and rules.bulk_move_equivalent(queue):
            self._move_equivalent(entry)

    def _move_equivalent(self, entry: Entry) -> None:
        """Mark the workloads equal to a head that did not fit as inadmissible, too.

        Kueue reconciles at once each of them whose condition says that it is pending evaluation, and corrects it.
        """
        pending = self.kueue.pending[entry.queue.name]
        moved = pending.handle_inadmissible_hash(
            entry.info, entry.quota_reserved_reason
        )
        for key in moved:
            found = self.store.get("Workload", key)
            if found is not None and _is_pending_evaluation(found):
                self.kueue.reconcile("Workload", key)

    def _refresh_status(self, head: WorkloadInfo) -> None:
        """Read the stored status of a head where it excludes the head from requeues of inadmissible workloads."""
        found = self.store.get("Workload", head.key)
        if found and self.rules.queueing.skip_in_requeue(found):
            head.obj = found

    def _admit(self, entry: Entry) -> None:
        """Write the quota reservation and the admission of a head to its status."""
        head = entry.info
        rules = self.rules.reporting
        name = entry.queue.name
        now = self.kueue.clock.now
        self._requeue_status.forget(head.key)
        self._just_admitted.add(head.key)
        working = self.kueue.patched(head.obj, head)
        working["status"].pop("resourceRequests", None)
        admission = rules.admission(name, entry.assignment.pod_sets)
        assert admission is not None
        working["status"]["admission"] = copied(dict(admission))
        for each in rules.quota_reserved(name):
            apply_condition(working, each, now)
        if self._checks.lists_all(working, entry.queue):
            self._checks.admit(working)
        self._record_admission(entry, is_true(working, "Admitted"))
        for kind in ("Evicted", "Preempted", "BlockedOnPreemptionGates"):
            reset_condition(working, kind, now)
        self._sharing.reserve(entry.queue, head)
        self.store.put(working)
        self._finish_replaced(entry)

    def _finish_replaced(self, entry: Entry) -> None:
        """Finish the slice that an admitted one replaces."""
        if entry.replaced is None:
            return
        found = self.store.get("Workload", entry.replaced.workload.key)
        head = entry.info.obj
        uid = head["metadata"]["uid"]
        finished = self.rules.jobs.finish_replaced(uid, job_uid_of(head))
        assert found is not None
        assert finished is not None
        finish(self.kueue, found, *finished)

    def _record_admission(self, entry: Entry, admitted: bool) -> None:
        """Keep the steps that led to an admission, with those of the preemptions that made it fit."""
        head = entry.info
        rules = self.rules.reporting
        text = (
            "quota is reserved; it waits for the admission checks of its ClusterQueue"
        )
        by: list[Rule[..., Any]] = [
            *rules.quota_reserved.rules,
            *self.rules.checking.block_admission.rules,
        ]
        if admitted:
            text = "quota is reserved; admitted"
            by = [*rules.quota_reserved.rules, *rules.admitted.rules]
        reserved = Step(requirements=cited(by), text=text)
        preempted = self._preemption_steps.pop(head.key, ())
        self.kueue.decisions[head.key] = (
            *head.steps,
            *preempted,
            *entry.assignment.steps,
            reserved,
        )

    def _reject_admission(self, entry: Entry) -> None:
        """Keep a head pending whose admission would lack a pod set: the API server rejects such a status.

        Kueue tries it again in every cycle without effect while other workloads have their turn, so it is inadmissible
        here.
        """
        head = entry.info
        assigned = len(entry.assignment.pod_sets)
        left = head.workload.pod_sets[assigned]
        rules = self.rules.assigning.stop_at_empty_pod_set
        rejected = Step(
            requirements=cited(rules.rules),
            text=f"the pod set before {left.name} needs no flavor, so assignment stops; "
            "a workload is not admitted partially",
        )
        steps = (*head.steps, *entry.steps, rejected)
        self.kueue.decisions[head.key] = steps
        pending = self.kueue.pending[entry.queue.name]
        pending.mark_inadmissible(head)

    def _issue_preemptions(self, snapshot: Snapshot, entry: Entry) -> None:
        entry.steps += target_steps(entry.targets)
        for target in entry.targets:
            self._preempt(snapshot, entry, target)

    def _preempt(
        self, snapshot: Snapshot, entry: Entry, target: PreemptionTarget
    ) -> None:
        """Evict one target, unless an eviction of it is under way."""
        found = self.store.get("Workload", target.workload.key)
        if found is None or is_true(found, "Evicted"):
            return
        self._preemption_steps[entry.info.key] = entry.steps
        rules = self.rules
        preemption = _preemption(snapshot, entry, target)
        message = rules.preempting.preempted_message.or_else("", preemption)
        working = self.kueue.patched(found)
        now = self.kueue.clock.now
        for each in rules.reporting.preempted(target.reason, message):
            apply_condition(working, each, now)
        self.preemptions += 1
        self.last_preemption = self.kueue.clock.seconds
        eviction = ReasonMessage(
            reason="Preempted",
            message=message,
        )
        evict(self.kueue, working, eviction)
        self.store.put(working)


_PREEMPTING = (RequeueReason.PENDING_PREEMPTION, RequeueReason.PENDING_MIGRATION)
_IMMEDIATELY = (RequeueReason.FAILED_AFTER_NOMINATION, *_PREEMPTING)


def _stated(reason: RequeueReason, answer: Answer[str]) -> Inadmissible:
    step = Step(
        requirements=cited([answer.rule]),
        text=answer.value,
    )
    return reason, answer.value, (step,)


def _is_complete(entry: Entry) -> bool:
    assigned = entry.assignment.pod_sets
    requested = entry.info.workload.pod_sets
    return len(assigned) == len(requested)


def _is_unfinished(entry: Entry) -> bool:
    """Whether the search for flavors goes on in the next cycle."""
    if entry.progress is None:
        return False
    return entry.progress.is_unfinished


def _is_pending_evaluation(obj: Manifest) -> bool:
    found = condition(obj, "QuotaReserved")
    return found is not None and found["reason"] == "PendingEvaluation"


def _preemption(
    snapshot: Snapshot, entry: Entry, target: PreemptionTarget
) -> Preemption:
    head = entry.info.obj
    return Preemption(
        reason=target.reason,
        preemptor=head["metadata"]["uid"],
        job=job_uid_of(head),
        path=snapshot.path(entry.queue.name),
        victim_path=snapshot.path(target.workload.cluster_queue),
    )
