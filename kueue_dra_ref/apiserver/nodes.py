"""Validation of which nodes a slice or a device belongs to (resource.k8s.io: node selection; core: NodeSelector).

Kubernetes: pkg/apis/resource/validation/validation.go (validateResourceSliceSpec, validateNodeName);
    pkg/apis/core/validation/validation.go (ValidateNodeSelector)
"""

from __future__ import annotations

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import (
    Errors,
    forbidden,
    invalid,
    invalid_as,
    invalid_word,
    required,
)
from kueue_dra_ref.apiserver.go_json import internal
from kueue_dra_ref.apiserver.go_types import GoSlice
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.schema_claims import NODE_TERM

_SLICE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_SLICE_1_32 = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required"
_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required "
    "when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NOT_PER_DEVICE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set "
    "if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_ONE_NODE = ("nodeName", "nodeSelector", "allNodes")
_TRUE = "must be either unset or set to true"


def of_slice(spec: Object, path: str, k: Kubernetes) -> Errors:
    """Check that a slice chooses its nodes in exactly one way."""
    ways = (*_ONE_NODE, "perDeviceNodeSelection")
    chosen = [key for key in ways if _is_chosen(spec, key)]
    yield from _name(spec, path, "must be either unset or set to a non-empty string")
    if "nodeSelector" in spec:
        yield from selector(spec["nodeSelector"], f"{path}.nodeSelector", k)
        yield from _one_term(spec["nodeSelector"], f"{path}.nodeSelector", k)
    for key in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(key) is False:
            yield invalid(f"{path}.{key}", False, _TRUE)
    yield from _one_of(chosen, path, _SLICE_1_32 if k.has_flat_paths else _SLICE, k)


def _one_term(found: Object, path: str, k: Kubernetes) -> Errors:
    terms = found.get("nodeSelectorTerms")
    if len(terms or ()) != 1:
        shown = internal(terms, GoSlice(NODE_TERM), k.minor)
        detail = "must have exactly one node selector term"
        yield invalid_as(f"{path}.nodeSelectorTerms", shown, detail)


def of_device(device: Object, path: str, per_device: bool, k: Kubernetes) -> Errors:
    """Check that a device chooses its nodes exactly when its slice leaves the choice to devices."""
    if not per_device:
        if any(key in device for key in _ONE_NODE):
            yield invalid_as(path, k.null, _NOT_PER_DEVICE)
        return
    chosen = [key for key in _ONE_NODE if _is_chosen(device, key)]
    yield from _name(device, path, "must not be empty")
    if "nodeSelector" in device:
        yield from selector(device["nodeSelector"], f"{path}.nodeSelector", k)
    if device.get("allNodes") is False:
        yield invalid(f"{path}.allNodes", False, _TRUE)
    if not chosen:
        yield required(path, _DEVICE)
    if len(chosen) > 1:
        yield invalid(path, _among(chosen), _DEVICE)


def _is_chosen(holder: Object, key: str) -> bool:
    return key in holder if key == "nodeSelector" else bool(holder.get(key))


def _among(chosen: list[str]) -> str:
    return f"{{{', '.join(f'`{key}`' for key in chosen)}}}"


def _name(holder: Object, path: str, when_empty: str) -> Errors:
    if holder.get("nodeName"):
        yield from resource_names.subdomain(holder["nodeName"], f"{path}.nodeName")
    elif "nodeName" in holder:
        yield invalid(f"{path}.nodeName", "", when_empty)


def _one_of(chosen: list[str], path: str, words: str, k: Kubernetes) -> Errors:
    if not chosen:
        yield required(path, words)
    if len(chosen) < 2:
        return
    if k.has_flat_paths:
        yield invalid_as(path, k.null, words)
    else:
        yield invalid(path, _among(chosen), f"{words}, but multiple fields are set")


def selector(found: Object, path: str, k: Kubernetes) -> Errors:
    """Check a node selector (core)."""
    terms, path = found.get("nodeSelectorTerms") or [], f"{path}.nodeSelectorTerms"
    if not terms:
        yield required(path, "must have at least one node selector term")
    for index, term in enumerate(terms):
        for place, expression in enumerate(term.get("matchExpressions") or ()):
            yield from _expression(
                expression, f"{path}[{index}].matchExpressions[{place}]", k
            )
        for place, expression in enumerate(term.get("matchFields") or ()):
            yield from _field(expression, f"{path}[{index}].matchFields[{place}]")


def _expression(found: Object, path: str, k: Kubernetes) -> Errors:
    operator, values = found.get("operator") or "", found.get("values") or []
    yield from _values(operator, len(values), path)
    yield from resource_names.label_key(found.get("key") or "", f"{path}.key", k)
    for index, value in enumerate(values):
        yield from resource_names.label_value(value, f"{path}.values[{index}]", k)


def _values(operator: str, count: int, path: str) -> Errors:
    match operator:
        case "In" | "NotIn" if not count:
            yield required(
                f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"
            )
        case "Exists" | "DoesNotExist" if count:
            yield forbidden(
                f"{path}.values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )
        case "Gt" | "Lt" if count != 1:
            yield required(
                f"{path}.values",
                "must be specified single value when `operator` is 'Lt' or 'Gt'",
            )
        case "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt":
            return
        case _:
            yield invalid_word(
                f"{path}.operator", operator, "not a valid selector operator"
            )


def _field(found: Object, path: str) -> Errors:
    operator, values = found.get("operator") or "", found.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid_word(
            f"{path}.operator", operator, "not a valid selector operator"
        )
    elif len(values) != 1:
        words = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", words)
    if found.get("key") != "metadata.name":
        yield invalid(
            f"{path}.key", found.get("key") or "", "not a valid field selector key"
        )
    else:
        for index, value in enumerate(values):
            yield from resource_names.subdomain(value, f"{path}.values[{index}]")
