"""One scheduling cycle (Kueue 0.19): every head is assigned flavors, then they are dealt with one after another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from kueue_dra_ref.admission.assignment import Assignment
from kueue_dra_ref.admission.chance import Chance, Draw
from kueue_dra_ref.admission.choices import Demands, Victims, best_of, readings
from kueue_dra_ref.admission.contest import Victim
from kueue_dra_ref.admission.demand import scaled
from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.flavors import assigned
from kueue_dra_ref.admission.queues import Queued
from kueue_dra_ref.admission.room import Room
from kueue_dra_ref.admission.snapshot import Amounts, Key, Snapshot
from kueue_dra_ref.admission.tournament import next_of
from kueue_dra_ref.api.nouns import ClusterQueue
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cause import Cause
from kueue_dra_ref.rules.cycle import Claimed, Nominee
from kueue_dra_ref.rules.fungibility import Progress
from kueue_dra_ref.rules.quota import Fit


class Why(Enum):
    """Why a head is not admitted: what it has to wait for decides where it waits."""

    NO_FIT = "no fit"
    LOST = "another head took it"
    PREEMPTING = "its victims have to go first"
    UNFIT = "the ClusterQueue does not take it"
    STOPPED = "the ClusterQueue takes nothing"
    UNSUITABLE = "nobody may admit what its pods request"


@dataclass(slots=True, kw_only=True)
class Entry:
    """A head in the cycle, and what becomes of it; ``why`` is None once it is admitted."""

    queued: Queued
    queue: ClusterQueue
    assignment: Assignment = field(default_factory=lambda: Assignment(fit=Fit.NEVER, pod_sets=()))
    victims: Victims = ()
    why: Why | None = None
    message: str = ""
    steps: tuple[Step, ...] = ()
    progress: Progress | None = None
    """How far the search for a flavor has come, where it goes on next time."""

    @property
    def was_tried(self) -> bool:
        """Whether a flavor was looked for."""
        return self.why not in (Why.UNFIT, Why.STOPPED, Why.UNSUITABLE)

    @property
    def cause(self) -> Cause | None:
        """Why it is not admitted; None where the search for flavors knows of none, or it is admitted."""
        if self.why is Why.NO_FIT and self.assignment.fit is Fit.NEVER:
            return self.assignment.cause
        return _CAUSES.get(self.why) if self.why else None


_CAUSES = {
    Why.NO_FIT: Cause.HELD,
    Why.LOST: Cause.HELD,
    Why.PREEMPTING: Cause.PREEMPTING,
    Why.UNFIT: Cause.MISPLACED,
    Why.STOPPED: Cause.STOPPED,
    Why.UNSUITABLE: Cause.MISPLACED,
}


@dataclass(slots=True, kw_only=True)
class Cycle:
    """The cycle of a number over a snapshot; ``refused`` says why a ClusterQueue does not take a workload at all."""

    behaviour: Behaviour
    snapshot: Snapshot
    number: int
    moves: int
    """How often anything has changed that a decision depends on; what was found at the same count still holds."""
    strategies: tuple[str, ...] | None
    ignore_undeclared: bool
    refused: Callable[[ClusterQueue, Queued], tuple[Why, str, tuple[Step, ...]] | None]
    chance: Chance = field(default_factory=Chance)
    fresh: Collection[Key] = ()
    """Who has been admitted in the cycle before, a moment ago."""
    _preempted: dict[Key, Victim] = field(default_factory=dict)

    def run(self, heads: Sequence[tuple[ClusterQueue, Queued]]) -> list[Entry]:
        """Decide every head; nothing of it has happened yet."""
        entries = [Entry(queued=queued, queue=queue) for queue, queued in heads]
        with self.snapshot.trying():
            nominees = [entry for entry in entries if not self._is_refused(entry)]
            for entry in nominees:
                self._nominate(entry)
            for entry in self._ordered(nominees):
                self._decide(entry)
        return entries

    def room(self, queue: ClusterQueue, queued: Queued) -> Room:
        """A ClusterQueue as one workload sees it."""
        return Room(
            behaviour=self.behaviour,
            snapshot=self.snapshot,
            queue=queue,
            priority=queued.workload.priority,
            created=queued.created,
            strategies=self.strategies,
            ignore_undeclared=self.ignore_undeclared,
            draw=self._draw(queued),
        )

    def _draw(self, queued: Queued) -> Draw:
        return self.chance.of(queued.obj)

    def _is_refused(self, entry: Entry) -> bool:
        found = self.refused(entry.queue, entry.queued)
        if found:
            entry.why, entry.message, entry.steps = found
        return found is not None

    def _nominate(self, entry: Entry) -> None:
        entry.assignment, entry.victims = self._known(entry) or self._assignment(entry)
        entry.progress = Progress(tried=entry.assignment.tried, cycle=self.number)
        entry.message, entry.steps = entry.assignment.message, entry.assignment.steps

    def _known(self, entry: Entry) -> tuple[Assignment, Victims] | None:
        """What a try from the first flavor on finds, kept while nothing changes; None when one goes on instead."""
        queued = entry.queued
        if queued.progress and queued.progress.is_unfinished:
            return None
        now = (self.moves, self._draw(queued))
        if queued.found is None or queued.found[0] != now or queued.found[1] is not entry.queue:
            queued.found = (now, entry.queue, self._assignment(entry))
        found: tuple[Assignment, Victims] = queued.found[2]
        return found

    def _assignment(self, entry: Entry) -> tuple[Assignment, Victims]:
        """Flavors for the whole workload, or for as many of its pods as are worth it."""
        whole = self._try(entry, entry.queued.demands)
        assignment, victims = whole
        if assignment.fit is Fit.NOW or victims or not self._may_be_reduced(entry):
            return whole
        return self._fewer(entry) or (assignment, ())

    def _may_be_reduced(self, entry: Entry) -> bool:
        return any(rule(entry.queued.workload.pod_sets) for rule in self.behaviour.assigning.reduced)

    def _try(self, entry: Entry, demands: Demands) -> tuple[Assignment, Victims]:
        """The best of all that the workload's charges could mean."""
        rules = self.behaviour.assigning
        meant = readings(rules, entry.queue, entry.queued.choices, demands)
        return best_of(self._one(entry, each) for each in meant)

    def _one(self, entry: Entry, demands: Demands) -> tuple[Assignment, Victims]:
        room = self.room(entry.queue, entry.queued)
        found = assigned(self.behaviour.assigning, room, demands, self._resumed(entry))
        if found.fit is not Fit.LATER:
            return found, ()
        search = room.search(self._sought(found.usage), found.short)
        steps = dict.fromkeys((*found.steps, *search.steps))
        return replace(found, steps=tuple(steps)), search.victims

    def _sought(self, usage: Amounts) -> Amounts:
        """What preemption is to make room for."""
        left_out = {name for rule in self.behaviour.preempting.not_sought for name in rule()}
        return {of: amount for of, amount in usage.items() if of[1] not in left_out}

    def _resumed(self, entry: Entry) -> Progress | None:
        progress, rules = entry.queued.progress, self.behaviour.assigning.resumed
        return progress if progress and any(rule(progress, self.number) for rule in rules) else None

    def _fewer(self, entry: Entry) -> tuple[Assignment, Victims] | None:
        """Search, by halves, for the largest number of pods that can be had, all pod sets shrinking in step."""
        pod_sets = entry.queued.workload.pod_sets
        deltas = [p.count - (p.count if p.least is None else p.least) for p in pod_sets]
        total, low, best = sum(deltas), 0, None
        high = total + 1
        while low < high:
            middle = (low + high) // 2
            counts = [p.count - delta * middle // total for p, delta in zip(pod_sets, deltas, strict=True)]
            found = self._try(entry, scaled(entry.queued.demands, counts))
            if found[0].fit is Fit.NOW or found[1]:
                best, high = found, middle
            else:
                low = middle + 1
        return best

    def _ordered(self, entries: list[Entry]) -> Iterator[Entry]:
        if self.strategies is None:
            yield from sorted(entries, key=self._place)
            return
        left = {entry.queue.name: entry for entry in entries}
        while left:
            name = next_of(self.behaviour.fair_sharing, self.snapshot, left)
            yield left.pop(name)

    def _place(self, entry: Entry) -> tuple[int, ...]:
        queued = entry.queued
        nominee = Nominee(level=entry.assignment.level, priority=queued.workload.priority, created=queued.created)
        return tuple(rule(nominee) for rule in self.behaviour.cycle.order)

    def _decide(self, entry: Entry) -> None:
        fit, rules = entry.assignment.fit, self.behaviour.cycle
        if fit is Fit.NEVER or (fit is Fit.LATER and not entry.victims):
            entry.why = Why.NO_FIT
            if fit is Fit.LATER:
                self.snapshot.take(entry.queue.name, self._held(entry))
            return
        overlapping = any(victim.hold.key in self._preempted for victim in entry.victims)
        freed = {**self._preempted, **{victim.hold.key: victim for victim in entry.victims}}
        with self.snapshot.without(victim.hold for victim in freed.values()):
            fits = self.snapshot.fits(entry.queue.name, entry.assignment.usage)
        asked = [*((rule, rule(overlapping)) for rule in rules.overlapping)]
        asked += [(rule, rule(fits)) for rule in rules.unfitting]
        for rule, message in asked:
            if message:
                entry.why, entry.message = Why.LOST, message
                entry.progress = self._kept(entry.progress)
                entry.steps += (Step(requirements=cited([rule]), text=message),)
                return
        self._preempted = freed
        self.snapshot.take(entry.queue.name, entry.assignment.usage)
        if fit is Fit.LATER:
            self._preempt(entry)

    def _preempt(self, entry: Entry) -> None:
        """Take the victims that can be taken; without any, a head waits as if there were none."""
        rules, entry.progress = self.behaviour.preempting, None
        for victim in entry.victims:
            if missed := [rule for rule in rules.missed if rule(victim.hold.key in self.fresh)]:
                entry.victims = tuple(each for each in entry.victims if each is not victim)
                text = f"{'/'.join(victim.hold.key)} stays: it has been admitted a moment ago"
                entry.steps += (Step(requirements=cited(missed), text=text),)
        entry.why = Why.PREEMPTING if entry.victims else Why.NO_FIT
        if entry.victims:
            entry.message += "".join(rule(len(entry.victims)) for rule in rules.pending)

    def _kept(self, progress: Progress | None) -> Progress | None:
        """What is remembered of the search of a head that lost its flavor."""
        return progress if progress and any(rule(progress) for rule in self.behaviour.assigning.lost) else None

    def _held(self, entry: Entry) -> Amounts:
        """What a head that finds no victims keeps from the others."""
        node, borrows = self.snapshot.node(entry.queue.name), entry.assignment.level > 0
        held = {}
        for of, asked in entry.assignment.usage.items():
            claimed = Claimed(asked=asked, borrows=borrows, used=node.used.get(of, 0), limits=node.limit(of))
            held[of] = sum(rule(entry.queue, claimed) for rule in self.behaviour.cycle.held)
        return held
