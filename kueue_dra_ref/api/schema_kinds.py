"""The fields that the reference reads of each kind, and what each holds; an API server refuses any other type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.api.decoding import expectation, misfits
from kueue_dra_ref.api.faults import invalid
from kueue_dra_ref.api.schema_config import Keys, ListOf, MapOf, OneOf, Scalar, Shape

_T, _F, _W, _N, _Q = Scalar.TEXT, Scalar.FLAG, Scalar.WHOLE, Scalar.COUNT, Scalar.QUANTITY
_TEXTS = ListOf(_T)
_SELECTING = ("In", "NotIn", "Exists", "DoesNotExist")
_SELECTOR: Keys = {
    "matchLabels": MapOf(_T),
    "matchExpressions": ListOf({"key": _T, "operator": OneOf(_SELECTING), "values": _TEXTS}),
}
_NODE_TERM = ListOf({"key": _T, "operator": OneOf((*_SELECTING, "Gt", "Lt")), "values": _TEXTS})
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
_JOB: Keys = {
    "spec": {"parallelism": _N, "completions": _N, "suspend": _F, "template": _TEMPLATE},
    "status": {"conditions": _CONDITIONS, "active": _N, "succeeded": _N, "failed": _N},
}
_ASSIGNMENT: Keys = {"name": _T, "count": _N, "flavors": MapOf(_T), "resourceUsage": MapOf(_Q)}
_WORKLOAD: Keys = {
    "spec": {
        "queueName": _T,
        "priority": _W,
        "active": _F,
        "priorityClassName": _T,
        "priorityClassSource": _T,
        "priorityClassRef": {"group": _T, "kind": _T, "name": _T},
        "podSets": ListOf({"name": _T, "count": _N, "minCount": _N, "template": _TEMPLATE}),
    },
    "status": {
        "conditions": _CONDITIONS,
        "admission": {"clusterQueue": _T, "podSetAssignments": ListOf(_ASSIGNMENT)},
        "reclaimablePods": ListOf({"name": _T, "count": _N}),
    },
}
_STOP = OneOf(("None", "Hold", "HoldAndDrain"))
_CLASSED: Keys = {"kind": _T, "deviceClassNames": _TEXTS}
"""Fields that the text of April 2025 adds to the quota of a resource."""
_QUOTA: Keys = {"name": _T, "nominalQuota": _Q, "borrowingLimit": _Q, "lendingLimit": _Q, **_CLASSED}
_GROUP: Keys = {"coveredResources": _TEXTS, "flavors": ListOf({"name": _T, "resources": ListOf(_QUOTA)})}
_SEARCHING = ("MayStopSearch", "TryNextFlavor")
_FUNGIBILITY: Keys = {
    "whenCanBorrow": OneOf(_SEARCHING),
    "whenCanPreempt": OneOf(_SEARCHING),
    "preference": OneOf(("BorrowingOverPreemption", "PreemptionOverBorrowing")),
}
_OLDER_FUNGIBILITY: Keys = {
    **_FUNGIBILITY,
    "whenCanBorrow": OneOf((*_SEARCHING, "Borrow")),
    "whenCanPreempt": OneOf((*_SEARCHING, "Preempt")),
}
_FAIR: Keys = {"weight": _Q}
_CLUSTER_QUEUE: Keys = {
    "cohort": _T,
    "cohortName": _T,
    "resourceGroups": ListOf(_GROUP),
    "queueingStrategy": OneOf(("StrictFIFO", "BestEffortFIFO")),
    "stopPolicy": _STOP,
    "namespaceSelector": _SELECTOR,
    "preemption": {
        "withinClusterQueue": OneOf(("Never", "LowerPriority", "LowerOrNewerEqualPriority")),
        "reclaimWithinCohort": OneOf(("Never", "LowerPriority", "Any")),
        "borrowWithinCohort": {"policy": OneOf(("Never", "LowerPriority")), "maxPriorityThreshold": _W},
    },
    "flavorFungibility": _FUNGIBILITY,
    "fairSharing": _FAIR,
}
_COHORT: Keys = {"parentName": _T, "resourceGroups": ListOf(_GROUP), "fairSharing": _FAIR}
_FLAVOR: Keys = {
    "nodeLabels": MapOf(_T),
    "nodeTaints": ListOf({"key": _T, "value": _T, "effect": _T}),
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
    "Job": _JOB,
    "Workload": _WORKLOAD,
    "ResourceFlavor": {"spec": _FLAVOR},
    "Cohort": {"spec": _COHORT},
    "ClusterQueue": {"spec": _CLUSTER_QUEUE, "status": {"conditions": _CONDITIONS}},
    "ClusterQueue v1beta1": {
        "spec": {**_CLUSTER_QUEUE, "flavorFungibility": _OLDER_FUNGIBILITY},
        "status": {"conditions": _CONDITIONS},
    },
    "LocalQueue": {"spec": {"clusterQueue": _T, "stopPolicy": _STOP}, "status": {"conditions": _CONDITIONS}},
    "DynamicResourceAllocationConfig": {"spec": {"resources": ListOf({"name": _T, "deviceClassNames": _TEXTS})}},
    "DeviceClass": {"spec": {"selectors": _SELECTORS, "config": ListOf({}), "extendedResourceName": _T}},
    "ResourceClaim": {"spec": _CLAIM},
    "ResourceClaimTemplate": {"spec": {"metadata": _META, "spec": _CLAIM}},
    "ResourceSlice": {"spec": _slice({"value": _Q})},
    "ResourceSlice v1alpha3": {"spec": _slice(_Q)},
}


def check_types(manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest in which a field that the reference reads is of the wrong type.

    Raises:
        ManifestFault: for the first such field, in the version in which the manifest is written.

    """
    kind, version = manifest["kind"], manifest["apiVersion"].rpartition("/")[2]
    shape = {**_SHAPES.get(f"{kind} {version}", _SHAPES[kind]), "metadata": _META}
    for place in misfits(dict(manifest), shape):
        raise invalid(place.path, place.value, f"expected {expectation(place.shape)}")
