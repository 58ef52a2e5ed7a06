"""Validation of claims and of the requests in templates (resource.k8s.io: DeviceClaim).

Kubernetes: pkg/apis/resource/validation/validation.go (ValidateResourceClaim, validateDeviceClaim,
    validateDeviceRequest)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.cel_selectors import selectors
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    invalid,
    invalid_as,
    listed,
    listed_once,
    required,
    unsupported,
)
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.opaque_config import opaque
from kueue_dra_ref.apiserver.taints import toleration

MAX_REQUESTS, MAX_CONSTRAINTS, MAX_CONFIGS, MAX_ALTERNATIVES = 32, 32, 32, 8
_UNION = "exactly one of `exactly` or `firstAvailable` is required"
_ATTRIBUTE_UNION = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'


def claim(spec: Object, path: str, k: Kubernetes, *, stored: bool = False) -> Errors:
    """Check a claim's spec; a ``stored`` claim's selectors were checked before."""
    devices = spec.get("devices") or {}
    path = f"{path}.devices"
    names = _names(devices)
    yield from listed_once(
        devices.get("requests"),
        f"{path}.requests",
        k,
        partial(_request, k=k, stored=stored),
        _name,
        named="name",
        at_most=MAX_REQUESTS,
    )
    constraint = partial(_constraint, names, k)
    at = f"{path}.constraints"
    found = devices.get("constraints")
    yield from listed(found, at, k, constraint, at_most=MAX_CONSTRAINTS)
    configuration = partial(_configuration, names, k)
    at = f"{path}.config"
    found = devices.get("config")
    yield from listed(found, at, k, configuration, at_most=MAX_CONFIGS)


def _name(item: Object) -> str:
    return item.get("name") or ""


def _names(devices: Object) -> Mapping[str, frozenset[str]]:
    """Give the names of the alternatives of each request, by its name."""
    return {
        _name(r): frozenset(map(_name, r.get("firstAvailable") or ()))
        for r in devices.get("requests") or ()
    }


def _request(request: Object, path: str, *, k: Kubernetes, stored: bool) -> Errors:
    yield from resource_names.label(_name(request), f"{path}.name")
    has_alternatives = bool(request.get("firstAvailable"))
    is_exact = request.get("exactly") is not None
    both = has_alternatives and is_exact
    if not both or not k.stops_at_unions:
        yield from _bodies(request, path, k=k, stored=stored)
    if both:
        yield invalid_as(path, k.null, f"{_UNION}, but multiple fields are set")
    if not has_alternatives and not is_exact:
        yield required(path, _UNION)


def _bodies(request: Object, path: str, *, k: Kubernetes, stored: bool) -> Errors:
    yield from listed_once(
        request.get("firstAvailable"),
        f"{path}.firstAvailable",
        k,
        partial(_alternative, k=k, stored=stored),
        _name,
        named="name",
        at_most=MAX_ALTERNATIVES,
    )
    exact = request.get("exactly")
    if exact is not None:
        yield from _body(exact, f"{path}.exactly", k, stored=stored)


def _alternative(body: Object, path: str, *, k: Kubernetes, stored: bool) -> Errors:
    yield from resource_names.label(_name(body), f"{path}.name")
    yield from _body(body, path, k, stored=stored)


def _body(body: Object, path: str, k: Kubernetes, *, stored: bool) -> Errors:
    name = body.get("deviceClassName")
    at = f"{path}.deviceClassName"
    if name:
        yield from resource_names.subdomain(name, at)
    else:
        yield required(at)
    yield from selectors(body.get("selectors"), f"{path}.selectors", k, stored=stored)
    yield from _amount(body.get("allocationMode") or "", body.get("count") or 0, path)
    tolerations = body.get("tolerations")
    check = partial(toleration, k=k)
    yield from listed(tolerations, f"{path}.tolerations", k, check)


def _amount(mode: str, count: int, path: str) -> Errors:
    match mode:
        case "All" if count:
            yield invalid(
                f"{path}.count",
                count,
                "must not be specified when allocationMode is 'All'",
            )
        case "ExactCount" if count <= 0:
            yield invalid(f"{path}.count", count, "must be greater than zero")
        case "All" | "ExactCount":
            return
        case _:
            yield unsupported(f"{path}.allocationMode", mode, "All", "ExactCount")


def _references(
    names: Mapping[str, frozenset[str]],
    k: Kubernetes,
    found: list[str] | None,
    path: str,
) -> Errors:
    check = partial(_reference, names, k)
    yield from listed_once(
        found, path, k, check, lambda name: name, at_most=MAX_REQUESTS
    )


def _reference(
    names: Mapping[str, frozenset[str]], k: Kubernetes, name: str, path: str
) -> Errors:
    parts = [name] if k.has_flat_paths else name.split("/")
    if len(parts) <= 2:
        for part in parts:
            yield from resource_names.label(part, path)
    if not _is_known(parts, names):
        yield invalid(path, name, k.request_reference)


def _is_known(parts: list[str], names: Mapping[str, frozenset[str]]) -> bool:
    request, *alternatives = parts
    if len(alternatives) > 1 or request not in names:
        return False
    return names[request].issuperset(alternatives)


def _constraint(
    names: Mapping[str, frozenset[str]], k: Kubernetes, constraint: Object, path: str
) -> Errors:
    yield from _references(names, k, constraint.get("requests"), f"{path}.requests")
    if "matchAttribute" in constraint:
        yield from resource_names.fully_qualified(
            constraint["matchAttribute"], f"{path}.matchAttribute", k
        )
    elif "distinctAttribute" in constraint:
        yield from resource_names.fully_qualified(
            constraint["distinctAttribute"], f"{path}.distinctAttribute", k
        )
    elif k.on("DRAConsumableCapacity"):
        yield required(path, _ATTRIBUTE_UNION)
    else:
        yield required(f"{path}.matchAttribute")


def _configuration(
    names: Mapping[str, frozenset[str]], k: Kubernetes, config: Object, path: str
) -> Errors:
    yield from _references(names, k, config.get("requests"), f"{path}.requests")
    yield from opaque(config, path, k)
