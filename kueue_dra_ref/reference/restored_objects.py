"""Checks objects of a running cluster before they are restored: whether Kueue can read their metadata and status.

No counterpart: a real cluster has no other objects.
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.status_errors import invalid, required
from kueue_dra_ref.api.unstructured import child, mappings, quantities, text
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.target import Manifest


def check_metadata(manifest: Manifest) -> None:
    """Check the metadata that an API server sets.

    Raises:
        ManifestError: a field is missing or of the wrong type.

    """
    meta = manifest["metadata"]
    for key in ("uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"):
        child(meta, key, str, "", "metadata")
    child(meta, "generation", int, 0, "metadata")
    child(meta, "finalizers", list, [], "metadata")
    for owner in mappings(meta, "ownerReferences", "metadata"):
        for key in ("kind", "name", "uid"):
            text(owner, key, "metadata.ownerReferences[]")


def check_status(obj: Manifest) -> None:
    """Check the conditions of an object and, if it holds quota, its admission.

    Raises:
        ManifestError: a field is missing or of the wrong type.

    """
    status = child(obj, "status", dict, {})
    for each in mappings(status, "conditions", "status"):
        for key in ("type", "status"):
            text(each, key, "status.conditions[]")
    if obj["kind"] == "ClusterQueue":
        child(status, "reservingWorkloads", int, 0, "status")
    if obj["kind"] == "LocalQueue":
        _check_usage(status)
    if obj["kind"] == "Workload":
        _check_workload(obj, status)


def _check_usage(status: Manifest) -> None:
    """Check what a LocalQueue has consumed, and since when that is known."""
    sharing = child(status, "fairSharing", dict, {}, "status")
    name = "admissionFairSharingStatus"
    found = child(sharing, name, dict, {}, "status.fairSharing")
    path = f"status.fairSharing.{name}"
    quantities(found, "consumedResources", path)
    updated = child(found, "lastUpdate", str, "", path)
    if updated:
        _check_time(updated, f"{path}.lastUpdate")


def _check_workload(workload: Manifest, status: Manifest) -> None:
    spec = child(workload, "spec", dict, {})
    pod_sets = mappings(spec, "podSets", "spec")
    if not pod_sets:
        raise required("spec.podSets")
    names = [str(each.get("name", "main")) for each in pod_sets]
    admission = child(status, "admission", dict, {}, "status")
    is_holder = is_true(workload, "QuotaReserved") or is_true(workload, "Admitted")
    if is_holder and not admission:
        raise required("status.admission")
    if admission:
        text(admission, "clusterQueue", "status.admission")
        assignments = mappings(admission, "podSetAssignments", "status.admission")
        admission["podSetAssignments"] = assignments
        for each in assignments:
            _check_assignment(each, names)
    _check_requeue_state(child(status, "requeueState", dict, {}, "status"))
    for each in mappings(status, "reclaimablePods", "status"):
        text(each, "name", "status.reclaimablePods[]")
        child(each, "count", int, 0, "status.reclaimablePods[]")


def _check_requeue_state(state: Manifest) -> None:
    """Check the time until which an evicted workload backs off."""
    until = child(state, "requeueAt", str, "", "status.requeueState")
    if until:
        _check_time(until, "status.requeueState.requeueAt")


def _check_time(written: str, path: str) -> None:
    try:
        seconds_of(written)
    except ValueError:
        raise invalid(path, written, "a time in the format of RFC 3339") from None


def _check_assignment(assignment: Manifest, names: Sequence[str]) -> None:
    """Check the assignment of a pod set, and fill in what may be absent."""
    path = "status.admission.podSetAssignments[]"
    name = text(assignment, "name", path)
    if name not in names:
        raise invalid(
            f"{path}.name", name, f"a name in spec.podSets: {', '.join(names)}"
        )
    count = child(assignment, "count", int, 1, path)
    flavors = child(assignment, "flavors", dict, {}, path)
    quantities(assignment, "resourceUsage", path)
    usage = assignment.get("resourceUsage") or {}
    # Kueue counts only what has a flavor.
    counted = {}
    for name, amount in usage.items():
        if name in flavors:
            counted[name] = amount
    assignment["count"] = count
    assignment["flavors"] = flavors
    assignment["resourceUsage"] = counted
