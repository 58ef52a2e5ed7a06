"""Kueue's webhooks for Workloads (Kueue 0.19, pkg/webhooks/workload_webhook.go).

Kueue: pkg/webhooks/workload_webhook.go (validatePodSet, validateResourceList, validateImmutablePodSet, Default)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kueue_dra_ref.api.admission_checks import READY, check_states
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.crd_validation import places
from kueue_dra_ref.api.metav1_validation import labels_faults
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pods import NAMED, units
from kueue_dra_ref.api.quantities import parse
from kueue_dra_ref.api.workloads import admission_of
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.resource_names import annotation_map
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

Errors = Iterator[FieldError]
PodSetPairs = Iterator[tuple[int, tuple[Manifest, Manifest]]]
Amounts = Iterator[tuple[str, str | int]]
_AMOUNTS = ("requests", "limits", "overhead")


@rule("POD-026", "POD-027")
def pod_sets_have_valid_labels(write: AdmissionRequest) -> Errors:
    """The webhook denies a Workload with labels or annotations of a pod template that no pod can have.

    Kueue: pkg/webhooks/workload_webhook.go (validatePodSet)
    """
    for path, meta in places(write.new, "spec.podSets[].template.metadata"):
        yield from labels_faults(f"{path}.labels", meta.get("labels") or {})
        annotations = meta.get("annotations")
        yield from annotation_map(annotations, f"{path}.annotations", write.kubernetes)


@rule("POD-020")
def requests_have_no_pods(write: AdmissionRequest) -> Errors:
    """The webhook denies a Workload with a container that requests pods.

    Kueue 0.18: pkg/webhooks/workload_webhook.go (validateContainer)
    """
    for path, _ in _amounts(write.new):
        if path.endswith("].resources.requests[pods]"):
            yield _reserved(path)


@rule("POD-020", "POD-021")
def resources_have_no_pods(write: AdmissionRequest) -> Errors:
    """The webhook denies a Workload with pods among the requests or limits of a container or the pod.

    Kueue: pkg/webhooks/workload_webhook.go (validateResourceList, validateContainer)
    """
    for path, _ in _amounts(write.new):
        if path.endswith("[pods]"):
            yield _reserved(path)


@rule("POD-022")
def resources_are_not_negative(write: AdmissionRequest) -> Errors:
    """The webhook denies a Workload with a negative request or limit of a container or the pod.

    Kueue: pkg/webhooks/workload_webhook.go (validateResourceList);
        pkg/webhooks/clusterqueue_webhook.go (validateResourceQuantity)
    """
    for path, amount in _amounts(write.new):
        quantity = parse(amount)
        if quantity.amount < 0:
            value = printed(str(quantity))
            yield FieldError(
                field=path,
                type="Invalid value",
                value=value,
                detail="must be greater than or equal to 0",
            )


@rule("COUNT-029")
def pod_template_defaults(kind: str) -> Mapping[str, str]:
    """The webhook gives a new Workload empty names of containers and claims, keys and operators.

    Kueue 0.16: pkg/webhooks/workload_webhook.go (setupWebhookForWorkload, Default)
    """
    if kind != "Workload":
        return {}
    empty = {}
    for path, keys in NAMED.items():
        for key in keys:
            empty[f"spec.podSets[].template.spec.{path}.{key}"] = ""
    return empty


@rule("PARTIAL-012")
def min_count_is_dropped(kind: str) -> Collection[str]:
    """The webhook drops the minCount of a new Workload.

    Kueue: pkg/webhooks/workload_webhook.go (Default)
    """
    return ("spec.podSets[].minCount",) if kind == "Workload" else ()


@rule("PARTIAL-010")
def at_most_one_min_count(write: AdmissionRequest) -> Errors:
    """The webhook denies a Workload in which two pod sets have a minCount.

    Kueue: pkg/webhooks/workload_webhook.go (ValidateWorkload)
    """
    pod_sets = write.new["spec"].get("podSets") or ()
    found = 0
    for pod_set in pod_sets:
        found += "minCount" in pod_set
    if found > 1:
        detail = "at most one podSet can use minCount"
        yield FieldError(
            field="spec.podSets", type="Invalid value", value=str(found), detail=detail
        )


@rule("STATUS-046", "STATUS-047")
def pod_sets_are_immutable_with_quota(write: AdmissionRequest) -> Errors:
    """The webhook denies any change of a pod set while quota is reserved.

    Kueue: pkg/webhooks/workload_webhook.go (validateImmutablePodSets, validateImmutablePodSet)
    """
    for index, (old, new) in _pairs(write):
        if _plain(old) != _plain(new):
            yield _immutable(index, new)


@rule("STATUS-046")
def pod_sets_may_only_shrink_with_quota(
    write: AdmissionRequest,
) -> Errors:
    """The webhook denies any change of a pod set except to fewer pods while quota is reserved.

    Kueue: pkg/webhooks/workload_webhook.go (validateImmutablePodSet)
    """
    for index, (old, new) in _pairs(write):
        count = min(old["count"], new["count"])
        allowed = {**old, "count": count}
        if _plain(allowed) != _plain(new):
            yield _immutable(index, new)


@rule("CHECK-019")
def updates_of_ready_checks_are_immutable(write: AdmissionRequest) -> Errors:
    """The webhook denies other podSetUpdates of an admission check that is Ready and stays so.

    Kueue: pkg/webhooks/workload_webhook.go (validateImmutablePodSetUpdates)
    """
    after = {each["name"]: each for each in check_states(write.new)}
    for index, old in enumerate(check_states(write.before)):
        new = after.get(old["name"])
        if new is None or {old["state"], new["state"]} != {READY}:
            continue
        updates = new.get("podSetUpdates")
        if _plain(old.get("podSetUpdates") or []) != _plain(updates or []):
            yield FieldError(
                field=f"status.admissionChecks[{index}].podSetUpdates",
                type="Invalid value",
                value=printed(updates),
                detail="field is immutable",
            )


@rule("STATUS-059")
def reservation_has_an_admission(write: AdmissionRequest) -> Errors:
    """The webhook denies QuotaReserved without an admission, unless the Workload is like that already.

    Kueue: pkg/webhooks/workload_webhook.go (validateAdmission, reservesQuotaWithoutAdmission)
    """
    if _reserves_nothing(write.new) and not _reserves_nothing(write.before):
        yield FieldError(
            field="status.admission",
            type="Required value",
            detail="must be set while the QuotaReserved condition is true",
        )


@rule("STATUS-060")
def reservation_without_admission_is_a_panic(write: AdmissionRequest) -> bool:
    """The webhook reads the admission of a Workload with QuotaReserved without asking whether there is one.

    Kueue 0.18: pkg/webhooks/workload_webhook.go (validateAdmission)
    """
    return write.new["kind"] == "Workload" and _reserves_nothing(write.new)


@rule("STATUS-061")
def admitted_pod_sets_exist(write: AdmissionRequest) -> Errors:
    """The webhook denies the admission of a pod set that the Workload does not have.

    Kueue: pkg/webhooks/workload_webhook.go (validateAdmission)
    """
    pod_sets = write.new["spec"].get("podSets") or ()
    names = {each["name"] for each in pod_sets}
    for path, assignment in _assignments(write.new):
        name = assignment["name"]
        if name not in names:
            field, value = f"{path}.name", printed(name)
            yield FieldError(field=field, type="Not found", value=value)


@rule("STATUS-062")
def usage_is_equal_for_all_pods(write: AdmissionRequest) -> Errors:
    """The webhook denies an admission whose usage cannot be divided by the number of pods.

    Kueue prints where it keeps that number in memory; we print the number.

    Kueue: pkg/webhooks/workload_webhook.go (validateAdmission)
    """
    for path, assignment in _assignments(write.new):
        count = assignment.get("count", 0)
        usage = assignment.get("resourceUsage") or {}
        for name, amount in sorted(usage.items()):
            if count > 0 and units(name, parse(amount)) % count:
                field, value = f"{path}.resourceUsage[{name}]", printed(amount)
                detail = f"is not a multiple of {count}"
                yield FieldError(
                    field=field, type="Invalid value", value=value, detail=detail
                )


def _reserves_nothing(workload: Manifest) -> bool:
    return is_true(workload, "QuotaReserved") and not admission_of(workload)


def _assignments(workload: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Give what each pod set gets by an admission that counts, with its path."""
    if is_true(workload, "QuotaReserved"):
        assigned = admission_of(workload).get("podSetAssignments") or ()
        for index, each in enumerate(assigned):
            yield f"status.admission.podSetAssignments[{index}]", each


def _pairs(write: AdmissionRequest) -> PodSetPairs:
    """Give each pod set with quota before and after the update; the CRD has refused another number."""
    if is_true(write.before, "QuotaReserved"):
        before = write.before["spec"]["podSets"]
        after = write.new["spec"]["podSets"]
        yield from enumerate(zip(before, after, strict=False))


def _plain(value: Any, key: str = "") -> Any:
    """Normalize a value for comparison: amounts by size, empty parts dropped."""
    match value:
        case dict() if key in _AMOUNTS:
            amounts = {}
            for name, amount in value.items():
                amounts[name] = parse(amount).amount
            return amounts
        case dict():
            parts = {}
            for name, each in value.items():
                part = _plain(each, name)
                if part not in ({}, [], ""):
                    parts[name] = part
            return parts
        case list():
            return [_plain(each) for each in value]
        case _:
            return value


def _amounts(workload: Manifest) -> Amounts:
    """Give each request and limit with its path."""
    pod_sets = workload["spec"].get("podSets") or ()
    for index, pod_set in enumerate(pod_sets):
        template = pod_set.get("template") or {}
        spec = template.get("spec") or {}
        path = f"spec.podSets[{index}].template.spec"
        for kind in ("initContainers", "containers"):
            containers = spec.get(kind) or ()
            for number, container in enumerate(containers):
                at = f"{path}.{kind}[{number}].resources"
                yield from _listed(at, container.get("resources") or {})
        yield from _listed(f"{path}.resources", spec.get("resources") or {})


def _listed(path: str, resources: Manifest) -> Amounts:
    for kind in ("requests", "limits"):
        amounts = resources.get(kind) or {}
        for name, amount in sorted(amounts.items()):
            yield f"{path}.{kind}[{name}]", amount


def _reserved(path: str) -> FieldError:
    detail = "the key is reserved for internal kueue use"
    return FieldError(field=path, type="Invalid value", value='"pods"', detail=detail)


def _immutable(index: int, pod_set: Manifest) -> FieldError:
    field, detail = f"spec.podSets.{index}", "field is immutable"
    return FieldError(
        field=field, type="Invalid value", value=printed(pod_set), detail=detail
    )
