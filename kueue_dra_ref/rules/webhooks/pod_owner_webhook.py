"""Kueue's validating webhooks for work whose pods it queues.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (ValidateUpdate);
    pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate);
    pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (ValidateUpdate)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kueue_dra_ref.api.job_kind import Path, part_at, template_at
from kueue_dra_ref.api.jobs import QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pod_owners import (
    DEPLOYMENT,
    LEADER_WORKER_SET,
    STATEFUL_SET,
    has_ready_pods,
    replicas_of,
    size_of,
    template_paths,
)
from kueue_dra_ref.api.pods import SHAPE
from kueue_dra_ref.api.workloads import is_on_hold
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.apiserver.schema_pods import TEMPLATE
from kueue_dra_ref.apiserver.semantic_equality import canonical
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

_CONTAINERS = ("initContainers", "containers")
_SHAPE = (
    *SHAPE,
    "overhead",
)
_MOST_GROUPS = 1_000_000
_WORKLOAD_IS_LEFT = "workload from previous scale-down is still being deleted"
_OWN_REQUESTS: Path = ("spec", "resources", "requests")
_SHAPE_OF_CONTAINER: Sequence[Path] = (("resources", "requests"), ("ports",))


@rule("PODS-022")
def work_with_ready_pods_keeps_queue_name(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies another queue name to work with ready pods, and none to work that names one.

    Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (ValidateUpdate)
    """
    before, after = queue_named_by(write.before), queue_named_by(write.new)
    if before != after and (has_ready_pods(write.before) or not after):
        yield _immutable(f"metadata.labels[{QUEUE_LABEL}]", printed(after))


@rule("PODS-031")
def leader_worker_set_keeps_queue_name(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """Up to Kueue 0.17 the webhook denies another queue name to any LeaderWorkerSet.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (ValidateUpdate)
    """
    if write.new["kind"] != LEADER_WORKER_SET.name or has_ready_pods(write.before):
        return
    before, after = queue_named_by(write.before), queue_named_by(write.new)
    if after and before != after:
        yield _immutable(f"metadata.labels[{QUEUE_LABEL}]", printed(after))


@rule("PODS-070")
def leader_worker_set_has_at_most_a_million_groups(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies a LeaderWorkerSet with more than a million groups.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (validateReplicasField)
    """
    replicas = replicas_of(write.new)
    if write.new["kind"] != LEADER_WORKER_SET.name or replicas <= _MOST_GROUPS:
        return
    detail = (
        f"invalid LeaderWorkerSet replicas: must be <= {_MOST_GROUPS}, got {replicas}"
    )
    yield FieldError(
        field="spec.replicas",
        type="Invalid value",
        value=str(replicas),
        detail=detail,
    )


@rule("PODS-026")
def stateful_set_keeps_its_replicas(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies another number of replicas to a StatefulSet of a queue, except from zero or to zero.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    if write.new["kind"] != STATEFUL_SET.name or not write.queues_pods:
        return
    before, after = replicas_of(write.before), replicas_of(write.new)
    if before and after and before != after:
        yield _immutable("spec.replicas", str(after))


@rule("PODS-065")
def stateful_set_is_scaled_up_without_pods(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies replicas to a StatefulSet that was scaled to zero and still has pods.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    if _is_scaled_up_from_zero(write) and _counted_pods(write.before):
        yield _forbidden("scaling down is still in progress")


@rule("PODS-066")
def stateful_set_is_scaled_up_without_workload(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies replicas to a StatefulSet whose Workload is there from before it was scaled to zero.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    if _workload_of_before(write) is not None:
        yield _forbidden(_WORKLOAD_IS_LEFT)


@rule("PODS-067")
def stateful_set_is_scaled_up_from_hold(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies replicas to a StatefulSet without any whose Workload is there, and not on hold.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    workload = _workload_of_before(write)
    if workload is not None and not is_on_hold(workload):
        yield _forbidden(_WORKLOAD_IS_LEFT)


@rule("PODS-053")
def pods_of_groups_keep_their_shape(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies other requests, claims or node selectors to the pods of a StatefulSet or LeaderWorkerSet.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate);
        pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (validateImmutablePodTemplateSpec);
        pkg/controller/jobframework/validation.go (ValidateImmutablePodGroupPodSpec)
    """
    for path in _templates(write):
        old, new = template_at(write.before, path), template_at(write.new, path)
        place = ".".join(map(str, path))
        if not (old and new):
            yield _immutable(place, printed(new or None))
            continue
        for field, value in _changed_shape(old, new):
            yield _immutable(f"{place}.spec.{field}", printed(value))


@rule("PODS-058")
def pods_of_groups_keep_their_own_requests(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies other requests of the pod itself to a StatefulSet or LeaderWorkerSet.

    Kueue: pkg/util/pod/pod.go (SpecShape);
        pkg/controller/jobframework/validation.go (ValidateImmutablePodGroupPodSpec)
    """
    for path in _templates(write):
        old = template_at(write.before, path)
        new = template_at(write.new, path)
        if not (old and new):
            continue
        before = _own_requests(old)
        after = _own_requests(new)
        if before != after:
            place = ".".join(map(str, path))
            written = part_at(new, _OWN_REQUESTS)
            yield _immutable(f"{place}.spec.resources", printed(written))


@rule("PODS-054", "PODS-055")
def groups_keep_their_size(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies another size of its groups to a LeaderWorkerSet of a queue.

    Kueue: pkg/controller/jobs/leaderworkerset/leaderworkerset_webhook.go (ValidateUpdate)
    """
    if write.new["kind"] != LEADER_WORKER_SET.name or not write.queues_pods:
        return
    size = size_of(write.new)
    if size != size_of(write.before):
        yield _immutable("spec.leaderWorkerTemplate.size", str(size))


def _is_scaled_up_from_zero(write: AdmissionRequest) -> bool:
    """Whether a StatefulSet of a queue without replicas gets some."""
    if write.new["kind"] != STATEFUL_SET.name or not write.queues_pods:
        return False
    return not replicas_of(write.before) and replicas_of(write.new) > 0


def _workload_of_before(write: AdmissionRequest) -> Manifest | None:
    """Give the Workload that one without pods has from before it is scaled up; its pods are named first."""
    if _counted_pods(write.before) or not _is_scaled_up_from_zero(write):
        return None
    return write.group_workload


def _counted_pods(owner: Manifest) -> int:
    """Give how many pods the controller of a StatefulSet has counted."""
    return int((owner.get("status") or {}).get("replicas") or 0)


def _templates(write: AdmissionRequest) -> Sequence[Path]:
    """Give where the templates are of pods that are admitted together, before the change or after it."""
    if write.new["kind"] == DEPLOYMENT.name or not write.queues_pods:
        return ()
    return max(template_paths(write.before), template_paths(write.new), key=len)


def _changed_shape(old: Manifest, new: Manifest) -> Iterator[tuple[str, Any]]:
    """Give field and new value of what differs of that by which Kueue tells the pods of a group apart.

    Kueue: pkg/util/pod/pod.go (SpecShape)
    """
    before, after = canonical(old, TEMPLATE)["spec"], canonical(new, TEMPLATE)["spec"]
    for kind in _CONTAINERS:
        olds, news = before.get(kind, ()), after.get(kind, ())
        written = new["spec"].get(kind) or ()
        if len(olds) != len(news):
            yield kind, written
            continue
        for index, container in enumerate(written):
            for field in _changed_container(olds[index], news[index]):
                yield (
                    f"{kind}[{index}].{'.'.join(map(str, field))}",
                    part_at(container, field),
                )
    for name in _SHAPE:
        if before.get(name) != after.get(name):
            yield name, new["spec"].get(name)


def _own_requests(template: Manifest) -> Any:
    """Give what a pod itself requests; None if it has no resources of its own."""
    spec = canonical(template, TEMPLATE)["spec"]
    resources = spec.get("resources")
    if resources is None:
        return None
    return resources.get("requests")


def _changed_container(old: Manifest, new: Manifest) -> Iterator[Path]:
    for field in _SHAPE_OF_CONTAINER:
        if (part_at(old, field) or {}) != (part_at(new, field) or {}):
            yield field


def _forbidden(detail: str) -> FieldError:
    return FieldError(field="spec.replicas", type="Forbidden", detail=detail)


def _immutable(place: str, value: str) -> FieldError:
    return FieldError(
        field=place,
        type="Invalid value",
        value=value,
        detail="field is immutable",
    )
