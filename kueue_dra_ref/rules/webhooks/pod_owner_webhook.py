"""Kueue's validating webhooks for work whose pods it queues.

Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (ValidateUpdate)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.jobs import QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.pod_owners import STATEFUL_SET, replicas_of
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest


@rule("PODS-022")
def work_with_ready_pods_keeps_queue_name(
    write: AdmissionRequest,
) -> Iterator[FieldError]:
    """The webhook denies another queue name to work with ready pods, and none to work that names one.

    Kueue: pkg/controller/jobs/deployment/deployment_webhook.go (ValidateUpdate)
    """
    before, after = queue_named_by(write.before), queue_named_by(write.new)
    if before != after and (_has_ready_pods(write.before) or not after):
        yield FieldError(
            field=f"metadata.labels[{QUEUE_LABEL}]",
            type="Invalid value",
            value=printed(after),
            detail="field is immutable",
        )


def _has_ready_pods(owner: Manifest) -> bool:
    status = owner.get("status") or {}
    return bool(status.get("readyReplicas"))


@rule("PODS-026")
def stateful_set_keeps_its_replicas(write: AdmissionRequest) -> Iterator[FieldError]:
    """The webhook denies another number of replicas to a StatefulSet of a queue, except from zero or to zero.

    Kueue: pkg/controller/jobs/statefulset/statefulset_webhook.go (ValidateUpdate)
    """
    if write.new["kind"] != STATEFUL_SET.name or not queue_named_by(write.new):
        return
    before, after = replicas_of(write.before), replicas_of(write.new)
    if before and after and before != after:
        yield FieldError(
            field="spec.replicas",
            type="Invalid value",
            value=str(after),
            detail="field is immutable",
        )
