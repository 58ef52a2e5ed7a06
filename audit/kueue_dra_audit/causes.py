"""Causes: what may have led to another charge than the one that follows now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_audit.claims import classes_of
from kueue_dra_audit.cluster import AuditedCluster, reserved_at, title
from kueue_dra_audit.finding import Sure
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.target import Manifest

Cause = tuple[Sure, str]
Deciding = tuple[Sure, Manifest]
STALE = (
    "the mapping, or the DeviceClass of an extended resource, was changed after the admission; "
    "Kueue does not charge it again"
)
_UNCHARGED = (
    "it was admitted while {gate} was off or its class was not mapped, "
    "so its devices are not charged"
)
_CHARGED = "it was admitted while {gate} was on, and now it is off"
_EDITED = "the status was changed by hand, or Kueue charged wrongly"
_WITHDRAWN = (
    "no ResourceSlice is published: the slices were withdrawn after the admission"
)
_UNPUBLISHED = "the devices that it was charged for are not published any more"
_DECLARED = (
    "{queue} was changed, and may not have declared this before; "
    "with quotaCheckStrategy IgnoreUndeclared Kueue does not charge it then"
)
_DELETED = "DeviceClass {name} does not exist: it was deleted after the admission"


def charge_cause(
    cluster: AuditedCluster,
    charged: Mapping[str, int],
    expected: Mapping[str, int],
) -> str:
    """Say what resources would be charged like that, given only those of which another amount follows."""
    gate = cluster.kueue.behaviour.integration_gate
    if expected and not charged:
        return _UNCHARGED.format(gate=gate)
    if charged and not expected and not cluster.charges_devices:
        return _CHARGED.format(gate=gate)
    if expected and sorted(expected.values()) == sorted(charged.values()):
        return STALE
    if not expected and cluster.mapped.isdisjoint(charged):
        return STALE
    return _EDITED


def refusal_cause(cluster: AuditedCluster, workload: Workload) -> str:
    """Say what is not there any more: the class, its mapping, or devices."""
    for name in sorted(classes_of(cluster.kueue.lister, workload)):
        is_missing = cluster.kueue.lister.device_class(name) is None
        if is_missing and cluster.was_read("DeviceClass"):
            return _DELETED.format(name=name)
    if unmapped(cluster, workload):
        return STALE
    return _UNPUBLISHED if any(cluster.of("ResourceSlice")) else _WITHDRAWN


def unmapped(cluster: AuditedCluster, workload: Workload) -> set[str]:
    """Name the classes of a Workload that the Configuration does not map."""
    mapped: set[str] = set()
    for mapping in cluster.kueue.configuration.mappings:
        mapped.update(mapping.device_classes)
    return classes_of(cluster.kueue.lister, workload) - mapped


def changed_since(
    cluster: AuditedCluster,
    stored: Manifest,
    workload: Workload,
    *,
    is_refused: bool = False,
) -> Cause | None:
    """Say which object that a Workload's charge follows from is newer than its quota reservation.

    A charge follows from devices in some modes only, but whether Kueue admits a Workload does in each.
    """
    time = reserved_at(stored)
    for template in _templates(cluster, workload):
        if is_newer(template, time):
            created = template["metadata"]["creationTimestamp"]
            text = f"{title(template)} was created at {created}, after the admission at {time}"
            return Sure.TEMPLATE, text
    for sure, each in _deciding(cluster, workload, is_refused):
        if is_newer(each, time) or is_updated(each):
            text = f"{title(each)} was created or changed after the admission"
            return sure, text
    return None


def declared_since(
    cluster: AuditedCluster, stored: Manifest, charged: Mapping[str, int]
) -> Cause | None:
    """Say whether a ClusterQueue may have ignored resources that it declares now; ``charged`` is what it charges."""
    kueue = cluster.kueue
    strategy = kueue.configuration.quota_check_strategy
    if charged or not kueue.behaviour.assigning.ignore_undeclared(strategy):
        return None
    name = stored["status"]["admission"]["clusterQueue"]
    queue = kueue.store.find("ClusterQueue", name)
    if queue is None or not is_updated(queue):
        return None
    return Sure.QUOTA, _DECLARED.format(queue=title(queue))


def _templates(cluster: AuditedCluster, workload: Workload) -> Iterator[Manifest]:
    for claim in workload.claims:
        found = cluster.kueue.lister.template(workload.namespace, claim.template)
        if found is not None:
            yield found


def _deciding(
    cluster: AuditedCluster, workload: Workload, is_refused: bool
) -> Iterator[Deciding]:
    """Give the slices and classes that decide a charge, of counters and capacities or by the name of a resource."""
    names = classes_of(cluster.kueue.lister, workload)
    devices_decide = is_refused or not names.isdisjoint(_sourced(cluster))
    if devices_decide:
        for each in cluster.of("ResourceSlice"):
            yield Sure.SLICES, each
    requested = {of for each in workload.pod_sets for of in each.requests}
    for each in cluster.of("DeviceClass"):
        is_claimed = devices_decide and each["metadata"]["name"] in names
        if is_claimed or each["spec"].get("extendedResourceName") in requested:
            yield Sure.CLASS, each


def _sourced(cluster: AuditedCluster) -> set[str]:
    """Name the classes that are charged for counters or capacities of their devices."""
    found: set[str] = set()
    for mapping in cluster.kueue.configuration.mappings:
        if mapping.sources:
            found.update(mapping.device_classes)
    return found


def is_newer(obj: Manifest, time: str) -> bool:
    """Whether an object was created after a time; not if the time is not known."""
    created = str(obj["metadata"].get("creationTimestamp", ""))
    return bool(time) and created > time


def is_updated(obj: Manifest) -> bool:
    """Whether the spec of an object was changed; an API server counts its generations."""
    return int(obj["metadata"].get("generation") or 1) > 1
