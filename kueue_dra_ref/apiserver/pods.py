"""Validation of the claims of a pod, and of those that its containers use (core: PodResourceClaim, ResourceClaim)."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.apiserver import naming
from kueue_dra_ref.apiserver.containers import containers_of
from kueue_dra_ref.apiserver.fielderrors import Errors, duplicate, invalid_as, not_found, required
from kueue_dra_ref.apiserver.printing import internal
from kueue_dra_ref.apiserver.schema_claims import POD_CLAIM
from kueue_dra_ref.apiserver.shapes import LAST

Object = dict[str, Any]
_FROM = ("resourceClaimName", "resourceClaimTemplateName")
_BOTH = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
_NEITHER = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
_MISSING = "must be one of the names in pod.spec.resourceClaims"


def claims_of_pod(pod: Object, path: str) -> Errors:
    """Check which claims a pod has."""
    names = _names(pod)
    for index, claim in enumerate(pod.get("resourceClaims") or ()):
        yield from _claim(claim, f"{path}.resourceClaims[{index}]", is_again=names[index] in names[:index])


def claims_of_containers(pod: Object, path: str) -> Errors:
    """Check that containers use claims of the pod, each once."""
    known = sorted({*_names(pod)} - {""})
    for at, container in containers_of(pod, path):
        used = (container.get("resources") or {}).get("claims") or []
        yield from _used(used, f"{at}.resources.claims", known)


def _names(pod: Object) -> list[str]:
    return [claim.get("name") or "" for claim in pod.get("resourceClaims") or ()]


def _claim(claim: Object, path: str, *, is_again: bool) -> Errors:
    name = claim.get("name") or ""
    if not name:
        yield required(f"{path}.name")
    elif is_again:
        yield duplicate(f"{path}.name", name)
    else:
        yield from naming.label(name, f"{path}.name")
    given = [key for key in _FROM if claim.get(key) is not None]
    if len(given) != 1:
        yield invalid_as(path, internal(claim, POD_CLAIM, LAST), _BOTH if given else _NEITHER)
    for key in given:
        yield from naming.subdomain(claim[key], f"{path}.{key}")


def _used(used: list[Object], path: str, known: list[str]) -> Errors:
    seen: set[str] = set()
    for index, each in enumerate(used):
        name, at = each.get("name") or "", f"{path}[{index}]"
        if not name:
            yield required(at)
            continue
        yield from _again(name, each.get("request") or "", at, seen)
        if name not in known:
            detail = f"{_MISSING}: {', '.join(known)}" if known else f"{_MISSING} which is empty"
            yield not_found(at, name, detail)


def _again(name: str, request: str, path: str, seen: set[str]) -> Errors:
    """Check that neither the claim nor the request has been ``seen``, and see it."""
    if name in seen:  # as a whole, which leaves nothing of it
        yield duplicate(path, name)
        return
    if request:
        yield from naming.label(request, f"{path}.request")
    key = f"{name}/{request}" if request else name
    if key in seen or (not request and any(other.startswith(f"{name}/") for other in seen)):
        yield duplicate(path, key)
    seen.add(key)
