"""The Go types of a Workload (Kueue 0.19, apis/kueue): every field of its spec and of its status.

Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec, WorkloadStatus)
"""

from __future__ import annotations

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    TEXT,
    TEXTS,
    TIME,
    GoField,
    GoMap,
    GoSlice,
    GoStruct,
    all_of,
    fields,
    word,
)
from kueue_dra_ref.apiserver.schema_pods import AMOUNTS, INT32, TEMPLATE, TOLERATION

OLDER = "v1beta1"
_CONDITION = fields(
    "v1.Condition",
    ("type", TEXT),
    ("status", word("v1.ConditionStatus")),
    ("lastTransitionTime", TIME),
    *all_of(TEXT, "reason message"),
)
CONDITIONS = GoField("conditions", GoSlice(_CONDITION, keyed=True))
"""What every status has."""


def workload_spec(version: str) -> GoStruct:
    """Give the shape of the spec, in a version."""
    reference = fields(
        f"{version}.PriorityClassRef",
        ("group", word(f"{version}.PriorityClassGroup")),
        ("kind", word(f"{version}.PriorityClassKind")),
        ("name", TEXT),
    )
    older = (("priorityClassName", TEXT), ("priorityClassSource", TEXT))
    newer = (("priorityClassRef", reference), ("preemptionGates", ANYTHING))
    pod_set = fields(
        f"{version}.PodSet",
        ("name", word(f"{version}.PodSetReference")),
        ("template", TEMPLATE),
        ("count", INT32),
        ("minCount", INT32),
        ("topologyRequest", ANYTHING),
    )
    return fields(
        f"{version}.WorkloadSpec",
        ("podSets", GoSlice(pod_set, keyed=True)),
        ("queueName", word(f"{version}.LocalQueueName")),
        *(older if version == OLDER else newer),
        ("priority", INT32),
        ("active", FLAG),
        ("maximumExecutionTimeSeconds", INT32),
    )


def workload_status(version: str) -> GoStruct:
    """Give the shape of the status, in a version."""
    name = word(f"{version}.PodSetReference")
    pods = fields(f"{version}.ReclaimablePod", ("name", name), ("count", INT32))
    return fields(
        f"{version}.WorkloadStatus",
        CONDITIONS,
        ("admission", _admission(version)),
        ("requeueState", _requeue_state(version)),
        ("reclaimablePods", GoSlice(pods, keyed=True)),
        ("admissionChecks", GoSlice(_check_state(version), keyed=True)),
        ("resourceRequests", ANYTHING),
        ("accumulatedPastExecutionTimeSeconds", INT32),
        ("schedulingStats", ANYTHING),
        ("nominatedClusterNames", TEXTS),
        ("clusterName", TEXT),
        ("unhealthyNodes", ANYTHING),
        ("preemptionGates", ANYTHING),
    )


def _admission(version: str) -> GoStruct:
    assigned = fields(
        f"{version}.PodSetAssignment",
        ("name", word(f"{version}.PodSetReference")),
        ("flavors", GoMap(word(f"{version}.ResourceFlavorReference"))),
        ("resourceUsage", AMOUNTS),
        ("count", INT32),
        ("topologyAssignment", ANYTHING),
        ("delayedTopologyRequest", TEXT),
    )
    return fields(
        f"{version}.Admission",
        ("clusterQueue", word(f"{version}.ClusterQueueReference")),
        ("podSetAssignments", GoSlice(assigned, keyed=True)),
    )


def _check_state(version: str) -> GoStruct:
    update = fields(
        f"{version}.PodSetUpdate",
        ("name", word(f"{version}.PodSetReference")),
        *((name, GoMap(TEXT)) for name in ("labels", "annotations", "nodeSelector")),
        ("tolerations", GoSlice(TOLERATION)),
    )
    return fields(
        f"{version}.AdmissionCheckState",
        ("name", word(f"{version}.AdmissionCheckReference")),
        ("state", word(f"{version}.CheckState")),
        ("lastTransitionTime", TIME),
        ("message", TEXT),
        ("requeueAfterSeconds", INT32),
        ("retryCount", INT32),
        ("podSetUpdates", GoSlice(update)),
    )


def _requeue_state(version: str) -> GoStruct:
    return fields(
        f"{version}.RequeueState",
        ("count", INT32),
        ("requeueAt", TIME),
    )
