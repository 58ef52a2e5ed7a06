"""A hunt: batches of worlds judged by several Kueues at once until the time is up, and what came of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from clusters.binaries import Binaries, binaries
from clusters.controlplane import ControlPlane
from clusters.live import INERT, LiveTarget, limits_of
from clusters.waiting import elapsed_since, moment_now
from kueue_dra_ref.behaviours.behaviour import Behaviour
from suites.differential.drawing import Batch, batches
from suites.differential.judging import Judge, Kind, Outcome
from suites.differential.ledger import entries
from suites.differential.shrinking import smallest

CHUNK = 12
"""Batches that are drawn at once: the first of them are simpler than the rest."""
PER_SEED = 10_000
"""Chunks of one seed, at most; the numbers of two seeds do not meet."""


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
        for chunk in range(PER_SEED):
            number = self.seed * PER_SEED + chunk
            yield from batches(of=self.together, behaviour=self.behaviour, number=number, count=CHUNK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a Kueue has done: judged a batch, or shrunk a world that differs."""

    outcomes: Sequence[Outcome] = ()
    smallest: Sequence[Outcome] = ()


@dataclass(slots=True)
class Tally:
    """What came of the worlds so far."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    steps: int = 0
    found: list[Outcome] = field(default_factory=list)
    """Whatever did not simply agree."""
    smallest: list[Outcome] = field(default_factory=list)
    """What is left of those that differ."""

    def add(self, finding: Finding) -> None:
        """Count a batch, or keep what was shrunk."""
        self.kinds.update(each.kind for each in finding.outcomes)
        self.steps += sum(len(each.scenario.recorded) for each in finding.outcomes)
        self.found += [each for each in finding.outcomes if each.kind is not Kind.AGREES]
        self.smallest += finding.smallest

    @property
    def worlds(self) -> int:
        """How many worlds were judged."""
        return self.kinds.total()


Work = Callable[[Judge], Finding]


@dataclass(slots=True, kw_only=True)
class Agenda:
    """What is to be done next: whatever differs is shrunk before new worlds are drawn."""

    plan: Plan
    drawn: Iterator[Batch]
    began: float = field(default_factory=moment_now)
    planned: int = 0
    large: list[Outcome] = field(default_factory=list)

    def next(self) -> Work | None:
        """Give it; None when the time is up, or the number of worlds."""
        if not self._has_time():
            return None
        if self.large:
            return partial(self._shrink, self.large.pop())
        if self.plan.most is not None and self.planned >= self.plan.most:
            return None
        batch = next(self.drawn)
        self.planned += len(batch)
        return lambda judge: Finding(outcomes=judge.judge(batch))

    def _shrink(self, outcome: Outcome, judge: Judge) -> Finding:
        left = smallest(outcome, judge, going_on=lambda _: self._has_time())
        return Finding(smallest=[left] if left.kind is Kind.DIFFERS else [])

    def _has_time(self) -> bool:
        return elapsed_since(self.began) < self.plan.budget


def hunted(plan: Plan) -> Iterator[Tally]:
    """Hunt, and give the same growing tally after each batch.

    Raises:
        ClusterTrouble: no Kueue can be had, or one ended.

    """
    agenda, tally = Agenda(plan=plan, drawn=plan.batches()), Tally()
    programs = binaries(plan.behaviour.kueue)
    with ThreadPoolExecutor(plan.kueues) as workers, ExitStack() as held:
        idle = [held.enter_context(a_judge(programs, plan.behaviour)) for _ in range(plan.kueues)]
        busy: dict[Future[Finding], Judge] = {}
        while True:
            while idle and (work := agenda.next()):
                judge = idle.pop()
                busy[workers.submit(work, judge)] = judge
            if not busy:
                return
            for done in wait(busy, return_when=FIRST_COMPLETED).done:
                idle.append(busy.pop(done))
                tally.add(done.result())
                agenda.large += [each for each in done.result().outcomes if each.kind is Kind.DIFFERS]
                yield tally


@contextmanager
def a_judge(programs: Binaries, behaviour: Behaviour) -> Iterator[Judge]:
    """Bring up a real Kueue beside the reference."""
    limits = limits_of(os.environ)
    brief = replace(limits, settle=limits.settle / 3)  # whoever takes longer is played again, with fewer beside it
    with ControlPlane(programs) as plane, closing(LiveTarget(plane, limits=brief, leaves=INERT)) as target:
        release = str(target.describe()["kueue"]).removeprefix("v")
        yield Judge(target=target, behaviour=behaviour, kueue=release, ledger=tuple(entries()))
