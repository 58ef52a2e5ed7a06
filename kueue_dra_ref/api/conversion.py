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
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.jobs import POD_PATH
from kueue_dra_ref.api.quantities import in_thousandths
from kueue_dra_ref.api.scheme import KUEUE, ResourceKind, kind_of, version_of
from kueue_dra_ref.api.status_errors import required
from kueue_dra_ref.api.unstructured import Object, child, mappings, text
from kueue_dra_ref.target import Manifest

Shape = Callable[[Object], None]
"""A change of an object in place: from one version's shape to another's."""


def stored(manifest: Manifest) -> Manifest:
    """Copy a manifest in the shape that the store keeps, with the API server's defaults; not for resource.k8s.io.

    Raises:
        ManifestError: a name or a namespace is missing.

    """
    found = converted(manifest)
    for change in _DEFAULTS.get(found["kind"], ()):
        change(found)
    return found


def converted(manifest: Manifest) -> Manifest:
    """Copy a manifest in the shape that the store keeps, nothing added; a null field is an absent one.

    Raises:
        ManifestError: a name or a namespace is missing, or what changes with the version is of the wrong type.

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
    """Copy a stored object in the shape of ``api_version``."""
    found = copied(manifest)
    kind: ResourceKind = kind_of({**manifest, "apiVersion": api_version})
    version = api_version.rpartition("/")[2]
    for change in _OUT.get((kind.name, version), ()):
        change(found)
    found["apiVersion"] = api_version
    return found


def _without_nulls(value: Any) -> Any:
    """Copy a value without nulls; a whole number written with a fraction becomes an integer, as when it is sent on."""
    match value:
        case dict():
            kept = {}
            for key, each in value.items():
                if each is not None:
                    kept[key] = _without_nulls(each)
            return kept
        case list():
            return [_without_nulls(each) for each in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def _rename(*path: str, to: str) -> Shape:
    def change(obj: Object) -> None:
        node = obj
        for key in path[:-1]:
            node = child(node, key, dict, {})
        node.pop(to, None)  # the version that is left does not have it
        if path[-1] in node:
            node[to] = node.pop(path[-1])

    return change


def _requests(obj: Object) -> list[Object]:
    spec = child(obj, "spec", dict, {})
    if obj["kind"] == "ResourceClaimTemplate":
        spec = child(spec, "spec", dict, {}, "spec")
    devices = child(spec, "devices", dict, {}, "spec")
    return mappings(devices, "requests", "spec.devices")


def _devices(obj: Object) -> list[Object]:
    spec = child(obj, "spec", dict, {})
    return mappings(spec, "devices", "spec")


def _unflatten_requests(obj: Object) -> None:
    for request in _requests(obj):
        request_from_flat(request)


def _flatten_devices(obj: Object) -> None:
    for device in _devices(obj):
        device_from_v1beta1(device)


def _flat_requests(obj: Object) -> None:
    for request in _requests(obj):
        request_to_flat(request)


def _basic_devices(capacity_is_bare: bool) -> Shape:
    def change(obj: Object) -> None:
        for device in _devices(obj):
            device_to_basic(device, capacity_is_bare)

    return change


def _default_spec(obj: Object) -> None:
    obj.setdefault("spec", {})


def _default_queue(obj: Object) -> None:
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


def _default_workload(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("active", True)
    for pod_set in mappings(spec, "podSets", "spec"):
        pod_set.setdefault("name", "main")
        pod_set.setdefault("count", 1)


def _default_job(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    if "parallelism" not in spec and "completions" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("suspend", False)
    template = child(spec, "template", dict, {})
    labels = child(template, "metadata", dict, {}).get("labels")
    if labels and not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = copied(labels)


def _default_pod(obj: Object) -> None:
    """Let a pod request what its containers are limited to, as the API server does for pods, not for templates."""
    for kind in ("containers", "initContainers"):
        for _, resources in places(obj, f"spec.{kind}[].resources", dict):
            limits = resources.get("limits") or {}
            if limits:
                requests = resources.get("requests") or {}
                resources["requests"] = {**limits, **requests}


def _default_job_set(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    for each in mappings(spec, "replicatedJobs", "spec"):
        each.setdefault("groupName", "default")
        each.setdefault("replicas", 1)


def _default_ray_cluster(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    for each in mappings(spec, "workerGroupSpecs", "spec"):
        each.setdefault("replicas", 0)
        each.setdefault("numOfHosts", 1)


def _default_limits(obj: Object) -> None:
    """Default the limits of containers to their maximum, and their requests to the limit or the minimum."""
    for item in mappings(child(obj, "spec", dict, {}), "limits", "spec"):
        if item.get("type") != "Container":
            continue
        limits = item.get("max") or {}
        limits = {**limits, **(item.get("default") or {})}
        least = item.get("min") or {}
        requests = item.get("defaultRequest") or {}
        item["default"] = limits
        item["defaultRequest"] = {**least, **limits, **requests}


def _in_thousandths(*paths: str) -> Shape:
    """Round up amounts that are finer than thousandths, in the maps that the paths lead to."""

    def change(obj: Object) -> None:
        for path in paths:
            for _, amounts in places(obj, path, dict):
                for name, amount in amounts.items():
                    amounts[name] = in_thousandths(amount)

    return change


_ASKING = ("resources", "containers[].resources", "initContainers[].resources")
_BOUNDS = (
    "overhead",
    *(f"{at}.{bound}" for at in _ASKING for bound in ("requests", "limits")),
)
_OF_PODS = tuple(f"{POD_PATH}.{at}" for at in _BOUNDS)
_OF_A_POD = tuple(f"spec.{at}" for at in _BOUNDS)
_OF_LIMITS = tuple(
    f"spec.limits[].{bound}"
    for bound in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
)
_PRIORITY_SOURCES: Mapping[str, tuple[str, str]] = {
    "kueue.x-k8s.io/workloadpriorityclass": (KUEUE, "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}


def _fungibility_in(obj: Object) -> None:
    spec = child(obj, "spec", dict, {})
    found = child(spec, "flavorFungibility", dict, {}, "spec")
    for key, value in found.items():
        if value in {"Borrow", "Preempt"}:
            found[key] = "MayStopSearch"


def _priority_in(obj: Object) -> None:
    spec = child(obj, "spec", dict, {})
    spec.pop("priorityClassRef", None)
    name = spec.pop("priorityClassName", "")
    source = spec.pop("priorityClassSource", "")
    if source in _PRIORITY_SOURCES:
        group, kind = _PRIORITY_SOURCES[source]
        spec["priorityClassRef"] = {"group": group, "kind": kind, "name": name}


def _priority_out(obj: Object) -> None:
    spec = obj["spec"]
    reference = spec.pop("priorityClassRef", {})
    group = reference.get("group")
    kind = reference.get("kind")
    for source, named in _PRIORITY_SOURCES.items():
        if named == (group, kind):
            spec["priorityClassName"] = reference.get("name", "")
            spec["priorityClassSource"] = source


def _admission_checks_in(queue: Object) -> None:
    """Move the list of checks of the older version to the strategy, where each is for all flavors."""
    spec = child(queue, "spec", dict, {})
    names = child(spec, "admissionChecks", list, [], "spec")
    spec.pop("admissionChecks", None)
    if names:
        rules = [{"name": name} for name in names]
        spec["admissionChecksStrategy"] = {"admissionChecks": rules}


_SERVED_FLAT = ("v1beta1", "v1alpha3")
_IN: dict[tuple[str, str], tuple[Shape, ...]] = {
    ("ClusterQueue", "v1beta1"): (
        _rename("spec", "cohort", to="cohortName"),
        _fungibility_in,
        _admission_checks_in,
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
    **dict.fromkeys(JOB_KINDS, (_default_spec,)),
    "Job": (_default_job, _in_thousandths(*_OF_PODS)),
    "Pod": (_default_spec, _default_pod, _in_thousandths(*_OF_A_POD)),
    "JobSet": (_default_job_set,),
    "RayCluster": (_default_ray_cluster,),
    "LimitRange": (_default_spec, _default_limits, _in_thousandths(*_OF_LIMITS)),
}
