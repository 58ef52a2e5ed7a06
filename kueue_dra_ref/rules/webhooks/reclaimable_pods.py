"""What Kueue's webhook for Workloads requires of reclaimable pods: they are of the Workload, and only get more.

Kueue: pkg/webhooks/workload_webhook.go (validateReclaimablePods, validateReclaimablePodsUpdate)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.elastic_work import ELASTIC, annotation
from kueue_dra_ref.api.names import printed
from kueue_dra_ref.api.workloads import admitted_counts
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest

Errors = Iterator[FieldError]
Counts = Mapping[str, int]


@rule("PARTIAL-014", "PARTIAL-015", "PARTIAL-021")
def reclaimable_pods_are_pods(write: AdmissionRequest) -> Errors:
    """The webhook denies reclaimable pods of a pod set that there is not, and more than the pod set has.

    Kueue 0.17: pkg/webhooks/workload_webhook.go (validateReclaimablePods)
    """
    yield from _not_there(write.new, {})


@rule("PARTIAL-015")
def new_reclaimable_pods_are_pods(write: AdmissionRequest) -> Errors:
    """The webhook denies the same, except that elastic work which has become smaller keeps what it had.

    Kueue: pkg/webhooks/workload_webhook.go (validateReclaimablePods)
    """
    before = _reclaimable(write.before)
    yield from _not_there(write.new, before if _is_elastic(write.new) else {})


@rule("PARTIAL-016", "PARTIAL-017", "PARTIAL-020")
def reclaimable_pods_do_not_decrease_0_17(write: AdmissionRequest) -> Errors:
    """The webhook denies fewer reclaimable pods than before while quota is reserved.

    Kueue 0.17: pkg/webhooks/workload_webhook.go (validateReclaimablePodsUpdate)
    """
    yield from _decreased(write, "then", ())


@rule("PARTIAL-016", "PARTIAL-017", "PARTIAL-019")
def reclaimable_pods_do_not_decrease_0_18(write: AdmissionRequest) -> Errors:
    """The webhook denies as few, except where elastic work has no more pods than it had reclaimable ones.

    Kueue 0.18: pkg/webhooks/workload_webhook.go (validateReclaimablePodsUpdate)
    """
    smaller = []
    if _is_elastic(write.new):
        pods = _pods(write.new)
        for name, count in _reclaimable(write.before).items():
            if name in pods and pods[name] <= count:
                smaller.append(name)
    yield from _decreased(write, "then", smaller)


@rule("PARTIAL-016", "PARTIAL-017", "PARTIAL-018")
def reclaimable_pods_do_not_decrease(write: AdmissionRequest) -> Errors:
    """The webhook denies fewer reclaimable pods while quota is reserved, except of elastic work that became smaller.

    Kueue: pkg/webhooks/workload_webhook.go (validateReclaimablePodsUpdate, scaledDownPodSetNames)
    """
    smaller = set[str]()
    if _is_elastic(write.new):
        admitted, pods = admitted_counts(write.new), _pods(write.new)
        smaller = {
            name
            for name in admitted.keys() & pods.keys()
            if pods[name] < admitted[name]
        }
    yield from _decreased(write, "than", smaller)


def _not_there(workload: Manifest, kept: Counts) -> Errors:
    """Find the reclaimable pods that a Workload does not have, except for those that it keeps."""
    pods = _pods(workload)
    for name, count in _reclaimable(workload).items():
        path = f"status.reclaimablePods[{name}]"
        if name not in pods:
            known = ", ".join(map(printed, pods))
            yield FieldError(
                field=f"{path}.name",
                type="Unsupported value",
                value=printed(name),
                detail=f"supported values: {known}",
            )
        elif count > pods[name] and kept.get(name) != count:
            yield _invalid(path, count, f"should be less or equal to {pods[name]}")


def _decreased(write: AdmissionRequest, word: str, smaller: Collection[str]) -> Errors:
    """Find what has fewer reclaimable pods than before, except in pod sets that have become smaller."""
    if not _has_quota(write.new) or not _has_quota(write.before):
        return
    after = _reclaimable(write.new)
    for name, count in sorted(_reclaimable(write.before).items()):
        if name in smaller:
            continue
        path = f"status.reclaimablePods[{name}]"
        if name not in after:
            yield FieldError(
                field=path, type="Required value", detail="cannot be removed"
            )
        elif after[name] < count:
            yield _invalid(path, after[name], f"cannot be less {word} {count}")


def _invalid(path: str, count: int, detail: str) -> FieldError:
    return FieldError(
        field=f"{path}.count", type="Invalid value", value=str(count), detail=detail
    )


def _has_quota(workload: Manifest) -> bool:
    return is_true(workload, "QuotaReserved")


def _is_elastic(workload: Manifest) -> bool:
    return annotation(workload, ELASTIC) == "true"


def _pods(workload: Manifest) -> Counts:
    return _counts(workload["spec"].get("podSets"))


def _reclaimable(workload: Manifest) -> Counts:
    status = workload.get("status") or {}
    return _counts(status.get("reclaimablePods"))


def _counts(found: Iterable[Manifest] | None) -> Counts:
    """Give the number of pods by the name of the pod set."""
    return {each["name"]: each["count"] for each in found or ()}
