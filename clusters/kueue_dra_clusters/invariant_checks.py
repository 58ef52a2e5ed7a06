"""Has a live world at rest checked: as it shows itself, then with what Kueue writes late, last with its metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kueue_dra_clusters.api_client import APIClient
from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.fence import reobserve
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.waiting import NotYet, TimedOut, WaitLimits, moment_now
from kueue_dra_ref.target import Audit, Manifest

QUEUES = ("ClusterQueue", "LocalQueue")


class WithMetrics(Protocol):
    """A Kueue with metrics."""

    def metrics(self) -> str:
        """Give them as they are printed; empty where they cannot be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvariantChecks:
    """Checks one world; nothing but a look at what is followed anyway and one reading of metrics, when all is right."""

    objects: APIClient
    mirror: InformerCache
    world: AppliedObjects
    kueue: WithMetrics
    limits: WaitLimits = field(default_factory=WaitLimits)

    def audit(self, check: Audit) -> Sequence[str]:
        """Give what is wrong in the end; figures may come late, so what is wrong at first is looked at again."""
        return self._audited(lambda: check(self._shown(), "")) or self._audited(
            lambda: check(self._shown(), self.kueue.metrics())
        )

    def _audited(self, look: Callable[[], Sequence[str]]) -> Sequence[str]:
        if not (wrong := look()):
            return wrong
        self._hasten(wrong)
        return self._in_the_end(look)

    def _shown(self) -> list[Manifest]:
        look = Observation.at(self.mirror, self.world)
        queues = (self.mirror.read(ref) for ref in self.world.refs(*QUEUES))
        return [*look.jobs, *look.workloads, *filter(None, queues)]

    def _hasten(self, wrong: Sequence[str]) -> None:
        """Have Kueue write at once the status of queues that something wrong is said of; else it takes a second."""
        for ref in self.world.refs(*QUEUES):
            if any(str(ref) in line for line in wrong):
                reobserve(self.objects, ref, str(moment_now()))

    def _in_the_end(self, look: Callable[[], Sequence[str]]) -> Sequence[str]:
        wrong: Sequence[str] = ()

        def right() -> None:
            nonlocal wrong
            if wrong := look():
                raise NotYet("; ".join(wrong))

        try:
            self.mirror.eventually(
                right, within=self.limits.disagreement, what="figures that agree"
            )
        except TimedOut:
            return wrong
        return ()
