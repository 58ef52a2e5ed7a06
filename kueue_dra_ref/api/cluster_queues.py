"""ClusterQueues and Cohorts, read from stored manifests: groups, flavors, quota, policies."""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.pods import quota_units
from kueue_dra_ref.api.types import (
    ClusterQueue,
    Cohort,
    FlavorFungibility,
    FlavorQuota,
    PreemptionPolicy,
    ResourceGroup,
)
from kueue_dra_ref.api.unstructured import child, mappings, quantity, text
from kueue_dra_ref.target import Manifest


def cluster_queue_of(manifest: Manifest) -> ClusterQueue:
    """Read a stored ClusterQueue.

    Raises:
        ManifestFault: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    selector = spec.get("namespaceSelector")
    return ClusterQueue(
        name=manifest["metadata"]["name"],
        groups=tuple(
            _group(i, group)
            for i, group in enumerate(mappings(spec, "resourceGroups", "spec"))
        ),
        strategy=child(spec, "queueingStrategy", str, "BestEffortFIFO", "spec"),
        stop_policy=child(spec, "stopPolicy", str, "None", "spec"),
        namespace_selector=None
        if selector is None
        else child(spec, "namespaceSelector", dict, {}, "spec"),
        cohort=child(spec, "cohortName", str, "", "spec"),
        preemption=_preemption(child(spec, "preemption", dict, {}, "spec")),
        fungibility=_fungibility(child(spec, "flavorFungibility", dict, {}, "spec")),
        weight=_weight(spec),
    )


def cohort_of(manifest: Manifest) -> Cohort:
    """Read a stored Cohort.

    Raises:
        ManifestFault: a field is missing or of the wrong type, or a quota is no quantity.

    """
    spec = child(manifest, "spec", dict, {})
    return Cohort(
        name=manifest["metadata"]["name"],
        parent=child(spec, "parentName", str, "", "spec"),
        groups=tuple(
            _group(i, group)
            for i, group in enumerate(mappings(spec, "resourceGroups", "spec"))
        ),
        weight=_weight(spec),
    )


def flavors_named_by(cluster_queue: dict[str, Any]) -> set[str]:
    """The names of the flavors that a ClusterQueue has in its groups."""
    groups = cluster_queue["spec"].get("resourceGroups") or ()
    return {flavor["name"] for group in groups for flavor in group["flavors"]}


def _preemption(written: dict[str, Any]) -> PreemptionPolicy:
    borrow = child(written, "borrowWithinCohort", dict, {}, "spec.preemption")
    return PreemptionPolicy(
        within=written.get("withinClusterQueue") or "Never",
        reclaim=written.get("reclaimWithinCohort") or "Never",
        borrow=borrow.get("policy") or "Never",
        threshold=borrow.get("maxPriorityThreshold"),
    )


def _fungibility(written: dict[str, Any]) -> FlavorFungibility:
    return FlavorFungibility(
        when_can_borrow=written.get("whenCanBorrow") or "MayStopSearch",
        when_can_preempt=written.get("whenCanPreempt") or "TryNextFlavor",
        preference=written.get("preference") or "",
    )


def _weight(spec: dict[str, Any]) -> float:
    weight = child(spec, "fairSharing", dict, {}, "spec").get("weight")
    return (
        1.0
        if weight is None
        else quantity(weight, "spec.fairSharing.weight").approximate
    )


def _group(index: int, group: dict[str, Any]) -> ResourceGroup:
    path = f"spec.resourceGroups[{index}]"
    covered = child(group, "coveredResources", list, [], path)
    flavors = tuple(
        _flavor(f"{path}.flavors[{i}]", f)
        for i, f in enumerate(mappings(group, "flavors", path))
    )
    classes = (name for flavor in flavors for name in flavor.device_classes)
    return ResourceGroup(
        covered=tuple(dict.fromkeys((*covered, *classes))), flavors=flavors
    )


def _flavor(path: str, flavor: dict[str, Any]) -> FlavorQuota:
    amounts: dict[str, dict[str, int]] = {
        "nominalQuota": {},
        "borrowingLimit": {},
        "lendingLimit": {},
    }
    for index, resource in enumerate(mappings(flavor, "resources", path)):
        at = f"{path}.resources[{index}]"
        name = text(resource, "name", at)
        for key, found in amounts.items():
            if key in resource or key == "nominalQuota":
                found[name] = quota_units(
                    name, quantity(resource.get(key), f"{at}.{key}")
                )
    return FlavorQuota(
        name=text(flavor, "name", path),
        nominal=amounts["nominalQuota"],
        borrowing_limits=amounts["borrowingLimit"],
        lending_limits=amounts["lendingLimit"],
        device_classes=_device_classes(flavor, path),
    )


def _device_classes(flavor: dict[str, Any], path: str) -> dict[str, tuple[str, ...]]:
    found = enumerate(mappings(flavor, "resources", path))
    return {
        resource["name"]: tuple(
            child(resource, "deviceClassNames", list, [], f"{path}.resources[{index}]")
        )
        for index, resource in found
        if resource.get("kind") == "DeviceClass"
    }
