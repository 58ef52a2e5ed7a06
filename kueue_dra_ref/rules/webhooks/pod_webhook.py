"""Kueue's validating webhook for pods: what a pod says of its group.

Kueue: pkg/controller/jobs/pod/pod_webhook.go (validatePodGroupMetadata, ValidateUpdate,
    validateUpdateForRetriableInGroupAnnotation)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.names import dns_subdomain_faults, printed
from kueue_dra_ref.api.queued_pods import GROUP, MANAGED, RETRIABLE, TOTAL
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_LABELS, _ANNOTATIONS = "metadata.labels", "metadata.annotations"


@rule("PODS-068")
def managed_label_is_true(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a pod whose label managed has another value than true.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (validateManagedLabel)
    """
    if labels_of(write.new).get(MANAGED, "true") != "true":
        yield FieldError(
            field=f"{_LABELS}[{MANAGED}]",
            type="Forbidden",
            detail="managed label value can only be 'true'",
        )


@rule("PODS-069")
def group_name_is_valid(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a pod whose group has a name that no Workload can have.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (validatePodGroupName)
    """
    name, place, _ = _group_of(write.new)
    if name and (faults := dns_subdomain_faults(name)):
        yield _invalid(f"{place}[{GROUP}]", name, ",".join(faults))


@rule("PODS-015")
def group_has_name_and_total(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a pod with only one of the name and the total count of its group.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (validatePodGroupMetadata)
    """
    total = annotations_of(write.new).get(TOTAL)
    name, place, kind = _group_of(write.new)
    has_total = total is not None
    if has_total is bool(name):
        return
    field = f"{place}[{GROUP}]"
    if name:
        field = f"{_ANNOTATIONS}[{TOTAL}]"
    yield FieldError(
        field=field,
        type="Required value",
        detail=f"both the '{TOTAL}' annotation and the '{GROUP}' {kind} should be set",
    )


@rule("PODS-016")
def group_total_is_above_zero(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies a pod whose total count is no number, or not above zero.

    Kueue: pkg/controller/jobs/pod/pod_controller.go (groupTotalCount)
    """
    written = annotations_of(write.new).get(TOTAL)
    name, _, _ = _group_of(write.new)
    if written is None or not name:
        return
    detail = _fault_of_total(written)
    if detail:
        field = f"{_ANNOTATIONS}[{TOTAL}]"
        yield _invalid(field, written, detail)


def _fault_of_total(written: str) -> str:
    """Say what is wrong with a total count; empty if it is a number above zero."""
    if not re.fullmatch(r"[+-]?[0-9]+", written):
        return f"strconv.Atoi: parsing {printed(written)}: invalid syntax"
    if int(written) > 0:
        return ""
    return (
        f"incorrect annotation value '{TOTAL}={written}': "
        "group total count should be greater than zero"
    )


@rule("PODS-017")
def group_name_is_immutable(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies another group to a pod of a group.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (ValidateUpdate)
    """
    before, _, _ = _group_of(write.before)
    after, place, _ = _group_of(write.new)
    if before and before != after:
        field = f"{place}[{GROUP}]"
        yield _invalid(field, after, "field is immutable")


@rule("PODS-018")
def unretriable_pods_stay_so(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies that a pod of a group that is not retriable becomes retriable.

    Kueue: pkg/controller/jobs/pod/pod_webhook.go (validateUpdateForRetriableInGroupAnnotation)
    """
    name, _, _ = _group_of(write.new)
    was_retriable = annotations_of(write.before).get(RETRIABLE) != "false"
    is_retriable = annotations_of(write.new).get(RETRIABLE) != "false"
    if name and is_retriable and not was_retriable:
        detail = "unretriable pod group can't be converted to retriable"
        field = f"{_ANNOTATIONS}[{RETRIABLE}]"
        yield FieldError(
            field=field,
            type="Forbidden",
            detail=detail,
        )


def _group_of(pod: Manifest) -> tuple[str, str, str]:
    """Give the group of a pod, and where it stands; the label if there is none."""
    if name := annotations_of(pod).get(GROUP):
        return name, _ANNOTATIONS, "annotation"
    return labels_of(pod).get(GROUP, ""), _LABELS, "label"


def _invalid(field: str, value: str, detail: str) -> FieldError:
    shown = printed(value)
    return FieldError(
        field=field,
        type="Invalid value",
        value=shown,
        detail=detail,
    )
