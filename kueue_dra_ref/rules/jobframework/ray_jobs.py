"""The kinds of Ray: the pod sets of their Workloads, and what Kueue writes when they start and stop.

Kueue: pkg/controller/jobs/raycluster/common.go (BuildPodSets);
    pkg/controller/jobs/rayjob/rayjob_controller.go (PodSets);
    pkg/controller/jobs/rayservice/rayservice_controller.go (PodSets)
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from kueue_dra_ref.api.job_kinds import is_of, pod_sets_of
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.ray_kinds import (
    BY_SIDECAR,
    HEAD,
    RAY_CLUSTER,
    RAY_JOB,
    RAY_KINDS,
    RAY_SERVICE,
    cluster_of,
    is_invalid,
    submission_mode,
    submitter_container,
)
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]
PodSets = list[dict[str, Any]]
_REDIS_CLEANUP = {"cpu": "200m", "memory": "256Mi"}
_AUTOSCALER = {"cpu": "500m", "memory": "512Mi"}
_FAULT_TOLERANT = "ray.io/ft-enabled"


@rule("WORK-006")
def ray_cluster_pod_sets(job: Job) -> PodSets | None:
    """Kueue makes a pod set of the head of a RayCluster, and one of each worker group, with all hosts of its replicas.

    Kueue: pkg/controller/jobs/raycluster/raycluster_controller.go (PodSets)
    """
    return pod_sets_of(job) if is_of(job, RAY_CLUSTER) else None


@rule("WORK-010")
def ray_job_pod_sets(job: Job) -> PodSets | None:
    """Kueue makes the pod sets of the cluster of a RayJob, and in mode K8sJobMode one of the pod that submits.

    Kueue: pkg/controller/jobs/rayjob/rayjob_controller.go (PodSets)
    """
    return pod_sets_of(job) if is_of(job, RAY_JOB) else None


@rule("WORK-011")
def ray_service_pod_sets(job: Job) -> PodSets | None:
    """Kueue makes the pod sets of the cluster of a RayService.

    Kueue: pkg/controller/jobs/rayservice/rayservice_controller.go (PodSets)
    """
    return pod_sets_of(job) if is_of(job, RAY_SERVICE) else None


@rule("WORK-012")
def submitter_is_a_container_of_the_head(pod_sets: PodSets, job: Job) -> PodSets:
    """Kueue adds the container that submits to the head of a RayJob in mode SidecarMode.

    Kueue: pkg/controller/jobs/rayjob/rayjob_controller.go (addSidecarSubmitterToHeadPodSet)
    """
    if not is_of(job, RAY_JOB) or submission_mode(job) != BY_SIDECAR:
        return pod_sets
    submitter = submitter_container()
    return [_with_container(each, submitter) for each in pod_sets]


@rule("WORK-013")
def redis_cleanup_fits_in_the_head(pod_sets: PodSets, job: Job) -> PodSets:
    """Kueue counts the first container of a head with as much as the Job that cleans up Redis, if Ray stores there.

    Kueue: pkg/controller/jobs/raycluster/common.go (accountForRedisCleanupInHeadPodSet)
    """
    if not is_of(job, *RAY_KINDS):
        return pod_sets
    if not _is_fault_tolerant(job):
        return pod_sets
    return [_with_redis_cleanup(each) for each in pod_sets]


@rule("WORK-042")
def hold_invalid_ray_job(job: Job) -> tuple[str, str] | None:
    """Kueue releases the quota of a RayJob that KubeRay has found invalid, and keeps its Workload on hold.

    Kueue: pkg/controller/jobs/rayjob/rayjob_controller.go (IsOnHold);
        pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return ("OnHold", "Job is on hold") if is_invalid(job) else None


@rule("ELASTIC-025")
def autoscaler_is_a_container_of_the_head(pod_sets: PodSets, job: Job) -> PodSets:
    """Kueue adds the container of the autoscaler to the head of a cluster that scales itself.

    Kueue: pkg/controller/jobs/raycluster/common.go (autoscalerContainer, BuildPodSets)
    """
    if not is_of(job, *RAY_KINDS):
        return pod_sets
    cluster = cluster_of(job)
    if not cluster.get("enableInTreeAutoscaling"):
        return pod_sets
    options = cluster.get("autoscalerOptions") or {}
    resources = options.get("resources") or {"requests": _AUTOSCALER}
    container = {"name": "autoscaler", "resources": resources}
    return [_with_container(each, container) for each in pod_sets]


@rule("WORK-019")
def submitter_template_is_written() -> bool:
    """Kueue writes the template of the submitter pod into a RayJob that it starts, on the nodes of its flavor.

    Kueue: pkg/controller/jobs/rayjob/rayjob_controller.go (RunWithPodSetsInfo)
    """
    return True


def _is_fault_tolerant(job: Job) -> bool:
    annotations = annotations_of(job)
    annotated = str(annotations.get(_FAULT_TOLERANT, "")).lower() == "true"
    return annotated or cluster_of(job).get("gcsFaultToleranceOptions") is not None


def _with_container(pod_set: Job, container: Job) -> Job:
    if pod_set["name"] != HEAD:
        return pod_set
    containers = [*_containers(pod_set), container]
    return _with_containers(pod_set, containers)


def _with_redis_cleanup(pod_set: Job) -> Job:
    containers = _containers(pod_set)
    if pod_set["name"] != HEAD or not containers:
        return pod_set
    ray, *others = containers
    resources = ray.get("resources") or {}
    requests = dict(resources.get("requests") or {})
    for name, least in _REDIS_CLEANUP.items():
        written = requests.get(name, "0")
        requests[name] = max(written, least, key=_amount)
    resources = {**resources, "requests": requests}
    ray = {**ray, "resources": resources}
    return _with_containers(pod_set, [ray, *others])


def _amount(written: Any) -> Fraction:
    return parse(str(written)).amount


def _containers(pod_set: Job) -> list[Any]:
    return list(pod_set["template"]["spec"].get("containers") or ())


def _with_containers(pod_set: Job, containers: list[Any]) -> Job:
    template = pod_set["template"]
    spec = {**template["spec"], "containers": containers}
    return {**pod_set, "template": {**template, "spec": spec}}
