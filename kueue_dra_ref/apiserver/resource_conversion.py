"""Conversion of every version of resource.k8s.io to v1's shape, with the defaults of the version on the way.

Kubernetes: pkg/apis/resource/v1beta1/conversion.go (Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest,
    Convert_v1beta1_Device_To_resource_Device);
    pkg/apis/resource/v1beta1/defaults.go (SetDefaults_DeviceRequest)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.unstructured import Object
from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.schema_claims import is_flat

_ASKED = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)
_SET_WHEN_EMPTY = frozenset({"selectors", "adminAccess", "tolerations", "capacity"})


def claims_of(obj: Object) -> Object:
    """Give the claim's spec inside a claim or a template; empty for other kinds."""
    spec: Object = obj.get("spec") or {}
    match obj["kind"]:
        case "ResourceClaim":
            return spec
        case "ResourceClaimTemplate":
            return spec.get("spec") or {}
        case _:
            return {}


def requests_of(spec: Object) -> list[Object]:
    """Give the requests of a claim's spec."""
    found: list[Object] = (spec.get("devices") or {}).get("requests") or []
    return found


def devices_of(obj: Object) -> list[Object]:
    """Give the devices of a slice; none of other kinds."""
    spec = obj.get("spec") or {} if obj["kind"] == "ResourceSlice" else {}
    found: list[Object] = spec.get("devices") or []
    return found


def set_defaults(obj: Object, version: str, k: Kubernetes, now: str) -> None:
    """Fill in what the version's defaults say, before conversion."""
    for request in requests_of(claims_of(obj)):
        for body in _bodies(request, version, k):
            _default_amount(body)
    for body in _tolerating(claims_of(obj)):
        for toleration in body.get("tolerations") or ():
            toleration["operator"] = toleration.get("operator") or "Equal"
    for device in devices_of(obj):
        _default_device(device.get("basic", {}) if is_flat(version) else device, now)


def to_v1(obj: Object, version: str, k: Kubernetes) -> None:
    """Bring a decoded object to v1's shape."""
    for request in requests_of(claims_of(obj)) if is_flat(version) else ():
        _gather(request, k)
    if is_flat(version) and obj["kind"] == "ResourceSlice":
        spec = obj.get("spec") or {}
        for key in ("nodeName", "allNodes"):
            if not spec.get(key):
                spec.pop(key, None)
        for device in devices_of(obj):
            _unbox(device, k)
    obj["apiVersion"] = "resource.k8s.io/v1"


def _bodies(request: Object, version: str, k: Kubernetes) -> Iterator[Object]:
    yield from request.get("firstAvailable") or ()
    if not is_flat(version):
        if "exactly" in request:
            yield request["exactly"]
    elif request.get("deviceClassName") or k.defaults_without_class:
        yield request


def _default_amount(body: Object) -> None:
    body["allocationMode"] = body.get("allocationMode") or "ExactCount"
    if body["allocationMode"] == "ExactCount" and not body.get("count"):
        body["count"] = 1


def _tolerating(spec: Object) -> Iterator[Object]:
    for request in requests_of(spec):
        yield request
        yield request.get("exactly") or {}
        yield from request.get("firstAvailable") or ()


def _default_device(device: Object, now: str) -> None:
    for taint in device.get("taints") or ():
        if now:
            taint.setdefault("timeAdded", now)
    for mapping in (device.get("nodeAllocatableResourceMappings") or {}).values():
        mapping.setdefault("allocationMultiplier", "1")


def _gather(request: Object, k: Kubernetes) -> None:
    """Put the fields of a flat request under ``exactly``, when any is set."""

    def is_set(key: str) -> bool:
        return key in request and (bool(request[key]) or key in _SET_WHEN_EMPTY)

    if any(map(is_set, _ASKED)) or k.has_flat_paths:
        request["exactly"] = {key: request[key] for key in _ASKED if key in request}
    for key in _ASKED:
        request.pop(key, None)


def _unbox(device: Object, k: Kubernetes) -> None:
    """Open ``basic``; a capacity that is the amount alone becomes ``{value: ...}``."""
    basic = device.pop("basic", None)
    if basic is None and k.has_flat_paths:
        device["basic"] = None  # told as missing
    device.update(basic or {})
    for name, amount in (device.get("capacity") or {}).items():
        device["capacity"][name] = (
            {"value": amount} if isinstance(amount, str) else amount
        )
