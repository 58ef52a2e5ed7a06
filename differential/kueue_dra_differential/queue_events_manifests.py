"""What happens to the queues of a generated world, told in manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential.config_profiles import Step
from kueue_dra_differential.queue_events import (
    Bound,
    Gate,
    QueueEvent,
    Quota,
    Recast,
    Regroup,
    Reroute,
    Shelf,
    Stop,
    Supply,
    Team,
    Way,
)
from kueue_dra_differential.queues import GeneratedQueues
from kueue_dra_ref.target import Manifest, Ref


@dataclass(slots=True)
class QueueObjects:
    """Some queues as they are by now; events count queues and flavors round, but not cohorts."""

    queues: GeneratedQueues
    _edits: dict[int, dict[str, Any]] = field(default_factory=dict)
    _routes: dict[int, int] = field(default_factory=dict)
    """The ClusterQueue behind a LocalQueue, if it is not that of the same number."""

    def index(self, queue: int) -> int:
        """Say which queue is meant."""
        return queue % len(self.queues.lines)

    def step(self, event: QueueEvent) -> Step:
        """Tell what happens."""
        match event:
            case Supply():
                return {"apply": [*self.queues.late()]}
            case Team():
                return {"apply": [self.queues.space(joined=event.joined)]}
            case Bound():
                return _there(self.queues.limits(event.kind), bool(event.kind))
            case Shelf():
                return _there(
                    self.queues.flavor(event.flavor % self.queues.flavor_count),
                    event.there,
                )
            case Regroup():
                return self._regrouped(event)
            case _:
                return self._of_one(self.index(event.queue), event)

    def _of_one(
        self, index: int, event: Quota | Stop | Way | Reroute | Recast | Gate
    ) -> Step:
        match event:
            case Quota():
                return {"apply": [self._edited(index, nominal=event.nominal)]}
            case Stop():
                return {"apply": [self._stopped(index, event)]}
            case Way():
                return _there(self._local_queue(index), event.open)
            case Reroute():
                self._routes[index] = self.index(event.to)
                return {"apply": [self._local_queue(index)]}
            case Recast():
                self.queues = self.queues.recast(index, event.line)
                return {"apply": [self._edited(index)]}
            case Gate():
                return _there(self._edited(index), event.open)

    def _regrouped(self, event: Regroup) -> Step:
        if event.cohort >= len(self.queues.cohorts):
            return {"apply": []}
        made = self.queues.cohort(event.cohort, event.above)
        return _there(made, event.above.needs_an_object)

    def _stopped(self, index: int, event: Stop) -> Manifest:
        if event.local:
            return self._local_queue(index, stopPolicy=event.policy)
        return self._edited(index, stopPolicy=event.policy)

    def _local_queue(self, index: int, **spec: Any) -> Manifest:
        return self.queues.local_queue(index, to=self._routes.get(index, index), **spec)

    def _edited(self, index: int, **change: Any) -> Manifest:
        """Change one thing of a ClusterQueue, and keep what was changed before."""
        self._edits[index] = {**self._edits.get(index, {}), **change}
        return self.queues.cluster_queue(index, **self._edits[index])


def _there(made: Manifest, there: bool) -> Step:
    return {"apply": [made]} if there else {"delete": [named(made)]}


def named(made: Manifest) -> dict[str, str]:
    """Name an object as a step does that deletes or touches it."""
    ref = Ref.of(made)
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }
