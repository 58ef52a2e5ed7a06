"""Validation of binding conditions: what must come true, and what must not, before a pod is bound to a device.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDeviceBindingParameters)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import Errors, duplicate, invalid, listed
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.target import FieldError

MAX_CONDITIONS = 4
_AWAITED, _FAILING = "bindingConditions", "bindingFailureConditions"


def conditions(device: Object, path: str, k: Kubernetes) -> Errors:
    """Check that a device has both kinds of conditions or none, and none of them twice."""
    awaited = device.get(_AWAITED) or []
    failing = device.get(_FAILING) or []
    at_awaited = f"{path}.{_AWAITED}"
    at_failing = f"{path}.{_FAILING}"
    yield from _keys(awaited, at_awaited, k)
    yield from _keys(failing, at_failing, k)
    yield from _once(awaited, at_awaited)
    yield from _once(failing, at_failing, awaited)
    if failing and not awaited:
        found = device.get(_AWAITED)
        yield _unpaired(at_awaited, found, _AWAITED, _FAILING)
    if awaited and not failing:
        found = device.get(_FAILING)
        yield _unpaired(at_failing, found, _FAILING, _AWAITED)


def _keys(found: list[str], path: str, k: Kubernetes) -> Errors:
    check = partial(resource_names.label_key, k=k)
    return listed(
        found,
        path,
        k,
        check,
        at_most=MAX_CONDITIONS,
    )


def _unpaired(path: str, found: Any, missing: str, other: str) -> FieldError:
    detail = f"{missing} are required to use {other}"
    return invalid(path, found, detail)


def _once(found: list[str], path: str, others: Sequence[str] = ()) -> Errors:
    overlap = f"{_FAILING} must not overlap with {_AWAITED}"
    for index, condition in enumerate(found):
        at = f"{path}[{index}]"
        if condition in found[:index]:
            yield duplicate(at, condition)
        if condition in others:
            yield invalid(at, condition, overlap)
