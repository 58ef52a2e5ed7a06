"""Work that Kueue queues through its pods in generated scenarios: pods, groups of pods, and what makes pods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_differential.config_profiles import Step
from kueue_dra_differential.events import (
    Delete,
    EndPod,
    Finish,
    JobEvent,
    Move,
    Rank,
    Resize,
    RollOut,
    Touch,
    class_of,
)
from kueue_dra_differential.queue_events_manifests import named
from kueue_dra_fixtures.builders import a_pod_set, work_of
from kueue_dra_fixtures.manifests import (
    PRIORITY_LABEL,
    QUEUE_LABEL,
    marked,
    with_spec,
)
from kueue_dra_fixtures.pod_owners import an_owner_manifest
from kueue_dra_fixtures.work_kinds import a_work_manifest
from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.api.pod_owners import (
    DEPLOYMENT,
    LEADER_WORKER_SET,
    POD_OWNERS,
    made_pods,
)
from kueue_dra_ref.api.queued_pods import FAST, GROUP, MANAGED, TOTAL
from kueue_dra_ref.target import Manifest

POD_KINDS = (POD.name, *POD_OWNERS)
"""The kinds that Kueue queues through their pods."""
DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodShape:
    """What is submitted: pods of one shape, or with a first one that is small."""

    kind: str
    shape: dict[str, Any]
    priority: int
    pods: int
    twice: bool
    """Whether the first pod has the same shape."""
    fast: bool
    """Whether a group is admitted with its first pod, and its others come later."""

    def made(self, name: str, namespace: str, queue: str) -> PodWork:
        """Write the work."""
        meta = {"name": name, "namespace": namespace}
        pod = self._pod(meta, queue, self._main)
        first = pod if self.twice else self._pod(meta, queue, {"cpu": "1"})
        if self.kind == POD.name:
            return self._as_pods(first, pod)
        leader = None if self.twice else first
        owner = an_owner_manifest(
            self.kind,
            pod,
            leader=leader,
            replicas=min(self.pods, _most_replicas(self.kind)),
            size=2,
        )
        return PodWork(owner=owner)

    @property
    def _main(self) -> dict[str, Any]:
        own = dict(self.shape)
        for key in ("least", "pods"):
            own.pop(key, None)
        return own

    def _pod(self, meta: Manifest, queue: str, shape: dict[str, Any]) -> Manifest:
        pods = a_pod_set("main", **shape)
        work = work_of(POD.name, pods, priority=self.priority)
        return a_work_manifest(work, meta, queue, {})

    def _as_pods(self, first: Manifest, pod: Manifest) -> PodWork:
        """Write a pod alone, or a group of pods."""
        if self.pods == 1:
            return PodWork(pods=[pod])
        name = pod["metadata"]["name"]
        annotations = {TOTAL: str(self.pods)}
        if self.fast:
            annotations[FAST] = "true"
        written = []
        for number in range(self.pods):
            one = pod if number else first
            one = _renamed(one, f"{name}-{number}")
            written.append(marked(one, {GROUP: name}, annotations))
        if self.fast:
            return PodWork(pods=written[:1], later=written[1:])
        return PodWork(pods=written)


@dataclass(slots=True, kw_only=True)
class PodWork:
    """One piece of such work, as it was written last."""

    owner: Manifest | None = None
    """What makes the pods."""
    pods: list[Manifest] = field(default_factory=list)
    """A pod alone, or those of a group."""
    later: list[Manifest] = field(default_factory=list)
    """The pods of a group that are still to be created."""
    replacements: int = 0

    @property
    def objects(self) -> Sequence[Manifest]:
        """What users have written."""
        return self.pods if self.owner is None else [self.owner]

    @property
    def every_pod(self) -> Sequence[Manifest]:
        """The pods that belong to it, existing or not."""
        if self.owner is None:
            return self.pods
        meta = {**self.owner["metadata"], "uid": ""}
        return made_pods({**self.owner, "metadata": meta})

    @property
    def single(self) -> Manifest | None:
        """The pod alone; None for a group, and for what makes pods."""
        every = [*self.pods, *self.later]
        is_alone = self.owner is None and len(every) == 1
        return every[0] if is_alone else None

    def submitted(self) -> Step:
        """Give the step that creates the work, and the pods of what makes pods."""
        return self._with_pods(self.objects)

    def step(self, event: JobEvent, queue: Callable[[int], str]) -> Step:
        """Give the step of an event, ``queue`` naming LocalQueues."""
        match event:
            case Touch():
                return {"touch": self.touched()}
            case Delete():
                return {"delete": [named(each) for each in self.objects]}
            case Finish():
                return self._completed()
            case EndPod():
                return self._ended(event.pod, event.how)
            case RollOut():
                return self._rolled_out()
        return self._edited(event, queue)

    def _edited(self, event: JobEvent, queue: Callable[[int], str]) -> Step:
        match event:
            case Resize():
                return self._resized(event.pods)
            case Move():
                return self._relabelled({QUEUE_LABEL: queue(event.queue)})
            case Rank():
                named_class = class_of(event.priority) if event.priority else None
                return self._relabelled({PRIORITY_LABEL: named_class})
        return {"apply": []}

    def touched(self) -> list[Manifest]:
        """Name what a touch is for."""
        if self.owner is None or self.owner["kind"] == DEPLOYMENT.name:
            return [named(pod) for pod in self.every_pod]
        return [named(self.owner)]

    def _completed(self) -> Step:
        """Give the step in which each pod succeeds; what makes pods runs until it is deleted."""
        if self.owner is not None:
            return {"apply": []}
        return {"report": [_report(pod, "Succeeded") for pod in self.pods]}

    def _ended(self, number: int, how: str) -> Step:
        """Give the step in which one pod ends or is deleted."""
        pods = self.every_pod
        if not pods:
            return {"apply": []}
        pod = pods[number % len(pods)]
        if how == DELETED:
            return {"delete": [named(pod)]}
        return {"report": [_report(pod, how)]}

    def _rolled_out(self) -> Step:
        """Give the step in which pods are created that were lost, or are still to come."""
        if self.owner is not None:
            return self._with_pods(())
        if len(self.pods) + len(self.later) == 1:
            return self._relabelled({})
        if self.later:
            pod = self.later.pop(0)
        else:
            self.replacements += 1
            last = self.pods[-1]
            group = last["metadata"]["labels"][GROUP]
            pod = _renamed(last, f"{group}-r{self.replacements}")
        self.pods.append(pod)
        return {"apply": [pod]}

    def _resized(self, pods: int) -> Step:
        """Give the step that scales what makes pods; a group keeps its size."""
        if self.owner is None:
            return {"apply": []}
        most = _most_replicas(self.owner["kind"])
        self.owner = with_spec(self.owner, replicas=pods % (most + 1))
        return self._with_pods([self.owner])

    def _relabelled(self, labels: dict[str, str | None]) -> Step:
        """Give the step that changes labels of what was written; a pod keeps the label that Kueue gave it."""
        if self.owner is None:
            labels = {**labels, MANAGED: "true"}
        changed = [marked(each, labels) for each in self.objects]
        if self.owner is None:
            self.pods = changed
        else:
            (self.owner,) = changed
        return {"apply": changed}

    def _with_pods(self, applied: Sequence[Manifest]) -> Step:
        step: dict[str, Any] = {"apply": [*applied]}
        if self.owner is not None:
            step["rollOut"] = [named(self.owner)]
        return step


def _most_replicas(kind: str) -> int:
    """How many replicas are drawn: Kueue leaves to chance whether it tries the equal groups of one object apart."""
    return 1 if kind == LEADER_WORKER_SET.name else 2


def _renamed(pod: Manifest, name: str) -> Manifest:
    return {**pod, "metadata": {**pod["metadata"], "name": name}}


def _report(pod: Manifest, phase: str) -> Manifest:
    return {**named(pod), "phase": phase}
