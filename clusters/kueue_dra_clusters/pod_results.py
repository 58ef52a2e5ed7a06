"""Creates the Job of a run in pods, reads the log of each pod that ended, and deletes everything at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from kueue_dra_clusters.api_client import Answer, APIClient
from kueue_dra_clusters.errors import ClusterError
from kueue_dra_clusters.fence_objects import KUEUE
from kueue_dra_clusters.indexed_job import NAME, PodRun
from kueue_dra_clusters.pod_status import (
    image_errors,
    index_of,
    unschedulable,
    why_failed,
)
from kueue_dra_clusters.preflight import RUN_LABEL
from kueue_dra_clusters.waiting import (
    NotYet,
    elapsed_since,
    eventually,
    let_pass,
    moment_now,
)
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref

POLL_SECONDS = 2.0
GONE_SECONDS = 120.0
IMAGE_SECONDS = 60.0
"""For how long an image may fail to arrive, since a registry may be slow or busy."""
ENDED = ("Complete", "Failed")


@dataclass(slots=True, kw_only=True)
class PodResults:
    """The pods of one run, while they exist."""

    run: PodRun
    objects: APIClient
    report: Callable[[str], None]
    """Prints a line of progress."""
    logs: dict[int, str] = field(default_factory=dict)
    """The whole log of each index that succeeded, by its number from 0."""
    failures: dict[int, str] = field(default_factory=dict)
    """Why the last pod of an index failed."""
    _said: str = ""
    _without_image: float | None = None

    def collect(self) -> None:
        """Wait until the Job ends, and read the log of each index as soon as it has succeeded.

        Raises:
            ClusterError: the image does not arrive, or the Job is gone.

        """
        while not self._is_done():
            let_pass(POLL_SECONDS)

    def _is_done(self) -> bool:
        job = self.objects.read(self._ref("batch/v1", "Job"))
        if job is None:
            raise ClusterError(f"the Job of the run in {self.run.name} was deleted")
        pods = self.objects.list(
            "v1", "Pod", self.run.name, labels=f"{RUN_LABEL}={self.run.name}"
        )
        for pod in pods:
            self._take(pod)
        self._insist_on_image(pods)
        self._tell(job, pods)
        return any(is_true(job, condition) for condition in ENDED)

    def _take(self, pod: Manifest) -> None:
        """Read what a pod that ended has left."""
        index = index_of(pod)
        phase = pod["status"].get("phase")
        if phase == "Succeeded" and index not in self.logs:
            self._read_log(index, pod["metadata"]["name"])
        if phase == "Failed":
            self.failures[index] = why_failed(pod)

    def _read_log(self, index: int, name: str) -> None:
        path = f"/api/v1/namespaces/{self.run.name}/pods/{name}/log"
        answer = self.objects.call("GET", path)
        if answer.ok:
            self.logs[index] = answer.message
        else:
            self.failures[index] = f"pod {name}: its log cannot be read: {answer.code}"

    def _insist_on_image(self, pods: list[Manifest]) -> None:
        """Give up when the image has not arrived for a while."""
        waiting = [reason for pod in pods for reason in image_errors(pod)]
        if not waiting:
            self._without_image = None
            return
        self._without_image = self._without_image or moment_now()
        if elapsed_since(self._without_image) > IMAGE_SECONDS:
            raise ClusterError(f"image {self.run.image}: {waiting[0]}")

    def _tell(self, job: Manifest, pods: list[Manifest]) -> None:
        """Print where the run is, when that has changed."""
        phases = [pod["status"].get("phase", "") for pod in pods]
        running, failed = phases.count("Running"), phases.count("Failed")
        line = f"{len(self.logs)} of {self.run.pods} parts done, {running} running"
        if job["spec"].get("suspend"):
            line += f", waiting for quota of ClusterQueue {self.run.queue}"
        if failed:
            line += f", {failed} failed pods"
        for reason in dict.fromkeys(filter(None, map(unschedulable, pods))):
            line += f"; not scheduled: {reason}"
        if line != self._said:
            self.report(line)
            self._said = line

    def _ref(self, api_version: str, kind: str) -> Ref:
        return Ref(
            api_version=api_version, kind=kind, name=NAME, namespace=self.run.name
        )


@contextmanager
def pods_of(
    run: PodRun, objects: APIClient, report: Callable[[str], None]
) -> Iterator[PodResults]:
    """Create the objects of a run; at the end, delete its namespace and wait until it is gone.

    Raises:
        ClusterError: an object is rejected, or the namespace stays.

    """
    if run.queue:
        _insist_on_queue(run.queue, objects)
    namespace, *others = run.manifests()
    _create(namespace, objects)
    try:
        for manifest in others:
            _create(manifest, objects)
        report(f"pods in namespace {run.name}, image {run.image}")
        yield PodResults(run=run, objects=objects, report=report)
    finally:
        _remove(run, objects, report)


def _create(manifest: Manifest, objects: APIClient) -> None:
    answer = objects.create(manifest)
    if not answer.ok:
        raise _rejected(f"create {manifest['kind']}", answer)


def _insist_on_queue(name: str, objects: APIClient) -> None:
    """Reject a ClusterQueue that does not exist: its Job would wait forever."""
    ref = Ref(api_version=KUEUE, kind="ClusterQueue", name=name)
    if not objects.serves(ref):
        raise ClusterError(f"--queue {name}: the cluster has no Kueue with {KUEUE}")
    answer = objects.call("GET", objects.path(ref))
    if answer.code == HTTPStatus.NOT_FOUND:
        raise ClusterError(f"--queue {name}: found no ClusterQueue of that name")


def _remove(run: PodRun, objects: APIClient, report: Callable[[str], None]) -> None:
    """Delete the Job, then the namespace, and wait until it is gone."""
    namespace = Ref(api_version="v1", kind="Namespace", name=run.name)
    job = Ref(api_version="batch/v1", kind="Job", name=NAME, namespace=run.name)
    report(f"deleting namespace {run.name}")
    # Pods of a Job that goes together with its namespace may keep the Job controller's finalizer.
    objects.call("DELETE", objects.path(job), {"propagationPolicy": "Foreground"})
    _await_gone(job, objects)
    objects.delete(namespace)
    _await_gone(namespace, objects)


def _await_gone(ref: Ref, objects: APIClient) -> None:
    def gone() -> None:
        if objects.read(ref) is not None:
            raise NotYet("it still exists")

    eventually(
        gone, within=GONE_SECONDS, every=0.5, at_most=1.0, what=f"{ref} to be gone"
    )


def _rejected(did: str, answer: Answer) -> ClusterError:
    first = (answer.message.splitlines() or [""])[0]
    return ClusterError(f"{did}: {answer.code} {first}")
