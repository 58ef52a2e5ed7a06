"""The kinds of work that Kueue queues: where each has its pod templates and counts, and what says how it stands.

A new kind is an entry of the table `JOB_KINDS`, and the function that lists its pod sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api import queued_pods
from kueue_dra_ref.target import Manifest

Path = tuple[str | int, ...]
"""The keys and indexes that lead to a part of an object."""
MAIN = "main"
"""The name of a pod set that has none."""
Outcome = tuple[str, str]
"""The reason and the message of finished work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetPlace:
    """One pod set of an object: its name, its number of pods, and where its template is."""

    name: str
    count: int
    path: Path

    @property
    def pod_path(self) -> str:
        """The path of the pod spec, as Kubernetes prints it."""
        shown = ""
        for key in self.path:
            shown += f"[{key}]" if isinstance(key, int) else f".{key}"
        return f"{shown}.spec".removeprefix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind:
    """One kind of work."""

    name: str
    group: str
    version: str
    plural: str
    framework: str
    """Its name among the integrations of a Configuration."""
    places: Callable[[Manifest], Iterator[PodSetPlace]]
    """Gives its pod sets, in the order of the Workload."""
    outcome: Callable[[Manifest], Outcome | None]
    """With which reason and message its status finishes its Workload."""
    is_active: Callable[[Manifest], bool]
    """Whether its status says that pods are active."""
    suspend: tuple[str, ...] = ("spec", "suspend")
    """The field with which Kueue suspends it."""
    priority: tuple[str, ...] = ()
    """The field that names its PriorityClass, before those of its pods; empty for none."""
    gated: bool = False
    """Whether Kueue holds it by a scheduling gate, as it does with pods, and not by a field that suspends it."""

    @property
    def api_version(self) -> str:
        """The version that Kueue reads."""
        return f"{self.group}/{self.version}".removeprefix("/")


def spec_of(obj: Manifest) -> Manifest:
    """Give the spec of an object; empty without one."""
    found: Manifest = obj.get("spec") or {}
    return found


def pods_of_job(spec: Manifest) -> int:
    """Give how many pods of a Job run in parallel."""
    parallel = spec.get("parallelism", 1)
    completions = spec.get("completions")
    if completions is not None:
        parallel = min(parallel, completions)
    return int(parallel)


def _of_job(job: Manifest) -> Iterator[PodSetPlace]:
    count = pods_of_job(spec_of(job))
    yield PodSetPlace(name=MAIN, count=count, path=("spec", "template"))


def replicated_jobs(job_set: Manifest) -> Sequence[Manifest]:
    """Give the replicated jobs of a JobSet."""
    found = spec_of(job_set).get("replicatedJobs") or ()
    return [each or {} for each in found]


def pods_of_replica(replicated: Manifest) -> int:
    """Give how many pods of each Job of a replicated job run in parallel."""
    job = replicated.get("template") or {}
    return pods_of_job(job.get("spec") or {})


def _of_job_set(job_set: Manifest) -> Iterator[PodSetPlace]:
    for index, each in enumerate(replicated_jobs(job_set)):
        yield PodSetPlace(
            name=str(each.get("name") or MAIN).lower(),
            count=int(each.get("replicas", 1)) * pods_of_replica(each),
            path=("spec", "replicatedJobs", index, "template", "spec", "template"),
        )


def _status(obj: Manifest) -> Manifest:
    found: Manifest = obj.get("status") or {}
    return found


def _by_condition(
    reasons: Mapping[str, str],
) -> Callable[[Manifest], Outcome | None]:
    """Read the outcome of conditions: the reason by the type of the first that is true."""

    def outcome(obj: Manifest) -> Outcome | None:
        for condition in _status(obj).get("conditions") or ():
            reason = reasons.get(condition.get("type", ""))
            if reason and condition.get("status") == "True":
                return reason, condition.get("message", "")
        return None

    return outcome


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
                )

    return places


def _has_active_replicas(job: Manifest) -> bool:
    statuses = _status(job).get("replicaStatuses") or {}
    return any(each.get("active") for each in statuses.values())


def _of_ray_cluster(cluster: Manifest) -> Iterator[PodSetPlace]:
    return _of_ray(spec_of(cluster), ("spec",))


def _of_ray(spec: Manifest, path: Path) -> Iterator[PodSetPlace]:
    """List the head and the worker groups of a RayCluster."""
    yield PodSetPlace(name="head", count=1, path=(*path, "headGroupSpec", "template"))
    for index, group in enumerate(spec.get("workerGroupSpecs") or ()):
        each = group or {}
        hosts = max(each.get("numOfHosts", 1), 1)
        yield PodSetPlace(
            name=str(each.get("groupName") or MAIN).lower(),
            count=int(each.get("replicas", 1)) * hosts,
            path=(*path, "workerGroupSpecs", index, "template"),
        )


def _is_ray_cluster_active(cluster: Manifest) -> bool:
    return bool(_status(cluster).get("state") == "ready")


def _never(_: Manifest) -> None:
    """Give no outcome: such work runs until it is deleted."""


def _of_pod(_: Manifest) -> Iterator[PodSetPlace]:
    """Give a pod as the only pod set: it is its own template."""
    yield PodSetPlace(name=MAIN, count=1, path=())


def _is_pod_active(_: Manifest) -> bool:
    """Kueue does not wait for a pod that it has deleted."""
    return False


def _is_job_active(job: Manifest) -> bool:
    return bool(_status(job).get("active"))


def _is_job_set_active(job_set: Manifest) -> bool:
    replicated = _status(job_set).get("replicatedJobsStatus") or ()
    return any(each.get("active") for each in replicated)


JOB = JobKind(
    name="Job",
    group="batch",
    version="v1",
    plural="jobs",
    framework="batch/job",
    places=_of_job,
    outcome=_by_condition({"Complete": "Succeeded", "Failed": "Failed"}),
    is_active=_is_job_active,
)
JOB_SET = JobKind(
    name="JobSet",
    group="jobset.x-k8s.io",
    version="v1alpha2",
    plural="jobsets",
    framework="jobset.x-k8s.io/jobset",
    places=_of_job_set,
    outcome=_by_condition({"Completed": "Succeeded", "Failed": "Failed"}),
    is_active=_is_job_set_active,
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
        outcome=_by_condition({"Succeeded": "Succeeded", "Failed": "Failed"}),
        is_active=_has_active_replicas,
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
RAY_CLUSTER = JobKind(
    name="RayCluster",
    group="ray.io",
    version="v1",
    plural="rayclusters",
    framework="ray.io/raycluster",
    places=_of_ray_cluster,
    outcome=_never,
    is_active=_is_ray_cluster_active,
)
POD = JobKind(
    name=queued_pods.POD,
    group="",
    version="v1",
    plural="pods",
    framework=queued_pods.FRAMEWORK,
    places=_of_pod,
    outcome=queued_pods.outcome_of,
    is_active=_is_pod_active,
    gated=True,
)
JOB_KINDS: Mapping[str, JobKind] = {
    each.name: each for each in (JOB, JOB_SET, *TRAINING, RAY_CLUSTER, POD)
}
"""Every kind of work that the reference queues, by its name."""
SUBMITTED = frozenset({*JOB_KINDS, *queued_pods.THROUGH_PODS, "Workload"})
"""The kinds that users submit to a queue."""


def pod_set_places(job: Manifest) -> Sequence[PodSetPlace]:
    """Give the pod sets of an object of one of these kinds."""
    return tuple(JOB_KINDS[job["kind"]].places(job))


def is_active(job: Manifest) -> bool:
    """Whether pods of an object are active, according to its status."""
    kind = JOB_KINDS.get(job.get("kind", JOB.name), JOB)
    return kind.is_active(job)


def template_at(job: Manifest, path: Path) -> Manifest:
    """Give the pod template at a path; empty if there is none."""
    template: Manifest = _at(job, path) or {}
    return template


def is_suspended(job: Manifest) -> bool:
    """Whether an object is suspended."""
    kind = JOB_KINDS[job["kind"]]
    if kind.gated:
        return queued_pods.is_held(job)
    return bool(_at(job, kind.suspend))


def with_suspend(job: Manifest, suspended: bool) -> Manifest:
    """Copy an object that is suspended, or that is not."""
    changed: Manifest = replaced(job, JOB_KINDS[job["kind"]].suspend, suspended)
    return changed


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key] if isinstance(key, int) else (value or {}).get(key)
    return value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """Copy a value with another part at a path; only what leads to it is copied."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        items = list(value)
        items[key] = replaced(items[key], rest, new)
        return items
    mapping = dict(value or {})
    mapping[key] = replaced(mapping.get(key), rest, new)
    return mapping


def priority_class_of(job: Manifest) -> str:
    """Name the PriorityClass of an object, or of its first pod set that has one; empty without any."""
    named = _at(job, JOB_KINDS[job["kind"]].priority) if _names_class(job) else ""
    if named:
        return str(named)
    for place in pod_set_places(job):
        spec = template_at(job, place.path).get("spec") or {}
        if name := spec.get("priorityClassName"):
            return str(name)
    return ""


def _names_class(job: Manifest) -> bool:
    return bool(JOB_KINDS[job["kind"]].priority)


def owner_of(workload: Manifest) -> tuple[str, str] | None:
    """Give kind and name of the object that owns a Workload; None without one of these kinds."""
    for owner in workload["metadata"].get("ownerReferences") or ():
        if isinstance(owner, dict) and owner.get("kind") in JOB_KINDS:
            return str(owner["kind"]), str(owner.get("name", ""))
    return None
