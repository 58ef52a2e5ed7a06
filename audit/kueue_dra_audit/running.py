"""Running work: no pod of a queue is ungated, and no other work of a queue resumed, without a quota reservation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kueue_dra_audit.cluster import AuditedCluster, is_ending, key_of, shown, title
from kueue_dra_audit.finding import Finding, Sure
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import JOB_KINDS
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.unstructured import mappings, part
from kueue_dra_ref.target import Manifest

MANAGED = "kueue.x-k8s.io/managed"
GROUP = "kueue.x-k8s.io/pod-group-name"
GATE = "kueue.x-k8s.io/admission"
_BY_HAND = "the gate was removed by hand, or the Workload lost its quota"
_RESUMED = "it was resumed by hand, or Kueue does not manage its kind"


def running(cluster: AuditedCluster) -> Iterator[Finding]:
    """Find pods without Kueue's gate, and resumed work, for which no quota is reserved."""
    if not cluster.was_read("Workload"):
        return
    by_owner = cluster.workloads_by_owner
    for each in (*cluster.dumped.others, *_other_work(cluster)):
        if not isinstance(each.get("metadata"), dict):
            continue
        if each.get("kind") == "Pod":
            yield from _of_pod(cluster, each, by_owner)
        elif _is_resumed(each) and cluster.manages(_framework(each)):
            yield from _of_work(each, by_owner)


def _other_work(cluster: AuditedCluster) -> Iterator[Manifest]:
    """Give the work that the reference reads, without Jobs and pods: their checks are others."""
    for kind in JOB_KINDS:
        if kind not in ("Job", "Pod"):
            yield from cluster.of(kind)


def _is_resumed(work: Manifest) -> bool:
    """Whether work of a queue is not suspended."""
    return part(work, "spec").get("suspend") is False and QUEUE_LABEL in _labels(work)


def _framework(work: Manifest) -> str:
    """Name the kind of an object as the Configuration lists it under integrations."""
    group = str(work.get("apiVersion", "")).rpartition("/")[0]
    return f"{group}/{str(work.get('kind', '')).lower()}"


def _of_pod(
    cluster: AuditedCluster, pod: Manifest, by_owner: Mapping[str, Manifest]
) -> Iterator[Finding]:
    labels = _labels(pod)
    is_managed = labels.get(MANAGED) == "true" and labels.get(QUEUE_LABEL)
    if not is_managed or is_ending(pod):
        return
    gates = mappings(part(pod, "spec"), "schedulingGates")
    if any(each.get("name") == GATE for each in gates):
        return
    workload = by_owner.get(str(pod["metadata"].get("uid")))
    group = labels.get(GROUP)
    if workload is None and group:
        place = (key_of(pod)[0], group)
        workload = cluster.kueue.store.get("Workload", place)
    if not _may_run(workload):
        yield _finding(
            pod, "spec.schedulingGates", f"it has no gate {GATE}", _BY_HAND, workload
        )


def _of_work(work: Manifest, by_owner: Mapping[str, Manifest]) -> Iterator[Finding]:
    owners = mappings(part(work, "metadata"), "ownerReferences")
    if any(each.get("controller") for each in owners):
        return
    if work["metadata"].get("deletionTimestamp") or _is_finished(work):
        return
    workload = by_owner.get(str(work["metadata"].get("uid")))
    if not _may_run(workload):
        yield _finding(work, "spec.suspend", "it is not suspended", _RESUMED, workload)


def _is_finished(work: Manifest) -> bool:
    """Whether work is over, so that its Workload may be gone."""
    kind = JOB_KINDS.get(str(work.get("kind")))
    return kind is not None and kind.outcome(work) is not None


def _may_run(workload: Manifest | None) -> bool:
    if workload is None:
        return False
    return is_true(workload, "QuotaReserved") or is_true(workload, "Finished")


def _labels(obj: Manifest) -> Mapping[str, str]:
    return part(part(obj, "metadata"), "labels")


def _finding(
    obj: Manifest, field: str, says: str, cause: str, workload: Manifest | None
) -> Finding:
    name = workload["metadata"]["name"] if workload else "none"
    return Finding(
        requirement="STATUS-024",
        subject=title(obj),
        field=field,
        says=says,
        follows=f"no quota is reserved for it (Workload {name})",
        cause=cause,
        sure=Sure.CERTAIN,
        look=shown(obj),
    )
