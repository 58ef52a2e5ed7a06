"""Kueue's validating webhooks for Jobs and pods: the topology that pods request by their annotations.

Kueue: pkg/controller/jobframework/tas_validation.go (ValidateTASPodSetRequest)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.job_kinds import JOB, POD
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.metav1_validation import key_faults
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.topologies import FALSE, PREFERRED, REQUIRED, TRUE, UNCONSTRAINED
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_DOMAINS = {"required": REQUIRED, "preferred": PREFERRED}
_BOOLEANS = TRUE | FALSE
_ALL = (REQUIRED, PREFERRED, UNCONSTRAINED)


@rule("TAS-047")
def pods_request_one_topology(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a Job or a pod with annotations for more than one topology.

    Kueue: pkg/controller/jobframework/tas_validation.go (ValidateTASPodSetRequest)
    """
    for path, template in _templates(write.new):
        found = [each for each in _ALL if each in annotations_of(template)]
        if len(found) > 1:
            names = ", ".join(map(printed, _ALL))
            detail = f"must not contain more than one topology annotation: [{names}]"
            yield FieldError(field=path, type="Invalid value", detail=detail)


@rule("TAS-048")
def requested_topology_is_valid(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a Job or a pod that requests a level that is no label key, or unconstrained with no boolean.

    Kueue: pkg/controller/jobframework/tas_validation.go (ValidateTASPodSetRequest, validateTASUnconstrained)
    """
    for path, template in _templates(write.new):
        annotations = annotations_of(template)
        for each in _DOMAINS.values():
            if each in annotations:
                level = annotations[each]
                yield from key_faults(f"{path}[{each}]", level)
        unconstrained = annotations.get(UNCONSTRAINED, "true")
        if unconstrained not in _BOOLEANS:
            yield FieldError(
                field=f"{path}[{UNCONSTRAINED}]",
                type="Invalid value",
                value=printed(unconstrained),
                detail="must be a boolean value",
            )


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
                yield FieldError(
                    field=f"{path}.{each}", type="Forbidden", detail=detail
                )


def _templates(work: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Give the pod template of a Job, or a pod, with the path of its annotations; nothing of other kinds."""
    if work["kind"] == JOB.name:
        template = work["spec"].get("template") or {}
        head = template.get("metadata") or {}
        yield "spec.template.metadata.annotations", {"metadata": head}
    elif work["kind"] == POD.name:
        yield "metadata.annotations", work
