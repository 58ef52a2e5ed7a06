"""A hunt: batches of worlds judged by several Kueues at once until the time is up, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from clusters.binaries import Binaries, binaries
from clusters.controlplane import ControlPlane
from clusters.live import INERT, LiveTarget
from clusters.waiting import elapsed_since, moment_now
from kueue_dra_ref.behaviours.behaviour import Behaviour
from suites.differential.drawing import Batch, batches
from suites.differential.judging import Judge, Kind, Outcome
from suites.differential.ledger import entries

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


@dataclass(slots=True)
class Tally:
    """What came of the worlds so far."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    steps: int = 0
    found: list[Outcome] = field(default_factory=list)
    """Whatever did not simply agree."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Count a batch."""
        self.kinds.update(each.kind for each in outcomes)
        self.steps += sum(len(each.scenario.recorded) for each in outcomes)
        self.found += [each for each in outcomes if each.kind is not Kind.AGREES]

    @property
    def worlds(self) -> int:
        """How many worlds were judged."""
        return self.kinds.total()


def hunted(plan: Plan) -> Iterator[Tally]:
    """Hunt, and give the same growing tally after each batch.

    Raises:
        ClusterTrouble: no Kueue can be had, or one ended.

    """
    began, tally, drawn, planned = moment_now(), Tally(), plan.batches(), 0
    programs = binaries(plan.behaviour.kueue)
    with ThreadPoolExecutor(plan.kueues) as workers, ExitStack() as held:
        idle = [held.enter_context(a_judge(programs, plan.behaviour)) for _ in range(plan.kueues)]
        busy: dict[Future[list[Outcome]], Judge] = {}
        while True:
            while idle and elapsed_since(began) < plan.budget and (plan.most is None or planned < plan.most):
                batch, judge = next(drawn), idle.pop()
                planned += len(batch)
                busy[workers.submit(judge.judge, batch)] = judge
            if not busy:
                return
            for done in wait(busy, return_when=FIRST_COMPLETED).done:
                idle.append(busy.pop(done))
                tally.add(done.result())
                yield tally


@contextmanager
def a_judge(programs: Binaries, behaviour: Behaviour) -> Iterator[Judge]:
    """Bring up a real Kueue beside the reference."""
    with ControlPlane(programs) as plane, closing(LiveTarget(plane, leaves=INERT)) as target:
        release = str(target.describe()["kueue"]).removeprefix("v")
        yield Judge(target=target, behaviour=behaviour, kueue=release, ledger=tuple(entries()))
