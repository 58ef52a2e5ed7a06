"""What a dump keeps of an object: what decides about quota, and nothing that may be confidential."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.api.topologies import NODE
from kueue_dra_ref.target import Manifest

KUEUE_DOMAIN = "kueue.x-k8s.io/"
_METADATA = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "resourceVersion",
    "labels",
    "finalizers",
    "ownerReferences",
)
_POD = (
    "containers",
    "initContainers",
    "affinity",
    "nodeName",
    "nodeSelector",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
)
"""Fields of a pod spec that decide what it requests and which nodes it may have."""
_CONTAINER = ("name", "image", "ports", "resources", "restartPolicy")
_SPECS_LEFT_OUT = {"Node": ("podCIDR", "podCIDRs", "providerID"), "Namespace": ()}
_STATUS_LEFT_OUT = frozenset({NODE, "Namespace"})


def filtered(obj: Manifest) -> Manifest:
    """Give an object without managed fields, foreign annotations, environment, commands and volumes."""
    kept: dict[str, Any] = {
        key: _value(value) for key, value in obj.items() if key != "metadata"
    }
    _leave_status_out(kept)
    left_out = _SPECS_LEFT_OUT.get(str(obj.get("kind")), ())
    if left_out and isinstance(kept.get("spec"), dict):
        kept["spec"] = _without(kept["spec"], left_out)
    head: dict[str, Any] = {
        key: kept.pop(key) for key in ("apiVersion", "kind") if key in kept
    }
    return {**head, "metadata": _metadata(obj.get("metadata") or {}), **kept}


def _leave_status_out(kept: dict[str, Any]) -> None:
    """Remove the status of objects in which it does not matter; of a node, keep the room of pods."""
    kind = kept.get("kind")
    if kind not in _STATUS_LEFT_OUT:
        return
    status = kept.pop("status", None) or {}
    if kind == NODE:
        kept["status"] = _room_of_node(status)


def _room_of_node(status: Mapping[str, Any]) -> dict[str, Any]:
    """Give what pods can have of a node, and whether it is Ready."""
    conditions = status.get("conditions") or ()
    ready = [
        {"type": "Ready", "status": each.get("status")}
        for each in conditions
        if each.get("type") == "Ready"
    ]
    allocatable = status.get("allocatable") or {}
    return {"allocatable": allocatable, "conditions": ready}


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: metadata[key] for key in _METADATA if metadata.get(key)}
    annotations = metadata.get("annotations") or {}
    ours = {key: text for key, text in annotations.items() if KUEUE_DOMAIN in key}
    return kept | ({"annotations": ours} if ours else {})


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(each) for each in value]
    if not isinstance(value, dict):
        return value
    if _is_pod_spec(value):
        return _pod_spec(value)
    if "opaque" in value:
        return {**value, "opaque": _opaque(value["opaque"])}
    return {key: _part(key, part) for key, part in value.items()}


def _part(key: str, value: Any) -> Any:
    if key == "metadata" and isinstance(value, dict):
        return _metadata(value)
    return _value(value)


def _is_pod_spec(value: Mapping[str, Any]) -> bool:
    containers = value.get("containers")
    return isinstance(containers, list) and all(
        isinstance(each, dict) for each in containers
    )


def _pod_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: spec[key] for key in _POD if key in spec}
    for key in ("containers", "initContainers"):
        if key in kept:
            kept[key] = [_container(each) for each in kept[key] or ()]
    return kept


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    return {key: container[key] for key in _CONTAINER if key in container}


def _opaque(opaque: Any) -> Any:
    """Keep that a driver is configured, not how."""
    return {**opaque, "parameters": {}} if isinstance(opaque, dict) else opaque


def _without(spec: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
