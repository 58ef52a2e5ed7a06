"""Kueue's validating webhooks for work whose pods it queues.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (ValidateUpdate)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.jobs import QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pod_owners import (
    LEADER_WORKER_SET,
    STATEFUL_SET,
    has_ready_pods,
    replicas_of,
)
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


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


@rule("PODS-026")
def stateful_set_keeps_its_replicas(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies another number of replicas to a StatefulSet of a queue, except from zero or to zero.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    if write.new["kind"] != STATEFUL_SET.name or not queue_named_by(write.new):
        return
    before, after = replicas_of(write.before), replicas_of(write.new)
    if before and after and before != after:
        yield _immutable("spec.replicas", str(after))


def _immutable(place: str, value: str) -> FieldError:
    return FieldError(
        field=place,
        type="Invalid value",
        value=value,
        detail="field is immutable",
    )
