"""The role of a pod in its group: a hash of the parts of its spec that decide where and how it is admitted.

Kueue: pkg/util/pod/pod.go (GenerateRoleHash, SpecShape, ContainersShape)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.target import Manifest

_FIELDS = """
name hostPort containerPort protocol hostIP
key operator value effect values tolerationSeconds
resourceClaimName resourceClaimTemplateName
nodeAffinity podAffinity podAntiAffinity
requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
nodeSelectorTerms matchLabels matchExpressions matchFields weight preference podAffinityTerm
maxSkew topologyKey whenUnsatisfiable labelSelector minDomains nodeAffinityPolicy nodeTaintsPolicy
namespaceSelector matchLabelKeys mismatchLabelKeys
"""
_ORDER = _FIELDS.split()
"""Fields in the order in which Go writes them."""
_IN_A_TERM = ("labelSelector", "namespaces", "topologyKey")
"""The first fields of a term of pod affinity."""
_LISTS = ("tolerations", "topologySpreadConstraints", "resourceClaims")


def role_hash(spec: Manifest, *, whole: bool = True) -> str:
    """Give the role of a pod by its spec, as the API server has completed it; by what it requests as a whole, too."""
    shape: dict[str, Any] = {
        "initContainers": _containers(spec.get("initContainers")),
        "containers": _containers(spec.get("containers")),
        "nodeSelector": _map(spec.get("nodeSelector")),
        "affinity": _ordered(spec.get("affinity")),
        "runtimeClassName": spec.get("runtimeClassName"),
        "priority": spec.get("priority"),
        "overhead": _amounts(spec.get("overhead")),
        **{key: _ordered(spec.get(key)) for key in _LISTS},
    }
    if whole and spec.get("resources") is not None:
        shape["resources"] = _amounts(spec["resources"].get("requests"))
    written = json.dumps(
        {"spec": _map(shape)}, separators=(",", ":"), ensure_ascii=False
    )
    digest = hashlib.sha256(_escaped(written).encode())
    return digest.hexdigest()[:8]


def _escaped(written: str) -> str:
    """Escape what Go escapes."""
    for character in "<>&\u2028\u2029":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _containers(containers: Sequence[Manifest] | None) -> list[Any] | None:
    found = []
    for each in containers or ():
        resources = each.get("resources") or {}
        requests = _amounts(resources.get("requests"))
        ports = _ordered(each.get("ports") or None)
        found.append({"ports": ports, "resources": {"requests": requests}})
    return found or None


def _amounts(amounts: Mapping[str, Any] | None) -> dict[str, str] | None:
    if not amounts:
        return None
    return {name: str(parse(amounts[name])) for name in sorted(amounts)}


def _map(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {key: found[key] for key in sorted(found)}


def _ordered(value: Any) -> Any:
    """Order the fields of a value as Go does; a map of labels by its keys."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    order = [*_IN_A_TERM, *_ORDER] if "namespaces" in value else _ORDER
    known = [key for key in dict.fromkeys(order) if key in value]
    others = sorted(value.keys() - set(known))
    return {key: _ordered(value[key]) for key in (*known, *others)}
