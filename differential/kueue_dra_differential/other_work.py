"""Work of other kinds than Jobs in generated scenarios: it is submitted, resized and completed like a Job."""

from __future__ import annotations

from typing import Any

from kueue_dra_differential.pod_work import POD_KINDS
from kueue_dra_fixtures.builders import Work, a_pod_set, work_of
from kueue_dra_fixtures.manifests import LEAST_ANNOTATION, marked
from kueue_dra_fixtures.work_kinds import ENDLESS, a_runtime, a_work_manifest, completed
from kueue_dra_ref.api.job_kind import replaced
from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS, POD, is_in, pod_set_places
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.api.train_jobs import TRAIN_JOB
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.target import Manifest

_FIXED = frozenset({"JobSet", "TrainJob", "AppWrapper", "JAXJob"})
"""Kinds whose size is not changed: their CRDs do not allow it, or their pods are parts of other objects."""
_OF_ONE = frozenset({"JAXJob"})
"""Kinds with one pod set."""


def kinds_of(behaviour: Behaviour) -> tuple[str, ...]:
    """The kinds of a release, those twice that Kueue queues through their pods.

    Jobs come last and thrice, since a draw prefers what comes first.
    """
    found = []
    for kind in JOB_KINDS.values():
        if kind in (JOB, POD):
            continue
        if is_in(kind, behaviour.kueue):
            found.append(kind.name)
    found.reverse()
    jobs = [JOB.name] * 3
    return (*POD_KINDS, *POD_KINDS, *found, *jobs)


THROUGH_PODS = (*POD_KINDS, JOB.name)
"""Jobs, and the kinds that Kueue queues through their pods."""


def work(kind: str, shape: dict[str, Any], priority: int, *, twice: bool) -> Work:
    """Work with a small first pod set and a main one, or with the main one alone."""
    own = dict(shape)
    own.pop("least", None)
    main = a_pod_set("main", **own)
    if kind in _OF_ONE:
        return work_of(kind, main, priority=priority)
    small = a_pod_set("first", cpu="1")
    if twice:
        requests = own["requests"]
        claims = own["claims"]
        small = a_pod_set("first", requests=requests, claims=claims)
    return work_of(kind, small, main, priority=priority)


def manifests(work: Work, meta: Manifest, queue: str) -> list[Manifest]:
    """The work, and before it the runtime that a TrainJob names."""
    made = a_work_manifest(work, meta, queue, {})
    if work.kind != TRAIN_JOB.name:
        return [made]
    runtime = a_runtime(work, meta, {})
    return [runtime, made]


def with_annotation_of_jobs(made: Manifest, least: int) -> Manifest:
    """Other work with the annotation for the fewest pods, which is for Jobs; a Workload has none."""
    if made["kind"] in (JOB.name, "Workload"):
        return made
    return marked(made, annotations={LEAST_ANNOTATION: str(least)})


def finished(made: Manifest) -> Manifest | None:
    """Work that has succeeded; None for a kind that runs until it is deleted."""
    if made["kind"] in ENDLESS:
        return None
    return completed(made)


def resized(made: Manifest, pods: int) -> Manifest | None:
    """Work whose last pod set has another number of pods; None for a kind that keeps its size."""
    kind = made["kind"]
    if kind in _FIXED or kind == JOB.name:
        return None
    if kind == SPARK_APPLICATION.name:
        scaled: Manifest = replaced(made, ("spec", "executor", "instances"), pods)
        return scaled
    last = pod_set_places(made)[-1]
    path = (*last.path[:-1], "replicas")
    changed: Manifest = replaced(made, path, pods)
    return changed
