"""Validation of DeviceClasses: selectors, configurations, the extended resource of a class.

Kubernetes: pkg/apis/resource/validation/validation.go (ValidateDeviceClass, validateDeviceClassSpec)
"""

from __future__ import annotations

from functools import partial

from kueue_dra_ref.api.names import label_key_faults
from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.cel_selectors import selectors
from kueue_dra_ref.apiserver.fielderrors import Errors, invalid, listed
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.opaque_config import opaque

MAX_CONFIGS = 32
_NATIVE, _OF_QUOTA = "kubernetes.io/", "requests."


def device_class(spec: Object, path: str, k: Kubernetes, old: Object | None) -> Errors:
    """Check a class's spec; selectors that are as they were have been checked before."""
    stored = old is not None and old.get("selectors") == spec.get("selectors")
    yield from selectors(spec.get("selectors"), f"{path}.selectors", k, stored=stored)
    yield from listed(
        spec.get("config"),
        f"{path}.config",
        k,
        partial(opaque, k=k),
        at_most=MAX_CONFIGS,
    )
    name = spec.get("extendedResourceName")
    if name is not None and k.is_declarative:
        yield from _extended_resource(name, f"{path}.extendedResourceName")
    elif name is not None and not is_extended_resource(name):
        yield invalid(
            f"{path}.extendedResourceName",
            name,
            "must be a valid extended resource name",
        )


def is_extended_resource(name: str) -> bool:
    """Tell whether a name can be an extended resource's: with a domain that is not Kubernetes' own."""
    return not any(_extended_resource(name, ""))


def _extended_resource(name: str, path: str) -> Errors:
    if "/" not in name:
        yield invalid(
            path,
            name,
            "a name must be a domain-prefixed path, such as 'example.com/my-prop'",
        )
    elif _NATIVE in name:
        yield invalid(path, name, f'must not have "{_NATIVE}" domain')
    if name.startswith(_OF_QUOTA):
        yield invalid(path, name, f'must not have "{_OF_QUOTA}" prefix')
    yield from (
        invalid(path, name, fault) for fault in label_key_faults(f"{_OF_QUOTA}{name}")
    )
