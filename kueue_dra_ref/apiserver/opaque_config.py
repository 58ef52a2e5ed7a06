"""Validation of opaque device configurations, in claims and in classes.

Kubernetes: pkg/apis/resource/validation/validation.go (validateDeviceConfiguration, validateOpaqueConfiguration)
"""

from __future__ import annotations

import json
from typing import Any

from kueue_dra_ref.api.names import size
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver import resource_names
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, required, too_long
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes

MAX_PARAMETERS = 10 * 1024


def opaque(config: Object, path: str, k: Kubernetes) -> Errors:
    """Check that a configuration has a driver and an object of parameters."""
    found = config.get("opaque")
    path = f"{path}.opaque"
    if found is None:
        yield required(path)
        return
    driver = found.get("driver") or ""
    at = f"{path}.driver"
    yield from resource_names.driver(driver, at, k)
    parameters = found.get("parameters")
    at = f"{path}.parameters"
    yield from _parameters(parameters, at, k)


def _parameters(parameters: Any, path: str, k: Kubernetes) -> Errors:
    if parameters is None:
        yield required(path)
        return
    text = json.dumps(parameters, ensure_ascii=False, separators=(",", ":"))
    if k.minor > 31 and size(text) > MAX_PARAMETERS:
        yield too_long(path, MAX_PARAMETERS, k)
    elif not isinstance(parameters, dict):
        yield invalid(path, "<value omitted>", k.not_an_object)
