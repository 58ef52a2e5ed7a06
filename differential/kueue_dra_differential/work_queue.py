"""The plan of a run of generated scenarios, its totals, and the queue of its work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from kueue_dra_clusters.errors import MissingTool
from kueue_dra_clusters.waiting import elapsed_since, moment_now
from kueue_dra_differential.batch import Batch
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
    """The plan of a run; no batch starts after ``budget`` seconds."""

    behaviour: Behaviour
    seed: int
    budget: float
    most: int | None = None
    """The number of scenarios after which it ends earlier."""
    together: int = 24
    """The scenarios of a batch, which share a Kueue."""
    kueues: int = 2
    part: int = 1
    """Which of several parts of the batches this run takes."""
    parts: int = 1
    wanted: tuple[str, ...] = ()
    """The features that every scenario has, in addition to those by chance."""

    def batches(self) -> Iterator[Batch]:
        """Draw batches, the same again for the same seed.

        Raises:
            MissingTool: hypothesis is not installed: only the development packages have it.
        """
        try:
            from kueue_dra_differential.generate import MOST_BATCHES, batches
        except ModuleNotFoundError:
            raise MissingTool("hypothesis is missing: pip install hypothesis") from None
        count = MOST_BATCHES
        if self.most is not None:
            count = math.ceil(self.most / self.together)
        return batches(
            of=self.together,
            behaviour=self.behaviour,
            number=self.seed,
            count=count,
            part=self.part,
            parts=self.parts,
            wanted=self.wanted,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """The result of one piece of work: the outcomes of a batch, or a shrunk scenario."""

    outcomes: Sequence[Comparison] = ()
    smallest: Sequence[Comparison] = ()
    ending: str = ""
    """How Kueue exited, if it did."""
    left: Sequence[Batch] = ()
    """The parts that another Kueue has to run then, to find the scenario in which this one exited."""


@dataclass(slots=True)
class RunTotals:
    """The totals of a run so far."""

    kinds: Counter[OutcomeKind] = field(default_factory=Counter)
    steps: int = 0
    found: list[Comparison] = field(default_factory=list)
    """The outcomes other than agreement."""
    agreeing: list[Comparison] = field(default_factory=list)
    """The outcomes of the last batch in which both agree."""
    smallest: list[Comparison] = field(default_factory=list)
    """The shrunk scenarios of those that differ."""
    endings: list[str] = field(default_factory=list)
    """How Kueue exited, each time."""

    def add(self, finding: Disagreement) -> None:
        """Count the outcomes of a batch, or keep a shrunk scenario."""
        self.agreeing = []
        for outcome in finding.outcomes:
            self.kinds[outcome.kind] += 1
            self.steps += len(outcome.scenario.recorded)
            agrees = outcome.kind is OutcomeKind.AGREES
            (self.agreeing if agrees else self.found).append(outcome)
        self.smallest += finding.smallest
        if finding.ending:
            self.endings.append(finding.ending)

    @property
    def scenarios(self) -> int:
        """The number of scenarios that ran."""
        return self.kinds.total()


Work = Callable[[Oracle], Disagreement]


@dataclass(slots=True, kw_only=True)
class WorkQueue:
    """The work of a run: it shrinks scenarios that differ before it draws new ones.

    It runs a batch in which Kueue exited in parts, down to one scenario, even when the time is up.
    """

    plan: Plan
    drawn: Iterator[Batch]
    began: float = field(default_factory=moment_now)
    planned: int = 0
    large: list[Comparison] = field(default_factory=list)
    left: list[Batch] = field(default_factory=list)

    def take(self, finding: Disagreement) -> None:
        """Add the work that follows from a result."""
        for outcome in finding.outcomes:
            if outcome.kind is OutcomeKind.DIFFERS:
                self.large.append(outcome)
        self.left += finding.left

    def next(self) -> Work | None:
        """Give the next work; None when the time is up or the number of scenarios is reached."""
        if self.left:
            return partial(_run, self.left.pop())
        if not self._has_time():
            return None
        if self.large:
            return partial(self._shrink, self.large.pop())
        if self.plan.most is not None and self.planned >= self.plan.most:
            return None
        batch = next(self.drawn, None)
        if batch is None:
            return None
        self.planned += len(batch)
        return partial(_run, batch)

    def _shrink(self, outcome: Comparison, oracle: Oracle) -> Disagreement:
        try:
            left = smallest(outcome, oracle.alone, going_on=lambda _: self._has_time())
        except KueueEnded as trouble:
            return Disagreement(ending=str(trouble))
        if left.kind is not OutcomeKind.DIFFERS:
            return Disagreement()
        return Disagreement(smallest=[left])

    def _has_time(self) -> bool:
        elapsed = elapsed_since(self.began)
        return elapsed < self.plan.budget


def _run(batch: Batch, oracle: Oracle) -> Disagreement:
    try:
        outcomes = oracle.compare(batch)
    except KueueEnded as trouble:
        text = str(trouble)
        if len(batch) > 1:
            return Disagreement(ending=text, left=apart(batch, text))
        outcome = oracle.ended(batch[0], trouble)
        return Disagreement(ending=text, outcomes=[outcome])
    return Disagreement(outcomes=outcomes)
