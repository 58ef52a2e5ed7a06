"""Validation of the containers of a pod (core: Container): what they are called, and who is started again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.apiserver import naming, resources
from kueue_dra_ref.apiserver.fielderrors import Errors, duplicate, forbidden, required, unsupported
from kueue_dra_ref.apiserver.kubernetes import Kubernetes

Object = dict[str, Any]
_RESTARTED = ("Always", "OnFailure", "Never")
_RESTARTED_IN_ORDER = ("Always", "Never", "OnFailure")


def containers_of(pod: Object, path: str) -> Iterator[tuple[str, Object]]:
    """Give the containers of a pod and those that run before them, each with its path."""
    for kind in ("containers", "initContainers"):
        for index, container in enumerate(pod.get(kind) or ()):
            yield f"{path}.{kind}[{index}]", container


def names(pod: Object, path: str) -> Errors:
    """Check that there are containers, each with an image and a name of its own."""
    if not pod.get("containers"):
        yield required(f"{path}.containers")
    seen: set[str] = set()
    for at, container in containers_of(pod, path):
        name = container.get("name") or ""
        yield from naming.label(name, f"{at}.name") if name else [required(f"{at}.name")]
        if not container.get("image"):
            yield required(f"{at}.image")
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)


def amounts(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check what the containers ask for, what the pod asks for as a whole, and what running it costs."""
    for at, container in containers_of(pod, path):
        yield from resources.of_container(container.get("resources") or {}, f"{at}.resources", k)
    if "resources" in pod and k.knows_pod_resources:
        yield from resources.of_pod(pod["resources"], f"{path}.resources", k)
    yield from resources.of_container({"limits": pod.get("overhead")}, f"{path}.overhead", k)


def restarts(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check which containers of a Job's pod are started again."""
    for at, container in containers_of(pod, path):
        if "restartPolicy" in container:
            yield from _restart(container["restartPolicy"], at, k)
    policy = pod.get("restartPolicy") or "Always"
    if policy not in _RESTARTED:
        yield unsupported(f"{path}.restartPolicy", policy, *_RESTARTED)
    if policy == "Always":
        yield required(f"{path}.restartPolicy", 'valid values: "OnFailure", "Never"')
    elif policy not in _RESTARTED:
        yield unsupported(f"{path}.restartPolicy", policy, "OnFailure", "Never")


def _restart(policy: str, path: str, k: Kubernetes) -> Errors:
    at = f"{path}.restartPolicy"
    if k.restarts_any_container:
        yield from () if policy in _RESTARTED else [unsupported(at, policy, *_RESTARTED_IN_ORDER)]
    elif ".initContainers[" not in at:
        yield forbidden(at, "may not be set for non-init containers")
    elif policy != "Always":
        yield unsupported(at, policy, "Always")
