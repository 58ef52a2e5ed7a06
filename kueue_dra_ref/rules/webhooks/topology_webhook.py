"""Kueue's validating webhooks for work: the topology that pods request by their annotations.

Kueue: pkg/controller/jobframework/tas_validation.go (ValidateTASPodSetRequest)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from kueue_dra_ref.api.job_kind import Path, template_at, template_of
from kueue_dra_ref.api.job_kinds import (
    JOB,
    JOB_KINDS,
    JOB_SET,
    WRAPPER,
    pod_set_places,
)
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.metav1_validation import key_faults
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pod_owners import LEADER_WORKER_SET, template_paths
from kueue_dra_ref.api.ray_kinds import RAY_CLUSTER, SUBMITTER
from kueue_dra_ref.api.spark_application import SPARK_APPLICATION
from kueue_dra_ref.api.topologies import FALSE, PREFERRED, REQUIRED, TRUE, UNCONSTRAINED
from kueue_dra_ref.api.train_jobs import TRAIN_JOB
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_DOMAINS = {"required": REQUIRED, "preferred": PREFERRED}
_BOOLEANS = TRUE | FALSE
_UNCHECKED = frozenset({TRAIN_JOB.name, WRAPPER.name})
"""The kinds of work whose pods no webhook checks here; the pods of a TrainJob are those of its runtime."""
_READ_FIRST_0_17 = frozenset({SPARK_APPLICATION.name})
_READ_FIRST = _READ_FIRST_0_17 | {JOB_SET.name, "MPIJob", RAY_CLUSTER.name}
"""The kinds of work whose webhook makes pod sets before it checks templates; but the head of a Ray cluster first."""
_NAMED_0_14 = {
    "template.spec.template.metadata": "template.metadata",
    "headGroupSpec.template.metadata": "headGroupSpec.template, metadata",
}
_ALL = (REQUIRED, PREFERRED, UNCONSTRAINED)


@rule("TAS-047", "TAS-048", "TAS-050", "TAS-052")
def pods_request_valid_topology(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies work whose pods request several topologies, no label key, or unconstrained with no boolean.

    Kueue: pkg/controller/jobframework/tas_validation.go (ValidateTASPodSetRequest, validateTASUnconstrained)
    """
    yield from _faults(write.new, _READ_FIRST_0_17, _shown)


@rule("TAS-047", "TAS-048", "TAS-050", "TAS-052", "TAS-053")
def pods_request_valid_topology_0_18(write: AdmissionRequest) -> Iterator[FieldError]:
    """From 0.18 on, it names no field of some kinds for an unconstrained topology with a value that is no boolean.

    Kueue: pkg/controller/jobs/jobset/jobset_webhook.go (validateTopologyRequest);
        pkg/controller/jobs/mpijob/mpijob_webhook.go (validateTopologyRequest);
        pkg/controller/jobs/raycluster/raycluster_webhook.go (validateTopologyRequest)
    """
    yield from _faults(write.new, _READ_FIRST, _shown)


@rule("TAS-047", "TAS-048", "TAS-050", "TAS-051")
def pods_request_valid_topology_0_14(write: AdmissionRequest) -> Iterator[FieldError]:
    """Kueue 0.14 does so, and says elsewhere where the annotations of JobSets and of the heads of Ray clusters are.

    Kueue 0.14: pkg/controller/jobs/jobset/jobset_webhook.go (validateTopologyRequest);
        pkg/controller/jobs/raycluster/raycluster_webhook.go (headGroupMetaPath)
    """
    yield from _faults(write.new, frozenset(), _shown_0_14)


@rule("ELASTIC-035")
def elastic_job_requests_no_domain(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies an elastic Job that requires or prefers a topology.

    Kueue: pkg/controller/jobs/job/job_webhook.go (validateTopologyRequest)
    """
    if not write.elastic or write.new["kind"] != JOB.name:
        return
    for path, template in _templates(write.new):
        for word, each in _DOMAINS.items():
            if each in annotations_of(template):
                detail = f"{word} topology is not supported with elastic jobs"
                field = f"{_shown(path)}.annotations.{each}"
                yield FieldError(field=field, type="Forbidden", detail=detail)


def _faults(
    work: Manifest,
    read_first: frozenset[str],
    shown: Callable[[Path], str],
) -> Iterator[FieldError]:
    """Give what is wrong with each template; of some kinds only that one cannot be read, if that is so."""
    places = list(_templates(work))
    unread = []
    if work["kind"] in read_first:
        unread = [each for _, template in places for each in _unread(template)]
    if unread:
        places = places[:1] if work["kind"] == RAY_CLUSTER.name else []
    found = [
        fault
        for path, template in places
        for fault in _faults_of(f"{shown(path)}.annotations", template)
    ]
    yield from found
    if unread and not found:
        yield FieldError(
            field="strconv.ParseBool",
            type=f"parsing {printed(unread[0])}",
            detail="invalid syntax",
        )


def _unread(template: Manifest) -> Iterator[str]:
    """Give what a template has in the place of a boolean, if Kueue reads that of its topologies."""
    annotations = annotations_of(template)
    if not any(each in annotations for each in _DOMAINS.values()):
        yield from _no_boolean(annotations)


def _no_boolean(annotations: Mapping[str, str]) -> Iterator[str]:
    """Give what stands in the place of a boolean, if anything does."""
    written = annotations.get(UNCONSTRAINED, "true")
    if written not in _BOOLEANS:
        yield written


def _faults_of(path: str, template: Manifest) -> Iterator[FieldError]:
    """Give what is wrong with the topology that the annotations at a path request."""
    annotations = annotations_of(template)
    if sum(each in annotations for each in _ALL) > 1:
        names = ", ".join(map(printed, _ALL))
        detail = f"must not contain more than one topology annotation: [{names}]"
        yield FieldError(field=path, type="Invalid value", detail=detail)
    for each in _DOMAINS.values():
        if each in annotations:
            yield from key_faults(f"{path}[{each}]", annotations[each])
    for written in _no_boolean(annotations):
        yield FieldError(
            field=f"{path}[{UNCONSTRAINED}]",
            type="Invalid value",
            value=printed(written),
            detail="must be a boolean value",
        )


def _templates(work: Manifest) -> Iterator[tuple[Path, Manifest]]:
    """Give each pod template whose annotations a webhook checks, with where it names their metadata."""
    kind = work["kind"]
    if kind == LEADER_WORKER_SET.name:
        for path in template_paths(work):
            yield (*path, "metadata"), template_at(work, path)
    elif kind in JOB_KINDS and kind not in _UNCHECKED:
        for place in pod_set_places(work):
            if place.name != SUBMITTER:
                is_built = place.built is not None
                path = place.path if is_built else (*place.path, "metadata")
                yield path, template_of(work, place)


def _shown(path: Path) -> str:
    """Print a path as Kueue does, which calls the cluster of a RayService by a name that it does not have."""
    shown, is_key = "", False
    for part in path:
        shown += f"[{part}]" if is_key or isinstance(part, int) else f".{part}"
        is_key = str(part).endswith("ReplicaSpecs")
    return shown.removeprefix(".").replace("rayClusterConfig", "rayClusterSpec")


def _shown_0_14(path: Path) -> str:
    """Print a path as Kueue 0.14 does, which names two of them wrongly."""
    shown = _shown(path)
    for right, wrong in _NAMED_0_14.items():
        if shown.endswith(right):
            shown = shown.removesuffix(right) + wrong
    return shown
