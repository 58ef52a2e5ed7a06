"""Validation of what containers ask for (core: ResourceRequirements): the names of resources, and their amounts.

Kubernetes: pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements,
    validateContainerResourceName, ValidateResourceQuantityValue)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from kueue_dra_ref.api.names import label_key_faults, printed
from kueue_dra_ref.api.pods import container_requests, pod_requests
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    forbidden,
    invalid,
    invalid_as,
    required,
    unsupported,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes

Naming = Callable[[str, str, Kubernetes], Errors]
_OF_CONTAINERS = ("cpu", "ephemeral-storage", "memory")
_OF_PODS = ("cpu", "memory")
_COUNTED = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
)
_STANDARD = {
    *_OF_CONTAINERS,
    *(f"{bound}.{name}" for bound in ("requests", "limits") for name in _OF_CONTAINERS),
    *_COUNTED,
    "storage",
    "requests.storage",
}
_HUGE = "hugepages-"


def of_container(resources: Object, path: str, k: Kubernetes) -> Errors:
    """Check what one container asks for, claims aside."""
    yield from _of(resources, path, k, _name_in_container)


def of_pod(resources: Object, path: str, k: Kubernetes) -> Errors:
    """Check what a pod asks for as a whole."""
    if "claims" in resources:
        yield forbidden(
            f"{path}.claims", "claims may not be set for Resources at pod-level"
        )
    yield from _of(resources, path, k, _name_in_pod)


def of_containers_together(pod: Object, path: str) -> Errors:
    """Hold the containers of a pod to what it asks for as a whole."""
    whole = pod["resources"]
    asked = pod_requests(container_requests(pod, "", canonical=True), None, {})
    for name, amount in sorted(asked.items()):
        given = (whole.get("requests") or {}).get(name)
        if given is not None and _size(given) < amount.amount:
            words = f"must be greater than or equal to aggregate container requests of {amount}"
            yield invalid(f"{path}.requests[{name}]", given, words)
    for index, container in enumerate(pod.get("containers") or ()):
        limits = (container.get("resources") or {}).get("limits") or {}
        for name, limit in sorted(limits.items()):
            given = (whole.get("limits") or {}).get(name)
            if given is not None and _size(given) < _size(limit):
                words = f"must be less than or equal to pod limits of {given}"
                yield invalid(
                    f"{path}.containers[{index}][{name}].limits", limit, words
                )


def _of(resources: Object, path: str, k: Kubernetes, named: Naming) -> Errors:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for kind, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in sorted(amounts.items()):
            at = f"{path}.{kind}[{name}]"
            yield from named(name, at, k)
            yield from _amount(name, amount, at)
            if kind == "requests":
                yield from _within(name, amount, limits.get(name), path)
    if any(map(_is_huge, (*limits, *requests))) and not {"cpu", "memory"} & {
        *limits,
        *requests,
    }:
        yield forbidden(path, "HugePages require cpu or memory")


def _amount(name: str, amount: str, path: str) -> Errors:
    size = _size(amount)
    if size < 0:
        yield invalid(path, amount, "must be greater than or equal to 0")
    if (name in _COUNTED or _is_extended(name)) and (size * 1000) // 1 % 1000:
        yield invalid(path, amount, "must be an integer")


def _within(name: str, amount: str, limit: str | None, path: str) -> Errors:
    """Hold a request to its limit: what cannot be shared out twice is limited to just what is requested."""
    shared = _is_native(name) and not _is_huge(name)
    if limit is None:
        yield from (
            ()
            if shared
            else [
                required(
                    f"{path}.limits",
                    "Limit must be set for non overcommitable resources",
                )
            ]
        )
    elif _size(amount) != _size(limit) and not shared:
        yield invalid(
            f"{path}.requests", amount, f"must be equal to {name} limit of {limit}"
        )
    elif _size(amount) > _size(limit):
        yield invalid(
            f"{path}.requests",
            amount,
            f"must be less than or equal to {name} limit of {limit}",
        )


def _name(name: str, path: str, k: Kubernetes) -> Errors:
    faults = [
        replace(fault, value=_printed(name, k))
        for fault in resource_names.label_key(name, path, k)
    ]
    yield from faults
    if (
        not faults
        and "/" not in name
        and name not in _STANDARD
        and not name.startswith((_HUGE, f"requests.{_HUGE}"))
    ):
        yield invalid_as(
            path,
            _printed(name, k),
            "must be a standard resource type or fully qualified",
        )


def _name_in_container(name: str, path: str, k: Kubernetes) -> Errors:
    yield from _name(name, path, k)
    if "/" not in name and name not in _OF_CONTAINERS and not _is_huge(name):
        yield invalid_as(
            path, _printed(name, k), "must be a standard resource for containers"
        )
    elif not _is_native(name) and not _is_extended(name):
        yield invalid_as(
            path, _printed(name, k), "doesn't follow extended resource name standard"
        )


def _printed(name: str, k: Kubernetes) -> str:
    return printed(name) if k.quotes_words else name


def _name_in_pod(name: str, path: str, k: Kubernetes) -> Errors:
    faults = list(_name(name, path, k))
    yield from faults
    if not faults and name not in _OF_PODS and not _is_huge(name):
        yield unsupported(path, name, *_OF_PODS)


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_extended(name: str) -> bool:
    return (
        not _is_native(name)
        and not name.startswith("requests.")
        and not label_key_faults(f"requests.{name}")
    )


def _is_huge(name: str) -> bool:
    return name.startswith(_HUGE)


def _size(amount: str) -> Fraction:
    return parse(amount).amount
