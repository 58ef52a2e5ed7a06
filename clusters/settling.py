"""When a live world has come to rest: everything passed the fence, and nothing moved meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from clusters.conditions import condition_of
from clusters.fence import Fence, look_again
from clusters.look import Look, owners_of
from clusters.mirror import Mirror
from clusters.objects import Objects
from clusters.underway import Underway
from clusters.waiting import Limits, NotYet, Pauses, TimedOut, age_of, elapsed_since, eventually, moment_now
from clusters.world import JOBS, Place, World
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Ref

LAG = 0.1  # seconds in which Kueue has surely seen a change
MOMENT = 0.04  # seconds in which a decision that was just made mostly shows everywhere
NOTHING = Look(jobs=[], workloads=[])


@dataclass(slots=True, kw_only=True)
class Settling:
    """Brings one world to rest; told by its target of every change that may let a waiting workload in."""

    objects: Objects
    mirror: Mirror
    world: World
    fence: Fence
    underway: Underway
    is_denied: Callable[[], bool] = lambda: False
    """Whether Kueue's Workload controller waits forever for something that it may not read."""
    limits: Limits = field(default_factory=Limits)
    pauses: Pauses = field(default_factory=Pauses)
    _changed: float | None = None
    _opened: float | None = None
    _classes: float | None = None
    _retried: float | None = None
    _untold: set[Place] = field(default_factory=set)
    _stopped: list[Ref] = field(default_factory=list)
    _shown_again: set[str] = field(default_factory=set)
    """The UIDs of Jobs that Kueue was shown once more."""
    _last: Look = NOTHING
    _quiet: list[float] = field(default_factory=list)
    """When nothing had moved, each time since something did."""

    def note_change(self) -> None:
        """Remember that something changed which may free quota or open a queue: a sweep has to pass."""
        self._changed = moment_now()

    def note_opening(self) -> None:
        """Remember that something new made Kueue announce a sweep, which nothing that waits so far can need."""
        self._opened = moment_now()

    def note_class(self) -> None:
        """Remember that a DeviceClass came, changed or went: Kueue looks again at what waits for its resource."""
        if self.world.has_jobs and self.pauses.device_class is not None:
            self._classes = moment_now()

    def note_template(self) -> None:
        """Remember by when Kueue will have tried again what it refused: a new template may let it in."""
        refused = Look.at(self.mirror, self.world).refused
        if refused and self.pauses.retries is not None:
            ages = [age_of(found["metadata"]["creationTimestamp"]) for found in refused]
            self._retried = moment_now() + self.pauses.retries * max(ages)

    def note_stop(self, queue: Ref) -> None:
        """Remember who was behind a queue that is stopped now: Kueue may look at them before it knows of the stop."""
        self._stopped.append(queue)
        jobs = self.world.refs(*JOBS)
        self._untold |= {Place.of(ref) for ref in jobs if self.world.behind(queue, self.world.written(ref))}

    def let_sweep_pass(self) -> None:
        """Return when no announced sweep is left that could come between two steps of a case, or change what is told.

        Nobody gets in by it, but it makes Kueue forget which workloads it found equal to a refused one.
        """
        opened = self._opened
        if opened is None or not self._last.pending:
            return

        def passed() -> None:
            if elapsed_since(opened) < self.pauses.sweep + LAG:
                raise NotYet("it is still ahead")

        eventually(passed, within=self.limits.sweep, every=0.02, what="a sweep that changes nothing")
        self.fence.pass_cycles(self._longest_line(self._last) + 1)
        self._opened = None

    def forget(self) -> None:
        """Start anew, with an empty world."""
        self._changed, self._opened, self._classes, self._last = None, None, None, NOTHING
        self._retried = None
        self._untold.clear()
        self._stopped.clear()
        self._shown_again.clear()

    def settle(self) -> None:
        """Return when every Job and Workload is at rest; `TimedOut` names what still moves."""
        self._quiet.clear()
        if self.world.has_jobs and not self._all_got_in():
            self.mirror.eventually(self._pass, within=self.limits.settle, what="the world to come to rest")

    def _all_got_in(self) -> bool:
        """Whether things were only added, and within a moment all work is in and runs: then no fence is needed."""
        if self._changed is not None or self._classes is not None or self._untold:
            return False

        def decided() -> bool:
            look = self._see()
            if not look.is_all_in and not (look.pending and not look.bare):
                raise NotYet("not yet")
            return look.is_all_in

        try:
            return self.mirror.eventually(decided, within=MOMENT, what="new work") and self._changed is None
        except TimedOut:
            return False

    def _let_classes_be_seen(self) -> None:
        """Return when Kueue has begun to look again at what a DeviceClass concerns."""
        since, pause = self._classes, self.pauses.device_class or 0.0

        def seen() -> None:
            if since is not None and elapsed_since(since) < pause + LAG:
                raise NotYet("Kueue has not looked at the changed DeviceClass")

        eventually(seen, within=self.limits.sweep, every=0.02, what="a changed DeviceClass to be looked at")
        self._classes = None

    def _let_retries_pass(self) -> None:
        """Return when Kueue has tried again what it refused, or refuses nothing any more."""
        if (due := self._retried) is None:
            return

        def tried() -> None:
            if elapsed_since(due) < LAG and Look.at(self.mirror, self.world).refused:
                raise NotYet("what was refused is not tried again yet")

        ahead = max(-elapsed_since(due), 0.0)
        self.mirror.eventually(tried, within=self.limits.settle + ahead, what="what was refused to be tried again")
        self._retried = None

    def _pass(self) -> None:
        self._let_classes_be_seen()
        self._let_retries_pass()
        began = self._see()
        self.fence.pass_chain(unless=self.is_denied)
        told = self._see()
        self._show_again(told)
        self._have_made_anew(told)
        if self._untold:
            self._tell_again()
        before = self._a_moment_later(self._see())
        if self._changed is not None and before.pending:
            self._sweep(self._changed)
        if before.is_undecided:
            self.fence.pass_cycles(self._longest_line(before) + 1)
        elif before.moved_since(began):
            self.fence.pass_chain(unless=self.is_denied)  # what was admitted beside the first one is looked at again
        after = self._see()
        if moved := after.moved_since(before):
            self._quiet.clear()
            raise NotYet("still moving: " + ", ".join(moved))
        self._require_rest(after)

    def _a_moment_later(self, look: Look) -> Look:
        """Look again until everything seems done: it proves nothing, but spares a round that would see it move."""
        if not look.is_on_its_way:
            return look

        def arrived() -> Look:
            found = Look.at(self.mirror, self.world)
            if found.is_on_its_way:
                raise NotYet("still on its way")
            return found

        try:
            return self._note(self.mirror.eventually(arrived, within=MOMENT, what="a decision to show everywhere"))
        except TimedOut:
            return self._see()

    def _longest_line(self, look: Look) -> int:
        """How many wait where most do: queues of one cohort may hinder each other, others have cycles in common."""
        return max(Counter(map(self.world.line_of, look.pending)).values(), default=0)

    def _tell_again(self) -> None:
        """Have workloads behind a stopped queue reconciled once more, now that Kueue itself knows of the stop.

        Kueue 0.19.2 reconciles them at the stop, but by a cache that is told at the same time: either may come first.
        Workloads whose devices could not be resolved are left alone: they would be resolved anew.
        """
        stopped, self._stopped = self._stopped, []
        self.fence.pass_queues(
            *([ref for ref in stopped if ref.kind == kind] for kind in ("ClusterQueue", "LocalQueue"))
        )
        untold, self._untold = self._untold, set()
        look = self._see()
        told = {job["metadata"]["uid"] for job in look.jobs if Place.of(Ref.of(job)) in untold}
        for found in look.workloads:
            failed = condition_of(found, "Requeued").get("status") == "False"
            behind = Place.of(Ref.of(found)) in untold or told & owners_of(found)
            if behind and not failed and not is_true(found, "Finished"):
                look_again(self.objects, Ref.of(found), str(moment_now()))
        self.fence.pass_chain(unless=self.is_denied)

    def _show_again(self, look: Look) -> None:
        """Have a Job without a Workload reconciled once more, now that the Job controller has come past it.

        Kueue passes over a Job whose Namespace its cache has not heard of yet, and does not come back to it.
        """
        for job in look.passed_over:
            if (uid := job["metadata"]["uid"]) not in self._shown_again:
                self._shown_again.add(uid)
                look_again(self.objects, Ref.of(job), str(moment_now()))

    def _have_made_anew(self, look: Look) -> None:
        """Delete Workloads that were judged too early: Kueue makes another one of each Job, and knows better by now."""
        if early := [Ref.of(found) for found in self.underway.misjudged(look)]:
            for ref in early:
                self.objects.delete(ref)
            raise NotYet("made anew: " + ", ".join(map(str, early)))

    def _sweep(self, since: float) -> None:
        self._changed = self._opened = None
        self.fence.pass_sweep(since=since)

    def _require_rest(self, look: Look) -> None:
        self._quiet.append(moment_now())
        if self._changed is not None and look.pending:
            raise NotYet("quota came free while others wait")
        if faults := list(look.at_odds()) or list(self._under_way(look)):
            raise NotYet("; ".join(faults))
        if look.bare and len(self._quiet) < 2:
            raise NotYet("nothing said of " + ", ".join(found["metadata"]["name"] for found in look.bare))
        if self._changed is not None:
            self._opened, self._changed = self._changed, None

    def _under_way(self, look: Look) -> Iterator[str]:
        """Name what Kueue has in hand, and what has moved by then; a Kueue that waits forever always has something."""
        if not self.is_denied():
            for_long = elapsed_since(self._quiet[0]) > self.limits.disagreement
            yield from self.underway.faults(look, for_long=for_long)
            yield from self._see().moved_since(look)

    def _see(self) -> Look:
        return self._note(Look.at(self.mirror, self.world))

    def _note(self, look: Look) -> Look:
        if look.freed_since(self._last):
            self.note_change()
        self._last = look
        return look
