"""Turns the drawn events of a manager of MultiKueue and its workers into steps of manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kueue_dra_differential.config_profiles import Step
from kueue_dra_differential.dispatch_events import (
    MANAGER,
    Amount,
    ClusterEvent,
    Complete,
    Dispatch,
    DispatchEvent,
    Halt,
    JobEvent,
    Lose,
    Pods,
    Prefer,
    Provide,
    Rejoin,
    Respond,
    Switch,
    Use,
    Withdraw,
)
from kueue_dra_differential.dispatch_site import DispatchSite
from kueue_dra_differential.queue_events_manifests import named
from kueue_dra_fixtures.builders import (
    NamedTemplate,
    Template,
    a_job,
    a_pod_set,
    work_of,
)
from kueue_dra_fixtures.manifests import KUEUE, PRIORITY_LABEL, marked
from kueue_dra_fixtures.work_kinds import a_work_manifest, completed
from kueue_dra_ref.api.job_kinds import JOB
from kueue_dra_ref.scenarios.scenario import WORKER_NAMES
from kueue_dra_ref.target import Manifest

NOT_THERE = "not-there"
"""A Secret that does not exist."""
ANY_HASH = "00000"
NOTHING: Step = {"apply": []}


@dataclass(slots=True, kw_only=True)
class DispatchScenario:
    """The events of one manager and its workers as steps; jobs are named in the order of submission.

    No other scenario has those names: a playback finds Workloads by the part of their name before the hash.
    """

    site: DispatchSite
    templates: Mapping[str, Template]
    events: Sequence[DispatchEvent | None]
    """None for nothing."""
    _jobs: dict[str, Manifest] = field(default_factory=dict)
    _offered: dict[str, list[bool]] = field(default_factory=dict)
    """Which clusters have the claim template of a job."""
    _made: int = 0

    def steps(self) -> Iterator[Step]:
        """Give the objects of all clusters, then a step for each event."""
        objects = []
        for cluster in range(3):
            own = [*self.site.objects(cluster)]
            objects.append(own)
        yield self._on_each(objects)
        for event in self.events:
            yield NOTHING if event is None else self._step(event)

    def _on_each(self, applied: list[list[Manifest]]) -> Step:
        """Give the step that applies some objects on each cluster."""
        own, *others = applied
        parts = {}
        for name, objects in zip(WORKER_NAMES, others, strict=True):
            if objects:
                parts[name] = {"apply": objects}
        return {"apply": own, "workers": parts} if parts else {"apply": own}

    def _on(self, cluster: int, **verbs: list[Manifest]) -> Step:
        """Give a step for one cluster."""
        if cluster == MANAGER:
            return verbs
        name = WORKER_NAMES[cluster - 1]
        return {**NOTHING, "workers": {name: verbs}}

    def _step(self, event: DispatchEvent) -> Step:
        match event:
            case Dispatch():
                return self._dispatched(event)
            case Provide():
                return self._provided(event)
            case Pods(active=active):
                return self._reported(self._running(active))
            case Lose() | Rejoin() | Amount() | Halt() | Use():
                return self._of_a_cluster(event)
        job = self._one(event.job)
        return NOTHING if job is None else self._of_a_job(job, event)

    def _of_a_cluster(self, event: ClusterEvent) -> Step:
        match event:
            case Lose(worker=worker, how=how):
                return self._lost(worker, how)
            case Rejoin(worker=worker):
                return self._rejoined(worker)
            case Amount(cluster=cluster, nominal=nominal):
                return self._requeued(cluster, nominal=nominal)
            case Halt(cluster=cluster, policy=policy):
                return self._requeued(cluster, policy=policy)
            case Use(workers=workers):
                self.site.used = workers
                return {"apply": [self.site.config()]}

    def _requeued(self, cluster: int, **fields: Any) -> Step:
        queues = self.site.queues
        before = queues[cluster]
        queues[cluster] = replace(before, **fields)
        changed = self.site.queue(cluster)
        return self._on(cluster, apply=[changed])

    def _lost(self, worker: int, how: str) -> Step:
        if worker in self.site.lost:
            return NOTHING
        self.site.lost[worker] = how
        if how == "renamed":
            cluster = self.site.cluster(worker, NOT_THERE)
            return {"apply": [cluster]}
        gone = self.site.cluster(worker)
        if how == "secret":
            gone = self.site.secret(worker)
        return {"delete": [named(gone)]}

    def _rejoined(self, worker: int) -> Step:
        how = self.site.lost.pop(worker, "")
        back = self.site.cluster(worker)
        if how == "secret":
            back = self.site.secret(worker)
        return {"apply": [back]}

    def _dispatched(self, event: Dispatch) -> Step:
        name = f"j{self._made}{self.site.mark}"
        template = _template_of(name)
        self._made += 1
        job = self._job(name, template, event)
        self._jobs[name] = job
        self._offered[name] = []
        applied: list[list[Manifest]] = []
        for like in event.offered:
            found: list[Manifest] = []
            if like is not None and event.claims:
                offered = self._template(template, like)
                found.append(offered)
            is_there = bool(found) or not event.claims
            self._offered[name].append(is_there)
            applied.append(found)
        applied[MANAGER].append(job)
        return self._on_each(applied)

    def _job(self, name: str, template: str, event: Dispatch) -> Manifest:
        meta = {"name": name, "namespace": self.site.namespace}
        pods: dict[str, Any] = {
            "pods": event.pods,
            "cpu": str(event.cpu),
        }
        if event.claims:
            pods["claims"] = [NamedTemplate(name=template)]
        if event.kind == JOB.name:
            work = a_job(priority=event.priority, **pods)
        else:
            pod_set = a_pod_set("main", **pods)
            work = work_of(event.kind, pod_set, priority=event.priority)
        return a_work_manifest(work, meta, "lq", {})

    def _template(self, name: str, like: str) -> Manifest:
        namespace = self.site.namespace
        template = self.templates[like]
        return template.manifest(name, namespace)

    def _provided(self, event: Provide) -> Step:
        job = self._one(event.job)
        if job is None:
            return NOTHING
        name = job["metadata"]["name"]
        if self._offered[name][event.cluster]:
            return NOTHING
        self._offered[name][event.cluster] = True
        template = self._template(_template_of(name), event.like)
        # Kueue tries inadmissible work again at times of its own.
        return self._on(event.cluster, apply=[template], touch=[named(job)])

    def _of_a_job(self, job: Manifest, event: JobEvent) -> Step:
        name = job["metadata"]["name"]
        match event:
            case Withdraw():
                del self._jobs[name]
                return {"delete": [named(job)]}
            case Complete():
                status = completed(job)["status"]
                if job["kind"] == JOB.name:
                    status = {"active": 0, **status}
                return self._reported([{**named(job), "status": status}])
            case Prefer(priority=priority):
                label = f"priority-{priority}" if priority else None
                changed = marked(job, labels={PRIORITY_LABEL: label})
                self._jobs[name] = changed
                return {"apply": [changed]}
            case Switch() | Respond():
                return self._of_a_workload(job, event)
        return NOTHING

    def _of_a_workload(self, job: Manifest, event: Switch | Respond) -> Step:
        match event:
            case Switch(active=active, cluster=cluster):
                change = _workload_of(job, active=active)
                return self._on(cluster, change=[change])
            case Respond(worker=worker, state=state):
                answer = {**named(job), "check": self.site.own_check, "state": state}
                return self._on(worker, answer=[answer])

    def _running(self, active: int) -> list[Manifest]:
        """Give the reports of the pods of each Job."""
        found = []
        for job in self._jobs.values():
            if job["kind"] == JOB.name:
                report = {**named(job), "status": {"active": active}}
                found.append(report)
        return found

    def _reported(self, reports: list[Manifest]) -> Step:
        """Report statuses on each worker: one of them has a copy that runs, or none."""
        parts = {}
        for name in WORKER_NAMES:
            parts[name] = {"report": reports}
        return {**NOTHING, "workers": parts}

    def _one(self, job: int) -> Manifest | None:
        there = list(self._jobs.values())
        return there[job % len(there)] if there else None


def _template_of(name: str) -> str:
    """Name the claim template of a job."""
    return f"t{name[1:]}"


def _workload_of(job: Manifest, **spec: Any) -> Manifest:
    """Give a change of the Workload of a job; a playback puts the hash of each cluster into its name."""
    meta = job["metadata"]
    kind = job["kind"].lower()
    name = f"{kind}-{meta['name']}-{ANY_HASH}"
    return {
        "apiVersion": KUEUE,
        "kind": "Workload",
        "metadata": {"name": name, "namespace": meta["namespace"]},
        "spec": spec,
    }
