"""The list of what is not decided: gates and settings, strict both ways."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from kueue_dra_ref.api.schema_config import V1BETA1, V1BETA2, Keys
from kueue_dra_ref.api.scheme import KINDS, KUEUE
from kueue_dra_ref.apiserver.go_types import LAST, GoSlice, GoStruct, Shape
from kueue_dra_ref.apiserver.schema_kueue import schema
from kueue_dra_ref.features.not_read import Reason, purposes
from kueue_dra_ref.simulation.unsupported_fields import IN_GROUPS, MARKS, NOT_DECIDED, PLACED, SETTINGS
from tests.kueue_symbols.counterparts import list_of, pinned
from tests.not_decided_page import not_read

SECTIONS = frozenset({"integrations", "multiKueue", "waitForPodsReady"})
READ = (
    ("admissionFairSharing",),
    ("fairSharing",),
    ("featureGates",),
    ("integrations", "frameworks"),
    ("manageJobsWithoutQueueName",),
    ("managedJobsNamespaceSelector",),
    ("multiKueue", "gcInterval"),
    ("multiKueue", "origin"),
    ("multiKueue", "workerLostTimeout"),
    ("namespace",),
    ("objectRetentionPolicies",),
    ("resources",),
    ("waitForPodsReady", "enable"),
    ("waitForPodsReady", "recoveryTimeout"),
    ("waitForPodsReady", "requeuingStrategy"),
    ("waitForPodsReady", "timeout"),
)
"""Settings that the reference reads."""
NOTHING = (
    ("apiVersion",),
    ("clientConnection",),
    ("controller",),
    ("health",),
    ("internalCertManagement",),
    ("kind",),
    ("leaderElection",),
    ("metrics",),
    ("pprofBindAddress",),
    ("queueVisibility",),
    ("tls",),
    ("visibilityServer",),
    ("webhook",),
)
"""Settings that decide nothing about quota."""
FIELDS_READ: Mapping[str, str] = {
    "AdmissionCheck": "parameters",
    "ClusterQueue": """
        admissionChecks admissionChecksStrategy admissionScope cohort cohortName concurrentAdmissionPolicy fairSharing
        flavorFungibility namespaceSelector preemption queueingStrategy resourceGroups stopPolicy
    """,
    "Cohort": "fairSharing parentName resourceGroups",
    "LocalQueue": "clusterQueue fairSharing stopPolicy",
    "MultiKueueCluster": "clusterSource kubeConfig",
    "MultiKueueConfig": "clusters",
    "ProvisioningRequestConfig": """
        managedResources parameters podSetMergePolicy podSetUpdates provisioningClassName retryStrategy
    """,
    "ResourceFlavor": "nodeLabels nodeTaints.effect nodeTaints.key nodeTaints.value tolerations",
    "Topology": "levels",
    "Workload": """
        active maximumExecutionTimeSeconds podSets.count podSets.minCount podSets.name podSets.template priority
        priorityClassName priorityClassRef priorityClassSource queueName
    """,
}
"""By kind of Kueue, fields of its spec that the reference reads, a section at a time."""
FIELDS_OF_NOTHING: Mapping[str, str] = {
    "AdmissionCheck": "retryDelayMinutes",
    "MultiKueueConfig": "quotaManagement",
    "ResourceFlavor": "nodeTaints.timeAdded",
}
"""Those that decide nothing about quota; quotaManagement does with a gate alone, which is noted."""
MARKS_READ = """
AdmissionGatedByAnnotation ClusterQueueLabel ConcurrentAdmissionParentLabelKey ElasticJobAnnotation EnabledAnnotationKey
GroupFastAdmissionAnnotationKey GroupNameAnnotation GroupNameLabel GroupServingAnnotationKey GroupTotalCountAnnotation
IsGroupWorkloadAnnotationKey JobCompletionsEqualParallelismAnnotation JobMinParallelismAnnotation JobUIDLabel
LocalQueueLabel ManagedByKueueLabelKey MaxExecTimeSecondsLabel MultiKueueOriginLabel PodGroupPodIndexLabel
PodGroupPodIndexLabelAnnotation PodSetLabel PodSetPreferredTopologyAnnotation PodSetRequiredTopologyAnnotation
PodSetUnconstrainedTopologyAnnotation ProvReqAnnotationPrefix QueueLabel RetriableInGroupAnnotationKey
RoleHashAnnotation SuspendedByParentAnnotation WorkloadAllowedResourceFlavorAnnotation WorkloadAnnotation
WorkloadPriorityClassLabel WorkloadSliceNameAnnotation WorkloadSliceReplacementFor
"""
"""Kueue's names of the labels and annotations that the reference reads."""
MARKS_NOTED: Mapping[str, str] = {
    "PodSetGroupName": "podset-group-name",
    "PodSetSliceRequiredTopologyAnnotation": "podset-slice-required-topology",
    "PodSetSliceRequiredTopologyConstraintsAnnotation": "podset-slice-required-topology-constraints",
    "PodSetSliceSizeAnnotation": "podset-slice-size",
    "PrebuiltWorkloadAnnotation": "prebuilt-workload-name",
    "PrebuiltWorkloadLabel": "prebuilt-workload-name",
    "PriorityBoostAnnotationKey": "priority-boost",
}
MARKS_OF_NOTHING = """
ComponentWorkloadIndexAnnotation JobOwnerGVKAnnotation JobOwnerNameAnnotation MultiKueueOriginUIDAnnotation
MultiKueueWorkerWorkloadPodLabel PodIndexOffsetAnnotation RayClusterGenerationAnnotation
RayClusterPodsetReplicaSizesAnnotation SafeToForcefullyDeleteAnnotationKey StoppingAnnotation
"""
"""Those that decide nothing about quota: names and order of what has quota, or what a gate does that is noted."""
MARK = re.compile(r"\b(?!AddOrUpdate|PodIndex|Propagate|Set|Validate)[A-Z]\w*(?:Label|Annotation)(?:Key|Prefix)?\b")


def test_each_gate_is_read_by_a_rule_or_listed_once() -> None:
    """A new gate of a release needs a rule or an entry; an entry goes once every release has a rule for it."""
    listed = [gate for reason in Reason for gate in purposes()[reason]]

    assert sorted(listed) == sorted(not_read())


def test_each_setting_is_decided_noted_or_about_nothing_that_is_decided() -> None:
    """A new setting of a release is in one of these lists, or this test fails."""
    known = {path for keys in (V1BETA1, V1BETA2) for path in _paths(keys)}
    listed = [*SETTINGS, *READ, *NOTHING]

    assert sorted(set(listed)) == sorted(listed)
    assert known == set(listed)


def _paths(keys: Keys) -> Iterator[tuple[str, ...]]:
    """Give each setting, and those of the sections that hold settings of several kinds."""
    for key, shape in keys.items():
        if key in SECTIONS and isinstance(shape, Mapping):
            yield from ((key, each) for each in shape)
        else:
            yield (key,)


@pytest.mark.parametrize("kind", [*FIELDS_READ])
def test_each_field_of_kueue_is_decided_noted_or_about_nothing_that_is_decided(kind: str) -> None:
    """A new field of a kind is in one of these lists, a section at a time, or this test fails.

    What is below a field of any form has a note for itself.
    """
    shapes = [schema(kind, version).known(LAST)["spec"].shape for version in KINDS[kind].versions]
    known = {field for shape in shapes for field in _fields(shape)}
    listed = [*FIELDS_READ[kind].split(), *FIELDS_OF_NOTHING.get(kind, "").split(), *_noted(kind)]

    assert sorted(set(listed)) == sorted(listed)
    assert {_section(field, listed) for field in known} == {_section(each, sorted(known)) for each in listed}


def test_each_kind_of_kueue_has_its_fields_listed() -> None:
    """But for a class, which has a value and no spec, and for a kind that only a text has."""
    of_kueue = {kind.name for kind in KINDS.values() if kind.group == KUEUE and not kind.optional}

    assert of_kueue == {*FIELDS_READ, "WorkloadPriorityClass"}


def _fields(shape: Shape, path: str = "") -> Iterator[str]:
    """Give each field below a field; lists add nothing to a path."""
    if isinstance(shape, GoSlice):
        yield from _fields(shape.element, path)
    elif isinstance(shape, GoStruct):
        for key, field in shape.known(LAST).items():
            yield from _fields(field.shape, f"{path}.{key}".removeprefix("."))
    else:
        yield path


def _section(field: str, listed: list[str]) -> str:
    """Give the section of a field that is listed, or the field itself."""
    return next((each for each in listed if f"{field}.".startswith(f"{each}.")), field)


def _noted(kind: str) -> list[str]:
    """Give the fields of a spec that have a note, without Nodes or with them."""
    noted = {*NOT_DECIDED.get(kind, {}), *PLACED.get(kind, {})}
    paths = [path.removeprefix("spec.").replace("[]", "") for path in sorted(noted) if path.startswith("spec.")]
    return [path for path in paths if _section(path, [each for each in paths if each != path]) == path]


def test_each_label_and_annotation_is_decided_noted_or_about_nothing_that_is_decided() -> None:
    """A new one in the files of Kueue that docstrings cite is in one of these lists, or this test fails."""
    texts = [list_of(version).read_text("utf-8") for version in pinned().values()]
    known = {name for text in texts for name in MARK.findall(text)}
    listed = [*MARKS_READ.split(), *MARKS_NOTED, *MARKS_OF_NOTHING.split()]

    assert sorted(set(listed)) == sorted(listed)
    assert known <= set(listed)
    assert {*MARKS_NOTED.values()} == {*MARKS, *IN_GROUPS}


def test_lists_are_in_alphabetical_order() -> None:
    """So that an entry is found."""
    for listed in purposes().values():
        assert list(listed) == sorted(listed)
