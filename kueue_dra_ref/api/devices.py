"""resource.k8s.io shapes: the flat requests and devices of v1alpha3 and v1beta1 brought to v1, and v1's nouns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.api.unstructured import child, mappings
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
    """The share that is asked for of each capacity."""
    alternatives: tuple[DeviceRequest, ...] = ()
    """What ``firstAvailable`` names, best first; empty for an exact request."""
    is_exact: bool = True


def requests_of(template: Manifest) -> tuple[DeviceRequest, ...]:
    """The requests of a stored ResourceClaimTemplate.

    Raises:
        ManifestFault: a field is of the wrong type.

    """
    path = "spec.spec.devices.requests"
    devices = child(
        child(child(template, "spec", dict, {}), "spec", dict, {}, "spec"),
        "devices",
        dict,
        {},
        "spec.spec",
    )
    found = mappings(devices, "requests", "spec.spec.devices")
    return tuple(
        _request(index, request, f"{path}[{index}]")
        for index, request in enumerate(found)
    )


def _request(index: int, request: dict[str, Any], path: str) -> DeviceRequest:
    exact = request.get("exactly")
    alternatives = mappings(request, "firstAvailable", path)
    body = child(request, "exactly", dict, {}, path)
    return DeviceRequest(
        **_fields(index, {"name": request.get("name", ""), **body}, f"{path}.exactly"),
        alternatives=tuple(
            DeviceRequest(**_fields(i, sub, f"{path}.firstAvailable[{i}]"))
            for i, sub in enumerate(alternatives)
        ),
        is_exact=exact is not None,
    )


def _fields(index: int, body: dict[str, Any], path: str) -> dict[str, Any]:
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


def expressions_of(body: dict[str, Any], path: str) -> tuple[str, ...]:
    """The CEL expressions of a ``selectors`` list; a selector without ``cel`` is passed over."""
    found = [
        child(entry, "cel", dict, {}, path)
        for entry in mappings(body, "selectors", path)
    ]
    return tuple(child(cel, "expression", str, "", path) for cel in found if cel)


def request_from_flat(request: dict[str, Any]) -> None:
    """Bring a v1alpha3 or v1beta1 request to v1: its fields move under ``exactly``."""
    if "exactly" in request:
        return
    moved = {key: request.pop(key) for key in _FLAT if key in request}
    if moved:
        request["exactly"] = moved


def request_to_flat(request: dict[str, Any]) -> None:
    """Bring a v1 request to the shape of v1alpha3 and v1beta1."""
    request.update(request.pop("exactly", {}))


def device_from_v1beta1(device: dict[str, Any]) -> None:
    """Bring a v1alpha3 or v1beta1 device to v1: ``basic`` is opened, bare capacities become ``{value: ...}``."""
    device.update(device.pop("basic", None) or {})
    for name, amount in child(device, "capacity", dict, {}).items():
        if not isinstance(amount, dict):
            device["capacity"][name] = {"value": amount}


def device_to_basic(device: dict[str, Any], capacity_is_bare: bool) -> None:
    """Bring a v1 device to v1beta1, or to v1alpha3 where a capacity is the amount alone."""
    device["basic"] = {key: device.pop(key) for key in list(device) if key != "name"}
    for name, amount in (
        device["basic"].get("capacity", {}).items() if capacity_is_bare else ()
    ):
        device["basic"]["capacity"][name] = amount.get("value", "0")
