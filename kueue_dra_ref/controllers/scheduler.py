"""The scheduler: one head per ClusterQueue and cycle, admitted with flavors, given victims, or told why not."""

from __future__ import annotations

from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.types import ClusterQueue, Workload
from kueue_dra_ref.cache.cluster_queue import Key, WorkloadInfo
from kueue_dra_ref.cache.snapshot import Snapshot
from kueue_dra_ref.controllers.requeue_status import RequeueStatus
from kueue_dra_ref.controllers.workload_conditions import evict, say
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.rules.preemption.preemption_policies import Preemption
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
        self._telling = RequeueStatus(kueue)
        self._made_room: dict[Key, tuple[Step, ...]] = {}
        """How each Workload that is not admitted yet found whom it has preempted last."""
        self._fresh: set[Key] = set()
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
        self._fresh.clear()
        moved = [self._carry_out(snapshot, entry) for entry in entries]
        return any(moved) or self.kueue.store.version != version

    def pause(self) -> None:
        """Time has passed: what was admitted is written."""
        self._fresh.clear()

    def _heads(self) -> list[tuple[ClusterQueue, WorkloadInfo]]:
        found = [
            (name, queue)
            for name, line in self.kueue.lines.items()
            if line.heap
            if (queue := self._active(name))
        ]
        return [
            (queue, head)
            for name, queue in found
            if (head := self.kueue.lines[name].head())
        ]

    def _active(self, name: str) -> ClusterQueue | None:
        queue = self.kueue.nouns.queue(name)
        return queue if queue and not self.kueue.nouns.inactive(queue) else None

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
            chance=self.kueue.chance,
        )
        return Cycle(
            behaviour=self.rules,
            snapshot=snapshot,
            nominator=nominator,
            fair=configuration.fair_sharing is not None,
            refused=self._refused,
            fresh=self._fresh,
        )

    def _refused(
        self, queue: ClusterQueue, head: WorkloadInfo
    ) -> tuple[RequeueReason, str, tuple[Step, ...]] | None:
        """Why a ClusterQueue does not take a workload, whatever it asks for."""
        labels = self.kueue.nouns.labels(head.key[0])
        if queue.name in self.kueue.tree.looped:
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
            self.kueue.world.surroundings(head.key[0]),
            self._judged(head),
        )
        if wrong:
            return (
                RequeueReason.UNSUITABLE,
                wrong.message,
                (Step(requirements=wrong.requirements, text=wrong.message),),
            )
        return None

    def _judged(self, head: WorkloadInfo) -> Workload:
        if (
            head.remembered is None or head.written is None
        ):  # it has not been tried as it is
            return head.workload
        return next(
            (rule(head.workload) for rule in self.rules.queueing.retry_from),
            head.written,
        )

    def _carry_out(self, snapshot: Snapshot, entry: Entry) -> bool:
        """Make happen what was decided about a head; whether its queue moved on."""
        if entry.why is None:
            self._admit(entry) if _is_complete(entry) else self._admit_in_vain(entry)
            return True
        if entry.why is RequeueReason.PREEMPTING:
            entry.steps += told(entry.victims)
            if not all(victim.hold.evicted for victim in entry.victims):
                self._made_room[entry.queued.key] = entry.steps
        for victim in entry.victims if entry.why is RequeueReason.PREEMPTING else ():
            self._preempt(snapshot, entry, victim)
        moved = self._place(entry)
        self._telling.wait(entry, self._number)
        return moved

    def _place(self, entry: Entry) -> bool:
        """Put a head back into line, or aside until something changes."""
        line, rules, queue, head = (
            self.kueue.lines[entry.queue.name],
            self.rules.queueing,
            entry.queue,
            entry.queued,
        )
        head.progress = entry.progress
        head.remembered = next(
            (rule(head.workload) for rule in rules.requeue_from), head.written
        )
        self._look_up(head)
        unfinished = entry.progress is not None and entry.progress.is_unfinished
        if entry.why is RequeueReason.PREEMPTING and any(
            rule(queue) for rule in rules.sticky_preemptor
        ):
            line.preemptor = head.key
        kept = any(rule(queue) for rule in rules.requeue_immediately)
        if head.may_be_tried and (
            (kept and entry.why is not RequeueReason.UNFIT)
            or unfinished
            or entry.why in _AT_ONCE
        ):
            line.put_back(head)
            return unfinished and bool(
                self.rules.assigning.resume_from_last_tried
            )  # with nothing to go by, it only begins again
        apart = any(rule(queue) for rule in rules.mark_inadmissible)
        if apart or kept or entry.why is RequeueReason.UNFIT:
            line.set_aside(head)
        if (
            apart
            and entry.why is RequeueReason.NO_FIT
            and any(rule(queue) for rule in rules.bulk_move_equivalent)
        ):
            for key in line.set_equals_aside(head, entry.cause):
                # Kueue reconciles at once what it has just said is up for the scheduler, and finds it passed over.
                if _is_up_to_be_tried(
                    self.kueue.store.find("Workload", key[1], key[0])
                ):
                    self.kueue.reconcile("Workload", key)
        return True

    def _look_up(self, head: WorkloadInfo) -> None:
        """Take note of what is written of it, where that has sweeps pass it over."""
        found = self.kueue.store.find("Workload", head.key[1], head.key[0])
        if found and any(rule(found) for rule in self.rules.queueing.skip_in_requeue):
            head.obj = found

    def _admit(self, entry: Entry) -> None:
        queue, head, outcome = entry.queue, entry.queued, entry.assignment
        self._telling.forget(head.key)
        self._fresh.add(head.key)
        fresh = self.kueue.patched(head.obj, head)
        now = self.kueue.clock.now
        verdict = Step(
            requirements=cited(self.rules.reporting.admitted),
            text="quota is reserved; admitted",
        )
        room = self._made_room.pop(head.key, ())
        self.kueue.decisions[head.key] = (*head.steps, *room, *outcome.steps, verdict)
        fresh["status"].pop("resourceRequests", None)
        for written in (
            rule(queue.name, outcome.pod_sets)
            for rule in self.rules.reporting.admission
        ):
            fresh["status"]["admission"] = copied(dict(written))
        for said in (rule(queue.name) for rule in self.rules.reporting.admitted):
            say(fresh, said, now)
        for kind in ("Evicted", "Preempted"):
            _end(fresh, kind, now)
        self.kueue.store.put(fresh)

    def _admit_in_vain(self, entry: Entry) -> None:
        """Begin again later: the API server refuses an admission that does not name every pod set, and all with it.

        Kueue begins again at once; but others have their turn meanwhile, and nothing comes of it.
        """
        line, head = self.kueue.lines[entry.queue.name], entry.queued
        left = head.workload.pod_sets[len(entry.assignment.pod_sets)].name
        verdict = Step(
            requirements=cited(self.rules.assigning.stop_at_empty_pod_set),
            text=f"the pod set before {left} needs no flavor, which ends the look; nobody admits a part of a workload",
        )
        self.kueue.decisions[head.key] = (*head.steps, *entry.steps, verdict)
        line.set_aside(head)

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
            say(fresh, said, self.kueue.clock.now)
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
