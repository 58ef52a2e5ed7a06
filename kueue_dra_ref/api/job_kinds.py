"""The kinds of work that Kueue queues: where each has its pod templates and counts, and what says how it stands.

A new kind is an entry of the table `JOB_KINDS`, and the function that lists its pod sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api import queued_pods
from kueue_dra_ref.api.app_wrapper import app_wrapper
from kueue_dra_ref.api.job_kind import (
    MAIN,
    JobKind,
    PodSetPlace,
    are_jobs_ready,
    by_condition,
    has_condition,
    part_at,
    pods_of_job,
    pods_of_replica,
    replaced,
    spec_of,
    status_of,
    template_of,
)
from kueue_dra_ref.api.jobs import LEAST_ANNOTATION
from kueue_dra_ref.api.metadata import annotations_of, owners_of
from kueue_dra_ref.api.ray_kinds import RAY_CLUSTER, RAY_JOB, RAY_KINDS
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.api.topologies import (
    JOB_PODS,
    TRAINING_PODS,
    numbered_by,
    numbered_in_jobs,
)
from kueue_dra_ref.api.train_jobs import TRAIN_JOB
from kueue_dra_ref.target import Manifest


def _of_job(job: Manifest) -> Iterator[PodSetPlace]:
    count = pods_of_job(spec_of(job))
    numbered = numbered_by(JOB_PODS)
    path = ("spec", "template")
    yield PodSetPlace(name=MAIN, count=count, path=path, numbered=numbered)


def replicated_jobs(job_set: Manifest) -> Sequence[Manifest]:
    """Give the replicated jobs of a JobSet."""
    found = spec_of(job_set).get("replicatedJobs") or ()
    return [each or {} for each in found]


def succeeded_jobs(job_set: Manifest) -> Iterator[tuple[Manifest, int]]:
    """Give each replicated job of a JobSet, and the number of its Jobs that have succeeded."""
    reported = status_of(job_set).get("replicatedJobsStatus") or ()
    succeeded = {each["name"]: each["succeeded"] for each in reported}
    for each in replicated_jobs(job_set):
        yield each, succeeded.get(each["name"], 0)


def _of_job_set(job_set: Manifest) -> Iterator[PodSetPlace]:
    for index, each in enumerate(replicated_jobs(job_set)):
        jobs = int(each.get("replicas", 1))
        yield PodSetPlace(
            name=str(each.get("name") or MAIN).lower(),
            count=jobs * pods_of_replica(each),
            path=("spec", "replicatedJobs", index, "template", "spec", "template"),
            numbered=numbered_in_jobs(jobs),
        )


def _of_replicas(
    field: str, types: Sequence[str]
) -> Callable[[Manifest], Iterator[PodSetPlace]]:
    """List pod sets by replica type, in the order of the types."""

    def places(job: Manifest) -> Iterator[PodSetPlace]:
        specs = spec_of(job).get(field) or {}
        for each in types:
            if specs.get(each) is not None:
                yield PodSetPlace(
                    name=each.lower(),
                    count=int(specs[each].get("replicas", 1)),
                    path=("spec", field, each, "template"),
                    numbered=numbered_by(TRAINING_PODS),
                )

    return places


def _has_active_replicas(job: Manifest) -> bool:
    statuses = status_of(job).get("replicaStatuses") or {}
    return any(each.get("active") for each in statuses.values())


def _of_pod(_: Manifest) -> Iterator[PodSetPlace]:
    """Give a pod as the only pod set: it is its own template."""
    yield PodSetPlace(name=MAIN, count=1, path=())


def _is_pod_active(_: Manifest) -> bool:
    """Kueue does not wait for a pod that it has deleted."""
    return False


def _is_job_active(job: Manifest) -> bool:
    return bool(status_of(job).get("active"))


def _is_job_ready(job: Manifest) -> bool:
    status = status_of(job)
    uncounted = status.get("uncountedTerminatedPods") or {}
    done = int(status.get("succeeded") or 0) + len(uncounted.get("succeeded") or ())
    ready = int(status.get("ready") or 0)
    return done + ready >= pods_of_job(spec_of(job))


def _is_job_set_ready(job_set: Manifest) -> bool:
    jobs = replicated_jobs(job_set)
    return are_jobs_ready(job_set, jobs, "replicatedJobsStatus")


def _is_job_set_active(job_set: Manifest) -> bool:
    replicated = status_of(job_set).get("replicatedJobsStatus") or ()
    return any(each.get("active") for each in replicated)


JOB = JobKind(
    name="Job",
    group="batch",
    version="v1",
    plural="jobs",
    framework="batch/job",
    places=_of_job,
    outcome=by_condition({"Complete": "Succeeded", "Failed": "Failed"}),
    is_active=_is_job_active,
    is_ready=_is_job_ready,
)
JOB_SET = JobKind(
    name="JobSet",
    group="jobset.x-k8s.io",
    version="v1alpha2",
    plural="jobsets",
    framework="jobset.x-k8s.io/jobset",
    places=_of_job_set,
    outcome=by_condition({"Completed": "Succeeded", "Failed": "Failed"}),
    is_active=_is_job_set_active,
    is_ready=_is_job_set_ready,
)


def _training_job(name: str, field: str, types: str, *, version: str = "v1") -> JobKind:
    """Describe a job of Kubeflow, whose pods are listed by replica type."""
    return JobKind(
        name=name,
        group="kubeflow.org",
        version=version,
        plural=f"{name.lower()}s",
        framework=f"kubeflow.org/{name.lower()}",
        places=_of_replicas(field, types.split()),
        outcome=by_condition({"Succeeded": "Succeeded", "Failed": "Failed"}),
        is_active=_has_active_replicas,
        is_ready=has_condition("Running"),
        suspend=("spec", "runPolicy", "suspend"),
        priority=("spec", "runPolicy", "schedulingPolicy", "priorityClass"),
    )


TRAINING = (
    _training_job("PyTorchJob", "pytorchReplicaSpecs", "Master Worker"),
    _training_job("TFJob", "tfReplicaSpecs", "Chief Master PS Worker Evaluator"),
    _training_job("XGBoostJob", "xgbReplicaSpecs", "Master Worker"),
    _training_job("PaddleJob", "paddleReplicaSpecs", "Master Worker"),
    _training_job("JAXJob", "jaxReplicaSpecs", "Worker"),
    _training_job("MPIJob", "mpiReplicaSpecs", "Launcher Worker", version="v2beta1"),
)
"""The jobs of Kubeflow."""
POD = JobKind(
    name=queued_pods.POD,
    group="",
    version="v1",
    plural="pods",
    framework=queued_pods.FRAMEWORK,
    places=_of_pod,
    outcome=queued_pods.outcome_of,
    is_active=_is_pod_active,
    is_ready=has_condition("Ready"),
    gated=True,
)
_WRAPPED = (JOB, JOB_SET, TRAINING[0], RAY_CLUSTER, RAY_JOB)
"""The kinds of work whose pods an AppWrapper knows without a declaration."""
WRAPPER = app_wrapper({each.name: each for each in _WRAPPED})
JOB_KINDS: Mapping[str, JobKind] = {
    each.name: each
    for each in (
        JOB,
        JOB_SET,
        *TRAINING,
        *RAY_KINDS,
        WRAPPER,
        TRAIN_JOB,
        SPARK_APPLICATION,
        POD,
    )
}
"""Every kind of work that the reference queues, by its name."""
SUBMITTED = frozenset({*JOB_KINDS, *queued_pods.THROUGH_PODS, "Workload"})
"""The kinds that users submit to a queue."""


def is_in(kind: JobKind, release: str) -> bool:
    """Whether a minor of Kueue has a kind, such as 0.19; an empty one is that of a text."""
    if not kind.since:
        return True
    return bool(release) and _minor(release) >= _minor(kind.since)


def _minor(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def pod_set_places(job: Manifest) -> Sequence[PodSetPlace]:
    """Give the pod sets of an object of one of these kinds."""
    return tuple(JOB_KINDS[job["kind"]].places(job))


def is_of(job: Manifest, *kinds: JobKind) -> bool:
    """Whether work is of one of some kinds."""
    name = job.get("kind", JOB.name)
    for kind in kinds:  # noqa: SIM110 - asked for each kind of work that a rule is about; a generator costs as much
        if kind.name == name:
            return True
    return False


def fewest_pods_of(job: Manifest) -> str | None:
    """Give the annotation of the fewest pods that a Job runs with; None without it, and for work of other kinds."""
    if not is_of(job, JOB):
        return None
    return annotations_of(job).get(LEAST_ANNOTATION)


def pod_sets_of(job: Manifest) -> list[dict[str, Any]]:
    """Give a pod set for each pod template of work, as it is written."""
    return [
        {
            "name": place.name,
            "count": place.count,
            "template": {"spec": {}, **template_of(job, place)},
        }
        for place in pod_set_places(job)
    ]


def is_active(job: Manifest) -> bool:
    """Whether pods of an object are active, according to its status."""
    kind = JOB_KINDS.get(job.get("kind", JOB.name), JOB)
    return kind.is_active(job)


def is_ready(job: Manifest) -> bool:
    """Whether all pods of an object are ready, according to its status."""
    return JOB_KINDS[job["kind"]].is_ready(job)


def is_suspended(job: Manifest) -> bool:
    """Whether an object is suspended."""
    kind = JOB_KINDS[job["kind"]]
    if kind.gated:
        return queued_pods.is_held(job)
    return bool(part_at(job, kind.suspend))


def with_suspend(job: Manifest, suspended: bool) -> Manifest:
    """Copy an object that is suspended, or that is not."""
    changed: Manifest = replaced(job, JOB_KINDS[job["kind"]].suspend, suspended)
    return changed


def priority_class_of(job: Manifest) -> str:
    """Name the PriorityClass of an object, or of its first pod set that has one; empty without any."""
    named = part_at(job, JOB_KINDS[job["kind"]].priority) if _names_class(job) else ""
    if named:
        return str(named)
    for place in pod_set_places(job):
        spec = template_of(job, place).get("spec") or {}
        if name := spec.get("priorityClassName"):
            return str(name)
    return ""


def _names_class(job: Manifest) -> bool:
    return bool(JOB_KINDS[job["kind"]].priority)


def owner_of(workload: Manifest) -> tuple[str, str] | None:
    """Give kind and name of the object that owns a Workload; None without one of these kinds."""
    for owner in owners_of(workload):
        if isinstance(owner, dict) and owner.get("kind") in JOB_KINDS:
            return str(owner["kind"]), str(owner.get("name", ""))
    return None
