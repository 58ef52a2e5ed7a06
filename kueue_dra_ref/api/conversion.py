"""Versions of an object: any served shape in, the storage shape kept, any served shape out, defaulted on the way in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kueue_dra_ref.api.crd_validation import places
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.devices import (
    device_from_v1beta1,
    device_to_basic,
    request_from_flat,
    request_to_flat,
)
from kueue_dra_ref.api.jobs import POD_PATH
from kueue_dra_ref.api.quantities import in_thousandths
from kueue_dra_ref.api.scheme import KUEUE, ResourceKind, kind_of, version_of
from kueue_dra_ref.api.status_errors import required
from kueue_dra_ref.api.unstructured import child, mappings, text
from kueue_dra_ref.target import Manifest

Shape = Callable[[dict[str, Any]], None]
"""A change of an object in place: from one version's shape to another's."""


def stored(manifest: Manifest) -> Manifest:
    """A copy in the shape that the store keeps, with the API server's defaults; not for resource.k8s.io.

    Raises:
        ManifestFault: a name or a namespace is missing.

    """
    found = converted(manifest)
    for change in _DEFAULTS.get(found["kind"], ()):
        change(found)
    return found


def converted(manifest: Manifest) -> Manifest:
    """A copy in the shape that the store keeps, nothing added; a null field is an absent one.

    Raises:
        ManifestFault: a name or a namespace is missing, or what changes with the version is of the wrong type.

    """
    kind = kind_of(manifest)
    found: Manifest = _without_nulls(manifest)
    meta = child(found, "metadata", dict, {})
    text(meta, "name", "metadata")
    if kind.namespaced and not meta.get("namespace"):
        raise required("metadata.namespace", f"{kind.name} lives in a namespace")
    for change in _IN.get((kind.name, version_of(found)), ()):
        change(found)
    found["apiVersion"] = kind.storage
    return found


def presented(manifest: Manifest, api_version: str) -> Manifest:
    """A copy of a stored object in the shape of ``api_version``."""
    found = copied(manifest)
    kind: ResourceKind = kind_of({**manifest, "apiVersion": api_version})
    for change in _OUT.get((kind.name, api_version.rpartition("/")[2]), ()):
        change(found)
    found["apiVersion"] = api_version
    return found


def _without_nulls(value: Any) -> Any:
    """A copy without nulls; a number whose fraction is zero is a whole one, as it is when it is sent on."""
    match value:
        case dict():
            return {
                key: _without_nulls(each)
                if isinstance(each, (dict, list, float))
                else each
                for key, each in value.items()
                if each is not None
            }
        case list():
            return [_without_nulls(each) for each in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _rename(*path: str, to: str) -> Shape:
    def change(obj: dict[str, Any]) -> None:
        node = obj
        for key in path[:-1]:
            node = child(node, key, dict, {})
        node.pop(to, None)  # the version that is left does not have it
        if path[-1] in node:
            node[to] = node.pop(path[-1])

    return change


def _requests(obj: dict[str, Any]) -> list[dict[str, Any]]:
    spec = child(obj, "spec", dict, {})
    if obj["kind"] == "ResourceClaimTemplate":
        spec = child(spec, "spec", dict, {}, "spec")
    return mappings(
        child(spec, "devices", dict, {}, "spec"), "requests", "spec.devices"
    )


def _unflatten_requests(obj: dict[str, Any]) -> None:
    for request in _requests(obj):
        request_from_flat(request)


def _flatten_devices(obj: dict[str, Any]) -> None:
    for device in mappings(child(obj, "spec", dict, {}), "devices", "spec"):
        device_from_v1beta1(device)


def _flat_requests(obj: dict[str, Any]) -> None:
    for request in _requests(obj):
        request_to_flat(request)


def _basic_devices(capacity_is_bare: bool) -> Shape:
    def change(obj: dict[str, Any]) -> None:
        for device in mappings(child(obj, "spec", dict, {}), "devices", "spec"):
            device_to_basic(device, capacity_is_bare)

    return change


def _default_spec(obj: dict[str, Any]) -> None:
    obj.setdefault("spec", {})


def _default_queue(obj: dict[str, Any]) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("queueingStrategy", "BestEffortFIFO")
    spec.setdefault("stopPolicy", "None")
    preemption = spec.setdefault("preemption", {})
    preemption.setdefault("borrowWithinCohort", {}).setdefault("policy", "Never")
    preemption.setdefault("reclaimWithinCohort", "Never")
    preemption.setdefault("withinClusterQueue", "Never")
    searching = spec.setdefault("flavorFungibility", {})
    searching.setdefault("whenCanBorrow", "MayStopSearch")
    searching.setdefault("whenCanPreempt", "TryNextFlavor")


def _default_workload(obj: dict[str, Any]) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("active", True)
    for pod_set in mappings(spec, "podSets", "spec"):
        pod_set.setdefault("name", "main")
        pod_set.setdefault("count", 1)


def _default_job(obj: dict[str, Any]) -> None:
    spec = obj.setdefault("spec", {})
    if "parallelism" not in spec and "completions" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("suspend", False)
    labels = child(child(spec, "template", dict, {}), "metadata", dict, {}).get(
        "labels"
    )
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = copied(labels)


def _default_limits(obj: dict[str, Any]) -> None:
    """Give containers defaults: of limits the most that they may have, of requests their limit or the least."""
    for item in mappings(child(obj, "spec", dict, {}), "limits", "spec"):
        if item.get("type") == "Container":
            item["default"] = {**(item.get("max") or {}), **(item.get("default") or {})}
            least = {**(item.get("min") or {}), **item["default"]}
            item["defaultRequest"] = {**least, **(item.get("defaultRequest") or {})}


def _in_thousandths(*paths: str) -> Shape:
    """Round up amounts that are finer than thousandths, in the maps that the paths lead to."""

    def change(obj: dict[str, Any]) -> None:
        for _, amounts in (
            found for path in paths for found in places(obj, path, dict)
        ):
            amounts.update(
                {name: in_thousandths(amount) for name, amount in amounts.items()}
            )

    return change


_ASKING = (
    f"{POD_PATH}.resources",
    f"{POD_PATH}.containers[].resources",
    f"{POD_PATH}.initContainers[].resources",
)
_OF_PODS = (
    f"{POD_PATH}.overhead",
    *(f"{at}.{bound}" for at in _ASKING for bound in ("requests", "limits")),
)
_OF_LIMITS = tuple(
    f"spec.limits[].{bound}"
    for bound in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
)
_PRIORITY_SOURCES: Mapping[str, tuple[str, str]] = {
    "kueue.x-k8s.io/workloadpriorityclass": (KUEUE, "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}


def _fungibility_in(obj: dict[str, Any]) -> None:
    found = child(child(obj, "spec", dict, {}), "flavorFungibility", dict, {}, "spec")
    found.update(
        {
            key: "MayStopSearch"
            for key, word in found.items()
            if word in {"Borrow", "Preempt"}
        }
    )


def _priority_in(obj: dict[str, Any]) -> None:
    spec = child(obj, "spec", dict, {})
    spec.pop("priorityClassRef", None)
    name, source = (
        spec.pop("priorityClassName", ""),
        spec.pop("priorityClassSource", ""),
    )
    if source in _PRIORITY_SOURCES:
        group, kind = _PRIORITY_SOURCES[source]
        spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}


def _priority_out(obj: dict[str, Any]) -> None:
    reference = obj["spec"].pop("priorityClassRef", {})
    named = (reference.get("group"), reference.get("kind"))
    for source in (
        source for source, each in _PRIORITY_SOURCES.items() if each == named
    ):
        obj["spec"] |= {
            "priorityClassName": reference.get("name", ""),
            "priorityClassSource": source,
        }


_SERVED_FLAT = ("v1beta1", "v1alpha3")
_IN: dict[tuple[str, str], tuple[Shape, ...]] = {
    ("ClusterQueue", "v1beta1"): (
        _rename("spec", "cohort", to="cohortName"),
        _fungibility_in,
    ),
    ("Workload", "v1beta1"): (_priority_in,),
    **{("ResourceSlice", v): (_flatten_devices,) for v in _SERVED_FLAT},
    **{
        (k, v): (_unflatten_requests,)
        for v in _SERVED_FLAT
        for k in ("ResourceClaim", "ResourceClaimTemplate")
    },
}
_OUT: dict[tuple[str, str], tuple[Shape, ...]] = {
    ("ClusterQueue", "v1beta1"): (_rename("spec", "cohortName", to="cohort"),),
    ("LocalQueue", "v1beta1"): (_rename("status", "flavorsUsage", to="flavorUsage"),),
    ("Workload", "v1beta1"): (_priority_out,),
    ("ResourceSlice", "v1beta1"): (_basic_devices(capacity_is_bare=False),),
    ("ResourceSlice", "v1alpha3"): (_basic_devices(capacity_is_bare=True),),
    **{
        (k, v): (_flat_requests,)
        for v in _SERVED_FLAT
        for k in ("ResourceClaim", "ResourceClaimTemplate")
    },
}
_DEFAULTS: dict[str, tuple[Shape, ...]] = {
    **dict.fromkeys(("ResourceFlavor", "LocalQueue", "Cohort"), (_default_spec,)),
    "ClusterQueue": (_default_queue,),
    "Workload": (_default_workload,),
    "Job": (_default_job, _in_thousandths(*_OF_PODS)),
    "LimitRange": (_default_spec, _default_limits, _in_thousandths(*_OF_LIMITS)),
}
