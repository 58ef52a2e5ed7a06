"""Turns the drawn events of one scenario into steps of manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential import other_work, pods_ready
from kueue_dra_differential.admission_checks import COUNT
from kueue_dra_differential.check_answers import answer
from kueue_dra_differential.config_profiles import Step, goes
from kueue_dra_differential.events import (
    Activate,
    Answer,
    Change,
    Common,
    Delete,
    Edit,
    EndPod,
    Event,
    Finish,
    JobEvent,
    Move,
    Offer,
    Open,
    Progress,
    Rank,
    Ready,
    Resize,
    Restart,
    RollOut,
    Submit,
    Touch,
    Worth,
    class_of,
)
from kueue_dra_differential.gated import gated
from kueue_dra_differential.node_fields import HEAVY, PLACES
from kueue_dra_differential.pod_work import POD_KINDS, PodShape, PodWork
from kueue_dra_differential.pods_ready import NO_PODS
from kueue_dra_differential.queue_events import Gate
from kueue_dra_differential.queue_events_manifests import QueueObjects, named
from kueue_dra_differential.queues import GeneratedQueues
from kueue_dra_differential.topologies import NEAR
from kueue_dra_differential.updates import rewritten
from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_workload
from kueue_dra_fixtures.manifests import (
    a_priority_class,
    finished,
    marked,
    with_spec,
)
from kueue_dra_ref.api.admission_checks import READY, RETRY
from kueue_dra_ref.api.elastic_work import ELASTIC
from kueue_dra_ref.api.job_kinds import JOB
from kueue_dra_ref.target import Manifest

MOST_PODS = 20
"""The completions of an elastic Job."""


@dataclass(slots=True, kw_only=True)
class GeneratedScenario:
    """The events of some queues as steps; jobs are named in the order of submission."""

    site: QueueObjects
    events: tuple[Event, ...]
    _jobs: dict[str, Manifest | PodWork] = field(default_factory=dict)
    _made: int = 0
    _succeeded: dict[str, int] = field(default_factory=dict)
    """The succeeded pods of each Job; all of them once it is finished."""

    @property
    def _queues(self) -> GeneratedQueues:
        return self.site.queues

    def steps(self) -> Iterator[Step]:
        """Give the namespace, then the queues and templates, then a step for each event."""
        yield {"apply": [self._queues.space(joined=True)]}
        asked = {
            name
            for event in self.events
            if isinstance(event, Submit)
            for name in event.asks
        }
        templates = [
            self._template(name, like=name)
            for name in self._queues.theme.templates
            if name in asked
        ]
        yield {"apply": [*self._queues.objects(), *templates]}
        for event in self.events:
            yield self._step(event)
            if isinstance(event, Change | Offer):
                # Reconcile inadmissible and pending work.
                yield self._touched()

    def _step(self, event: Event) -> Step:
        match event:
            case Change() | Restart() | Offer() | Worth():
                return self._in_common(event)
            case (
                Submit()
                | Delete()
                | Finish()
                | Progress()
                | Ready()
                | Touch()
                | Answer()
                | Activate()
                | Move()
                | Resize()
                | Rank()
                | Open()
                | EndPod()
                | RollOut()
            ):
                return self._of_a_job(event)
            case Gate(open=False):
                # Kueue may update the condition of pending work, or not (docs/explanation/differences.md).
                return {**self.site.step(event), **self._touched()}
            case _:
                return self.site.step(event)

    def _in_common(self, event: Common) -> Step:
        match event:
            case Change():
                return self._queues.theme.changes[event.number]
            case Restart():
                return {"restart": [event.configuration]}
            case Offer(like=str() as like):
                return {"apply": [self._template(event.name, like=like)]}
            case Offer():
                return goes(
                    "ResourceClaimTemplate",
                    event.name,
                    namespace=self._queues.namespace,
                )
            case Worth():
                return {
                    "apply": [a_priority_class(class_of(event.priority), event.value)]
                }

    def _touched(self) -> Step:
        return {"touch": [ref for made in self._jobs.values() for ref in _refs(made)]}

    def _of_a_job(self, event: JobEvent) -> Step:
        if isinstance(event, Submit):
            return self._submitted(event)
        there = list(self._jobs.values())
        if isinstance(event, Answer):
            return {"answer": [*self._answer(event)]}
        if isinstance(event, EndPod | RollOut):
            there = [made for made in there if isinstance(made, PodWork)]
        found = there[event.job % len(there)] if there else None
        if isinstance(found, PodWork):
            return self._of_pods(found, event)
        return self._of_other_work(event)

    def _of_other_work(self, event: JobEvent) -> Step:
        """Give the step of an event of a Job, of other work that is suspended, or of a Workload."""
        match event:
            case Delete():
                return self._deleted(event.job)
            case Finish():
                return self._as_reported([*self._completed(event.job)])
            case Progress():
                further = self._changed(event.job, "Job", self._further)
                return self._as_reported(further)
            case Ready():
                return {"report": [*self._ready(event)]}
            case Touch():
                return {"touch": [named(made) for made in self._one(event.job)]}
            case Activate() | Move() | Resize() | Rank() | Open():
                return {"apply": self._edited(event)}
        return {"apply": []}

    def _answer(self, event: Answer) -> Iterator[Manifest]:
        """Give the answers of checks for one of the jobs, or for all; for a group of pods there is none.

        None is Retry if the check is for one flavor: whether Kueue drops it before it reserves quota again is chance.
        """
        there = list(self._jobs.values())
        if not there:
            return
        if event.state == RETRY and self._queues.is_for_one_flavor(event.check):
            return
        checks = [event.check]
        works = [there[event.job % len(there)]]
        if event.every and event.state == READY:
            works, checks = there, [*range(COUNT)]
        for made in works:
            work = made.single if isinstance(made, PodWork) else made
            if work is None:
                continue
            for check in checks:
                yield answer(event, work, self._queues.check_name(check))

    def _edited(self, event: Edit) -> list[Manifest]:
        found: list[Manifest] = []
        for made in self._one(event.job):
            found += self._rewritten(made, event)
        return found

    def _of_pods(self, work: PodWork, event: JobEvent) -> Step:
        """Give the step of an event of work that Kueue queues through its pods."""
        if isinstance(event, Delete):
            there = self._jobs.items()
            self._jobs = {name: made for name, made in there if made is not work}
        return work.step(event, self._line)

    def _template(self, name: str, *, like: str) -> Manifest:
        return self._queues.theme.templates[like].manifest(name, self._queues.namespace)

    def _submitted(self, event: Submit) -> Step:
        name = self._next_name()
        namespace = self._queues.namespace
        line = self._line(event.queue)
        if event.kind in POD_KINDS and not event.as_workload:
            pods = self._pods(event).made(name, namespace, line)
            self._jobs[name] = pods
            return pods.submitted()
        meta = {"name": name, "namespace": namespace}
        *others, made = other_work.manifests(self._work(event), meta, line)
        if event.elastic and made["kind"] == JOB.name:
            made = _elastic(made)
        if event.gates:
            made = gated(made, event.gates)
        if event.least is not None:
            made = other_work.with_annotation_of_jobs(made, event.least)
        self._jobs[name] = made
        return {"apply": [*others, made]}

    def _next_name(self) -> str:
        name = f"j{self._made}"
        self._made += 1
        return name

    def _pods(self, event: Submit) -> PodShape:
        return PodShape(
            kind=event.kind,
            shape=self._shape(event),
            priority=event.priority,
            pods=event.pods,
            twice=event.twice,
            fast=event.least is not None,
        )

    def _shape(self, event: Submit) -> dict[str, Any]:
        """Give what each pod requests, and how many there are."""
        theme = self._queues.theme
        cpu = {"cpu": str(event.cpu)} if event.cpu else {}
        runtime = {"runtimeClassName": HEAVY["metadata"]["name"]} if event.heavy else {}
        spec = {**PLACES[event.place], **runtime, **theme.shapes[event.shape]}
        return {
            "requests": {**cpu, **theme.requests(event.asks)},
            "claims": theme.claims(event.asks),
            "spec": spec,
            "annotations": NEAR[event.near],
            "pods": event.pods,
            "least": event.least if event.pods > 1 else None,
        }

    def _work(self, event: Submit) -> Work:
        shape = self._shape(event)
        if not event.as_workload and event.kind != "Job":
            return other_work.work(event.kind, shape, event.priority, twice=event.twice)
        if not event.as_workload:
            return a_job(priority=event.priority, **shape)
        first: dict[str, Any] = {"cpu": "1"}
        if event.twice:
            first = {"requests": shape["requests"], "claims": shape["claims"]}
        return a_workload(
            a_pod_set("first", **first),
            a_pod_set("main", **shape),
            priority=event.priority,
        )

    def _line(self, queue: int) -> str:
        return f"lq{self._queues.local_queue_index(queue)}"

    def _one(self, job: int) -> list[Manifest]:
        """Give one of the jobs that exist, unless Kueue queues it through its pods; empty without any."""
        there = list(self._jobs.values())
        found = there[job % len(there)] if there else None
        return [found] if isinstance(found, dict) else []

    def _deleted(self, job: int) -> Step:
        found = self._one(job)
        for made in found:
            del self._jobs[made["metadata"]["name"]]
        return {"delete": [named(made) for made in found]}

    def _completed(self, job: int) -> Iterator[Manifest]:
        """Give one of the jobs as it is when it has succeeded, if it can."""
        for made in self._one(job):
            if made["kind"] == "Job":
                yield self._done(made)
            elif made["kind"] != "Workload" and (done := other_work.finished(made)):
                yield done

    def _changed(
        self, job: int, kind: str, change: Callable[[Manifest], Manifest]
    ) -> list[Manifest]:
        """Give a change of one of the jobs that exist, if it is of a kind."""
        return [change(made) for made in self._one(job) if made["kind"] == kind]

    def _as_reported(self, works: Sequence[Manifest]) -> Step:
        """Write the status of work; where pods become ready, Jobs that are suspended report nothing."""
        if not any(isinstance(event, Ready) for event in self.events):
            return {"apply": [*works]}
        reports = []
        for each in works:
            if "status" in each:
                reports.append({**named(each), "status": each["status"]})
        return {"report": reports}

    def _ready(self, event: Ready) -> Iterator[Manifest]:
        """Report how many pods of one of the Jobs, or of all, are ready, unless it is finished."""
        works = [*self._jobs.values()] if event.every else self._one(event.job)
        for made in works:
            if isinstance(made, PodWork) or made["kind"] != JOB.name:
                continue
            spec = made["spec"]
            before = self._succeeded.get(made["metadata"]["name"], 0)
            if before < spec["completions"]:
                running = pods_ready.status(spec["parallelism"], before, event)
                yield {**named(made), "status": running}

    def _rewritten(self, made: Manifest, event: Edit) -> Iterator[Manifest]:
        """Give the updated job, if it can be updated so; it keeps a rejected change for the next update."""
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
        return {**made, "status": {**NO_PODS, "succeeded": before + 1}}


def _elastic(job: Manifest) -> Manifest:
    """Let a Job run more pods at a time later."""
    more = with_spec(job, completions=MOST_PODS)
    return marked(more, annotations={ELASTIC: "true"})


def _refs(made: Manifest | PodWork) -> list[Manifest]:
    """Name what a touch of earlier work is for."""
    return made.touched() if isinstance(made, PodWork) else [named(made)]
