"""References: the classes, gates and devices that admitted and pending work depends on are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from kueue_dra_audit.claims import allocated, class_of_result, classes_of
from kueue_dra_audit.cluster import (
    AuditedCluster,
    explain,
    is_ending,
    key_of,
    shown,
    title,
)
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.unstructured import mappings, part
from kueue_dra_ref.cache.snapshot import ReservedWorkload
from kueue_dra_ref.explain.step import listed
from kueue_dra_ref.target import Manifest

NO_SLICES = "not checked: whether allocated devices are published, as the input has no ResourceSlices"
NO_CLASSES = "not checked: whether DeviceClasses exist, as the input has none"
GATE_IS_OFF = "devices are not charged, as this release leaves off the gate"
NO_PODS = "not checked: devices of ResourceClaims whose pod the input lacks"
UNUSED_NAMES = "DeviceClasses that the mapping lists, that do not exist, and that no Workload requests"
_SHOWN = 5


def classes(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find mapped DeviceClasses that Workloads request and that do not exist, so that no pod gets a device."""
    requested = _requesting(cluster)
    if not cluster.was_read("DeviceClass"):
        if requested:
            cluster.notes.add(NO_CLASSES)
        return
    for mapping in cluster.kueue.configuration.mappings:
        for name in mapping.device_classes:
            if cluster.kueue.lister.device_class(name) is not None:
                continue
            if workloads := requested.get(name):
                yield _without_class(name, workloads)
            else:
                cluster.notes.add(UNUSED_NAMES, name)


def _requesting(cluster: AuditedCluster) -> dict[str, list[Manifest]]:
    """Give the unfinished Workloads that request each DeviceClass."""
    found: dict[str, list[Manifest]] = {}
    for workload in cluster.of("Workload"):
        stored = cluster.kueue.store.get("Workload", key_of(workload))
        if stored is None or is_true(workload, "Finished"):
            continue
        read = cluster.kueue.informers.workload(stored)
        for name in classes_of(cluster.kueue.lister, read):
            found.setdefault(name, []).append(workload)
    return found


def _without_class(name: str, workloads: Sequence[Manifest]) -> Finding:
    holders = sum(is_true(each, "QuotaReserved") for each in workloads)
    names = listed([title(each) for each in workloads], _SHOWN)
    return Finding(
        requirement="CLASS-001",
        subject=f"DeviceClass {name}",
        field="metadata.name",
        says=f"the mapping lists it, and {holders} of {len(workloads)} Workloads that request it hold quota: {names}",
        follows="it does not exist, so no pod of them gets a device",
        cause="the class was deleted, or it never existed",
        sure=Sure.CERTAIN,
        look=f"kubectl get deviceclass {name}",
    )


def gates(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads whose claims are not charged because the integration is off."""
    kueue = cluster.kueue
    if cluster.charges_devices or not cluster.dumped.has_configuration:
        return
    gate = kueue.behaviour.integration_gate
    for workload in cluster.holders:
        stored = kueue.store.get("Workload", key_of(workload)) or workload
        if not kueue.informers.workload(stored).claims:
            continue
        if kueue.behaviour.gates.table[gate].default:
            yield _uncharged(workload, gate)
        else:
            cluster.notes.add(f"{GATE_IS_OFF} {gate}", title(workload))


def _uncharged(workload: Manifest, gate: str) -> Finding:
    return Finding(
        requirement="GATE-005",
        subject=title(workload),
        field="admission",
        says=f"it holds quota while {gate} is off",
        follows=f"with {gate} on, Kueue charges its devices",
        cause=f"the gate {gate} is off, so claims are not charged",
        sure=Sure.CERTAIN,
        look=explain(workload),
    )


def devices(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find devices that are allocated beyond the charge in count mode, or that no slice has any more."""
    used: dict[tuple[str, str], dict[str, int]] = {}
    by_uid = cluster.workloads_by_owner
    published = {_pool_of_slice(each) for each in cluster.of("ResourceSlice")}
    pods = {str(pod["metadata"].get("uid")): pod for pod in cluster.others("Pod")}
    for claim in cluster.of("ResourceClaim"):
        if not allocated(claim):
            continue
        yield from _unpublished(cluster, claim, published)
        pod = _pod_of(claim, pods)
        if pod is None:
            cluster.notes.add(NO_PODS, title(claim))
        elif workload := _workload_of(pod, by_uid):
            counts = used.setdefault(key_of(workload), {})
            _count(cluster, claim, counts)
    reserved = cluster.reserved()
    for workload in cluster.holders:
        key = key_of(workload)
        if key in used and key in reserved:
            yield from _beyond_charge(workload, used[key], reserved[key])


def _pod_of(claim: Manifest, pods: Mapping[str, Manifest]) -> Manifest | None:
    for owner in owners_of(claim):
        if owner.get("kind") == "Pod":
            return pods.get(str(owner.get("uid")))
    return None


def _workload_of(pod: Manifest, by_uid: Mapping[str, Manifest]) -> Manifest | None:
    """Give the Workload of a running pod, by the pod itself or by its Job."""
    if is_ending(pod):
        return None
    owners = mappings(part(pod, "metadata"), "ownerReferences")
    for uid in (pod["metadata"].get("uid"), *(each.get("uid") for each in owners)):
        if found := by_uid.get(str(uid)):
            return found
    return None


def _count(cluster: AuditedCluster, claim: Manifest, counts: dict[str, int]) -> None:
    """Count the devices of a claim by the resource that their class is mapped to, in count mode."""
    for result in allocated(claim):
        name = class_of_result(claim, result)
        for mapping in cluster.kueue.configuration.mappings:
            if name in mapping.device_classes and not mapping.sources:
                counts[mapping.name] = counts.get(mapping.name, 0) + 1


def _beyond_charge(
    workload: Manifest, counts: Mapping[str, int], reserved: ReservedWorkload
) -> Iterator[Finding]:
    charged: dict[str, int] = {}
    for (_, resource), amount in reserved.amounts.items():
        charged[resource] = charged.get(resource, 0) + amount
    for resource, count in sorted(counts.items()):
        if count > charged.get(resource, 0):
            yield Finding(
                requirement="COUNT-001",
                subject=title(workload),
                field=f"devices of {resource}",
                says=f"its pods have {count} allocated devices",
                follows=f"it is charged {charged.get(resource, 0)}",
                cause="pods run that are not charged, or the charge was changed",
                sure=Sure.CERTAIN,
                look=f"kubectl get resourceclaims -n {key_of(workload)[0]} -o yaml",
            )


def _unpublished(
    cluster: AuditedCluster, claim: Manifest, published: Set[tuple[str, str]]
) -> Iterator[Finding]:
    """Find allocated devices of pools that no ResourceSlice has; ``published`` are driver and pool of each slice."""
    if not cluster.was_read("ResourceSlice"):
        cluster.notes.add(NO_SLICES)
        return
    names: dict[tuple[str, str], list[str]] = {}
    for result in allocated(claim):
        pool = str(result.get("driver")), str(result.get("pool"))
        names.setdefault(pool, []).append(str(result.get("device")))
    for (driver, pool_name), devices_of_pool in names.items():
        if (driver, pool_name) in published:
            continue
        yield Finding(
            requirement="CEL-016",
            subject=title(claim),
            field=f"devices of pool {pool_name}",
            says=f"it has {listed(devices_of_pool, _SHOWN)}",
            follows=f"no ResourceSlice of driver {driver} has pool {pool_name}",
            cause="the driver withdrew its slices while the device is in use",
            sure=Sure.LAG,
            look=f"kubectl get resourceslices -o yaml; {shown(claim)}",
        )


def _pool_of_slice(published: Manifest) -> tuple[str, str]:
    spec = published["spec"]
    return str(spec.get("driver")), str(part(spec, "pool").get("name"))
