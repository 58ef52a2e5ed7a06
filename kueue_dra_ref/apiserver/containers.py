"""Validation of the containers of a pod (core: Container): names, resources, claims, restart policies.

Kubernetes: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers,
    validateContainerCommon, validateContainerRestartPolicy)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names, resources
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    duplicate,
    forbidden,
    not_found,
    required,
    unsupported,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes

_RESTARTED = ("Always", "Never", "OnFailure")
_MISSING = "must be one of the names in pod.spec.resourceClaims"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodContainer:
    """A container of a pod, the names of those before it, and the names of the pod's claims."""

    path: str
    spec: Object
    is_initial: bool
    before: Collection[str]
    claims: Collection[str]
    kubernetes: Kubernetes

    @property
    def name(self) -> str:
        """Give its name; empty for none."""
        return self.spec.get("name") or ""

    @property
    def resources(self) -> Object:
        """Give the resources that it requests and the claims that it uses."""
        return self.spec.get("resources") or {}


def claims_of(pod: Object) -> set[str]:
    """Name the claims that a pod has."""
    names = set()
    for claim in pod.get("resourceClaims") or ():
        if claim.get("name"):
            names.add(claim["name"])
    return names


def containers_of(pod: Object, path: str, k: Kubernetes) -> Iterator[PodContainer]:
    """Give the containers of a pod, then its init containers."""
    before: set[str] = set()
    for kind in ("containers", "initContainers"):
        is_initial = kind == "initContainers"
        for index, spec in enumerate(pod.get(kind) or ()):
            found = PodContainer(
                path=f"{path}.{kind}[{index}]",
                spec=spec,
                is_initial=is_initial,
                before=frozenset(before),
                claims=claims_of(pod),
                kubernetes=k,
            )
            yield found
            if found.name or not is_initial:
                before.add(found.name)


def named(container: PodContainer) -> Errors:
    """Check that a container has a name and an image."""
    at = f"{container.path}.name"
    if container.name:
        yield from resource_names.label(container.name, at)
    else:
        yield required(at)
    if not container.spec.get("image"):
        yield required(f"{container.path}.image")


def named_once(container: PodContainer) -> Errors:
    """Check that no container before has the name of this one."""
    if container.name in container.before:
        yield duplicate(f"{container.path}.name", container.name)


def amounts(container: PodContainer) -> Errors:
    """Check the resources of a container, without its claims."""
    yield from resources.of_container(
        container.resources, f"{container.path}.resources", container.kubernetes
    )


def restarted(container: PodContainer) -> Errors:
    """Check the restart policy of a container."""
    at = f"{container.path}.restartPolicy"
    policy = container.spec.get("restartPolicy")
    k = container.kubernetes
    if policy is None or k.restart_policies == "dropped":
        return
    if k.restart_policies == "any":
        if policy not in _RESTARTED:
            yield unsupported(at, policy, *_RESTARTED)
    elif not container.is_initial:
        yield forbidden(at, "may not be set for non-init containers")
    elif policy != "Always":
        yield unsupported(at, policy, "Always")


def claims(found: Object, path: str, known: Collection[str]) -> Errors:
    """Check that resources use claims of the pod, each once."""
    seen: set[str] = set()
    for index, each in enumerate(found.get("claims") or []):
        name = each.get("name") or ""
        at = f"{path}.claims[{index}]"
        if not name:
            yield required(at)
            continue
        yield from _again(name, each.get("request") or "", at, seen)
        if name in known:
            continue
        listed = ", ".join(sorted(known))
        ending = f": {listed}" if known else " which is empty"
        yield not_found(at, name, _MISSING + ending)


def _again(name: str, request: str, path: str, seen: set[str]) -> Errors:
    """Check that neither the claim nor the request has been ``seen``, and add it."""
    if name in seen:  # as a whole, with all its requests
        yield duplicate(path, name)
        return
    if request:
        yield from resource_names.label(request, f"{path}.request")
    key = f"{name}/{request}" if request else name
    is_again = key in seen
    if not request:
        is_again = any(other.startswith(f"{name}/") for other in seen)
    if is_again:
        yield duplicate(path, key)
    seen.add(key)
