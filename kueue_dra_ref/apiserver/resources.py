"""Validation of what containers ask for (core: ResourceRequirements): the names of resources, and their amounts.

Kubernetes: pkg/apis/core/validation/validation.go (ValidateContainerResourceRequirements,
    validateContainerResourceName, ValidateResourceQuantityValue, validateResourceQuantityHugePageValue)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from kueue_dra_ref.api.names import label_key_faults, printed
from kueue_dra_ref.api.pods import container_requests, pod_requests
from kueue_dra_ref.api.quantities import BadQuantity, parse
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
_HUGE = "hugepages-"
_OF_PODS = ("cpu", _HUGE, "memory")
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


def of_container(resources: Object, path: str, k: Kubernetes) -> Errors:
    """Check what one container asks for, claims aside."""
    yield from _of(resources, path, k, _name_in_container)


def of_pod(resources: Object, path: str, k: Kubernetes) -> Errors:
    """Check the resources that a pod requests as a whole."""
    if "claims" in resources:
        yield forbidden(
            f"{path}.claims", "claims may not be set for Resources at pod-level"
        )
    yield from _of(resources, path, k, _name_in_pod)


def of_containers_together(pod: Object, path: str) -> Errors:
    """Check the containers of a pod against the resources that the pod requests as a whole."""
    whole = pod["resources"]
    requests = whole.get("requests") or {}
    limits = whole.get("limits") or {}
    yield from _aggregate(pod, f"{path}.requests", requests)
    for index, container in enumerate(pod.get("containers") or ()):
        at = f"{path}.containers[{index}]"
        yield from _within_pod(container, at, limits)


def _aggregate(pod: Object, path: str, requests: Object) -> Errors:
    of_containers = container_requests(pod, "", canonical=True)
    total = pod_requests(of_containers, None, {})
    for name, amount in sorted(total.items()):
        given = requests.get(name)
        if given is not None and _size(given) < amount.amount:
            words = f"must be greater than or equal to aggregate container requests of {amount}"
            yield invalid(f"{path}[{name}]", given, words)


def _within_pod(container: Object, path: str, pod_limits: Object) -> Errors:
    limits = (container.get("resources") or {}).get("limits") or {}
    for name, limit in sorted(limits.items()):
        given = pod_limits.get(name)
        if given is not None and _size(given) < _size(limit):
            words = f"must be less than or equal to pod limits of {given}"
            yield invalid(f"{path}[{name}].limits", limit, words)


def _of(resources: Object, path: str, k: Kubernetes, named: Naming) -> Errors:
    limits = resources.get("limits") or {}
    requests = resources.get("requests") or {}
    for name, amount in sorted(limits.items()):
        at = f"{path}.limits[{name}]"
        yield from named(name, at, k)
        yield from _amount(name, amount, at)
        yield from _pages(name, amount, at)
    for name, amount in sorted(requests.items()):
        at = f"{path}.requests[{name}]"
        yield from named(name, at, k)
        yield from _amount(name, amount, at)
        yield from _within(name, amount, limits.get(name), path)
        yield from _pages(name, amount, at)
    names = {*limits, *requests}
    if any(map(_is_huge, names)) and names.isdisjoint({"cpu", "memory"}):
        yield forbidden(path, "HugePages require cpu or memory")


def _amount(name: str, amount: str, path: str) -> Errors:
    size = _size(amount)
    if size < 0:
        yield invalid(path, amount, "must be greater than or equal to 0")
    if (name in _COUNTED or _is_extended(name)) and size.denominator != 1:
        yield invalid(path, amount, "must be an integer")


def _pages(name: str, amount: str, path: str) -> Errors:
    """Check that an amount of huge pages is a number of pages of the size that the name gives."""
    if _is_huge(name) and not _are_whole(amount, name.removeprefix(_HUGE)):
        words = f"{amount} is not positive integer multiple of {name}"
        yield invalid(path, amount, words)


def _are_whole(amount: str, page: str) -> bool:
    try:
        size = parse(page)
    except BadQuantity:
        return False
    whole = size.ceiling
    if whole != size.amount or whole <= 0:
        return False
    return parse(amount).ceiling % whole == 0


def _within(name: str, amount: str, limit: str | None, path: str) -> Errors:
    """Check a request against its limit; without overcommitment the two must be equal."""
    overcommits = _is_native(name) and not _is_huge(name)
    if limit is None:
        if not overcommits:
            detail = "Limit must be set for non overcommitable resources"
            yield required(f"{path}.limits", detail)
    elif _size(amount) != _size(limit) and not overcommits:
        detail = f"must be equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", amount, detail)
    elif _size(amount) > _size(limit):
        detail = f"must be less than or equal to {name} limit of {limit}"
        yield invalid(f"{path}.requests", amount, detail)


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
