"""What a hunt is to do next, and what came of it so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from kueue_dra_clusters.waiting import elapsed_since, moment_now
from kueue_dra_differential.generate import Batch, batches
from kueue_dra_differential.oracle import (
    Comparison,
    KueueEnded,
    Oracle,
    OutcomeKind,
    apart,
)
from kueue_dra_differential.shrink import smallest
from kueue_dra_ref.behaviours.behaviour import Behaviour


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a hunt is to do; ``budget`` in seconds, after which no batch is begun."""

    behaviour: Behaviour
    seed: int
    budget: float
    most: int | None = None
    """Worlds after which it ends earlier."""
    together: int = 24
    """Worlds that share a Kueue at a time."""
    kueues: int = 2

    def batches(self) -> Iterator[Batch]:
        """Draw without end, the same again for the same seed."""
        return batches(of=self.together, behaviour=self.behaviour, number=self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """What a Kueue has done: judged a batch, or shrunk a world that differs."""

    outcomes: Sequence[Comparison] = ()
    smallest: Sequence[Comparison] = ()
    ending: str = ""
    """How the Kueue ended while it did so, if it did."""
    left: Sequence[Batch] = ()
    """What another Kueue has to judge then, to find the world that ended this one."""


@dataclass(slots=True)
class RunTotals:
    """What came of the worlds so far."""

    kinds: Counter[OutcomeKind] = field(default_factory=Counter)
    steps: int = 0
    found: list[Comparison] = field(default_factory=list)
    """Whatever did not simply agree."""
    smallest: list[Comparison] = field(default_factory=list)
    """What is left of those that differ."""
    endings: list[str] = field(default_factory=list)
    """How a Kueue ended, each time that one did."""

    def add(self, finding: Disagreement) -> None:
        """Count a batch, or keep what was shrunk."""
        self.kinds.update(each.kind for each in finding.outcomes)
        self.steps += sum(len(each.scenario.recorded) for each in finding.outcomes)
        self.found += [
            each for each in finding.outcomes if each.kind is not OutcomeKind.AGREES
        ]
        self.smallest += finding.smallest
        self.endings += [finding.ending] if finding.ending else []

    @property
    def worlds(self) -> int:
        """How many worlds were judged."""
        return self.kinds.total()


Work = Callable[[Oracle], Disagreement]


@dataclass(slots=True, kw_only=True)
class WorkQueue:
    """What is to be done next: whatever differs is shrunk before new worlds are drawn.

    What ended a Kueue is judged in parts, down to the world that does it, even when the time is up.
    """

    plan: Plan
    drawn: Iterator[Batch]
    began: float = field(default_factory=moment_now)
    planned: int = 0
    large: list[Comparison] = field(default_factory=list)
    left: list[Batch] = field(default_factory=list)

    def take(self, finding: Disagreement) -> None:
        """Take note of what follows from what was done."""
        self.large += [
            each for each in finding.outcomes if each.kind is OutcomeKind.DIFFERS
        ]
        self.left += finding.left

    def next(self) -> Work | None:
        """Give it; None when the time is up, or the number of worlds."""
        if self.left:
            return partial(_judged, self.left.pop())
        if not self._has_time():
            return None
        if self.large:
            return partial(self._shrink, self.large.pop())
        if self.plan.most is not None and self.planned >= self.plan.most:
            return None
        batch = next(self.drawn)
        self.planned += len(batch)
        return partial(_judged, batch)

    def _shrink(self, outcome: Comparison, judge: Oracle) -> Disagreement:
        try:
            left = smallest(outcome, judge.alone, going_on=lambda _: self._has_time())
        except KueueEnded as trouble:
            return Disagreement(ending=str(trouble))
        return Disagreement(smallest=[left] if left.kind is OutcomeKind.DIFFERS else [])

    def _has_time(self) -> bool:
        return elapsed_since(self.began) < self.plan.budget


def _judged(batch: Batch, judge: Oracle) -> Disagreement:
    try:
        return Disagreement(outcomes=judge.judge(batch))
    except KueueEnded as trouble:
        if len(batch) > 1:
            return Disagreement(ending=str(trouble), left=apart(batch, str(trouble)))
        return Disagreement(
            ending=str(trouble), outcomes=[judge.ended(batch[0], trouble)]
        )
