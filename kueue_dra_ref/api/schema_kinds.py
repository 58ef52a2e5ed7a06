"""The fields that the reference reads of each kind, and what each holds; an API server refuses any other type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.decoding import expectation, misfits, unknown_keys
from kueue_dra_ref.api.faults import invalid
from kueue_dra_ref.api.schema_config import Keys, ListOf, MapOf, OneOf, Scalar, Shape

_T, _F, _W, _N, _Q = Scalar.TEXT, Scalar.FLAG, Scalar.WHOLE, Scalar.COUNT, Scalar.QUANTITY
_TEXTS = ListOf(_T)
_SELECTOR: Keys = {
    "matchLabels": MapOf(_T),
    "matchExpressions": ListOf({"key": _T, "operator": _T, "values": _TEXTS}),
}
_NODE_TERM = ListOf({"key": _T, "operator": _T, "values": _TEXTS})
_TOLERATIONS = ListOf({"key": _T, "operator": _T, "value": _T, "effect": _T, "tolerationSeconds": _W})
_CONDITIONS = ListOf({key: _T for key in ("type", "status", "reason", "message", "lastTransitionTime")})
_RESOURCES: Keys = {"requests": MapOf(_Q), "limits": MapOf(_Q), "claims": ListOf({"name": _T, "request": _T})}
_CONTAINERS = ListOf({"name": _T, "image": _T, "restartPolicy": _T, "resources": _RESOURCES})
_BOUNDS: Keys = {"type": _T} | {
    key: MapOf(_Q) for key in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
}
_META: Keys = {
    "name": _T,
    "namespace": _T,
    "labels": MapOf(_T),
    "annotations": MapOf(_T),
    "ownerReferences": ListOf({"apiVersion": _T, "kind": _T, "name": _T, "uid": _T, "controller": _F}),
}
_POD: Keys = {
    "containers": _CONTAINERS,
    "initContainers": _CONTAINERS,
    "resources": _RESOURCES,
    "overhead": MapOf(_Q),
    "runtimeClassName": _T,
    "resourceClaims": ListOf({"name": _T, "resourceClaimName": _T, "resourceClaimTemplateName": _T}),
    "nodeSelector": MapOf(_T),
    "tolerations": _TOLERATIONS,
    "priorityClassName": _T,
    "priority": _W,
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": ListOf({"matchExpressions": _NODE_TERM, "matchFields": _NODE_TERM})
            }
        }
    },
}
_TEMPLATE: Keys = {"metadata": _META, "spec": _POD}
_PRIORITY: Keys = {"priorityClassRef": {"group": _T, "kind": _T, "name": _T}}
_OLDER_PRIORITY: Keys = {"priorityClassName": _T, "priorityClassSource": _T}
_ASSIGNMENT: Keys = {"name": _T, "count": _N, "flavors": MapOf(_T), "resourceUsage": MapOf(_Q)}
_WORKLOAD: Keys = {
    "queueName": _T,
    "priority": _W,
    "active": _F,
    "podSets": ListOf({"name": _T, "count": _N, "minCount": _N, "template": _TEMPLATE}),
}
_WORKLOAD_STATUS: Keys = {
    "conditions": _CONDITIONS,
    "admission": {"clusterQueue": _T, "podSetAssignments": ListOf(_ASSIGNMENT)},
    "reclaimablePods": ListOf({"name": _T, "count": _N}),
}
_CLASSED: Keys = {"kind": _T, "deviceClassNames": _TEXTS}
"""Fields that the text of April 2025 adds to the quota of a resource."""
_QUOTA: Keys = {"name": _T, "nominalQuota": _Q, "borrowingLimit": _Q, "lendingLimit": _Q, **_CLASSED}
_GROUP: Keys = {"coveredResources": _TEXTS, "flavors": ListOf({"name": _T, "resources": ListOf(_QUOTA)})}
_FUNGIBILITY: Keys = {"whenCanBorrow": _T, "whenCanPreempt": _T, "preference": _T}
_FAIR: Keys = {"weight": _Q}
_CLUSTER_QUEUE: Keys = {
    "resourceGroups": ListOf(_GROUP),
    "queueingStrategy": _T,
    "stopPolicy": _T,
    "namespaceSelector": _SELECTOR,
    "preemption": {
        "withinClusterQueue": _T,
        "reclaimWithinCohort": _T,
        "borrowWithinCohort": {"policy": _T, "maxPriorityThreshold": _W},
    },
    "fairSharing": _FAIR,
}
_QUEUE_STATUS: Keys = {"conditions": _CONDITIONS}
_COHORT: Keys = {"parentName": _T, "resourceGroups": ListOf(_GROUP), "fairSharing": _FAIR}
_FLAVOR: Keys = {
    "nodeLabels": MapOf(_T),
    "nodeTaints": ListOf({"key": _T, "value": _T, "effect": _T, "timeAdded": _T}),
    "tolerations": _TOLERATIONS,
}
_SELECTORS = ListOf({"cel": {"expression": _T}})
_MODE = OneOf(("ExactCount", "All"))
_ASKED: Keys = {
    "deviceClassName": _T,
    "selectors": _SELECTORS,
    "allocationMode": _MODE,
    "count": _N,
    "adminAccess": _F,
}
_REQUEST: Keys = {**_ASKED, "name": _T, "exactly": _ASKED, "firstAvailable": ListOf({**_ASKED, "name": _T})}
_CLAIM: Keys = {"devices": {"requests": ListOf(_REQUEST), "constraints": ListOf({}), "config": ListOf({})}}
_KINDS: Keys = {"string": _T, "int": _W, "bool": _F, "version": _T}
ATTRIBUTE: Keys = {**_KINDS, **{f"{kind}s": ListOf(shape) for kind, shape in _KINDS.items()}}
"""What an attribute of a device may hold: one value, or in newer API servers a list."""


def _slice(capacity: Shape) -> Keys:
    device: Keys = {
        "attributes": MapOf(ATTRIBUTE),
        "capacity": MapOf(capacity),
        "allowMultipleAllocations": _F,
    }
    pool: Keys = {"name": _T, "generation": _W, "resourceSliceCount": _W}
    return {"driver": _T, "pool": pool, "devices": ListOf({**device, "name": _T, "basic": device})}


_SHAPES: Mapping[str, Keys] = {
    "Namespace": {},
    "RuntimeClass": {"handler": _T, "overhead": {"podFixed": MapOf(_Q)}},
    "LimitRange": {"spec": {"limits": ListOf(_BOUNDS)}},
    "PriorityClass": {"value": _W, "globalDefault": _F, "description": _T},
    "WorkloadPriorityClass": {"value": _W, "description": _T},
    "ClusterRole": {"rules": ListOf({"apiGroups": _TEXTS, "resources": _TEXTS, "verbs": _TEXTS})},
    "Job": {},  # its types are an API server's
    "Workload": {"spec": {**_WORKLOAD, **_PRIORITY}, "status": _WORKLOAD_STATUS},
    "Workload v1beta1": {"spec": {**_WORKLOAD, **_OLDER_PRIORITY}, "status": _WORKLOAD_STATUS},
    "ResourceFlavor": {"spec": _FLAVOR},
    "Cohort": {"spec": _COHORT},
    "ClusterQueue": {
        "spec": {**_CLUSTER_QUEUE, "cohortName": _T, "flavorFungibility": _FUNGIBILITY},
        "status": _QUEUE_STATUS,
    },
    "ClusterQueue v1beta1": {
        "spec": {**_CLUSTER_QUEUE, "cohort": _T, "flavorFungibility": _FUNGIBILITY},
        "status": _QUEUE_STATUS,
    },
    "LocalQueue": {"spec": {"clusterQueue": _T, "stopPolicy": _T}, "status": _QUEUE_STATUS},
    "DynamicResourceAllocationConfig": {"spec": {"resources": ListOf({"name": _T, "deviceClassNames": _TEXTS})}},
    "DeviceClass": {"spec": {"selectors": _SELECTORS, "config": ListOf({}), "extendedResourceName": _T}},
    "ResourceClaim": {"spec": _CLAIM},
    "ResourceClaimTemplate": {"spec": {"metadata": _META, "spec": _CLAIM}},
    "ResourceSlice": {"spec": _slice({"value": _Q})},
    "ResourceSlice v1alpha3": {"spec": _slice(_Q)},
}

_OF_KUEUE = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Workload")


def check_types(manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest in which a field that the reference reads is of the wrong type.

    Raises:
        ManifestFault: for the first such field, in the version in which the manifest is written.

    """
    shape = {**_shape(manifest), "metadata": _META}
    for place in misfits(dict(manifest), shape):
        raise invalid(place.path, place.value, f"expected {expectation(place.shape)}")


def unread(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Give the path of every field in the spec of one of Kueue's kinds that is not read; pods are not looked into."""
    if manifest["kind"] in _OF_KUEUE and isinstance(manifest.get("spec"), dict):
        paths = unknown_keys({"spec": manifest["spec"]}, {"spec": _shape(manifest)["spec"]})
        yield from (path for path in paths if ".template." not in path)


def _shape(manifest: Mapping[str, Any]) -> Keys:
    kind, version = manifest["kind"], manifest["apiVersion"].rpartition("/")[2]
    return _SHAPES.get(f"{kind} {version}", _SHAPES[kind])
