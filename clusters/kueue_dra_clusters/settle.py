"""Waits until a live target has settled: everything has passed the fence, and nothing changed meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from kueue_dra_clusters import execution_wait
from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import Fence, reobserve
from kueue_dra_clusters.in_flight import InFlight
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.pending_retries import PendingRetries
from kueue_dra_clusters.pods_wait import PodsWait
from kueue_dra_clusters.retention_wait import RetentionWait
from kueue_dra_clusters.stop_policy_sync import StopPolicySync
from kueue_dra_clusters.waiting import (
    NotYet,
    TimedOut,
    WaitLimits,
    elapsed_since,
    moment_now,
)
from kueue_dra_ref.api.pods_ready import PODS_READY
from kueue_dra_ref.target import Ref

MOMENT = 0.04  # seconds in which Kueue mostly writes a decision everywhere
FIRST_CONDITION = 0.5  # seconds in which Kueue writes the first condition of a Workload, if it ever does
NOTHING = Observation(jobs=[], workloads=[])


@dataclass(slots=True, kw_only=True)
class Settle:
    """Waits until the applied objects have settled."""

    objects: APIClient
    informers: InformerCache
    applied: AppliedObjects
    fence: Fence
    in_flight: InFlight
    retries: PendingRetries
    stops: StopPolicySync
    is_denied: Callable[[], bool] = lambda: False
    """Whether Kueue's Workload controller waits forever for a resource that it may not read."""
    collect_orphans: Callable[[], bool] = lambda: False
    """Deletes the Workloads of deleted Jobs; True if there were any."""
    pods_wait: PodsWait = field(default_factory=PodsWait)
    retention: RetentionWait = field(default_factory=RetentionWait)
    limits: WaitLimits = field(default_factory=WaitLimits)
    _reconciled_again: set[str] = field(default_factory=set)
    """The UIDs of Jobs with a triggered reconcile."""
    _last: Observation = NOTHING
    _quiet: list[float] = field(default_factory=list)
    """The times at which nothing had changed, since the last change."""

    def wait_for_requeue(self) -> None:
        """Wait until no scheduled requeue is left that could run between two steps of a case, or change messages.

        It admits no workload, but Kueue then tries workloads again that are equal to an inadmissible one.
        """
        if self.retries.opened is not None and self._last.pending:
            self.retries.await_requeue()
            if self.pods_wait.blocks(self._last.workloads):
                return
            self.fence.pass_cycles(self._most_pending(self._last) + 1)

    def forget(self) -> None:
        """Forget everything: all objects are deleted."""
        self._last = NOTHING
        self.retries.forget()
        self.stops.forget()
        self._reconciled_again.clear()

    def settle(self) -> None:
        """Wait until every Job and Workload has settled; `TimedOut` names what still changes."""
        self._quiet.clear()
        if not self.applied.has_jobs:
            return
        self._await_pods_ready()
        if (
            not self._is_all_admitted_soon()
            or self.collect_orphans()
            or self._is_end_near()
        ):
            self.informers.eventually(
                self._pass, within=self.limits.settle, what="all workloads to settle"
            )

    def _await_pods_ready(self) -> None:
        """Give a Kueue that waits for pods time to report whether those of admitted work are ready."""
        if self.pods_wait.settings is None:
            return

        def reported() -> bool:
            if left := list(self.pods_wait.unwritten(self._see().workloads)):
                raise NotYet("; ".join(left))
            return True

        with suppress(TimedOut):
            self.informers.eventually(
                reported, within=self.limits.report, what=PODS_READY
            )

    def _is_end_near(self) -> bool:
        """Whether a timeout, a backoff, a retention or an admission ends within a moment."""
        return any(self._ends_soon(self._see()))

    def _ends_soon(self, look: Observation) -> Iterator[str]:
        yield from self.pods_wait.ends_soon(look.workloads)
        yield from self.retention.ends_soon(look.workloads)
        yield from execution_wait.ends_soon(look.workloads)

    def _is_all_admitted_soon(self) -> bool:
        """Whether all work is admitted and runs within a moment, after additions only: then no fence is needed."""
        if self.retries.may_admit or self.stops.affect_workloads:
            return False

        def decided() -> bool:
            look = self._see()
            if look.is_all_admitted:
                return True
            if look.pending and not look.without_conditions:
                return False
            raise NotYet("not yet")

        try:
            return (
                self.informers.eventually(decided, within=MOMENT, what="new work")
                and self.retries.changed is None
            )
        except TimedOut:
            return False

    def _pass(self) -> None:
        self.retries.await_device_classes()
        self.retries.await_retries()
        began = self._see()
        self.fence.pass_chain(unless=self.is_denied)
        if self.collect_orphans():
            raise NotYet("workloads of deleted pods were there")
        look = self._see()
        self._touch(look)
        self._recreate_workloads(look)
        if self.stops.affect_workloads:
            self.stops.resend(self._see)
            self.fence.pass_chain(unless=self.is_denied)
        before = self._recheck(self._see())
        self._pass_scheduler(began, before)
        after = self._see()
        if moved := after.moved_since(before):
            raise NotYet("still changing: " + ", ".join(moved))
        self._require_rest(after)

    def _pass_scheduler(self, began: Observation, before: Observation) -> None:
        """Wait until the scheduler has tried what it may admit; while it waits for pods it tries nothing."""
        if self._is_blocked(before):
            self.retries.changed = self.retries.opened = None
            self.fence.pass_chain(unless=self.is_denied)
            return
        if (changed := self.retries.changed) is not None and before.pending:
            self.retries.changed = self.retries.opened = None
            self.fence.pass_sweep(since=changed)
        if before.is_undecided:
            self.fence.pass_cycles(self._most_pending(before) + 1)
        elif before.moved_since(began):
            # Observe again what was admitted while the first chain passed.
            self.fence.pass_chain(unless=self.is_denied)

    def _is_blocked(self, look: Observation) -> bool:
        """Whether the scheduler waits for pods; if it may have to, give it time to say so."""
        if self.pods_wait.blocks(look.workloads):
            return True
        if not look.pending or not self.pods_wait.may_block(look.workloads):
            return False

        def reported() -> bool:
            if not self.pods_wait.blocks(self._see().workloads):
                raise NotYet("no workload waits for pods")
            return True

        try:
            return self.informers.eventually(
                reported,
                within=self.limits.report,
                what="a workload that waits for pods",
            )
        except TimedOut:
            return False

    def _recheck(self, look: Observation) -> Observation:
        """Observe again until everything seems done: it proves nothing, but saves a round that sees it change."""
        if not look.is_change_expected:
            return look

        def arrived() -> Observation:
            found = Observation.at(self.informers, self.applied)
            if found.is_change_expected:
                raise NotYet("a change is still expected")
            return found

        try:
            return self._note(
                self.informers.eventually(
                    arrived, within=MOMENT, what="Kueue to write its decisions"
                )
            )
        except TimedOut:
            return self._see()

    def _most_pending(self, look: Observation) -> int:
        """Count the pending workloads of the busiest cohort: its queues may block each other, others share cycles."""
        return max(Counter(map(self.applied.tree_of, look.pending)).values(), default=0)

    def _touch(self, look: Observation) -> None:
        """Trigger a second reconcile of a Job without a Workload, after the Job controller has reconciled it.

        Kueue ignores a Job whose Namespace its informer does not have yet, and does not retry it.
        """
        if look.without_workload:
            self.collect_orphans()
        for job in look.without_workload:
            uid = job["metadata"]["uid"]
            if uid not in self._reconciled_again:
                self._reconciled_again.add(uid)
                reobserve(self.objects, Ref.of(job), str(moment_now()))

    def _recreate_workloads(self, look: Observation) -> None:
        """Delete Workloads that Kueue rejected too early: it creates them again, with its informer up to date."""
        if early := [
            Ref.of(found) for found in self.in_flight.rejected_too_early(look)
        ]:
            for ref in early:
                self.objects.delete(ref)
            raise NotYet("created again: " + ", ".join(map(str, early)))

    def _require_rest(self, look: Observation) -> None:
        self._quiet.append(moment_now())
        if self.retries.changed is not None and look.pending:
            raise NotYet("quota was released while workloads are pending")
        if waits := list(self._ends_soon(look)):
            raise NotYet("; ".join(waits))
        if faults := list(look.inconsistencies()) or list(self._under_way(look)):
            raise NotYet("; ".join(faults))
        if look.without_conditions and elapsed_since(self._quiet[0]) < FIRST_CONDITION:
            names = [found["metadata"]["name"] for found in look.without_conditions]
            raise NotYet("no conditions yet on " + ", ".join(names))
        if self.retries.changed is not None:
            self.retries.opened, self.retries.changed = self.retries.changed, None

    def _under_way(self, look: Observation) -> Iterator[str]:
        """Name what Kueue works on, and what has changed by then; a Kueue that waits forever is always busy."""
        if not self.is_denied():
            for_long = elapsed_since(self._quiet[0]) > self.limits.disagreement
            yield from self.in_flight.faults(look, for_long=for_long)
            yield from self._see().moved_since(look)

    def _see(self) -> Observation:
        return self._note(Observation.at(self.informers, self.applied))

    def _note(self, look: Observation) -> Observation:
        if look.moved_since(self._last):
            self._quiet.clear()
        if look.freed_since(self._last):
            self.retries.note_change()
        self._last = look
        return look
