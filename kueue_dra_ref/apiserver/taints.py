"""Validation of device taints and of the tolerations of requests.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDeviceTaint, validateDeviceToleration)
"""

from __future__ import annotations

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required, unsupported
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes


def taint(found: Object, path: str, k: Kubernetes) -> Errors:
    """Check a taint of a device, which has an effect."""
    key = found.get("key") or ""
    value = found.get("value")
    effect = found.get("effect")
    yield from resource_names.label_key(key, f"{path}.key", k)
    if value:
        yield from resource_names.label_value(value, f"{path}.value", k)
    if effect:
        yield from _effect(effect, path, k)
    else:
        yield required(f"{path}.effect")


def toleration(found: Object, path: str, k: Kubernetes) -> Errors:
    """Check a toleration of a request, which may leave key and effect open."""
    key = found.get("key")
    value = found.get("value") or ""
    effect = found.get("effect")
    if key:
        yield from resource_names.label_key(key, f"{path}.key", k)
    match found.get("operator") or "":
        case "Exists" if value:
            detail = "must be empty for operator `Exists`"
            yield invalid(f"{path}.value", value, detail)
        case "Exists":
            pass
        case "Equal":
            yield from resource_names.label_value(value, f"{path}.value", k)
        case other:
            yield unsupported(f"{path}.operator", other, "Equal", "Exists")
    if effect:
        yield from _effect(effect, path, k)


def _effect(effect: str, path: str, k: Kubernetes) -> Errors:
    if effect not in k.effects:
        yield unsupported(f"{path}.effect", effect, *k.effects)
