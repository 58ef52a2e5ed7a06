"""Kueue's webhook for ClusterQueues: which concurrentAdmissionPolicy it accepts.

Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy, ValidateClusterQueueUpdate)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.cluster_queues import flavors_named_by
from kueue_dra_ref.api.crd_validation import Faults, invalid, places
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

_POLICY = "spec.concurrentAdmissionPolicy"
_CONSTRAINTS = f"{_POLICY}.migration.constraints"
_MODE = f"{_POLICY}.migration.mode"
_TRY = "TryPreferredFlavors"
_MOST_FLAVORS = 16


@rule("CONC-021")
def variants_need_one_resource_group(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue with a concurrentAdmissionPolicy that does not have one resource group.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy)
    """
    groups = write.new["spec"].get("resourceGroups") or ()
    if _has_policy(write.new) and len(groups) != 1:
        detail = "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.resourceGroups", detail, str(len(groups)))


@rule("CONC-021")
def at_most_16_variants(write: AdmissionRequest) -> Faults:
    """The webhook denies a ClusterQueue with a concurrentAdmissionPolicy and more than 16 flavors.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy)
    """
    groups = write.new["spec"].get("resourceGroups") or ()
    if not _has_policy(write.new) or len(groups) != 1:
        return
    what = "cannot have more than 16 resource flavors in the ResourceGroup"
    for path, flavors in places(write.new, "spec.resourceGroups[].flavors", list):
        if len(flavors) > _MOST_FLAVORS:
            detail = f"{what} when ConcurrentAdmissionPolicy is defined"
            yield invalid(path, detail, str(len(flavors)))


@rule("CONC-022")
def constraints_are_of_preferred_flavors(write: AdmissionRequest) -> Faults:
    """The webhook denies constraints of a migration whose mode is not TryPreferredFlavors.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy)
    """
    mode = _mode(write.new)
    if mode == _TRY:
        return
    for path, _ in places(write.new, _CONSTRAINTS):
        quoted = f'may only be set when migration.mode is "{_TRY}" (got "{mode}")'
        yield FieldError(field=path, type="Forbidden", detail=quoted)


@rule("CONC-022")
def last_acceptable_flavor_is_of_cluster_queue(write: AdmissionRequest) -> Faults:
    """The webhook denies a lastAcceptableFlavorName that the ClusterQueue does not have.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy)
    """
    if _mode(write.new) != _TRY:
        return
    flavors = flavors_named_by(write.new)
    for path, name in places(write.new, f"{_CONSTRAINTS}.lastAcceptableFlavorName"):
        if name not in flavors:
            known = " ".join(sorted(flavors))
            detail = (
                f"must be one of the flavors defined in the ClusterQueue: [{known}]"
            )
            yield invalid(path, detail, printed(name))


@rule("CONC-021")
def variants_are_not_in_strict_order(write: AdmissionRequest) -> Faults:
    """The webhook denies a StrictFIFO ClusterQueue with a concurrentAdmissionPolicy.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (validateConcurrentAdmissionPolicy)
    """
    strategy = write.new["spec"].get("queueingStrategy")
    if _has_policy(write.new) and strategy == "StrictFIFO":
        detail = "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.queueingStrategy", detail, printed(strategy))


@rule("CONC-023")
def policy_is_immutable(write: AdmissionRequest) -> Faults:
    """The webhook denies a change of the concurrentAdmissionPolicy of a ClusterQueue.

    Kueue: pkg/webhooks/clusterqueue_webhook.go (ValidateClusterQueueUpdate)
    """
    if write.old is None:
        return
    before, after = _policy(write.old), _policy(write.new)
    if before != after:
        yield FieldError(
            field=_POLICY, type="Invalid value", detail="field is immutable"
        )


def _policy(cluster_queue: dict[str, Any]) -> Any:
    return cluster_queue["spec"].get("concurrentAdmissionPolicy")


def _has_policy(cluster_queue: dict[str, Any]) -> bool:
    return _policy(cluster_queue) is not None


def _mode(cluster_queue: dict[str, Any]) -> str:
    modes: dict[str, str] = dict(places(cluster_queue, _MODE, str))
    return modes.get(_MODE, "")
