"""resource.k8s.io shapes: the flat requests and devices of v1alpha3 and v1beta1 brought to v1, and v1's nouns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kueue_dra_ref.api.unstructured import Object, child, mappings
from kueue_dra_ref.target import Manifest

_FLAT = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """One request of a claim, or one alternative of a prioritized list; ``count`` is in devices."""

    index: int
    name: str
    device_class: str
    mode: str
    count: int
    admin_access: bool
    selectors: tuple[str, ...]
    """CEL expressions, in order."""
    capacity: Mapping[str, str | int] = field(default_factory=dict)
    """The requested share of each capacity."""
    alternatives: tuple[DeviceRequest, ...] = ()
    """What ``firstAvailable`` names, best first; then the other fields are empty."""


def requests_of(template: Manifest) -> tuple[DeviceRequest, ...]:
    """Read the requests of a stored ResourceClaimTemplate.

    Raises:
        ManifestError: a field is of the wrong type.

    """
    spec = child(template, "spec", dict, {})
    claim = child(spec, "spec", dict, {}, "spec")
    devices = child(claim, "devices", dict, {}, "spec.spec")
    found = mappings(devices, "requests", "spec.spec.devices")
    path = "spec.spec.devices.requests"
    return tuple(
        _request(index, request, f"{path}[{index}]")
        for index, request in enumerate(found)
    )


def _request(index: int, request: Object, path: str) -> DeviceRequest:
    alternatives = mappings(request, "firstAvailable", path)
    body = child(request, "exactly", dict, {}, path)
    return DeviceRequest(
        **_fields(index, {"name": request.get("name", ""), **body}, f"{path}.exactly"),
        alternatives=tuple(
            DeviceRequest(**_fields(i, sub, f"{path}.firstAvailable[{i}]"))
            for i, sub in enumerate(alternatives)
        ),
    )


def _fields(index: int, body: Object, path: str) -> Object:
    return {
        "index": index,
        "name": child(body, "name", str, "", path),
        "device_class": child(body, "deviceClassName", str, "", path),
        "mode": child(body, "allocationMode", str, "", path),
        "count": child(body, "count", int, 0, path),
        "admin_access": child(body, "adminAccess", bool, False, path),
        "selectors": expressions_of(body, path),
        "capacity": child(
            child(body, "capacity", dict, {}, path),
            "requests",
            dict,
            {},
            f"{path}.capacity",
        ),
    }


def expressions_of(body: Object, path: str) -> tuple[str, ...]:
    """Give the CEL expressions of a ``selectors`` list; a selector without ``cel`` is skipped."""
    found = [
        child(entry, "cel", dict, {}, path)
        for entry in mappings(body, "selectors", path)
    ]
    return tuple(child(cel, "expression", str, "", path) for cel in found if cel)


def request_from_flat(request: Object) -> None:
    """Bring a v1alpha3 or v1beta1 request to v1: its fields move under ``exactly``."""
    if "exactly" in request:
        return
    moved = {key: request.pop(key) for key in _FLAT if key in request}
    if moved:
        request["exactly"] = moved


def request_to_flat(request: Object) -> None:
    """Bring a v1 request to the shape of v1alpha3 and v1beta1."""
    request.update(request.pop("exactly", {}))


def device_from_v1beta1(device: Object) -> None:
    """Bring a v1alpha3 or v1beta1 device to v1: ``basic`` is opened, bare capacities become ``{value: ...}``."""
    device.update(device.pop("basic", None) or {})
    for name, amount in child(device, "capacity", dict, {}).items():
        if not isinstance(amount, dict):
            device["capacity"][name] = {"value": amount}


def device_to_basic(device: Object, capacity_is_bare: bool) -> None:
    """Bring a v1 device to v1beta1, or to v1alpha3 where a capacity is the amount alone."""
    basic = {key: device.pop(key) for key in list(device) if key != "name"}
    device["basic"] = basic
    if not capacity_is_bare:
        return
    capacity = basic.get("capacity", {})
    for name, amount in capacity.items():
        capacity[name] = amount.get("value", "0")
