"""CRD validation of Workloads by the API server: limits of fields, then CEL rules (workload_types.go).

Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec, PodSet, PriorityClassRef)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.crd_validation import (
    at_least,
    at_most,
    invalid,
    missing,
    no_labels,
    no_object_names,
    other_words,
    places,
    repeated,
)
from kueue_dra_ref.api.pods import NAMED, REQUIRED
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_PATH = "spec.podSets"
_POD = f"{_PATH}[].template.spec"
_CLASS = "spec.priorityClassRef"
_KINDS = {KUEUE: "WorkloadPriorityClass", "scheduling.k8s.io": "PriorityClass"}
_OBJECT = '"object"'
_ROOT = "<nil>"
"""The path that the API server reports for the object itself."""


@rule("COUNT-021")
def at_least_one_pod_set(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a Workload with an empty list of podSets.

    Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec)
    """
    return at_least(write.new, _PATH, 1)


@rule("COUNT-022")
def at_most_18_pod_sets(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a Workload with more than 18 podSets.

    Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec)
    """
    return at_most(write.new, _PATH, 18)


@rule("COUNT-023")
def at_most_10_pod_sets(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a Workload with more than 10 podSets.

    Kueue 0.18: apis/kueue/v1beta2/workload_types.go (WorkloadSpec)
    """
    return at_most(write.new, _PATH, 10)


@rule("COUNT-024")
def at_most_8_pod_sets(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a Workload with more than 8 podSets.

    Kueue 0.17: apis/kueue/v1beta2/workload_types.go (WorkloadSpec)
    """
    return at_most(write.new, _PATH, 8)


@rule("COUNT-025")
def container_claims_are_unique(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a Workload with a container that lists a claim twice, even for two requests.

    Kueue: apis/kueue/v1beta2/workload_types.go (PodSet)
    """
    for kind in ("containers", "initContainers"):
        yield from repeated(write.new, f"{_POD}.{kind}[].resources.claims", "name")


@rule("COUNT-026")
def pod_set_names_are_unique_labels(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a pod set whose name is not a DNS label, and two of the same name.

    Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec, PodSetReference)
    """
    yield from no_labels(write.new, f"{_PATH}[].name")
    yield from repeated(write.new, _PATH, "name")


@rule("COUNT-027")
def container_and_claim_names_are_unique(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a Workload with two containers, or two claims, of one name in one list.

    Kueue: apis/kueue/v1beta2/workload_types.go (PodSet)
    """
    for kind in ("containers", "initContainers", "resourceClaims"):
        yield from repeated(write.new, f"{_POD}.{kind}", "name")


@rule("COUNT-028")
def pod_template_fields_are_required(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a pod set without a template, containers or the names and keys of its parts.

    Kueue: apis/kueue/v1beta2/workload_types.go (PodSet)
    """
    yield from missing(write.new, f"{_PATH}[]", "template")
    yield from missing(write.new, _POD, "containers")
    yield from missing(write.new, f"{_POD}.{REQUIRED}", "nodeSelectorTerms")
    for path, keys in NAMED.items():
        yield from missing(write.new, f"{_POD}.{path}", *keys)


@rule("QUEUE-061")
def queue_name_is_valid(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a Workload whose queueName is not a valid LocalQueue name.

    Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec);
        apis/kueue/v1beta2/localqueue_types.go (LocalQueueName)
    """
    return no_object_names(write.new, "spec.queueName")


@rule("PREEMPT-049")
def priority_class_ref_is_known(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a priorityClassRef that is incomplete or of an unknown kind.

    Kueue: apis/kueue/v1beta2/workload_types.go (PriorityClassRef, PriorityClassGroup, PriorityClassKind)
    """
    yield from missing(write.new, _CLASS, "group", "kind", "name")
    yield from other_words(write.new, f"{_CLASS}.group", tuple(_KINDS))
    yield from other_words(write.new, f"{_CLASS}.kind", tuple(_KINDS.values()))
    yield from no_object_names(write.new, f"{_CLASS}.name", least=1)


@rule("PREEMPT-049")
def priority_class_ref_kind_matches_group(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a priorityClassRef whose kind does not belong to its group.

    Kueue: apis/kueue/v1beta2/workload_types.go (PriorityClassRef)
    """
    for path, reference in places(write.new, _CLASS):
        group, kind = reference["group"], _KINDS.get(reference["group"])
        if kind and reference["kind"] != kind:
            yield invalid(
                path, f"only the {kind} kind is allowed for the {group} group", _OBJECT
            )


@rule("PARTIAL-008")
def min_count_is_at_least_one(write: AdmissionRequest) -> Iterator[FieldError]:
    """The API server rejects a pod set with a minCount below one.

    Kueue: apis/kueue/v1beta2/workload_types.go (PodSet)
    """
    for at, least in places(write.new, f"{_PATH}[].minCount", int):
        if least < 1:
            yield invalid(
                at, f"{at} in body should be greater than or equal to 1", str(least)
            )


@rule("QUEUE-047")
def queue_name_is_immutable_with_quota(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects another queueName of a Workload while quota is reserved.

    Kueue 0.18: apis/kueue/v1beta2/workload_types.go (Workload)
    """
    if _moved(write):
        yield invalid(_ROOT, "queueName is immutable while workload quota reserved")


@rule("QUEUE-047", "QUEUE-048")
def queue_name_is_immutable_with_quota_reservation(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects another queueName of a Workload, or none, while quota is reserved.

    Kueue: apis/kueue/v1beta2/workload_types.go (Workload)
    """
    if _keeps_quota(write) and _queue(write.before) != _queue(write.new):
        yield invalid(_ROOT, "queueName is immutable while workload quota reserved")


@rule("QUEUE-047")
def queue_name_is_immutable_with_quota_short_message(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects another queueName while quota is reserved, and gives no reason.

    Kueue 0.14: apis/kueue/v1beta1/workload_types.go (Workload)
    """
    if _moved(write):
        yield invalid(_ROOT, "field is immutable")


@rule("PREEMPT-042")
def priority_class_ref_needs_priority(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a Workload with a priorityClassRef but without a priority.

    Kueue: apis/kueue/v1beta2/workload_types.go (WorkloadSpec)
    """
    if _lacks_priority(write.new):
        yield invalid("spec", "priority should not be nil when priorityClassRef is set")


@rule("PREEMPT-042")
def priority_class_name_needs_priority(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a Workload with a priorityClassName but without a priority.

    Kueue 0.14: apis/kueue/v1beta1/workload_types.go (WorkloadSpec)
    """
    if _lacks_priority(write.new):
        yield invalid(
            "spec", "priority should not be nil when priorityClassName is set"
        )


@rule("PREEMPT-043")
def priority_class_is_immutable_with_quota(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects the first priority class of a Workload, or its removal, while quota is reserved.

    Kueue: apis/kueue/v1beta2/workload_types.go (Workload)
    """
    if is_true(write.before, "QuotaReserved") and _has_class(
        write.before
    ) != _has_class(write.new):
        yield invalid(
            _ROOT, "priorityClassRef is immutable while workload quota reserved"
        )


@rule("PREEMPT-043")
def priority_class_is_immutable_with_quota_short_message(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a first or removed priority class while quota is reserved, and gives no reason.

    Kueue 0.14: apis/kueue/v1beta1/workload_types.go (Workload)
    """
    if is_true(write.before, "QuotaReserved") and _has_class(
        write.before
    ) != _has_class(write.new):
        yield invalid(_ROOT, "field is immutable")


@rule("STATUS-046")
def assignments_are_as_many_as_pod_sets(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a Workload with quota that has more or fewer pod sets than its admission.

    Kueue: apis/kueue/v1beta2/workload_types.go (Workload)
    """
    admission = (write.new.get("status") or {}).get("admission")
    if admission is None or not is_true(write.new, "QuotaReserved"):
        return
    if len(write.new["spec"]["podSets"]) != len(admission["podSetAssignments"]):
        detail = "podSetAssignments must have the same number of podSets as the spec"
        yield invalid(_ROOT, detail)


@rule("PARTIAL-009")
def min_count_is_at_most_count(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The API server rejects a pod set with a minCount above its count.

    Kueue: apis/kueue/v1beta2/workload_types.go (PodSet)
    """
    for path, pod_set in places(write.new, f"{_PATH}[]"):
        if "minCount" in pod_set and pod_set["minCount"] > pod_set["count"]:
            detail = "minCount should be positive and less or equal to count"
            yield invalid(path, detail)


def _keeps_quota(write: AdmissionRequest) -> bool:
    return is_true(write.before, "QuotaReserved") and is_true(
        write.new, "QuotaReserved"
    )


def _moved(write: AdmissionRequest) -> bool:
    old, new = _queue(write.before), _queue(write.new)
    return _keeps_quota(write) and None not in (old, new) and old != new


def _queue(workload: Manifest) -> str | None:
    found: str | None = workload["spec"].get("queueName")
    return found


def _has_class(workload: Manifest) -> bool:
    return "priorityClassRef" in workload["spec"]


def _lacks_priority(workload: Manifest) -> bool:
    return _has_class(workload) and "priority" not in workload["spec"]
