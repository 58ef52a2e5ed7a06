"""Validation of binding conditions: what must come true, and what must not, before a pod is bound to a device.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDeviceBindingParameters)
"""

from __future__ import annotations

from functools import partial

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import Errors, duplicate, invalid, listed
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes

MAX_CONDITIONS = 4
_AWAITED, _FAILING = "bindingConditions", "bindingFailureConditions"


def conditions(device: Object, path: str, k: Kubernetes) -> Errors:
    """Check that a device has both kinds of conditions or none, and none of them twice."""
    awaited, failing = device.get(_AWAITED) or [], device.get(_FAILING) or []
    check = partial(resource_names.label_key, k=k)
    yield from listed(awaited, f"{path}.{_AWAITED}", k, check, at_most=MAX_CONDITIONS)
    yield from listed(failing, f"{path}.{_FAILING}", k, check, at_most=MAX_CONDITIONS)
    yield from _once(awaited, [], f"{path}.{_AWAITED}")
    yield from _once(failing, awaited, f"{path}.{_FAILING}")
    for missing, other in ((_AWAITED, _FAILING), (_FAILING, _AWAITED)):
        if device.get(other) and not device.get(missing):
            yield invalid(
                f"{path}.{missing}",
                device.get(missing),
                f"{missing} are required to use {other}",
            )


def _once(found: list[str], others: list[str], path: str) -> Errors:
    for index, condition in enumerate(found):
        if condition in found[:index]:
            yield duplicate(f"{path}[{index}]", condition)
        if condition in others:
            yield invalid(
                f"{path}[{index}]",
                condition,
                f"{_FAILING} must not overlap with {_AWAITED}",
            )
