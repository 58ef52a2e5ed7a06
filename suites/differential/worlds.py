"""One generated world as a scenario: what was drawn, told step by step in manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from fixtures.builders import a_job
from fixtures.manifests import a_job_manifest
from kueue_dra_ref.target import Manifest
from suites.differential.events import Delete, Event, Quota, Stop, Submit, Touch
from suites.differential.queues import Queues
from suites.differential.templates import TEMPLATES, claim_of

Step = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class World:
    """Tells what happens in some queues; jobs are named in the order in which they come."""

    queues: Queues
    events: tuple[Event, ...]
    _jobs: list[str] = field(default_factory=list)
    _made: int = 0
    _edits: dict[int, dict[str, Any]] = field(default_factory=dict)

    def steps(self) -> Iterator[Step]:
        """Give the namespace, then the queues and templates, then a step for each event."""
        yield {"apply": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.queues.namespace}}]}
        asked = {name for event in self.events if isinstance(event, Submit) for name in event.asks}
        templates = [TEMPLATES[name].manifest(name, self.queues.namespace) for name in TEMPLATES if name in asked]
        yield {"apply": [*self.queues.objects(), *templates]}
        for event in self.events:
            yield self._step(event)

    def _step(self, event: Event) -> Step:
        match event:
            case Submit():
                return {"apply": [self._submitted(event)]}
            case Delete():
                return self._about(event.job, "delete")
            case Touch():
                return self._about(event.job, "touch")
            case Quota():
                return {"apply": [self._edited(event.queue, nominal=event.nominal)]}
            case Stop():
                return {"apply": [self._stopped(event)]}
            case _:
                assert_never(event)

    def _submitted(self, event: Submit) -> Manifest:
        name = f"j{self._made}"
        self._made += 1
        self._jobs.append(name)
        work = a_job(
            pods=event.pods,
            cpu=str(event.cpu),
            claims=[claim_of(each) for each in event.asks],
            priority=event.priority,
            least=event.least if event.pods > 1 else None,
        )
        return a_job_manifest(work, {"name": name, "namespace": self.queues.namespace}, self._line(event.queue), {})

    def _line(self, queue: int) -> str:
        return f"lq{self._index(queue)}"

    def _index(self, queue: int) -> int:
        return queue % len(self.queues.lines)

    def _about(self, job: int, verb: str) -> Step:
        """Delete or touch one of the jobs that are there; nothing when there is none."""
        if not self._jobs:
            return {}
        name = self._jobs[job % len(self._jobs)]
        if verb == "delete":
            self._jobs.remove(name)
        return {verb: [{"apiVersion": "batch/v1", "kind": "Job", "namespace": self.queues.namespace, "name": name}]}

    def _stopped(self, event: Stop) -> Manifest:
        if event.local:
            return self.queues.local_queue(self._index(event.queue), stopPolicy=event.policy)
        return self._edited(event.queue, stopPolicy=event.policy)

    def _edited(self, queue: int, **change: Any) -> Manifest:
        """Change one thing of a ClusterQueue, and keep what was changed before."""
        index = self._index(queue)
        self._edits[index] = {**self._edits.get(index, {}), **change}
        return self.queues.cluster_queue(index, **self._edits[index])
