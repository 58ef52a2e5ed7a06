"""The scheduler: one head per ClusterQueue and cycle, admitted with flavors, given victims, or told why not.

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
    """Runs cycles; `cycle` says whether anything came of it."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour
        self._number = 0
        self._requeue_status = RequeueStatus(kueue)
        self._preemption_steps: dict[Key, tuple[Step, ...]] = {}
        """How each Workload that is not admitted yet found whom it has preempted last."""
        self._just_admitted: set[Key] = set()
        """Who was admitted in the last cycle, unless time has passed since."""
        self.preemptions = 0
        """How many workloads have been preempted so far."""

    def cycle(self) -> bool:
        """Take the head of every active ClusterQueue and decide them together; False when nothing has changed."""
        version, heads = self.kueue.store.version, self._heads()
        if not heads:
            return False
        self._number += 1
        snapshot = self.kueue.snapshot()
        entries = self._cycle(snapshot).run(heads)
        self._just_admitted.clear()
        moved = [self._apply(snapshot, entry) for entry in entries]
        return any(moved) or self.kueue.store.version != version

    def next_cycle_delay(self) -> None:
        """Time has passed: what was admitted is written."""
        self._just_admitted.clear()

    def _heads(self) -> list[tuple[ClusterQueue, WorkloadInfo]]:
        found = [
            (name, queue)
            for name, line in self.kueue.pending.items()
            if line.heap
            if (queue := self._active(name))
        ]
        return [
            (queue, head)
            for name, queue in found
            if (head := self.kueue.pending[name].head())
        ]

    def _active(self, name: str) -> ClusterQueue | None:
        queue = self.kueue.informers.queue(name)
        return queue if queue and not self.kueue.informers.inactive(queue) else None

    def _cycle(self, snapshot: Snapshot) -> Cycle:
        configuration = self.kueue.configuration
        nominator = Nominator(
            behaviour=self.rules,
            snapshot=snapshot,
            number=self._number,
            moves=self.kueue.moves,
            strategies=configuration.fair_sharing,
            ignore_undeclared=any(
                rule(configuration.quota_check_strategy)
                for rule in self.rules.assigning.ignore_undeclared
            ),
            chance=self.kueue.map_order,
        )
        return Cycle(
            behaviour=self.rules,
            snapshot=snapshot,
            nominator=nominator,
            fair=configuration.fair_sharing is not None,
            refused=self._refused,
            fresh=self._just_admitted,
        )

    def _refused(
        self, queue: ClusterQueue, head: WorkloadInfo
    ) -> tuple[RequeueReason, str, tuple[Step, ...]] | None:
        """Why a ClusterQueue does not take a workload, whatever it asks for."""
        labels = self.kueue.informers.labels(head.key[0])
        if queue.name in self.kueue.hierarchy.looped:
            for rule in self.rules.cohorts.on_cycle:
                return (
                    RequeueReason.STOPPED,
                    rule(queue),
                    (Step(requirements=cited([rule]), text=rule(queue)),),
                )
        mismatch = next(
            (
                (rule, m)
                for rule in self.rules.queueing.namespace
                if (m := rule(queue, labels))
            ),
            None,
        )
        if mismatch:
            return (
                RequeueReason.UNFIT,
                mismatch[1],
                (Step(requirements=cited(mismatch[:1]), text=mismatch[1]),),
            )
        wrong = unfit(
            self.rules.adjusting,
            self.kueue.lister.surroundings(head.key[0]),
            self._validated(head),
        )
        if wrong:
            return (
                RequeueReason.UNSUITABLE,
                wrong.message,
                (Step(requirements=wrong.requirements, text=wrong.message),),
            )
        return None

    def _validated(self, head: WorkloadInfo) -> Workload:
        if (
            head.remembered is None or head.written is None
        ):  # it has not been tried as it is
            return head.workload
        return next(
            (rule(head.workload) for rule in self.rules.queueing.retry_from),
            head.written,
        )

    def _apply(self, snapshot: Snapshot, entry: Entry) -> bool:
        """Make happen what was decided about a head; whether its queue moved on."""
        if entry.why is None:
            self._admit(entry) if _is_complete(entry) else self._admission_rejected(
                entry
            )
            return True
        if entry.why is RequeueReason.PREEMPTING:
            entry.steps += told(entry.victims)
            if not all(victim.hold.evicted for victim in entry.victims):
                self._preemption_steps[entry.queued.key] = entry.steps
        for victim in entry.victims if entry.why is RequeueReason.PREEMPTING else ():
            self._preempt(snapshot, entry, victim)
        moved = self._requeue(entry)
        self._requeue_status.wait(entry, self._number)
        return moved

    def _requeue(self, entry: Entry) -> bool:
        """Put a head back into line, or aside until something changes."""
        line, rules, queue, head = (
            self.kueue.pending[entry.queue.name],
            self.rules.queueing,
            entry.queue,
            entry.queued,
        )
        head.progress = entry.progress
        head.remembered = next(
            (rule(head.workload) for rule in rules.requeue_from), head.written
        )
        self._refresh_status(head)
        unfinished = entry.progress is not None and entry.progress.is_unfinished
        if entry.why is RequeueReason.PREEMPTING and any(
            rule(queue) for rule in rules.sticky_preemptor
        ):
            line.sticky_workload = head.key
        kept = any(rule(queue) for rule in rules.requeue_immediately)
        if head.may_be_tried and (
            (kept and entry.why is not RequeueReason.UNFIT)
            or unfinished
            or entry.why in _AT_ONCE
        ):
            line.requeue_if_not_present(head)
            return unfinished and bool(
                self.rules.assigning.resume_from_last_tried
            )  # with nothing to go by, it only begins again
        apart = any(rule(queue) for rule in rules.mark_inadmissible)
        if apart or kept or entry.why is RequeueReason.UNFIT:
            line.mark_inadmissible(head)
        if (
            apart
            and entry.why is RequeueReason.NO_FIT
            and any(rule(queue) for rule in rules.bulk_move_equivalent)
        ):
            for key in line.handle_inadmissible_hash(head, entry.cause):
                # Kueue reconciles at once what it has just said is up for the scheduler, and finds it passed over.
                if _is_up_to_be_tried(
                    self.kueue.store.find("Workload", key[1], key[0])
                ):
                    self.kueue.reconcile("Workload", key)
        return True

    def _refresh_status(self, head: WorkloadInfo) -> None:
        """Take note of what is written of it, where that has sweeps pass it over."""
        found = self.kueue.store.find("Workload", head.key[1], head.key[0])
        if found and any(rule(found) for rule in self.rules.queueing.skip_in_requeue):
            head.obj = found

    def _admit(self, entry: Entry) -> None:
        queue, head, outcome = entry.queue, entry.queued, entry.assignment
        self._requeue_status.forget(head.key)
        self._just_admitted.add(head.key)
        fresh = self.kueue.patched(head.obj, head)
        now, reporting = self.kueue.clock.now, self.rules.reporting
        verdict = Step(
            requirements=cited(
                [*reporting.quota_reserved.rules, *reporting.admitted.rules]
            ),
            text="quota is reserved; admitted",
        )
        room = self._preemption_steps.pop(head.key, ())
        self.kueue.decisions[head.key] = (*head.steps, *room, *outcome.steps, verdict)
        fresh["status"].pop("resourceRequests", None)
        for written in (
            rule(queue.name, outcome.pod_sets)
            for rule in self.rules.reporting.admission
        ):
            fresh["status"]["admission"] = copied(dict(written))
        for each in reporting.quota_reserved(queue.name):
            apply_condition(fresh, each, now)
        for each in reporting.admitted():
            apply_condition(fresh, each, now)
        for kind in ("Evicted", "Preempted"):
            _end(fresh, kind, now)
        self.kueue.store.put(fresh)

    def _admission_rejected(self, entry: Entry) -> None:
        """Begin again later: the API server refuses an admission that does not name every pod set, and all with it.

        Kueue begins again at once; but others have their turn meanwhile, and nothing comes of it.
        """
        line, head = self.kueue.pending[entry.queue.name], entry.queued
        left = head.workload.pod_sets[len(entry.assignment.pod_sets)].name
        verdict = Step(
            requirements=cited(self.rules.assigning.stop_at_empty_pod_set),
            text=f"the pod set before {left} needs no flavor, which ends the look; nobody admits a part of a workload",
        )
        self.kueue.decisions[head.key] = (*head.steps, *entry.steps, verdict)
        line.mark_inadmissible(head)

    def _preempt(
        self, snapshot: Snapshot, entry: Entry, victim: PreemptionTarget
    ) -> None:
        found = self.kueue.store.find(
            "Workload", victim.hold.key[1], victim.hold.key[0]
        )
        if found is None or is_true(found, "Evicted"):
            return
        meta = entry.queued.obj["metadata"]
        preemption = Preemption(
            reason=victim.reason,
            preemptor=meta["uid"],
            job=(meta.get("labels") or {}).get("kueue.x-k8s.io/job-uid", ""),
            path=snapshot.path(entry.queue.name),
            victim_path=snapshot.path(victim.hold.cluster_queue),
        )
        fresh = self.kueue.patched(found)
        message = "".join(
            rule(preemption) for rule in self.rules.preempting.preempted_message
        )
        for said in (
            rule(victim.reason, message) for rule in self.rules.reporting.preempted
        ):
            apply_condition(fresh, said, self.kueue.clock.now)
        self.preemptions += 1
        evict(self.kueue, fresh, ReasonMessage(reason="Preempted", message=message))
        self.kueue.store.put(fresh)


def _is_complete(entry: Entry) -> bool:
    return len(entry.assignment.pod_sets) == len(entry.queued.workload.pod_sets)


_AT_ONCE = (RequeueReason.LOST, RequeueReason.PREEMPTING)


def _is_up_to_be_tried(obj: Manifest | None) -> bool:
    found = condition(obj, "QuotaReserved") if obj else None
    return found is not None and found["reason"] == "PendingEvaluation"


def _end(obj: Manifest, kind: str, now: str) -> None:
    """An eviction or preemption is over once quota is reserved again."""
    found = condition(obj, kind)
    if found and found["status"] == "True":
        set_condition(
            obj, kind, False, "QuotaReserved", f"Previously: {found['message']}", now
        )
