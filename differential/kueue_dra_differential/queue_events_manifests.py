"""Turns the events of the queues of a generated scenario into steps of manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential.config_profiles import Step
from kueue_dra_differential.queue_events import (
    Bound,
    Gate,
    Inspect,
    QueueEvent,
    Quota,
    Recast,
    Refit,
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
    """The current queues; events number queues and flavors modulo their count, but not cohorts."""

    queues: GeneratedQueues
    _edits: dict[int, dict[str, Any]] = field(default_factory=dict)
    _routes: dict[int, int] = field(default_factory=dict)
    """The ClusterQueue of a LocalQueue, if it has another number."""

    def index(self, queue: int) -> int:
        """Give the index of a queue."""
        return queue % len(self.queues.lines)

    def step(self, event: QueueEvent) -> Step:
        """Give the step of an event."""
        match event:
            case Supply() | Team() | Bound() | Inspect() | Refit():
                return self._around(event)
            case Shelf():
                index = event.flavor % self.queues.flavor_count
                return _there(self.queues.flavor(index), event.there)
            case Regroup():
                return self._regrouped(event)
            case _:
                return self._of_one(self.index(event.queue), event)

    def _around(self, event: Supply | Team | Bound | Inspect | Refit) -> Step:
        """Give the step of what is around the queues."""
        match event:
            case Supply():
                return {"apply": [*self.queues.late()]}
            case Team():
                namespace = self.queues.space(joined=event.joined)
                return {"apply": [namespace]}
            case Bound():
                return _there(self.queues.limits(event.kind), bool(event.kind))
            case Inspect():
                check = self.queues.check(event.check, event.active)
                return {"apply": [check]}
            case Refit():
                return {"apply": [*self.queues.refitted(event)]}

    def _of_one(
        self, index: int, event: Quota | Stop | Way | Reroute | Recast | Gate
    ) -> Step:
        match event:
            case Quota():
                changed = self._edited(index, nominal=event.nominal)
                return {"apply": [changed]}
            case Stop():
                stopped = self._stopped(index, event)
                return {"apply": [stopped]}
            case Way():
                return _there(self._local_queue(index), event.open)
            case Reroute():
                self._routes[index] = self.index(event.to)
                local_queue = self._local_queue(index)
                return {"apply": [local_queue]}
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
        cluster_queue = self._routes.get(index, index)
        return self.queues.local_queue(index, to=cluster_queue, **spec)

    def _edited(self, index: int, **change: Any) -> Manifest:
        """Change one field of a ClusterQueue, and keep the earlier changes."""
        edits = self._edits.setdefault(index, {})
        edits.update(change)
        return self.queues.cluster_queue(index, **edits)


def _there(made: Manifest, there: bool) -> Step:
    return {"apply": [made]} if there else {"delete": [named(made)]}


def named(made: Manifest) -> dict[str, str]:
    """Give the reference of an object for a step that deletes or touches it."""
    ref = Ref.of(made)
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }
