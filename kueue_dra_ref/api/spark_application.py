"""SparkApplications: a driver and executors, whose pods are described by fields, not by pod templates.

Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_controller.go (PodSets);
    pkg/controller/jobs/sparkapplication/sparkapplication_podset.go (mutateSparkPod)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.job_kind import (
    JobKind,
    Outcome,
    PodSetPlace,
    spec_of,
    status_of,
)
from kueue_dra_ref.target import Manifest

Part = dict[str, Any]
ROLES: Mapping[str, str] = {
    "driver": "spark-kubernetes-driver",
    "executor": "spark-kubernetes-executor",
}
"""The name of the container of Spark by the field of its role, which names the pod set too."""
_SOUGHT: Mapping[str, str] = {
    "driver": "spark-kubernetes-driver",
    "executor": "executor",
}
"""The container that gets what a role requests, if one has this name; else it is the first."""
_JAVA_UNITS = ("kb", "mb", "gb", "tb", "pb", "k", "m", "g", "t", "p")
_FAILED = {"FAILED", "SUBMISSION_FAILED"}
_AMOUNTS = (
    ("requests", "cpu", "coreRequest"),
    ("limits", "cpu", "coreLimit"),
    ("requests", "memory", "memory"),
    ("limits", "memory", "memoryLimit"),
)
_COPIED = ("nodeSelector", "affinity", "tolerations", "priorityClassName")
_MARKS = ("labels", "annotations")


def role_of(application: Manifest, role: str) -> Manifest:
    """Give what a SparkApplication says of its driver or of its executors."""
    found: Manifest = spec_of(application).get(role) or {}
    return found


def kubernetes_memory(written: str) -> str:
    """Give an amount of memory as Spark writes it, such as 512m, as Kubernetes does; only small letters are cut off.

    Source: spark-operator, pkg/util/util.go (ConvertJavaMemoryStringToK8sMemoryString).
    """
    for unit in _JAVA_UNITS:
        if written.lower().endswith(unit):
            return f"{written.removesuffix(unit)}{unit[0].upper()}i"
    return written


def amounts_of(role: Manifest) -> Iterator[tuple[str, str, str]]:
    """Give what the container of a role requests: requests or limits, the resource, and the amount."""
    for part, resource, field in _AMOUNTS:
        amount = role.get(field)
        if amount is not None:
            is_memory = resource == "memory"
            yield part, resource, kubernetes_memory(amount) if is_memory else amount
    gpu = role.get("gpu") or {}
    if gpu.get("name") and gpu.get("quantity", 0) > 0:
        yield "limits", gpu["name"], str(gpu["quantity"])


def with_global_selector(application: Manifest, role: Manifest) -> Manifest:
    """Copy a role with the node selector of the whole application, if that has one, in the place of its own."""
    selector = spec_of(application).get("nodeSelector")
    return {**role, "nodeSelector": selector} if selector is not None else {**role}


def without_global_selector(work: Manifest) -> Manifest:
    """Give a SparkApplication without a node selector of the whole; other work as it is."""
    spec = spec_of(work)
    if work["kind"] != SPARK_APPLICATION.name or "nodeSelector" not in spec:
        return work
    kept = {key: value for key, value in spec.items() if key != "nodeSelector"}
    return {**work, "spec": kept}


def _template(application: Manifest, role: str) -> Manifest:
    """Give the pods of a role as Kueue builds them; of its template only labels and annotations count."""
    said = role_of(application, role)
    containers = [{"name": ROLES[role]}, *_others(said.get("sidecars"), ROLES[role])]
    at = _index(containers, _SOUGHT[role])
    containers[at] = _with_amounts(containers[at], said)
    spec: Part = {"containers": containers}
    starters = _others(said.get("initContainers"), "")
    if starters:
        spec["initContainers"] = starters
    for key in _COPIED:
        if said.get(key):
            spec[key] = said[key]
    return {"metadata": _metadata(said), "spec": spec}


def _others(containers: Any, own: str) -> list[Part]:
    """Give more containers, each name and image once; ``own`` names the container that is there without an image."""
    seen = {(own, None)}
    found = []
    for each in containers or ():
        key = (each.get("name"), each.get("image") or None)
        if key not in seen:
            seen.add(key)
            found.append(dict(each))
    return found


def _index(containers: list[Part], name: str) -> int:
    names = [each.get("name") for each in containers]
    return names.index(name) if name in names else 0


def _with_amounts(container: Part, role: Manifest) -> Part:
    resources: Part = {**(container.get("resources") or {})}
    for part, resource, amount in amounts_of(role):
        held = resources.get(part) or {}
        resources[part] = {**held, resource: amount}
    return {**container, "resources": resources} if resources else container


def _metadata(role: Manifest) -> Manifest:
    template = role.get("template") or {}
    meta = dict(template.get("metadata") or {})
    for mark in _MARKS:
        merged = {**(meta.get(mark) or {}), **(role.get(mark) or {})}
        if merged:
            meta[mark] = merged
    return meta


def _places(application: Manifest) -> Iterator[PodSetPlace]:
    executors = role_of(application, "executor").get("instances", 0)
    for role, count in (("driver", 1), ("executor", int(executors))):
        built = _template(application, role)
        yield PodSetPlace(name=role, count=count, path=("spec", role), built=built)


def _state(application: Manifest) -> Manifest:
    found: Manifest = status_of(application).get("applicationState") or {}
    return found


def _outcome(application: Manifest) -> Outcome | None:
    state = _state(application)
    message = state.get("errorMessage", "")
    if state.get("state") == "COMPLETED":
        return "Succeeded", message
    return ("Failed", message) if state.get("state") in _FAILED else None


def _is_active(application: Manifest) -> bool:
    return bool(_state(application).get("state") == "RUNNING")


def executors_are_ready(application: Manifest) -> bool:
    """Whether all executors of an application run or are done."""
    states = status_of(application).get("executorState") or {}
    ready = [each for each in states.values() if each in ("RUNNING", "COMPLETED")]
    expected = int(role_of(application, "executor").get("instances") or 0)
    return len(ready) >= expected


SPARK_APPLICATION = JobKind(
    name="SparkApplication",
    group="sparkoperator.k8s.io",
    version="v1beta2",
    plural="sparkapplications",
    framework="sparkoperator.k8s.io/sparkapplication",
    places=_places,
    outcome=_outcome,
    is_active=_is_active,
    is_ready=_is_active,
    since="0.17",
    gate="SparkApplicationIntegration",
)
