"""The kinds of Ray: a RayCluster, a RayJob that makes one, and a RayService that keeps one.

Kueue: pkg/controller/jobs/raycluster/common.go (BuildPodSets);
    pkg/controller/jobs/rayjob/rayjob_controller.go (RayJob);
    pkg/controller/jobs/rayservice/rayservice_controller.go (RayService)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.job_kind import (
    MAIN,
    JobKind,
    Outcome,
    Path,
    PodSetPlace,
    has_condition,
    part_at,
    spec_of,
    status_of,
)
from kueue_dra_ref.target import Manifest

HEAD, SUBMITTER = "head", "submitter"
"""The names of the pod sets of the head, and of the Job that submits to it."""
BY_JOB, BY_SIDECAR = "K8sJobMode", "SidecarMode"
"""How a RayJob submits: with a Job, the default of its CRD, or with a container of the head."""
INVALID = "ValidationFailed"
"""The jobDeploymentStatus of a RayJob that KubeRay has found invalid."""
CLUSTER_PATHS: dict[str, Path] = {
    "RayCluster": ("spec",),
    "RayJob": ("spec", "rayClusterSpec"),
    "RayService": ("spec", "rayClusterConfig"),
}
"""Where each kind has its cluster."""


def cluster_of(obj: Manifest) -> Manifest:
    """Give the cluster of an object of one of these kinds; empty without one."""
    found: Manifest = part_at(obj, CLUSTER_PATHS[obj["kind"]]) or {}
    return found


def _of_cluster(obj: Manifest) -> Iterator[PodSetPlace]:
    """List the head and the worker groups of the cluster of an object."""
    path = CLUSTER_PATHS[obj["kind"]]
    yield PodSetPlace(name=HEAD, count=1, path=(*path, "headGroupSpec", "template"))
    for index, group in enumerate(cluster_of(obj).get("workerGroupSpecs") or ()):
        each = group or {}
        hosts = max(each.get("numOfHosts", 1), 1)
        yield PodSetPlace(
            name=str(each.get("groupName") or MAIN).lower(),
            count=int(each.get("replicas", 1)) * hosts,
            path=(*path, "workerGroupSpecs", index, "template"),
        )


def _of_job(job: Manifest) -> Iterator[PodSetPlace]:
    """List the pod sets of the cluster that a RayJob makes, then the pod that submits, if a Job does."""
    if not spec_of(job).get("rayClusterSpec"):
        return
    yield from _of_cluster(job)
    if submission_mode(job) == BY_JOB:
        yield PodSetPlace(
            name=SUBMITTER,
            count=1,
            path=("spec", "submitterPodTemplate"),
            default=_submitter_template(job),
        )


def uses_existing_cluster(job: Manifest) -> bool:
    """Whether a RayJob selects a RayCluster that exists, and so makes none."""
    return bool(spec_of(job).get("clusterSelector"))


def is_invalid(job: Manifest) -> bool:
    """Whether KubeRay has found a RayJob invalid, so that it makes nothing of it."""
    if job.get("kind") != "RayJob":
        return False
    return bool(status_of(job).get("jobDeploymentStatus") == INVALID)


def submission_mode(job: Manifest) -> str:
    """Give how a RayJob submits; its CRD has a default."""
    return str(spec_of(job).get("submissionMode") or BY_JOB)


def submitter_container(image: str = "") -> dict[str, Any]:
    """Give the container that submits, with the resources that KubeRay gives it."""
    resources = {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "500m", "memory": "200Mi"},
    }
    container: dict[str, Any] = {"name": "ray-job-submitter", "resources": resources}
    if image:
        container["image"] = image
    return container


def _submitter_template(job: Manifest) -> Manifest:
    """Give the pod that submits if the RayJob has no template for it: with the image of the head."""
    group = cluster_of(job).get("headGroupSpec") or {}
    head = (group.get("template") or {}).get("spec") or {}
    containers = head.get("containers") or [{}]
    submitter = submitter_container(str(containers[0].get("image") or ""))
    return {"spec": {"containers": [submitter], "restartPolicy": "Never"}}


def _never(_: Manifest) -> None:
    """Give no outcome: such work runs until it is deleted."""


def _outcome_of_job(job: Manifest) -> Outcome | None:
    status = status_of(job)
    if status.get("jobDeploymentStatus") not in {"Complete", "Failed"}:
        return None
    succeeded = status.get("jobStatus") == "SUCCEEDED"
    return "Succeeded" if succeeded else "Failed", status.get("message", "")


def _is_cluster_active(cluster: Manifest) -> bool:
    return bool(status_of(cluster).get("state") == "ready")


def _is_job_active(job: Manifest) -> bool:
    return status_of(job).get("jobDeploymentStatus", "") not in {"", "Suspended"}


def _is_cluster_of_job_ready(job: Manifest) -> bool:
    cluster = status_of(job).get("rayClusterStatus") or {}
    return bool(cluster.get("state") == "ready")


RAY_CLUSTER = JobKind(
    name="RayCluster",
    group="ray.io",
    version="v1",
    plural="rayclusters",
    framework="ray.io/raycluster",
    places=_of_cluster,
    outcome=_never,
    is_active=_is_cluster_active,
    is_ready=_is_cluster_active,
)
RAY_JOB = JobKind(
    name="RayJob",
    group="ray.io",
    version="v1",
    plural="rayjobs",
    framework="ray.io/rayjob",
    places=_of_job,
    outcome=_outcome_of_job,
    is_active=_is_job_active,
    is_ready=_is_cluster_of_job_ready,
)
RAY_SERVICE = JobKind(
    name="RayService",
    group="ray.io",
    version="v1",
    plural="rayservices",
    framework="ray.io/rayservice",
    places=_of_cluster,
    outcome=_never,
    is_active=has_condition("Ready"),
    is_ready=has_condition("Ready"),
    suspend=("spec", "rayClusterConfig", "suspend"),
    since="0.17",
)
RAY_KINDS = (RAY_CLUSTER, RAY_JOB, RAY_SERVICE)
"""The kinds of Ray."""
