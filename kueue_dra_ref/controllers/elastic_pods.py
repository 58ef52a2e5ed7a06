"""The pods of elastic work: Kueue removes their scheduling gate, of as many as the work has quota for.

Kueue: pkg/controller/elasticjobs/elastic_job_ungater.go (elasticJobUngater, podsToUngate)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.elastic_work import ELASTIC, annotation
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.metadata import labels_of, owners_of
from kueue_dra_ref.api.ownership import is_owned_by
from kueue_dra_ref.api.queued_pods import is_gated, is_terminated, without_gates
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.rules.jobframework.workload_slices import PodRoom
from kueue_dra_ref.target import Manifest

_BATCH = 1.0
"""Seconds for which Kueue collects new pods."""
_SET = "kueue.x-k8s.io/podset"


class ElasticPods:
    """Starts the pods that a controller has made for elastic work."""

    def __init__(self, kueue: Kueue) -> None:
        self.store = kueue.store
        self.rules = kueue.behaviour.jobs
        self.kueue = kueue

    def on_pod(self, event: Event) -> None:
        """Start the pods of the work that a new pod belongs to, with those that are made at the same time."""
        if event.new is not None and is_gated(event.new, ELASTIC):
            self.kueue.later(_BATCH, partial(self._start_pods_of, event.new))

    def on_workload(self, event: Event) -> None:
        """Start the pods of elastic work whose Workload has changed."""
        if event.new is not None and annotation(event.new, ELASTIC):
            self._start_pods_of(event.new)

    def _start_pods_of(self, owned: Manifest) -> None:
        """Start the pods of the work that owns a pod or a Workload."""
        for owner in _owners(owned):
            is_controller = owner.get("controller")
            if is_controller and owner.get("kind") in JOB_KINDS:
                self._start(owner["uid"])

    def _start(self, uid: str) -> None:
        """Remove the gate from as many pods of work as it may run, in the order of their names."""
        active = self._active(uid)
        if active is None:
            return
        pods: dict[str, list[Manifest]] = defaultdict(list)
        for pod in self._owned("Pod", uid):
            name = _pod_set_of(pod)
            pods[name].append(pod)
        for pod_set in active["spec"]["podSets"]:
            name = pod_set["name"]
            self._start_within(pods[name], pod_set["count"])

    def _start_within(self, pods: list[Manifest], granted: int) -> None:
        gated: list[Manifest] = []
        started: list[Manifest] = []
        for pod in pods:
            group = gated if is_gated(pod, ELASTIC) else started
            group.append(pod)
        ended = sum(map(is_terminated, started))
        room = PodRoom(granted=granted, started=len(started), ended=ended)
        starting = self.rules.start_pods.or_else(0, room)
        gated.sort(key=_name)
        for pod in gated[:starting]:
            changed = without_gates(pod, ELASTIC)
            self.store.put(changed)

    def _active(self, uid: str) -> Manifest | None:
        """Give the admitted Workload of work."""
        for each in self._owned("Workload", uid):
            ended = is_true(each, "Finished") or is_true(each, "Evicted")
            if is_true(each, "Admitted") and not ended:
                return each
        return None

    def _owned(self, kind: str, uid: str) -> list[Manifest]:
        """Give the objects that work controls."""
        found = []
        for each in self.store.every(kind):
            if is_owned_by(each, uid):
                found.append(each)
        return found


def _owners(obj: Manifest) -> Sequence[Manifest]:
    owners: Sequence[Manifest] = owners_of(obj)
    return owners


def _pod_set_of(pod: Manifest) -> str:
    labels = labels_of(pod)
    return str(labels.get(_SET, "main"))


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])
