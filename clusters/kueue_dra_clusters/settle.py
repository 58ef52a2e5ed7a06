"""When a live world has come to rest: everything passed the fence, and nothing moved meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import Fence, reobserve
from kueue_dra_clusters.in_flight import InFlight
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.pending_retries import PendingRetries
from kueue_dra_clusters.stop_policy_sync import StopPolicySync
from kueue_dra_clusters.waiting import (
    NotYet,
    TimedOut,
    WaitLimits,
    elapsed_since,
    moment_now,
)
from kueue_dra_ref.target import Ref

MOMENT = 0.04  # seconds in which a decision that was just made mostly shows everywhere
NOTHING = Observation(jobs=[], workloads=[])


@dataclass(slots=True, kw_only=True)
class Settle:
    """Brings one world to rest."""

    objects: APIClient
    mirror: InformerCache
    world: AppliedObjects
    fence: Fence
    underway: InFlight
    ahead: PendingRetries
    stops: StopPolicySync
    is_denied: Callable[[], bool] = lambda: False
    """Whether Kueue's Workload controller waits forever for something that it may not read."""
    limits: WaitLimits = field(default_factory=WaitLimits)
    _shown_again: set[str] = field(default_factory=set)
    """The UIDs of Jobs that Kueue was shown once more."""
    _last: Observation = NOTHING
    _quiet: list[float] = field(default_factory=list)
    """When nothing had moved, each time since something did."""

    def wait_for_requeue(self) -> None:
        """Return when no announced sweep is left that could come between two steps of a case, or change what is told.

        Nobody gets in by it, but it makes Kueue forget which workloads it found equal to a refused one.
        """
        if self.ahead.opened is not None and self._last.pending:
            self.ahead.await_requeue()
            self.fence.pass_cycles(self._longest_line(self._last) + 1)

    def forget(self) -> None:
        """Start anew, with an empty world."""
        self._last = NOTHING
        self.ahead.forget()
        self.stops.forget()
        self._shown_again.clear()

    def settle(self) -> None:
        """Return when every Job and Workload is at rest; `TimedOut` names what still moves."""
        self._quiet.clear()
        if self.world.has_jobs and not self._all_got_in():
            self.mirror.eventually(
                self._pass, within=self.limits.settle, what="the world to come to rest"
            )

    def _all_got_in(self) -> bool:
        """Whether things were only added, and within a moment all work is in and runs: then no fence is needed."""
        if self.ahead.may_let_in or self.stops.affect_workloads:
            return False

        def decided() -> bool:
            look = self._see()
            if not look.is_all_in and not (
                look.pending and not look.without_conditions
            ):
                raise NotYet("not yet")
            return look.is_all_in

        try:
            return (
                self.mirror.eventually(decided, within=MOMENT, what="new work")
                and self.ahead.changed is None
            )
        except TimedOut:
            return False

    def _pass(self) -> None:
        self.ahead.let_classes_be_seen()
        self.ahead.let_retries_pass()
        began = self._see()
        self.fence.pass_chain(unless=self.is_denied)
        told = self._see()
        self._touch(told)
        self._recreate_workloads(told)
        if self.stops.affect_workloads:
            self.stops.resend(self._see)
            self.fence.pass_chain(unless=self.is_denied)
        before = self._recheck(self._see())
        if (changed := self.ahead.changed) is not None and before.pending:
            self.ahead.changed = self.ahead.opened = None
            self.fence.pass_sweep(since=changed)
        if before.is_undecided:
            self.fence.pass_cycles(self._longest_line(before) + 1)
        elif before.moved_since(began):
            self.fence.pass_chain(
                unless=self.is_denied
            )  # what was admitted beside the first one is looked at again
        after = self._see()
        if moved := after.moved_since(before):
            raise NotYet("still moving: " + ", ".join(moved))
        self._require_rest(after)

    def _recheck(self, look: Observation) -> Observation:
        """Look again until everything seems done: it proves nothing, but spares a round that would see it move."""
        if not look.is_on_its_way:
            return look

        def arrived() -> Observation:
            found = Observation.at(self.mirror, self.world)
            if found.is_on_its_way:
                raise NotYet("still on its way")
            return found

        try:
            return self._note(
                self.mirror.eventually(
                    arrived, within=MOMENT, what="a decision to show everywhere"
                )
            )
        except TimedOut:
            return self._see()

    def _longest_line(self, look: Observation) -> int:
        """How many wait where most do: queues of one cohort may hinder each other, others have cycles in common."""
        return max(Counter(map(self.world.line_of, look.pending)).values(), default=0)

    def _touch(self, look: Observation) -> None:
        """Have a Job without a Workload reconciled once more, now that the Job controller has come past it.

        Kueue passes over a Job whose Namespace its cache has not heard of yet, and does not come back to it.
        """
        for job in look.not_retried:
            if (uid := job["metadata"]["uid"]) not in self._shown_again:
                self._shown_again.add(uid)
                reobserve(self.objects, Ref.of(job), str(moment_now()))

    def _recreate_workloads(self, look: Observation) -> None:
        """Delete Workloads that were judged too early: Kueue makes another one of each Job, and knows better by now."""
        if early := [Ref.of(found) for found in self.underway.misjudged(look)]:
            for ref in early:
                self.objects.delete(ref)
            raise NotYet("made anew: " + ", ".join(map(str, early)))

    def _require_rest(self, look: Observation) -> None:
        self._quiet.append(moment_now())
        if self.ahead.changed is not None and look.pending:
            raise NotYet("quota came free while others wait")
        if faults := list(look.inconsistencies()) or list(self._under_way(look)):
            raise NotYet("; ".join(faults))
        if look.without_conditions and len(self._quiet) < 2:
            raise NotYet(
                "nothing said of "
                + ", ".join(
                    found["metadata"]["name"] for found in look.without_conditions
                )
            )
        if self.ahead.changed is not None:
            self.ahead.opened, self.ahead.changed = self.ahead.changed, None

    def _under_way(self, look: Observation) -> Iterator[str]:
        """Name what Kueue has in hand, and what has moved by then; a Kueue that waits forever always has something."""
        if not self.is_denied():
            for_long = elapsed_since(self._quiet[0]) > self.limits.disagreement
            yield from self.underway.faults(look, for_long=for_long)
            yield from self._see().moved_since(look)

    def _see(self) -> Observation:
        return self._note(Observation.at(self.mirror, self.world))

    def _note(self, look: Observation) -> Observation:
        if look.moved_since(self._last):
            self._quiet.clear()
        if look.freed_since(self._last):
            self.ahead.note_change()
        self._last = look
        return look
