"""TrainJobs: their pods are those of the JobSet in the runtime that they name, in the size that they ask for.

Kueue: pkg/controller/jobs/trainjob/trainjob_controller.go (TrainJob, getChildJobSet)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.job_kind import (
    JobKind,
    PodSetPlace,
    are_jobs_ready,
    by_condition,
    pods_of_replica,
    spec_of,
    status_of,
)
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.topologies import numbered_in_jobs
from kueue_dra_ref.target import Manifest

Find = Callable[[str, str, str], Manifest | None]
"""Reads an object by kind, name and namespace; None if there is none."""
RUNTIME = "runtime"
"""Where a resolved TrainJob has the replicated jobs of its runtime, with its own values."""
RUNTIME_KINDS = ("TrainingRuntime", "ClusterTrainingRuntime")
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_DEFAULT_KIND = "ClusterTrainingRuntime"
_AMOUNTS = ("limits", "requests")
_TRAINER, _NODE = "trainer", "node"
"""The step that trains, and the container in it, or the replicated job of the nodes of MPI."""
_ONCE = frozenset({_TRAINER, "dataset-initializer", "model-initializer"})
"""The steps that have one replica."""


def replicated_jobs_of(train_job: Manifest) -> list[Manifest]:
    """Give the replicated jobs of a resolved TrainJob; none without its runtime."""
    return train_job.get(RUNTIME) or []


def _places(train_job: Manifest) -> Iterator[PodSetPlace]:
    for index, each in enumerate(replicated_jobs_of(train_job)):
        path = (RUNTIME, index, "template", "spec", "template")
        name = str(each["name"])
        replicas = int(each.get("replicas", 1))
        count = replicas * pods_of_replica(each)
        yield PodSetPlace(
            name=name.lower(),
            count=count,
            path=path,
            numbered=numbered_in_jobs(replicas),
        )


def _is_active(train_job: Manifest) -> bool:
    jobs = status_of(train_job).get("jobsStatus") or ()
    return any(each.get("active") for each in jobs)


def _is_ready(train_job: Manifest) -> bool:
    jobs = replicated_jobs_of(train_job)
    return are_jobs_ready(train_job, jobs, "jobsStatus")


TRAIN_JOB = JobKind(
    name="TrainJob",
    group="trainer.kubeflow.org",
    version="v1alpha1",
    plural="trainjobs",
    framework="trainer.kubeflow.org/trainjob",
    places=_places,
    outcome=by_condition({"Complete": "Succeeded", "Failed": "Failed"}),
    is_active=_is_active,
    is_ready=_is_ready,
    raw=True,
)


def runtime_of(train_job: Manifest, find: Find) -> Manifest | None:
    """Give the runtime that a TrainJob names."""
    spec = spec_of(train_job)
    reference = spec.get("runtimeRef") or {}
    name = reference.get("name", "")
    kind = reference.get("kind") or _DEFAULT_KIND
    meta = train_job["metadata"]
    namespace = meta.get("namespace", "")
    if kind == _DEFAULT_KIND:
        namespace = ""
    return find(kind, name, namespace)


def resolved(job: Manifest, find: Find) -> Manifest:
    """Give a TrainJob with the replicated jobs of its runtime; other work, and one without, as it is."""
    if job.get("kind") != TRAIN_JOB.name:
        return job
    runtime = runtime_of(job, find)
    if runtime is None:
        return job
    spec = spec_of(runtime)
    template = spec.get("template") or {}
    jobs = spec_of(template).get("replicatedJobs") or ()
    size = _Size(
        policy=spec.get("mlPolicy"),
        trainer=spec_of(job).get("trainer") or {},
    )
    return {**job, RUNTIME: [size.applied(each) for each in jobs]}


def unresolved(job: Manifest) -> Manifest:
    """Give a TrainJob as it is stored."""
    if RUNTIME not in job:
        return job
    return {key: value for key, value in job.items() if key != RUNTIME}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How large the replicated jobs of a runtime become."""

    policy: Manifest | None
    """The policy of the runtime."""
    trainer: Manifest
    """What a TrainJob asks for."""

    def applied(self, replicated: Manifest) -> Manifest:
        """Give a replicated job in the size that the TrainJob asks for."""
        template = replicated.get("template") or {}
        step = _step_of(template)
        count = self._count(replicated, step)
        spec = dict(spec_of(template))
        spec["parallelism"] = count
        spec["completions"] = count
        if step == _TRAINER or self._is_other_node(replicated):
            pods = spec.get("template") or {}
            spec["template"] = self._with_resources(pods)
        sized = dict(replicated)
        sized["template"] = {**template, "spec": spec}
        if step in _ONCE:
            sized["replicas"] = 1
        return sized

    @property
    def _mpi(self) -> Manifest | None:
        return (self.policy or {}).get("mpi")

    @property
    def _launches(self) -> bool:
        """Whether the launcher of MPI is a node, too."""
        return bool((self._mpi or {}).get("runLauncherAsNode"))

    def _is_other_node(self, replicated: Manifest) -> bool:
        return self._launches and replicated.get("name") == _NODE

    def _count(self, replicated: Manifest, step: str) -> int:
        """Give the number of pods of each Job of a replicated job."""
        asked = self.trainer.get("numNodes")
        if asked is None or not self._has_nodes(replicated, step):
            return self._default_count(replicated, step)
        if self._launches:
            return max(int(asked) - 1, 1)
        return int(asked)

    def _has_nodes(self, replicated: Manifest, step: str) -> bool:
        """Whether a replicated job has the nodes that a TrainJob asks for."""
        if self._mpi is None:
            return step == _TRAINER
        return replicated.get("name") == _NODE

    def _default_count(self, replicated: Manifest, step: str) -> int:
        """Give the number of pods that the runtime says; the trainer counts one where it says none."""
        template = replicated.get("template") or {}
        count = spec_of(template).get("parallelism", 1)
        if step == _TRAINER and self.policy is not None:
            count = self.policy.get("numNodes", 1)
        return max(int(count), 1)

    def _with_resources(self, template: Manifest) -> Manifest:
        """Give a pod template whose container of the node has the resources that the TrainJob asks for."""
        asked = self.trainer.get("resourcesPerNode") or {}
        own = {key: asked[key] for key in _AMOUNTS if asked.get(key)}
        if not own:
            return template
        spec = dict(spec_of(template))
        containers = []
        for each in spec.get("containers") or ():
            is_node = each.get("name") == _NODE
            containers.append({**each, "resources": own} if is_node else each)
        spec["containers"] = containers
        return {**template, "spec": spec}


def _step_of(template: Manifest) -> str:
    labels = labels_of(template)
    return str(labels.get(_STEP, ""))
