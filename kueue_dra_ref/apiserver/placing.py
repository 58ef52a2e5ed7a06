"""Validation of where pods may run (core: node selectors, affinity, tolerations), and of what they are called by."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.names import label_value_faults
from kueue_dra_ref.apiserver import naming, nodes
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, unsupported
from kueue_dra_ref.apiserver.kubernetes import Kubernetes

Object = dict[str, Any]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_COMPARING = ("Gt", "Lt")


def chosen_nodes(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check the labels by which a pod chooses nodes."""
    yield from naming.label_map(pod.get("nodeSelector"), f"{path}.nodeSelector", k)
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    if _REQUIRED in affinity:
        yield from nodes.selector(affinity[_REQUIRED], f"{path}.affinity.nodeAffinity.{_REQUIRED}", k)


def tolerations(pod: Object, path: str, k: Kubernetes) -> Errors:
    """Check which taints a pod tolerates."""
    for index, toleration in enumerate(pod.get("tolerations") or ()):
        yield from _toleration(toleration, f"{path}.tolerations[{index}]", k)


def named(pod: Object, path: str) -> Errors:
    """Check what names a class of priorities or a runtime."""
    for key in ("priorityClassName", "runtimeClassName"):
        if pod.get(key) or (key in pod and key == "runtimeClassName"):
            yield from naming.subdomain(pod[key], f"{path}.{key}")


def _toleration(found: Object, path: str, k: Kubernetes) -> Errors:
    key, operator, effect = (found.get(part) or "" for part in ("key", "operator", "effect"))
    if key:
        yield from naming.label_key(key, f"{path}.key", k)
    elif operator != "Exists":
        words = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", operator, words)
    if "tolerationSeconds" in found and effect != "NoExecute":
        yield invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _comparison(operator, found.get("value") or "", f"{path}.operator", k)
    if effect and effect not in _EFFECTS:
        yield unsupported(f"{path}.effect", effect, *_EFFECTS)


def _comparison(operator: str, value: str, path: str, k: Kubernetes) -> Errors:
    match operator:
        case "Equal" | "":
            if faults := label_value_faults(value):
                yield invalid(path, value, ";".join(naming.counted(fault, k) for fault in faults))
        case "Exists":
            if value:
                yield invalid(path, value, "value must be empty when `operator` is 'Exists'")
        case _:
            more = ("Lt", "Gt") if k.knows_comparing_tolerations and operator in _COMPARING else ()
            yield unsupported(path, operator, "Equal", "Exists", *more)
