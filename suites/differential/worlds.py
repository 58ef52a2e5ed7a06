"""One generated world as a scenario: what was drawn, told step by step in manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, assert_never

from fixtures.builders import Work, a_job, a_pod_set, a_workload
from fixtures.manifests import a_job_manifest, a_priority_class, a_workload_manifest, finished
from kueue_dra_ref.target import Manifest, Ref
from suites.differential.events import (
    Bound,
    Change,
    Delete,
    Edit,
    Event,
    Finish,
    JobEvent,
    Progress,
    QueueEvent,
    Quota,
    Restart,
    Stop,
    Submit,
    Supply,
    Team,
    Touch,
    Way,
    Worth,
    class_of,
)
from suites.differential.nodes import HEAVY, PLACES
from suites.differential.queues import Queues
from suites.differential.rewriting import rewritten
from suites.differential.themes import Step


@dataclass(slots=True, kw_only=True)
class World:
    """Tells what happens in some queues; jobs are named in the order in which they come."""

    queues: Queues
    events: tuple[Event, ...]
    _jobs: dict[str, Manifest] = field(default_factory=dict)
    _made: int = 0
    _edits: dict[int, dict[str, Any]] = field(default_factory=dict)
    _succeeded: dict[str, int] = field(default_factory=dict)
    """How many pods of a Job have; all of them once it is done."""

    def steps(self) -> Iterator[Step]:
        """Give the namespace, then the queues and templates, then a step for each event."""
        yield {"apply": [self.queues.space(joined=True)]}
        asked = {name for event in self.events if isinstance(event, Submit) for name in event.asks}
        found = self.queues.theme.templates
        templates = [found[name].manifest(name, self.queues.namespace) for name in found if name in asked]
        yield {"apply": [*self.queues.objects(), *templates]}
        for event in self.events:
            yield self._step(event)
            if isinstance(event, Change):  # what was refused, or waits, is looked at again
                yield {"touch": [_named(made) for made in self._jobs.values()]}

    def _step(self, event: Event) -> Step:
        match event:
            case Change():
                return self.queues.theme.changes[event.number]
            case Restart():
                return {"restart": [event.configuration]}
            case Worth():
                return {"apply": [a_priority_class(class_of(event.priority), event.value)]}
            case Quota() | Stop() | Supply() | Team() | Bound() | Way():
                return self._of_queues(event)
            case _:
                return self._of_a_job(event)

    def _of_queues(self, event: QueueEvent) -> Step:
        match event:
            case Quota():
                return {"apply": [self._edited(event.queue, nominal=event.nominal)]}
            case Stop():
                return {"apply": [self._stopped(event)]}
            case Supply():
                return {"apply": [*self.queues.late()]}
            case Team():
                return {"apply": [self.queues.space(joined=event.joined)]}
            case Bound():
                found = self.queues.limits(event.kind)
                return {"apply": [found]} if event.kind else {"delete": [_named(found)]}
            case Way():
                local = self.queues.local_queue(self._index(event.queue))
                return {"apply": [local]} if event.open else {"delete": [_named(local)]}
            case _:
                assert_never(event)

    def _of_a_job(self, event: JobEvent) -> Step:
        match event:
            case Submit():
                return {"apply": [self._submitted(event)]}
            case Delete():
                return self._deleted(event.job)
            case Finish():
                return self._changed(event.job, "Job", self._done)
            case Progress():
                return self._changed(event.job, "Job", self._further)
            case Touch():
                return {"touch": [_named(made) for made in self._one(event.job)]}
            case _:
                return {"apply": [found for made in self._one(event.job) for found in self._rewritten(made, event)]}

    def _submitted(self, event: Submit) -> Manifest:
        name = f"j{self._made}"
        self._made += 1
        work = self._work(event)
        build = a_workload_manifest if work.as_workload else a_job_manifest
        made = build(work, {"name": name, "namespace": self.queues.namespace}, self._line(event.queue), {})
        self._jobs[name] = made
        return made

    def _work(self, event: Submit) -> Work:
        theme = self.queues.theme
        cpu = {"cpu": str(event.cpu)} if event.cpu else {}
        claims, requests = theme.claims(event.asks), {**cpu, **theme.requests(event.asks)}
        runtime = {"runtimeClassName": HEAVY["metadata"]["name"]} if event.heavy else {}
        shape: dict[str, Any] = {"requests": requests, "claims": claims, "spec": {**PLACES[event.place], **runtime}}
        shape |= {"pods": event.pods, "least": event.least if event.pods > 1 else None}
        if not event.as_workload:
            return a_job(priority=event.priority, **shape)
        return a_workload(a_pod_set("first", cpu="1"), a_pod_set("main", **shape), priority=event.priority)

    def _line(self, queue: int) -> str:
        return f"lq{self._index(queue)}"

    def _index(self, queue: int) -> int:
        return queue % len(self.queues.lines)

    def _one(self, job: int) -> list[Manifest]:
        """Give one of the jobs that are there; nothing when there is none."""
        there = list(self._jobs.values())
        return there and [there[job % len(there)]]

    def _deleted(self, job: int) -> Step:
        found = self._one(job)
        for made in found:
            del self._jobs[made["metadata"]["name"]]
        return {"delete": [_named(made) for made in found]}

    def _changed(self, job: int, kind: str, change: Callable[[Manifest], Manifest]) -> Step:
        """Apply one of the jobs that are there as something else, if it is of a kind."""
        return {"apply": [change(made) for made in self._one(job) if made["kind"] == kind]}

    def _rewritten(self, made: Manifest, event: Edit) -> Iterator[Manifest]:
        """Write a job once more, if it can be written so; what is refused of it is asked for again the next time."""
        if found := rewritten(made, event, self._line):
            self._jobs[made["metadata"]["name"]] = found
            yield found

    def _done(self, made: Manifest) -> Manifest:
        self._succeeded[made["metadata"]["name"]] = made["spec"]["completions"]
        return finished(made)

    def _further(self, made: Manifest) -> Manifest:
        name, most = made["metadata"]["name"], made["spec"]["completions"]
        before = self._succeeded.get(name, 0)
        if before + 1 >= most:
            return made
        self._succeeded[name] = before + 1
        return {**made, "status": {"active": 0, "succeeded": before + 1}}

    def _stopped(self, event: Stop) -> Manifest:
        if event.local:
            return self.queues.local_queue(self._index(event.queue), stopPolicy=event.policy)
        return self._edited(event.queue, stopPolicy=event.policy)

    def _edited(self, queue: int, **change: Any) -> Manifest:
        """Change one thing of a ClusterQueue, and keep what was changed before."""
        index = self._index(queue)
        self._edits[index] = {**self._edits.get(index, {}), **change}
        return self.queues.cluster_queue(index, **self._edits[index])


def _named(made: Manifest) -> dict[str, str]:
    ref = Ref.of(made)
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
