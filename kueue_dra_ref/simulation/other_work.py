"""Work that Kueue queues and that the simulation does not admit: its queue, and its pod templates.

Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (Reconciler)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.unstructured import part
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class PodTemplate:
    """A pod template of an object, and the number of pods that it makes."""

    count: int
    template: Manifest


PodTemplates = Callable[[Manifest], Iterator[PodTemplate]]


def queue_label(manifest: Manifest) -> str:
    """Give the queue that an object names for its pods, itself or in the template of its Jobs or pods."""
    spec = part(manifest, "spec")
    for holder in (manifest, part(spec, "jobTemplate"), part(spec, "template")):
        labels = part(part(holder, "metadata"), "labels")
        queue = labels.get(QUEUE_LABEL)
        if isinstance(queue, str) and queue:
            return queue
    return ""


def pod_templates(kind: tuple[str, str], manifest: Manifest) -> list[PodTemplate]:
    """Give the pod templates of an object; none where the object alone does not say them."""
    found = WORK_KINDS[kind]
    return [each for each in found(manifest) if each.template and each.count > 0]


def _replicas(manifest: Manifest) -> Iterator[PodTemplate]:
    spec = part(manifest, "spec")
    count = _count(spec, "replicas")
    yield PodTemplate(count=count, template=part(spec, "template"))


def _cron_job(manifest: Manifest) -> Iterator[PodTemplate]:
    job = part(part(manifest, "spec"), "jobTemplate")
    yield _of_job(job, times=1)


def _of_job(job: Manifest, times: int) -> PodTemplate:
    spec = part(job, "spec")
    parallelism = _count(spec, "parallelism")
    completions = _count(spec, "completions", default=parallelism)
    pods = min(parallelism, completions)
    return PodTemplate(count=pods * times, template=part(spec, "template"))


def _unreadable(_: Manifest) -> Iterator[PodTemplate]:
    """Give nothing: another object, or a controller, decides what the pods are."""
    yield from ()


WORK_KINDS: Mapping[tuple[str, str], PodTemplates] = {
    ("apps", "ReplicaSet"): _replicas,
    ("apps", "DaemonSet"): _unreadable,
    ("batch", "CronJob"): _cron_job,
}
"""By group and kind, how the pod templates of work are found that names a queue."""
OF_OTHER_WORK = frozenset(
    {
        ("apps", "ReplicaSet"),
        ("apps", "DaemonSet"),
        ("batch", "CronJob"),
    }
)
"""Kinds without a Workload of their own: Kueue queues the pods, Jobs or clusters that they make."""


def _count(holder: Manifest, key: str, default: int = 1) -> int:
    """Give a count of a manifest that may be malformed."""
    value = holder.get(key)
    return value if isinstance(value, int) and value >= 0 else default
