"""What a pod asks for in ordinary resources: containers, init containers, sidecars, overhead, pod-level requests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from kueue_dra_ref.api.quantities import MAX_INT64, Format, Quantity, parse, shows_its_integer
from kueue_dra_ref.api.reading import child, mappings, quantities

Amounts = dict[str, Quantity]
"""Resource name to exact amount."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRequests:
    """What one container of a pod requests: as it is written, and with limits standing in for what is absent."""

    path: str
    """Its field below the pod spec, such as ``initContainers[0]``."""
    initial: bool
    requests: Amounts
    adjusted: Amounts
    obscure: frozenset[str] = frozenset()
    """Resources whose amount is written so that Kubernetes does not see the integer that it is, such as 1000m."""


def add(left: Amounts, right: Amounts) -> Amounts:
    """Resource by resource, the sum."""
    total = dict(left)
    for name, amount in right.items():
        before = total.get(name)
        total[name] = Quantity(amount=before.amount + amount.amount, format=before.format) if before else amount
    return total


def pod_requests(spec: dict[str, Any], path: str) -> Amounts:
    """The requests of one pod; limits stand in for requests that are absent (Kueue adjusts them so).

    Raises:
        ManifestFault: a field is of the wrong type, or an amount is no quantity.

    """
    total: Amounts = {}
    for index, container in enumerate(mappings(spec, "containers", path)):
        total = add(total, _requests(container, f"{path}.containers[{index}]"))
    total = _with_init_containers(total, spec, path)
    total |= _requests(spec, path)
    return add(total, quantities(spec, "overhead", path))


def container_requests(spec: dict[str, Any], path: str, *, canonical: bool) -> tuple[ContainerRequests, ...]:
    """The requests of each container of a pod, initial ones first; ``canonical`` when amounts were rewritten so.

    Raises:
        ManifestFault: a field is of the wrong type, or an amount is no quantity.

    """
    return tuple(
        ContainerRequests(
            path=f"{kind}[{index}]",
            initial=kind == "initContainers",
            requests=quantities(container.get("resources") or {}, "requests", f"{path}.{kind}[{index}].resources"),
            adjusted=_requests(container, f"{path}.{kind}[{index}]"),
            obscure=_obscure(container.get("resources") or {}, canonical=canonical),
        )
        for kind in ("initContainers", "containers")
        for index, container in enumerate(mappings(spec, kind, path))
    )


def _obscure(resources: dict[str, Any], *, canonical: bool) -> frozenset[str]:
    written = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    texts = {name: str(parse(amount) if canonical else amount) for name, amount in written.items()}
    return frozenset(name for name, text in texts.items() if not shows_its_integer(text))


def _with_init_containers(total: Amounts, spec: dict[str, Any], path: str) -> Amounts:
    sidecars: Amounts = {}
    peak: Amounts = {}
    for index, container in enumerate(mappings(spec, "initContainers", path)):
        asked = _requests(container, f"{path}.initContainers[{index}]")
        if container.get("restartPolicy") == "Always":
            sidecars = add(sidecars, asked)
            peak = _larger(peak, sidecars)
        else:
            peak = _larger(peak, add(asked, sidecars))
    return _larger(add(total, sidecars), peak)


def _requests(container: dict[str, Any], path: str) -> Amounts:
    resources = child(container, "resources", dict, {}, path)
    limits = quantities(resources, "limits", f"{path}.resources")
    return limits | quantities(resources, "requests", f"{path}.resources")


def _larger(left: Amounts, right: Amounts) -> Amounts:
    best = dict(left)
    for name, amount in right.items():
        if name not in best or best[name].amount < amount.amount:
            best[name] = amount
    return best


def units(name: str, amount: Quantity) -> int:
    """An amount as Kueue counts it: CPU in thousandths, everything else in whole units, rounded up, in int64."""
    return amount.milli if name == "cpu" else amount.ceiling


def quota_units(name: str, amount: Quantity) -> int:
    """A quota as Kueue counts it: one that int64 cannot hold is any amount, of CPU already at the last whole core."""
    found = units(name, amount)
    return MAX_INT64 if name == "cpu" and found >= MAX_INT64 // 1000 * 1000 else found


@lru_cache(maxsize=65536)
def printed(name: str, value: int, in_bytes: frozenset[str] = frozenset()) -> str:
    """The quantity that Kueue prints for ``value`` units of a resource; bytes in powers of 1024 where that is exact.

    ``in_bytes`` names resources that are counted in bytes beside memory and storage.
    """
    if name == "cpu":
        return str(Quantity(amount=Fraction(value, 1000)))
    binary = name in {"memory", "ephemeral-storage"} or name in in_bytes or name.startswith("hugepages-")
    shown = str(Quantity(amount=Fraction(value), format=Format.BINARY if binary else Format.DECIMAL))
    return str(parse(shown)) if binary else shown
