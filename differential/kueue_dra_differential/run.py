"""A hunt: batches of worlds judged by several Kueues at once until the time is up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

from kueue_dra_clusters.binaries import Binaries, binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.live_target import LiveTarget
from kueue_dra_clusters.waiting import limits_of
from kueue_dra_differential.ledger import entries
from kueue_dra_differential.oracle import Comparison, KueueEnded, Oracle
from kueue_dra_differential.work_queue import (
    Disagreement,
    Plan,
    RunTotals,
    Work,
    WorkQueue,
)
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.scenarios.scenario import Scenario


def hunted(plan: Plan) -> Iterator[RunTotals]:
    """Hunt, and give the same growing tally after each batch.

    Raises:
        ClusterTrouble: no Kueue can be had, or what one runs on has ended.

    """
    agenda, tally = WorkQueue(plan=plan, drawn=plan.batches()), RunTotals()
    programs = binaries(plan.behaviour.kueue)
    with ThreadPoolExecutor(plan.kueues) as workers, ExitStack() as held:
        seats = [
            Worker(programs=programs, behaviour=plan.behaviour)
            for _ in range(plan.kueues)
        ]
        idle = [held.enter_context(closing(seat)) for seat in seats]
        busy: dict[Future[Disagreement], Worker] = {}
        while True:
            while idle and (work := agenda.next()):
                seat = idle.pop()
                busy[workers.submit(seat.do, work)] = seat
            if not busy:
                return
            for done in wait(busy, return_when=FIRST_COMPLETED).done:
                idle.append(busy.pop(done))
                tally.add(done.result())
                agenda.take(done.result())
                yield tally


@dataclass(slots=True, kw_only=True)
class Worker:
    """The place of one judge: a new one takes it when the Kueue of the one before has ended."""

    programs: Binaries
    behaviour: Behaviour
    _held: ExitStack = field(default_factory=ExitStack)
    _judge: Oracle | None = None
    _closed: bool = False

    @property
    def judge(self) -> Oracle:
        """Who has the place; brought up when there is nobody."""
        if self._judge is None:
            self._judge = self._held.enter_context(
                a_judge(self.programs, self.behaviour)
            )
            if self._closed:
                self._held.close()
        return self._judge

    def do(self, work: Work) -> Disagreement:
        """Have work done."""
        finding = work(self.judge)
        if finding.ending:
            self._vacate()
        return finding

    def alone(self, world: Scenario) -> Comparison:
        """Have one world judged by itself; that it ended the Kueue is an outcome too."""
        judge = self.judge
        try:
            return judge.alone(world)
        except KueueEnded as trouble:
            self._vacate()
            return judge.ended(world, trouble)

    def close(self) -> None:
        """End its processes, also those that are just being started."""
        self._closed = True
        self._vacate()

    def _vacate(self) -> None:
        self._judge = None
        self._held.close()


@contextmanager
def a_judge(programs: Binaries, behaviour: Behaviour) -> Iterator[Oracle]:
    """Bring up a real Kueue beside the reference; nothing stays from one batch to the next."""
    limits = limits_of(os.environ)
    brief = replace(
        limits, settle=limits.settle / 3
    )  # whoever takes longer is played again, with fewer beside it
    with (
        ControlPlane(programs) as plane,
        closing(LiveTarget(plane, limits=brief)) as target,
    ):
        release = str(target.describe()["kueue"]).removeprefix("v")
        yield Oracle(
            target=target, behaviour=behaviour, kueue=release, ledger=tuple(entries())
        )
