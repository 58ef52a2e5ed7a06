"""The Go types of Kueue's kinds (Kueue 0.19, apis/kueue; the texts' own fields), typed where they are looked at.

Kueue: apis/kueue/v1beta2/clusterqueue_types.go (ClusterQueue); apis/kueue/v1beta2/cohort_types.go (Cohort);
apis/kueue/v1beta2/localqueue_types.go (LocalQueue); apis/kueue/v1beta2/resourceflavor_types.go (ResourceFlavor)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from kueue_dra_ref.api.provisioning import CONFIG, REQUEST
from kueue_dra_ref.api.scheme import DRA_CONFIG
from kueue_dra_ref.apiserver.go_types import (
    ANYTHING,
    QUANTITY,
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
from kueue_dra_ref.apiserver.schema_jobs import CUSTOM, RUNTIMES
from kueue_dra_ref.apiserver.schema_pods import INT32, TOLERATION
from kueue_dra_ref.apiserver.schema_workload import (
    CONDITIONS,
    OLDER,
    workload_spec,
    workload_status,
)

_RESOURCE = word("v1.ResourceName")
_TAINT = fields(
    "v1.Taint",
    ("key", TEXT),
    ("value", TEXT),
    ("effect", word("v1.TaintEffect")),
    ("timeAdded", TEXT),
)
_COMPARED = fields(
    "v1.LabelSelectorRequirement",
    ("key", TEXT),
    ("operator", word("v1.LabelSelectorOperator")),
    ("values", TEXTS),
)
_SELECTOR = fields(
    "v1.LabelSelector",
    ("matchLabels", GoMap(TEXT)),
    ("matchExpressions", GoSlice(_COMPARED)),
)
COMPLETED = ("ClusterQueue", "ResourceFlavor", "Workload")
"""Kinds whose new objects Kueue's webhooks complete, for which they decode them."""


@cache
def schema(kind: str, version: str) -> GoStruct:
    """Give the shape of one of Kueue's kinds, or of work, in a version; of a status only what is read.

    Raises:
        KeyError: it is none of them.

    """
    if kind in CUSTOM:
        return CUSTOM[kind]
    if kind in RUNTIMES:
        return RUNTIMES[kind]
    if kind == REQUEST:
        return _PROVISIONING_REQUEST
    if kind == "WorkloadPriorityClass":
        return fields(
            f"{version}.{kind}", *HEAD, ("value", INT32), ("description", TEXT)
        )
    if kind == "Workload":
        parts = [("spec", workload_spec(version)), ("status", workload_status(version))]
    else:
        history = [("fairSharing", ANYTHING)] if kind == "LocalQueue" else []
        parts = [
            ("spec", _SPECS[kind](version)),
            ("status", fields(f"{version}.{kind}Status", CONDITIONS, *history)),
        ]
    return fields(f"{version}.{kind}", *HEAD, *parts)


def _cluster_queue(version: str) -> GoStruct:
    is_older = version == OLDER
    cohort = "cohort" if is_older else "cohortName"
    last = "admissionChecks" if is_older else "concurrentAdmissionPolicy"
    return fields(
        f"{version}.ClusterQueueSpec",
        ("resourceGroups", _groups(version)),
        (cohort, word(f"{version}.CohortReference")),
        ("queueingStrategy", word(f"{version}.QueueingStrategy")),
        ("namespaceSelector", _SELECTOR),
        ("flavorFungibility", _fungibility(version)),
        ("preemption", _preemption(version)),
        ("stopPolicy", word(f"{version}.StopPolicy")),
        ("fairSharing", _sharing(version)),
        ("admissionScope", _scope(version)),
        ("admissionChecksStrategy", _checks(version)),
        (last, ANYTHING),
    )


def _checks(version: str) -> GoStruct:
    flavor = word(f"{version}.ResourceFlavorReference")
    check = fields(
        f"{version}.AdmissionCheckStrategyRule",
        ("name", word(f"{version}.AdmissionCheckReference")),
        ("onFlavors", GoSlice(flavor)),
    )
    return fields(
        f"{version}.AdmissionChecksStrategy",
        ("admissionChecks", GoSlice(check, keyed=True)),
    )


def _preemption(version: str) -> GoStruct:
    policy = word(f"{version}.PreemptionPolicy")
    borrowing = fields(
        f"{version}.BorrowWithinCohort",
        ("policy", word(f"{version}.BorrowWithinCohortPolicy")),
        ("maxPriorityThreshold", INT32),
    )
    return fields(
        f"{version}.ClusterQueuePreemption",
        ("reclaimWithinCohort", policy),
        ("borrowWithinCohort", borrowing),
        ("withinClusterQueue", policy),
    )


def _fungibility(version: str) -> GoStruct:
    policy = word(f"{version}.FlavorFungibilityPolicy")
    return fields(
        f"{version}.FlavorFungibility",
        ("whenCanBorrow", policy),
        ("whenCanPreempt", policy),
        ("preference", word(f"{version}.FlavorFungibilityPreference")),
    )


def _scope(version: str) -> GoStruct:
    mode = word(f"{version}.AdmissionMode")
    return fields(f"{version}.AdmissionScope", ("admissionMode", mode))


def _cohort(version: str) -> GoStruct:
    return fields(
        f"{version}.CohortSpec",
        ("parentName", word(f"{version}.CohortReference")),
        ("resourceGroups", _groups(version)),
        ("fairSharing", _sharing(version)),
    )


def _local_queue(version: str) -> GoStruct:
    return fields(
        f"{version}.LocalQueueSpec",
        ("clusterQueue", word(f"{version}.ClusterQueueReference")),
        ("stopPolicy", word(f"{version}.StopPolicy")),
        ("fairSharing", _sharing(version)),
    )


def _flavor(version: str) -> GoStruct:
    return fields(
        f"{version}.ResourceFlavorSpec",
        ("nodeLabels", GoMap(TEXT)),
        ("nodeTaints", GoSlice(_TAINT)),
        ("tolerations", GoSlice(TOLERATION)),
        ("topologyName", word(f"{version}.TopologyReference")),
    )


def _groups(version: str) -> Shape:
    quota = fields(
        f"{version}.ResourceQuota",
        ("name", _RESOURCE),
        *all_of(QUANTITY, "nominalQuota borrowingLimit lendingLimit"),
        ("kind", TEXT),  # as the next, of the text of April 2025
        ("deviceClassNames", TEXTS),
    )
    flavor = fields(
        f"{version}.FlavorQuotas",
        ("name", word(f"{version}.ResourceFlavorReference")),
        ("resources", GoSlice(quota, keyed=True)),
    )
    group = fields(
        f"{version}.ResourceGroup",
        ("coveredResources", GoSlice(_RESOURCE)),
        ("flavors", GoSlice(flavor, keyed=True)),
    )
    return GoSlice(group)


def _sharing(version: str) -> GoStruct:
    return fields(f"{version}.FairSharing", ("weight", QUANTITY))


def _resources(version: str) -> GoStruct:
    resource = fields(
        f"{version}.Resource", ("name", _RESOURCE), ("deviceClassNames", TEXTS)
    )
    return fields(
        f"{version}.{DRA_CONFIG}Spec", ("resources", GoSlice(resource, keyed=True))
    )


def _admission_check(version: str) -> GoStruct:
    older = (("retryDelayMinutes", ANYTHING),) if version == OLDER else ()
    return fields(
        f"{version}.AdmissionCheckSpec",
        ("controllerName", TEXT),
        ("parameters", ANYTHING),
        *older,
    )


def _workers(version: str) -> GoStruct:
    return fields(
        f"{version}.MultiKueueConfigSpec",
        ("clusters", TEXTS),
        ("quotaManagement", TEXT),
    )


def _worker(version: str) -> GoStruct:
    source = "kubeConfig" if version == OLDER else "clusterSource"
    return fields(f"{version}.MultiKueueClusterSpec", (source, ANYTHING))


def _provisioning(version: str) -> GoStruct:
    strategy = fields(
        f"{version}.ProvisioningRequestRetryStrategy",
        *all_of(INT32, "backoffLimitCount backoffBaseSeconds backoffMaxSeconds"),
    )
    selector = fields(
        f"{version}.ProvisioningRequestPodSetUpdatesNodeSelector",
        *all_of(TEXT, "key valueFromProvisioningClassDetail"),
    )
    updates = fields(
        f"{version}.ProvisioningRequestPodSetUpdates",
        ("nodeSelector", GoSlice(selector, keyed=True)),
    )
    return fields(
        f"{version}.{CONFIG}Spec",
        ("provisioningClassName", TEXT),
        ("parameters", GoMap(TEXT)),
        ("managedResources", GoSlice(_RESOURCE)),
        ("retryStrategy", strategy),
        ("podSetUpdates", updates),
        ("podSetMergePolicy", word(f"{version}.{CONFIG}PodSetMergePolicy")),
    )


_ASKED_PODS = fields(
    "v1.PodSet",
    ("podTemplateRef", fields("v1.Reference", ("name", TEXT))),
    ("count", INT32),
)
_PROVISIONING_REQUEST = fields(
    f"v1.{REQUEST}",
    *HEAD,
    (
        "spec",
        fields(
            f"v1.{REQUEST}Spec",
            ("podSets", GoSlice(_ASKED_PODS)),
            ("provisioningClassName", TEXT),
            ("parameters", GoMap(TEXT)),
        ),
    ),
    (
        "status",
        fields(
            f"v1.{REQUEST}Status",
            CONDITIONS,
            ("provisioningClassDetails", GoMap(TEXT)),
        ),
    ),
)


def _topology(version: str) -> GoStruct:
    level = fields(f"{version}.TopologyLevel", ("nodeLabel", TEXT))
    return fields(f"{version}.TopologySpec", ("levels", GoSlice(level)))


_SPECS: Mapping[str, Callable[[str], GoStruct]] = {
    "AdmissionCheck": _admission_check,
    "MultiKueueConfig": _workers,
    "MultiKueueCluster": _worker,
    "ClusterQueue": _cluster_queue,
    "Cohort": _cohort,
    "LocalQueue": _local_queue,
    "ResourceFlavor": _flavor,
    CONFIG: _provisioning,
    "Topology": _topology,
    DRA_CONFIG: _resources,
}
