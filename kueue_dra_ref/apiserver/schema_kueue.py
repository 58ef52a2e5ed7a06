"""The Go types of Kueue's kinds (Kueue 0.19, apis/kueue), typed where they are looked at."""

from __future__ import annotations

from functools import cache

from kueue_dra_ref.apiserver.schema_claims import HEAD
from kueue_dra_ref.apiserver.schema_pods import INT32, TEMPLATE, TOLERATION
from kueue_dra_ref.apiserver.shapes import (
    ANYTHING,
    FLAG,
    QUANTITY,
    TEXT,
    TEXTS,
    ListOf,
    MapOf,
    Shape,
    Struct,
    fields,
    word,
)

_RESOURCE = word("v1.ResourceName")
_TAINT = fields("v1.Taint", ("key", TEXT), ("value", TEXT), ("effect", word("v1.TaintEffect")), ("timeAdded", TEXT))
_COMPARED = fields(
    "v1.LabelSelectorRequirement",
    ("key", TEXT),
    ("operator", word("v1.LabelSelectorOperator")),
    ("values", TEXTS),
)
_SELECTOR = fields("v1.LabelSelector", ("matchLabels", MapOf(TEXT)), ("matchExpressions", ListOf(_COMPARED)))
KINDS = ("ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "Workload", "WorkloadPriorityClass")
COMPLETED = ("ClusterQueue", "ResourceFlavor", "Workload")
"""Kinds whose new objects Kueue's webhooks complete, for which they decode them."""


@cache
def schema(kind: str, version: str) -> Struct:
    """Give the shape of one of Kueue's kinds in a version.

    Raises:
        KeyError: it is none of them.

    """
    if kind == "WorkloadPriorityClass":
        return fields(f"{version}.{kind}", *HEAD, ("value", INT32), ("description", TEXT))
    spec = {
        "ClusterQueue": _cluster_queue,
        "Cohort": _cohort,
        "LocalQueue": _local_queue,
        "ResourceFlavor": _flavor,
        "Workload": _workload,
    }[kind]
    return fields(f"{version}.{kind}", *HEAD, ("spec", spec(version)), ("status", ANYTHING))


def _cluster_queue(version: str) -> Struct:
    policy = word(f"{version}.PreemptionPolicy")
    borrowing = fields(
        f"{version}.BorrowWithinCohort",
        ("policy", word(f"{version}.BorrowWithinCohortPolicy")),
        ("maxPriorityThreshold", INT32),
    )
    preemption = fields(
        f"{version}.ClusterQueuePreemption",
        ("reclaimWithinCohort", policy),
        ("borrowWithinCohort", borrowing),
        ("withinClusterQueue", policy),
    )
    searching = fields(
        f"{version}.FlavorFungibility",
        ("whenCanBorrow", word(f"{version}.FlavorFungibilityPolicy")),
        ("whenCanPreempt", word(f"{version}.FlavorFungibilityPolicy")),
        ("preference", word(f"{version}.FlavorFungibilityPreference")),
    )
    return fields(
        f"{version}.ClusterQueueSpec",
        ("resourceGroups", _groups(version)),
        ("cohortName" if version != "v1beta1" else "cohort", word(f"{version}.CohortReference")),
        ("queueingStrategy", word(f"{version}.QueueingStrategy")),
        ("namespaceSelector", _SELECTOR),
        ("flavorFungibility", searching),
        ("preemption", preemption),
        ("stopPolicy", word(f"{version}.StopPolicy")),
        ("fairSharing", _sharing(version)),
        ("admissionScope", fields(f"{version}.AdmissionScope", ("admissionMode", word(f"{version}.AdmissionMode")))),
        ("admissionChecks", ANYTHING),
        ("admissionChecksStrategy", ANYTHING),
        ("concurrentAdmissionPolicy", ANYTHING),
    )


def _cohort(version: str) -> Struct:
    return fields(
        f"{version}.CohortSpec",
        ("parentName", word(f"{version}.CohortReference")),
        ("resourceGroups", _groups(version)),
        ("fairSharing", _sharing(version)),
    )


def _local_queue(version: str) -> Struct:
    return fields(
        f"{version}.LocalQueueSpec",
        ("clusterQueue", word(f"{version}.ClusterQueueReference")),
        ("stopPolicy", word(f"{version}.StopPolicy")),
        ("fairSharing", _sharing(version)),
    )


def _flavor(version: str) -> Struct:
    return fields(
        f"{version}.ResourceFlavorSpec",
        ("nodeLabels", MapOf(TEXT)),
        ("nodeTaints", ListOf(_TAINT)),
        ("tolerations", ListOf(TOLERATION)),
        ("topologyName", word(f"{version}.TopologyReference")),
    )


def _workload(version: str) -> Struct:
    reference = fields(
        f"{version}.PriorityClassRef",
        ("group", word(f"{version}.PriorityClassGroup")),
        ("kind", word(f"{version}.PriorityClassKind")),
        ("name", TEXT),
    )
    named = (("priorityClassName", TEXT), ("priorityClassSource", TEXT))
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
        ("podSets", ListOf(pod_set, keyed=True)),
        ("queueName", word(f"{version}.LocalQueueName")),
        *(named if version == "v1beta1" else (("priorityClassRef", reference),)),
        ("priority", INT32),
        ("active", FLAG),
        ("maximumExecutionTimeSeconds", INT32),
        ("preemptionGates", ANYTHING),
    )


def _groups(version: str) -> Shape:
    quota = fields(
        f"{version}.ResourceQuota",
        ("name", _RESOURCE),
        *((key, QUANTITY) for key in ("nominalQuota", "borrowingLimit", "lendingLimit")),
    )
    flavor = fields(
        f"{version}.FlavorQuotas",
        ("name", word(f"{version}.ResourceFlavorReference")),
        ("resources", ListOf(quota, keyed=True)),
    )
    group = fields(
        f"{version}.ResourceGroup",
        ("coveredResources", ListOf(_RESOURCE)),
        ("flavors", ListOf(flavor, keyed=True)),
    )
    return ListOf(group)


def _sharing(version: str) -> Struct:
    return fields(f"{version}.FairSharing", ("weight", QUANTITY))
