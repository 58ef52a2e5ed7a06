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

_EXACT = (
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
    devices = spec.get("devices") or {}
    found: list[Object] = devices.get("requests") or []
    return found


def devices_of(obj: Object) -> list[Object]:
    """Give the devices of a slice; none of other kinds."""
    if obj["kind"] != "ResourceSlice":
        return []
    spec = obj.get("spec") or {}
    found: list[Object] = spec.get("devices") or []
    return found


def set_defaults(obj: Object, version: str, k: Kubernetes) -> None:
    """Set the defaults of the version, before conversion; when a taint was added is read by nothing, and left out."""
    requests = requests_of(claims_of(obj))
    for request in requests:
        for body in _bodies(request, version, k):
            _default_amount(body)
        _default_tolerations(request)
    for device in devices_of(obj):
        if is_flat(version):
            device = device.get("basic", {})
        _default_device(device)


def _default_tolerations(request: Object) -> None:
    exact = request.get("exactly") or {}
    alternatives = request.get("firstAvailable") or ()
    for body in (request, exact, *alternatives):
        for toleration in body.get("tolerations") or ():
            operator = toleration.get("operator")
            toleration["operator"] = operator or "Equal"


def to_v1(obj: Object, version: str, k: Kubernetes) -> None:
    """Bring a decoded object to v1's shape."""
    if is_flat(version):
        for request in requests_of(claims_of(obj)):
            _gather(request, k)
        if obj["kind"] == "ResourceSlice":
            _unbox_slice(obj, k)
    obj["apiVersion"] = "resource.k8s.io/v1"


def _unbox_slice(obj: Object, k: Kubernetes) -> None:
    spec = obj.get("spec") or {}
    for key in ("nodeName", "allNodes"):
        if not spec.get(key):
            spec.pop(key, None)
    for device in devices_of(obj):
        _unbox(device, k)


def _bodies(request: Object, version: str, k: Kubernetes) -> Iterator[Object]:
    yield from request.get("firstAvailable") or ()
    if not is_flat(version):
        if "exactly" in request:
            yield request["exactly"]
    elif request.get("deviceClassName") or k.defaults_without_class:
        yield request


def _default_amount(body: Object) -> None:
    mode = body.get("allocationMode") or "ExactCount"
    body["allocationMode"] = mode
    if mode == "ExactCount" and not body.get("count"):
        body["count"] = 1


def _default_device(device: Object) -> None:
    mappings = device.get("nodeAllocatableResourceMappings") or {}
    for mapping in mappings.values():
        mapping.setdefault("allocationMultiplier", "1")


def _gather(request: Object, k: Kubernetes) -> None:
    """Put the fields of a flat request under ``exactly``, when any is set."""
    exact = {}
    is_set = k.has_flat_paths
    for key in _EXACT:
        if key in request:
            value = request.pop(key)
            exact[key] = value
            is_set |= bool(value) or key in _SET_WHEN_EMPTY
    if is_set:
        request["exactly"] = exact


def _unbox(device: Object, k: Kubernetes) -> None:
    """Open ``basic``; a capacity that is the amount alone becomes ``{value: ...}``."""
    basic = device.pop("basic", None)
    if basic is None and k.has_flat_paths:
        device["basic"] = None  # reported as missing
    device.update(basic or {})
    capacity = device.get("capacity") or {}
    for name, amount in capacity.items():
        if isinstance(amount, str):
            capacity[name] = {"value": amount}
