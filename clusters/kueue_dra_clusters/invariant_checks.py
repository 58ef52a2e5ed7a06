"""Checks the settled objects of a live target: first as stored, then after late status updates, last with metrics."""

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
        """Give the metrics as printed; empty if they are not available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvariantChecks:
    """Checks the applied objects; if nothing is wrong, this costs one read of the informers and one of the metrics."""

    objects: APIClient
    informers: InformerCache
    applied: AppliedObjects
    kueue: WithMetrics
    limits: WaitLimits = field(default_factory=WaitLimits)

    def audit(self, check: Audit) -> Sequence[str]:
        """Give the violations that remain; status updates may be late, so it checks again after a violation."""

        def without_metrics() -> Sequence[str]:
            return check(self._shown(), "")

        def with_metrics() -> Sequence[str]:
            return check(self._shown(), self.kueue.metrics())

        return self._audited(without_metrics) or self._audited(with_metrics)

    def _audited(self, look: Callable[[], Sequence[str]]) -> Sequence[str]:
        wrong = look()
        if not wrong:
            return wrong
        self._trigger_updates(wrong)
        return self._finally(look)

    def _shown(self) -> list[Manifest]:
        look = Observation.at(self.informers, self.applied)
        queues = (self.informers.read(ref) for ref in self.applied.refs(*QUEUES))
        return [*look.jobs, *look.workloads, *filter(None, queues)]

    def _trigger_updates(self, wrong: Sequence[str]) -> None:
        """Trigger a status update of the queues that violations name; without it, the update takes a second."""
        for ref in self.applied.refs(*QUEUES):
            if any(str(ref) in line for line in wrong):
                reobserve(self.objects, ref, str(moment_now()))

    def _finally(self, look: Callable[[], Sequence[str]]) -> Sequence[str]:
        wrong: Sequence[str] = ()

        def right() -> None:
            nonlocal wrong
            if wrong := look():
                raise NotYet("; ".join(wrong))

        try:
            self.informers.eventually(
                right, within=self.limits.disagreement, what="figures that agree"
            )
        except TimedOut:
            return wrong
        return ()
