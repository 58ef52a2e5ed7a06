"""AppWrappers: the pod sets of their Workloads, and what these have of the wrapped pods.

Kueue: pkg/controller/jobs/appwrapper/appwrapper_controller.go (PodSets)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.app_wrapper import APP_WRAPPER, lost_paths
from kueue_dra_ref.api.job_kinds import pod_sets_of
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]
_OF_POD = (
    "restartPolicy",
    "nodeSelector",
    "affinity",
    "tolerations",
    "priorityClassName",
    "overhead",
)
"""The fields of a pod that are read, as far as they decide anything."""
_OF_CONTAINER = ("name", "image")
PodSets = list[dict[str, Any]]


@rule("WORK-028", "WORK-034")
def app_wrapper_pod_sets(job: Job) -> PodSets | None:
    """Kueue makes a pod set of each pod template of an AppWrapper: declared ones, or those of kinds that it knows.

    Kueue: pkg/controller/jobs/appwrapper/appwrapper_controller.go (PodSets)
    """
    return pod_sets_of(job) if job.get("kind") == APP_WRAPPER else None


@rule("WORK-029")
def app_wrapper_pods_are_read_in_part(pod_sets: PodSets, job: Job) -> PodSets:
    """Kueue reads a part of the pods of an AppWrapper: no claims, no runtime class and no requests of the pod itself.

    Kueue: pkg/controller/jobs/appwrapper/appwrapper_controller.go (PodSets)
    """
    if job.get("kind") != APP_WRAPPER:
        return pod_sets
    return [_read(each) for each in pod_sets]


@rule("WORK-035")
def declared_pod_set_without_pods_fails(job: Job) -> tuple[str, str] | None:
    """Kueue sets Finished on the Workload of an AppWrapper that declares a pod set where there are no pods.

    Kueue: pkg/controller/jobs/appwrapper/appwrapper_controller.go (RunWithPodSetsInfo)
    """
    declared, lost = lost_paths(job)
    if not lost:
        return None
    message = f"expecting {declared} podsets, got {declared - lost}"
    return "FailedToStart", f"invalid podset infos: {message}"


def _read(pod_set: Job) -> Job:
    """Give a pod set with what is read of its template."""
    written = pod_set["template"]["spec"]
    spec = {key: written[key] for key in _OF_POD if key in written}
    spec["containers"] = list(map(_read_container, written.get("containers") or ()))
    if initial := written.get("initContainers"):
        spec["initContainers"] = list(map(_read_container, initial))
    template = dict(pod_set["template"])
    template["spec"] = spec
    return {**pod_set, "template": template}


def _read_container(container: Job) -> Job:
    """Give what is read of a container: no claims, and no restartPolicy, so that a sidecar is an init container."""
    read = {key: container[key] for key in _OF_CONTAINER if key in container}
    resources = dict(container.get("resources") or {})
    resources.pop("claims", None)
    return {**read, "resources": resources}
