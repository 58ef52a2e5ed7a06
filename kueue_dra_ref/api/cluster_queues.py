"""ClusterQueues and Cohorts, read from stored manifests: groups, flavors, quota, policies."""

from __future__ import annotations

from kueue_dra_ref.api.admission_checks import checks_of
from kueue_dra_ref.api.pods import quota_units
from kueue_dra_ref.api.types import (
    ClusterQueue,
    Cohort,
    FlavorFungibility,
    FlavorQuota,
    PreemptionPolicy,
    ResourceGroup,
)
from kueue_dra_ref.api.unstructured import Object, child, mappings, quantity, text
from kueue_dra_ref.target import Manifest

Amounts = dict[str, int]
"""Resource name to quota, in the units of the resource."""


def cluster_queue_of(manifest: Manifest) -> ClusterQueue:
    """Read a stored ClusterQueue.

    Raises:
        ManifestError: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    strategy = child(spec, "queueingStrategy", str, "BestEffortFIFO", "spec")
    preemption = child(spec, "preemption", dict, {}, "spec")
    fungibility = child(spec, "flavorFungibility", dict, {}, "spec")
    scope = child(spec, "admissionScope", dict, {}, "spec")
    groups = _groups(spec)
    return ClusterQueue(
        name=manifest["metadata"]["name"],
        groups=groups,
        strategy=strategy,
        stop_policy=child(spec, "stopPolicy", str, "None", "spec"),
        namespace_selector=_namespace_selector(spec),
        cohort=child(spec, "cohortName", str, "", "spec"),
        preemption=_preemption(preemption),
        fungibility=_fungibility(fungibility),
        weight=_weight(spec),
        admission_checks=checks_of(spec),
        admission_mode=scope.get("admissionMode") or "",
    )


def _namespace_selector(spec: Object) -> Object | None:
    if spec.get("namespaceSelector") is None:
        return None
    return child(spec, "namespaceSelector", dict, {}, "spec")


def _groups(spec: Object) -> tuple[ResourceGroup, ...]:
    groups = mappings(spec, "resourceGroups", "spec")
    found = []
    for index, group in enumerate(groups):
        path = f"spec.resourceGroups[{index}]"
        found.append(_group(path, group))
    return tuple(found)


def cohort_of(manifest: Manifest) -> Cohort:
    """Read a stored Cohort.

    Raises:
        ManifestError: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    return Cohort(
        name=manifest["metadata"]["name"],
        parent=child(spec, "parentName", str, "", "spec"),
        groups=_groups(spec),
        weight=_weight(spec),
    )


def flavors_named_by(cluster_queue: Object) -> set[str]:
    """Give the names of the flavors in the resource groups of a ClusterQueue."""
    names = set()
    spec = cluster_queue["spec"]
    for group in spec.get("resourceGroups") or ():
        for flavor in group["flavors"]:
            names.add(flavor["name"])
    return names


def _preemption(written: Object) -> PreemptionPolicy:
    borrow = child(written, "borrowWithinCohort", dict, {}, "spec.preemption")
    return PreemptionPolicy(
        within=written.get("withinClusterQueue") or "Never",
        reclaim=written.get("reclaimWithinCohort") or "Never",
        borrow=borrow.get("policy") or "Never",
        threshold=borrow.get("maxPriorityThreshold"),
    )


def _fungibility(written: Object) -> FlavorFungibility:
    return FlavorFungibility(
        when_can_borrow=written.get("whenCanBorrow") or "MayStopSearch",
        when_can_preempt=written.get("whenCanPreempt") or "TryNextFlavor",
        preference=written.get("preference") or "",
    )


def _weight(spec: Object) -> float:
    sharing = child(spec, "fairSharing", dict, {}, "spec")
    weight = sharing.get("weight")
    if weight is None:
        return 1.0
    found = quantity(weight, "spec.fairSharing.weight")
    return found.approximate


def _group(path: str, group: Object) -> ResourceGroup:
    covered = child(group, "coveredResources", list, [], path)
    names = dict.fromkeys(covered)
    flavors = []
    for index, written in enumerate(mappings(group, "flavors", path)):
        at = f"{path}.flavors[{index}]"
        flavor = _flavor(at, written)
        flavors.append(flavor)
        names.update(dict.fromkeys(flavor.device_classes))
    return ResourceGroup(
        covered=tuple(names),
        flavors=tuple(flavors),
    )


def _flavor(path: str, flavor: Object) -> FlavorQuota:
    nominal: Amounts = {}
    borrowing: Amounts = {}
    lending: Amounts = {}
    classes: dict[str, tuple[str, ...]] = {}
    for index, resource in enumerate(mappings(flavor, "resources", path)):
        at = f"{path}.resources[{index}]"
        name = text(resource, "name", at)
        nominal[name] = _quota(resource, "nominalQuota", at)
        if "borrowingLimit" in resource:
            borrowing[name] = _quota(resource, "borrowingLimit", at)
        if "lendingLimit" in resource:
            lending[name] = _quota(resource, "lendingLimit", at)
        if resource.get("kind") == "DeviceClass":
            names = child(resource, "deviceClassNames", list, [], at)
            classes[name] = tuple(names)
    return FlavorQuota(
        name=text(flavor, "name", path),
        nominal=nominal,
        borrowing_limits=borrowing,
        lending_limits=lending,
        device_classes=classes,
    )


def _quota(resource: Object, key: str, path: str) -> int:
    name = resource["name"]
    amount = quantity(resource.get(key), f"{path}.{key}")
    return quota_units(name, amount)
