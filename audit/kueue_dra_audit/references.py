"""References: the classes, gates and devices that admitted and pending work depends on are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_audit.claims import allocated, class_of_result, classes_of
from kueue_dra_audit.cluster import (
    AuditedCluster,
    explain,
    key_of,
    shown,
    title,
)
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.unstructured import mappings, part
from kueue_dra_ref.target import Manifest

NO_CLASSES = "whether DeviceClasses exist: the input has none"
NO_SLICES = "whether allocated devices are published: the input has no ResourceSlices"
NO_PODS = "devices of ResourceClaims whose pod is not in the input"
UNMAPPED_NAMES = "DeviceClasses that the mapping lists and that do not exist; no Workload requests them"
_OVER = frozenset({"Succeeded", "Failed"})


def classes(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads whose DeviceClass does not exist, so that no pod of them gets a device."""
    requested: set[str] = set()
    has_classes = cluster.was_read("DeviceClass")
    lister = cluster.kueue.lister
    for workload in cluster.of("Workload"):
        if is_true(workload, "Finished"):
            continue
        stored = cluster.kueue.store.get("Workload", key_of(workload)) or workload
        names = classes_of(lister, cluster.kueue.informers.workload(stored))
        requested |= names
        for name in sorted(names):
            if lister.device_class(name) is None and has_classes:
                yield _without_class(workload, name)
    if requested and not has_classes:
        cluster.unchecked.add(NO_CLASSES)
    if has_classes:
        _note_unused(cluster, requested)


def _without_class(workload: Manifest, name: str) -> Finding:
    holds = is_true(workload, "QuotaReserved")
    return Finding(
        requirement="CLASS-001",
        subject=title(workload),
        field=f"DeviceClass {name}",
        says="it holds quota" if holds else "it waits for quota",
        follows=f"DeviceClass {name} does not exist, so no pod gets a device",
        cause="the class was deleted after the Workload was created, or it never existed",
        sure=Sure.CERTAIN,
        look=f"kubectl get deviceclass {name}",
    )


def _note_unused(cluster: AuditedCluster, requested: set[str]) -> None:
    for mapping in cluster.kueue.configuration.mappings:
        for name in mapping.device_classes:
            if name not in requested and cluster.kueue.lister.device_class(name) is None:
                cluster.unchecked.add(UNMAPPED_NAMES, name)


def gates(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find Workloads whose claims are not charged because the integration is off."""
    kueue = cluster.kueue
    if kueue.behaviour.processing.is_dra_workload:
        return
    gate = kueue.behaviour.integration_gate
    for workload in cluster.holders:
        stored = kueue.store.get("Workload", key_of(workload)) or workload
        if kueue.informers.workload(stored).claims:
            yield Finding(
                requirement="GATE-005",
                subject=title(workload),
                field="admission",
                says="it holds quota without its devices",
                follows=f"with {gate} on, its devices are charged",
                cause=f"the gate {gate} is off, so claims are not charged",
                sure=Sure.CERTAIN,
                look=explain(workload),
            )


def devices(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find devices that are allocated beyond the charge in count mode, or that no slice has any more."""
    used: dict[tuple[str, str], dict[str, int]] = {}
    by_uid = _workloads_by_uid(cluster)
    pods = {str(pod["metadata"].get("uid")): pod for pod in cluster.others("Pod")}
    for claim in cluster.of("ResourceClaim"):
        if not allocated(claim):
            continue
        yield from _unpublished(cluster, claim)
        pod = _pod_of(claim, pods)
        if pod is None:
            cluster.unchecked.add(NO_PODS, title(claim))
        elif workload := _workload_of(pod, by_uid):
            counts = used.setdefault(key_of(workload), {})
            _count(cluster, claim, counts)
    for workload in cluster.holders:
        yield from _beyond_charge(cluster, workload, used.get(key_of(workload), {}))


def _workloads_by_uid(cluster: AuditedCluster) -> Mapping[str, Manifest]:
    found = {}
    for workload in cluster.of("Workload"):
        for owner in workload["metadata"].get("ownerReferences") or ():
            found[str(owner.get("uid"))] = workload
    return found


def _pod_of(claim: Manifest, pods: Mapping[str, Manifest]) -> Manifest | None:
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("kind") == "Pod":
            return pods.get(str(owner.get("uid")))
    return None


def _workload_of(pod: Manifest, by_uid: Mapping[str, Manifest]) -> Manifest | None:
    """Give the Workload of a running pod, by the pod itself or by its Job."""
    if part(pod, "status").get("phase") in _OVER:
        return None
    if pod["metadata"].get("deletionTimestamp"):
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
    cluster: AuditedCluster, workload: Manifest, counts: Mapping[str, int]
) -> Iterator[Finding]:
    charged: dict[str, int] = {}
    for reserved in cluster.kueue.usage.reservations(
        workload["status"]["admission"]["clusterQueue"]
    ):
        if reserved.key == key_of(workload):
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


def _unpublished(cluster: AuditedCluster, claim: Manifest) -> Iterator[Finding]:
    """Find allocated devices of pools that no ResourceSlice has."""
    if not cluster.was_read("ResourceSlice"):
        cluster.unchecked.add(NO_SLICES)
        return
    pools = {
        (each["spec"].get("driver"), part(each["spec"], "pool").get("name"))
        for each in cluster.of("ResourceSlice")
    }
    for result in allocated(claim):
        driver, pool = result.get("driver"), result.get("pool")
        if (driver, pool) not in pools:
            yield Finding(
                requirement="CEL-016",
                subject=title(claim),
                field=f"device {driver}/{pool}/{result.get('device')}",
                says="it is allocated",
                follows=f"no ResourceSlice of driver {driver} has pool {pool}",
                cause="the driver withdrew its slices while the device is in use",
                sure=Sure.LAG,
                look=f"kubectl get resourceslices -o yaml; {shown(claim)}",
            )
