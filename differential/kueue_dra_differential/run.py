"""Runs batches of generated scenarios on several Kueues at once until the time is up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace

from kueue_dra_clusters.binaries import Binaries, binaries
from kueue_dra_clusters.controlplane import ControlPlane
from kueue_dra_clusters.waiting import limits_of
from kueue_dra_clusters.worker_planes import ManagerTarget, WorkerPlanes
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


def running_totals(plan: Plan) -> Iterator[RunTotals]:
    """Run batches, and give the same growing totals after each.

    Raises:
        ClusterError: no Kueue starts, or another process of its control plane has exited.

    """
    queue, totals = WorkQueue(plan=plan, drawn=plan.batches()), RunTotals()
    programs = binaries(plan.behaviour.version)
    with ThreadPoolExecutor(plan.kueues) as threads, ExitStack() as stack:
        idle = []
        for _ in range(plan.kueues):
            worker = Worker(programs=programs, behaviour=plan.behaviour)
            idle.append(stack.enter_context(closing(worker)))
        busy: dict[Future[Disagreement], Worker] = {}
        while True:
            while idle and (work := queue.next()):
                worker = idle.pop()
                busy[threads.submit(worker.do, work)] = worker
            if not busy:
                return
            for done in wait(busy, return_when=FIRST_COMPLETED).done:
                idle.append(busy.pop(done))
                totals.add(done.result())
                queue.take(done.result())
                yield totals


@dataclass(slots=True, kw_only=True)
class Worker:
    """Runs work on one Kueue, and starts a new one when it has exited."""

    programs: Binaries
    behaviour: Behaviour
    _stack: ExitStack = field(default_factory=ExitStack)
    _oracle: Oracle | None = None
    _closed: bool = False

    @property
    def oracle(self) -> Oracle:
        """The oracle with its Kueue, which starts when it is first used."""
        if self._oracle is None:
            self._oracle = self._stack.enter_context(
                an_oracle(self.programs, self.behaviour)
            )
            if self._closed:
                self._stack.close()
        return self._oracle

    def do(self, work: Work) -> Disagreement:
        """Do work."""
        finding = work(self.oracle)
        if finding.ending:
            self._stop()
        return finding

    def alone(self, scenario: Scenario) -> Comparison:
        """Run one scenario alone; an exit of Kueue is an outcome too."""
        oracle = self.oracle
        try:
            return oracle.alone(scenario)
        except KueueEnded as trouble:
            self._stop()
            return oracle.ended(scenario, trouble)

    def close(self) -> None:
        """Stop its processes, even while they start."""
        self._closed = True
        self._stop()

    def _stop(self) -> None:
        self._oracle = None
        self._stack.close()


@contextmanager
def an_oracle(programs: Binaries, behaviour: Behaviour) -> Iterator[Oracle]:
    """Start a real Kueue to compare with the reference; it is cleaned after each batch."""
    limits = limits_of(os.environ)
    # A batch that does not settle in this time runs again in smaller parts.
    brief = replace(limits, settle=limits.settle / 3)
    with (
        ControlPlane(programs, limits) as plane,
        WorkerPlanes(programs, frozenset()) as workers,
        closing(ManagerTarget(plane, workers, limits=brief)) as target,
    ):
        release = str(target.describe()["kueue"]).removeprefix("v")
        ledger = tuple(entries())
        yield Oracle(target=target, behaviour=behaviour, kueue=release, ledger=ledger)
