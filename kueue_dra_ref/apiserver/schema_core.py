"""The Go types of the other kinds of Kubernetes that quota depends on (Kubernetes 1.36): every field.

Kubernetes: k8s.io/api/core/v1/types.go (Namespace, LimitRange, ResourceQuota)
"""

from __future__ import annotations

from collections.abc import Mapping

from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    FLAG,
    TEXT,
    TEXTS,
    GoMap,
    GoSlice,
    GoStruct,
    Shape,
    all_of,
    fields,
    word,
)
from kueue_dra_ref.apiserver.schema_claims import HEAD
from kueue_dra_ref.apiserver.schema_pods import AMOUNTS, INT32, JOB, POD, TEMPLATE


def _kind(name: str, *parts: tuple[str, Shape]) -> GoStruct:
    return fields(f"v1.{name}", *HEAD, *parts)


_NAMESPACE = fields(
    "v1.NamespaceSpec", ("finalizers", GoSlice(word("v1.FinalizerName")))
)
_NODE = fields(
    "v1.NodeSpec",
    *all_of(TEXT, "podCIDR providerID externalID"),
    ("podCIDRs", TEXTS),
    ("unschedulable", FLAG),
    ("taints", ANYTHING),
    ("configSource", ANYTHING),
)
_BOUNDS = fields(
    "v1.LimitRangeItem",
    ("type", word("v1.LimitType")),
    *all_of(AMOUNTS, "max min default defaultRequest maxLimitRequestRatio"),
)


def _replicated(name: str, *parts: tuple[str, Shape]) -> GoStruct:
    """Describe the spec of work whose pods have one template."""
    return fields(
        name,
        *all_of(INT32, "replicas minReadySeconds revisionHistoryLimit"),
        ("selector", ANYTHING),
        ("template", TEMPLATE),
        *parts,
    )


_DEPLOYMENT = _replicated(
    "v1.DeploymentSpec",
    ("strategy", ANYTHING),
    ("paused", FLAG),
    ("progressDeadlineSeconds", INT32),
)
_STATEFUL_SET = _replicated(
    "v1.StatefulSetSpec",
    ("serviceName", TEXT),
    ("podManagementPolicy", TEXT),
    ("volumeClaimTemplates", ANYTHING),
    ("updateStrategy", ANYTHING),
    ("persistentVolumeClaimRetentionPolicy", ANYTHING),
    ("ordinals", ANYTHING),
)
_RULE = fields(
    "v1.PolicyRule",
    *all_of(TEXTS, "verbs apiGroups resources resourceNames nonResourceURLs"),
)
BUILT_IN: Mapping[str, GoStruct] = {
    "Namespace": _kind("Namespace", ("spec", _NAMESPACE), ("status", ANYTHING)),
    "Node": _kind("Node", ("spec", _NODE), ("status", ANYTHING)),
    "PriorityClass": _kind(
        "PriorityClass",
        ("value", INT32),
        ("globalDefault", FLAG),
        ("description", TEXT),
        ("preemptionPolicy", word("v1.PreemptionPolicy")),
    ),
    "ClusterRole": _kind(
        "ClusterRole", ("rules", GoSlice(_RULE)), ("aggregationRule", ANYTHING)
    ),
    "RuntimeClass": _kind(
        "RuntimeClass",
        ("handler", TEXT),
        ("overhead", fields("v1.Overhead", ("podFixed", AMOUNTS))),
        ("scheduling", ANYTHING),
    ),
    "LimitRange": _kind(
        "LimitRange",
        ("spec", fields("v1.LimitRangeSpec", ("limits", GoSlice(_BOUNDS)))),
    ),
    "Secret": _kind("Secret", ("type", TEXT), ("data", GoMap(TEXT))),
    "PodTemplate": _kind("PodTemplate", ("template", TEMPLATE)),
    "Job": JOB,
    "Deployment": _kind("Deployment", ("spec", _DEPLOYMENT), ("status", ANYTHING)),
    "StatefulSet": _kind("StatefulSet", ("spec", _STATEFUL_SET), ("status", ANYTHING)),
    "Pod": _kind("Pod", ("spec", POD), ("status", ANYTHING)),
}
