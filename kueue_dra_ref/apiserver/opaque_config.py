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
    found, path = config.get("opaque"), f"{path}.opaque"
    if found is None:
        yield required(path)
        return
    yield from resource_names.driver(found.get("driver") or "", f"{path}.driver", k)
    yield from _parameters(found.get("parameters"), f"{path}.parameters", k)


def _parameters(parameters: Any, path: str, k: Kubernetes) -> Errors:
    if parameters is None:
        yield required(path)
    elif (
        k.minor > 31
        and size(json.dumps(parameters, ensure_ascii=False, separators=(",", ":")))
        > MAX_PARAMETERS
    ):
        yield too_long(path, MAX_PARAMETERS, k)
    elif not isinstance(parameters, dict):
        yield invalid(path, "<value omitted>", k.not_an_object)
