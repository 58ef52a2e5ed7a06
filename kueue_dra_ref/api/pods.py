"""The ordinary resources that a pod requests: containers, init containers, sidecars, overhead, pod-level requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.quantities import (
    MAX_INT64,
    Format,
    Quantity,
    parse,
    shows_its_integer,
)
from kueue_dra_ref.api.unstructured import child, mappings, quantities

REQUIRED = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
SHAPE = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "resourceClaims",
)
"""The fields of a pod spec by which Kueue tells pods apart as they are; it looks into containers and overhead."""
NAMED: Mapping[str, tuple[str, ...]] = {
    **{
        f"{kind}[]": ("name",)
        for kind in ("containers", "initContainers", "resourceClaims")
    },
    **{
        f"{kind}[].resources.claims[]": ("name",)
        for kind in ("containers", "initContainers")
    },
    **{
        f"{REQUIRED}.nodeSelectorTerms[].{kind}[]": ("key", "operator")
        for kind in ("matchExpressions", "matchFields")
    },
}
"""What each part of a pod spec must have, by where it stands."""

ResourceList = dict[str, Quantity]
"""Resource name to exact amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a container, or a pod as a whole, requests, and what it is limited to."""

    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRequests:
    """What one container of a pod requests, as it is written or as Kueue has adjusted it."""

    path: str
    """Its field below the pod spec, such as ``initContainers[0]``."""
    initial: bool
    stays: bool = False
    """Whether it is an init container that runs next to the regular ones (a sidecar)."""
    resources: Resources = Resources()
    obscure: frozenset[str] = frozenset()
    """Resources whose amount is written so that Kubernetes does not see the integer that it is, such as 1000m."""

    @property
    def requests(self) -> ResourceList:
        """Give the requests of the container."""
        return self.resources.requests


def add(left: ResourceList, right: ResourceList) -> ResourceList:
    """Add two resource lists, resource by resource."""
    total = dict(left)
    for name, amount in right.items():
        before = total.get(name)
        total[name] = (
            Quantity(amount=before.amount + amount.amount, format=before.format)
            if before
            else amount
        )
    return total


def pod_requests(
    containers: Sequence[ContainerRequests],
    whole: Resources | None,
    overhead: ResourceList,
) -> ResourceList:
    """Compute the requests of one pod: its containers' together, those of the ``whole`` pod, its overhead."""
    total: ResourceList = {}
    for container in (each for each in containers if not each.initial):
        total = add(total, container.requests)
    total = _with_init_containers(total, [each for each in containers if each.initial])
    as_a_whole = {
        name: amount
        for name, amount in (whole.requests if whole else {}).items()
        if _is_of_pods(name)
    }
    return add(total | as_a_whole, overhead)


def _is_of_pods(name: str) -> bool:
    """Tell whether a pod as a whole may request a resource; Kubernetes ignores all others there."""
    return name in {"cpu", "memory"} or name.startswith("hugepages-")


def resources_of(holder: dict[str, Any], path: str) -> Resources:
    """Read the ``resources`` of a container or a pod spec.

    Raises:
        ManifestError: a field is of the wrong type, or an amount is no quantity.

    """
    found = child(holder, "resources", dict, {}, path)
    requests, limits = (
        quantities(found, word, f"{path}.resources") for word in ("requests", "limits")
    )
    return Resources(requests=requests, limits=limits)


def container_requests(
    spec: dict[str, Any], path: str, *, canonical: bool
) -> tuple[ContainerRequests, ...]:
    """Read the requests of each container of a pod, initial ones first; ``canonical`` when amounts were rewritten so.

    Raises:
        ManifestError: a field is of the wrong type, or an amount is no quantity.

    """
    return tuple(
        ContainerRequests(
            path=f"{kind}[{index}]",
            initial=kind == "initContainers",
            stays=container.get("restartPolicy") == "Always",
            resources=resources_of(container, f"{path}.{kind}[{index}]"),
            obscure=_obscure(container.get("resources") or {}, canonical=canonical),
        )
        for kind in ("initContainers", "containers")
        for index, container in enumerate(mappings(spec, kind, path))
    )


def _obscure(resources: dict[str, Any], *, canonical: bool) -> frozenset[str]:
    written = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    texts = {
        name: str(parse(amount) if canonical else amount)
        for name, amount in written.items()
    }
    return frozenset(
        name for name, text in texts.items() if not shows_its_integer(text)
    )


def _with_init_containers(
    total: ResourceList, initial: Sequence[ContainerRequests]
) -> ResourceList:
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in initial:
        if container.stays:
            sidecars = add(sidecars, container.requests)
            peak = larger(peak, sidecars)
        else:
            peak = larger(peak, add(container.requests, sidecars))
    return larger(add(total, sidecars), peak)


def larger(left: ResourceList, right: ResourceList) -> ResourceList:
    """Give the larger amount of each resource; an absent amount does not count."""
    return _of_each(max, left, right)


def smaller(left: ResourceList, right: ResourceList) -> ResourceList:
    """Give the smaller amount of each resource; an absent amount does not count."""
    return _of_each(min, left, right)


def _of_each(
    choose: Callable[..., Quantity], left: ResourceList, right: ResourceList
) -> ResourceList:
    both = {
        name: choose(left[name], right[name], key=_exact)
        for name in left
        if name in right
    }
    return {**left, **right, **both}


def _exact(quantity: Quantity) -> Fraction:
    return quantity.amount


def units(name: str, amount: Quantity) -> int:
    """Give an amount as Kueue counts it: CPU in thousandths, everything else in whole units, rounded up, in int64."""
    return amount.milli if name == "cpu" else amount.ceiling


def quota_units(name: str, amount: Quantity) -> int:
    """Give a quota as Kueue counts it: beyond int64, for CPU from the last whole core, it is unlimited."""
    found = units(name, amount)
    return MAX_INT64 if name == "cpu" and found >= MAX_INT64 // 1000 * 1000 else found


@lru_cache(maxsize=65536)
def printed(name: str, value: int, in_bytes: frozenset[str] = frozenset()) -> str:
    """Print ``value`` units of a resource as Kueue does; bytes in powers of 1024 where that is exact.

    ``in_bytes`` names resources that are counted in bytes, in addition to memory and storage.
    """
    if name == "cpu":
        return str(Quantity(amount=Fraction(value, 1000)))
    binary = (
        name in {"memory", "ephemeral-storage"}
        or name in in_bytes
        or name.startswith("hugepages-")
    )
    shown = str(
        Quantity(
            amount=Fraction(value), format=Format.BINARY if binary else Format.DECIMAL
        )
    )
    return str(parse(shown)) if binary else shown
