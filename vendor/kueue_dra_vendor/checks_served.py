"""Checks of what a Kubernetes minor makes of the files: fields that it drops, versions that it does not serve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.apiserver import (
    MINORS,
    AcceptedRequest,
    Kubernetes,
    RequestContext,
    admitted,
)
from kueue_dra_vendor.check import Found, Level, VendorContext, about, check
from kueue_dra_vendor.files import ADMIN_NAMESPACE, GROUP, INVALID, VendorObject

UNKNOWN = 'unknown field "'
"""How the API server's warning about an unknown field begins."""
GATES: Mapping[str, str] = {
    "sharedCounters": "DRAPartitionableDevices",
    "consumesCounters": "DRAPartitionableDevices",
    "perDeviceNodeSelection": "DRAPartitionableDevices",
    "allowMultipleAllocations": "DRAConsumableCapacity",
    "requestPolicy": "DRAConsumableCapacity",
    "distinctAttribute": "DRAConsumableCapacity",
    "extendedResourceName": "DRAExtendedResource",
    "taints": "DRADeviceTaints",
    "tolerations": "DRADeviceTaints",
    "firstAvailable": "DRAPrioritizedList",
    "adminAccess": "DRAAdminAccess",
    "bindingConditions": "DRADeviceBindingConditions",
    "bindingFailureConditions": "DRADeviceBindingConditions",
    "bindsToNode": "DRADeviceBindingConditions",
    "nodeAllocatableResources": "DRANodeAllocatableResources",
    "nodeAllocatableResourceMappings": "DRANodeAllocatableResources",
}
"""Fields that an API server drops while a gate is off. Kubernetes: pkg/features/kube_features.go"""


@check(
    "VENDOR-017",
    Level.ERROR,
    "Every field is known to some Kubernetes.",
    effect="kubectl and Helm refuse the object; from a driver, the API server drops the field and all that is in it.",
    remedy="Correct the field, or write the object in the version that has it.",
)
def fields_are_known(context: VendorContext) -> Found:
    """Read the API server's warnings, and look for a minor that has the field."""
    for each in context.files.objects:
        for path in _unknown(each.warnings):
            if not _minors_with(each, path):
                text = f"no Kubernetes has the field {path} in {_version(each)}"
                yield about(each, path, text)


@check(
    "VENDOR-018",
    Level.WARNING,
    "The API server keeps every field.",
    effect="Counters, shares, names or taints vanish without an error: Kueue finds nothing to charge.",
    remedy="Require the gate that the finding names, or a Kubernetes minor that has it on.",
    since="Kubernetes 1.33",
)
def fields_are_kept(context: VendorContext) -> Found:
    """Compare what was written with what is stored."""
    for each in context.files.objects:
        unknown = list(_unknown(each.warnings))
        for path in unknown:
            yield from _only_elsewhere(context, each, path)
        reported = {path.rpartition(".")[2] for path in unknown}
        for field, gate in dropped_fields(each, context.api_server):
            if field not in reported:
                is_set = "" if gate in context.gates else " by default"
                text = f"{field} is dropped: Kubernetes {context.kubernetes} has {gate} off{is_set}"
                yield about(each, _path_of(each.written, field), text)


def _only_elsewhere(context: VendorContext, each: VendorObject, path: str) -> Found:
    others = _minors_with(each, path)
    if others:
        lacks = f"Kubernetes {context.kubernetes} does not have it"
        yield about(each, path, f"{path} is dropped: {lacks}, {others[0]} does")


@check(
    "VENDOR-019",
    Level.WARNING,
    "The API server serves the version of each object by default.",
    effect='The object is not created ("no matches for kind"), and a mapping of the class charges nothing.',
    remedy="Write resource.k8s.io/v1 from Kubernetes 1.34 on.",
    since="Kubernetes 1.34",
)
def versions_are_served_by_default(context: VendorContext) -> Found:
    """Look for versions that need --runtime-config."""
    served = MINORS[context.kubernetes].served_by_default
    for each in context.files.objects:
        version = _version(each).removeprefix(GROUP)
        if not each.rejected and version not in served:
            text = f"Kubernetes {context.kubernetes} serves {GROUP}{version} only with --runtime-config"
            yield about(each, "apiVersion", text)


def dropped_fields(
    each: VendorObject, kubernetes: Kubernetes
) -> Iterator[tuple[str, str]]:
    """Give each field of an object that the API server drops, with the gate that is off."""
    if each.rejected:
        return
    written = Counter(_fields(each.written))
    stored = Counter(_fields(each.manifest))
    for field, count in written.items():
        gate = GATES[field]
        if stored[field] < count and not kubernetes.on(gate):
            yield field, gate


def _version(each: VendorObject) -> str:
    return str(each.document.manifest.get("apiVersion", ""))


def _minors_with(each: VendorObject, path: str) -> list[str]:
    """Name the minors that serve the version of an object and have a field of it."""
    found = []
    for name, kubernetes in MINORS.items():
        context = RequestContext(
            kubernetes=kubernetes, namespace_labels=ADMIN_NAMESPACE, only_served=True
        )
        answer = admitted(each.document.manifest, None, context)
        is_decoded = isinstance(answer, AcceptedRequest) or answer.code == INVALID
        if is_decoded and path not in _unknown(answer.warnings):
            found.append(name)
    return found


def _unknown(warnings: Sequence[str]) -> Iterator[str]:
    for warning in warnings:
        if warning.startswith(UNKNOWN):
            yield warning.removeprefix(UNKNOWN).rstrip('"')


def _fields(value: Any) -> Iterator[str]:
    """Give each field behind a gate that is set, once for each place."""
    if isinstance(value, list):
        for each in value:
            yield from _fields(each)
    elif isinstance(value, dict):
        for key, inside in value.items():
            if key in GATES and inside not in (None, [], False):
                yield key
            yield from _fields(inside)


def _path_of(value: Any, field: str, path: str = "") -> str:
    """Give the path of the first place of a field; empty where it is not there."""
    pairs: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        if field in value:
            return f"{path}.{field}".removeprefix(".")
        pairs = ((f".{key}", inside) for key, inside in value.items())
    elif isinstance(value, list):
        pairs = ((f"[{index}]", inside) for index, inside in enumerate(value))
    for step, inside in pairs:
        if found := _path_of(inside, field, f"{path}{step}".removeprefix(".")):
            return found
    return ""
