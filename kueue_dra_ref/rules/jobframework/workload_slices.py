"""Elastic work: each larger number of pods is a new Workload, a slice, that replaces the one before it.

Kueue: pkg/workloadslicing/workloadslicing.go (EnsureWorkloadSlices, ScaledDown, normalizeActiveSlices);
    pkg/controller/jobframework/reconciler.go (prepareWorkloadSlice, WorkloadSliceEnabled)
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.elastic_work import ELASTIC, REPLACES, SLICE_NAME, slice_name
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.model.rule import rule


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRoom:
    """How many pods of a pod set are granted, have started, and have ended since."""

    granted: int
    started: int
    ended: int


Counts = Mapping[str, int]
"""The number of pods by pod set."""
ReasonAndMessage = tuple[str, str]
_GATED = ("Job", "RayCluster", "RayService")
_OUT_OF_SYNC = "The workload slice is out of sync with its parent job"


@rule("ELASTIC-001", "ELASTIC-002")
def new_slice_names_the_replaced_one(own: str, replaced: str) -> dict[str, str]:
    """The Workload of elastic work has its annotation, and a larger one names the Workload that it replaces.

    Kueue: pkg/controller/jobframework/reconciler.go (prepareWorkloadSlice)
    """
    marked = {ELASTIC: "true"}
    if replaced:
        marked[REPLACES] = replaced
    return marked


@rule("ELASTIC-003")
def slices_have_the_name_of_the_first(own: str, first: str) -> dict[str, str]:
    """Each Workload of elastic work names the first one, so that Kueue finds the pods of all of them.

    Kueue: pkg/controller/jobframework/reconciler.go (prepareWorkloadSlice);
        pkg/workloadslicing/workloadslicing.go (SliceName)
    """
    return {SLICE_NAME: first or own}


@rule("ELASTIC-004")
def pending_slice_is_resized(reserved: bool, before: Counts, after: Counts) -> bool:
    """A Workload of elastic work that holds no quota gets the new number of pods.

    Kueue: pkg/workloadslicing/workloadslicing.go (EnsureWorkloadSlices)
    """
    return not reserved


@rule("ELASTIC-005")
def smaller_slice_is_resized(reserved: bool, before: Counts, after: Counts) -> bool:
    """A Workload of elastic work that holds quota gets the new number of pods if no pod set grows.

    Kueue: pkg/workloadslicing/workloadslicing.go (EnsureWorkloadSlices, ScaledDown)
    """
    return not any(after[name] > before[name] for name in before)


@rule("ELASTIC-008")
def slice_runs_on_while_its_replacement_waits(admitted: bool) -> bool:
    """Kueue does not suspend running elastic work whose newest Workload is not admitted.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob, WorkloadSliceEnabled)
    """
    return not admitted


@rule("ELASTIC-007")
def replaced_slice_is_finished(new: str, job: str) -> ReasonAndMessage:
    """Kueue finishes the Workload that an admitted one replaces.

    Kueue: pkg/scheduler/scheduler.go (replaceWorkloadSlice)
    """
    which = f"UID: {new}, JobUID: {job}"
    message = f"Replaced to accommodate a workload ({which}) due to workload slice aggregation"
    return "WorkloadSliceReplaced", message


@rule("ELASTIC-012")
def evicted_slice_is_finished(replaced: bool) -> ReasonAndMessage:
    """Kueue finishes an evicted Workload of elastic work as soon as there is another one for the work.

    Kueue 0.18: pkg/workloadslicing/workloadslicing.go (normalizeActiveSlices)
    """
    return "OutOfSync", _OUT_OF_SYNC


@rule("ELASTIC-013")
def evicted_slice_is_replaced(replaced: bool) -> ReasonAndMessage | None:
    """An evicted Workload with a replacement that waits is finished as a replaced one.

    Kueue: pkg/workloadslicing/workloadslicing.go (normalizeActiveSlices)
    """
    if not replaced:
        return None
    return "WorkloadSliceReplaced", "Replaced to accommodate a new workload slice"


@rule("ELASTIC-030")
def newest_slice_counts_although_evicted() -> bool:
    """Kueue suspends elastic work whose newest Workload is evicted, even if that one has never held quota.

    Kueue 0.17: pkg/workloadslicing/workloadslicing.go (EnsureWorkloadSlices)
    """
    return True


@rule("ELASTIC-032")
def grown_work_does_not_start_again(first: str, own: str) -> ReasonAndMessage | None:
    """Kueue finishes a Workload whose pods have the annotation of an earlier Workload of the same elastic work.

    Kueue 0.18: pkg/podset/podset.go (Merge, IsPermanent);
        pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus, FailedToStartFinishedReason)
    """
    if first == own:
        return None
    values = f"value1={first}, value2={own}"
    conflict = f"conflict for key=kueue.x-k8s.io/workload, {values}"
    text = "invalid admission check PodSetUpdate: conflict for annotations"
    return "FailedToStart", f"{text}: {conflict}"


@rule("ELASTIC-038")
def elastic_pods_name_their_first_workload(
    name: str, workload: dict[str, Any]
) -> Mapping[str, Mapping[str, str]] | None:
    """Kueue writes the name of the first Workload of elastic work on the pods that it starts.

    Kueue: pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus);
        pkg/workloadslicing/workloadslicing.go (SliceName)
    """
    if ELASTIC not in annotations_of(workload):
        return None
    return {"annotations": {SLICE_NAME: slice_name(workload)}}


@rule("ELASTIC-038", "ELASTIC-040")
def all_pods_name_their_first_workload(
    name: str, workload: dict[str, Any]
) -> Mapping[str, Mapping[str, str]]:
    """Kueue writes the name of the first Workload on the pods that it starts, of elastic work and of any other.

    Kueue 0.17: pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus)
    """
    return {"annotations": {SLICE_NAME: slice_name(workload)}}


@rule("ELASTIC-036")
def annotations_of_elastic_pods_are_overwritten(workload: dict[str, Any]) -> bool:
    """Kueue overwrites the names of Workloads on the pods of elastic work that it starts.

    Kueue: pkg/podset/podset.go (overrideableAnnotations)
    """
    return ELASTIC in annotations_of(workload)


@rule("ELASTIC-014")
def slices_follow_priority_class() -> bool:
    """The Workloads of elastic work get its new WorkloadPriorityClass, the one that waits and the one that runs.

    Kueue: pkg/controller/jobframework/reconciler.go (syncWorkloadSlicePriority)
    """
    return True


@rule("ELASTIC-006")
def elastic_pods_are_gated(job: dict[str, Any]) -> bool:
    """The pod templates of an elastic Job, RayCluster or RayService get a scheduling gate, whatever their queue.

    Kueue: pkg/controller/jobs/job/job_webhook.go (applyWorkloadSliceSchedulingGate);
        pkg/controller/jobs/raycluster/raycluster_webhook.go (Default)
    """
    return job["kind"] in _GATED


@rule("ELASTIC-018")
def all_elastic_pods_start(room: PodRoom) -> int:
    """All pods of elastic work start that exist while its Workload is admitted.

    Kueue 0.16: pkg/workloadslicing/workloadslicing.go (StartWorkloadSlicePods)
    """
    return sys.maxsize


@rule("ELASTIC-018", "ELASTIC-019")
def elastic_pods_start_within_quota(room: PodRoom) -> int:
    """As many pods of elastic work start as its admitted Workload has, in addition to those that have started.

    Kueue 0.18: pkg/controller/elasticjobs/elastic_job_ungater.go (podsToUngate)
    """
    return max(room.granted - room.started, 0)


@rule("ELASTIC-018", "ELASTIC-019", "ELASTIC-020")
def ended_elastic_pods_make_room(room: PodRoom) -> int:
    """Another pod of elastic work starts for each one that has ended.

    Kueue: pkg/controller/elasticjobs/elastic_job_ungater.go (podsToUngate)
    """
    return max(room.granted - room.started + room.ended, 0)


@rule("ELASTIC-009")
def count_off_the_replaced_slice(asked: int, held: int) -> int:
    """A larger Workload of elastic work needs only the quota that the Workload that it replaces does not hold.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findOldPodSetRequest)
    """
    return asked - held


@rule("ELASTIC-010")
def flavor_of_the_replaced_slice_is_kept(flavor: str, original: str) -> str | None:
    """A larger Workload of elastic work gets no other flavors than the Workload that it replaces.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (FlavorAssigner)
    """
    if flavor == original:
        return None
    return f"could not assign {flavor} flavor since the original workload is assigned: {original}"


@rule("ELASTIC-009")
def annotation_names_the_replaced_slice(workload: dict[str, Any]) -> str | None:
    """The scheduler finds the replaced Workload by the annotation of the new one.

    Kueue: pkg/workloadslicing/workloadslicing.go (ReplacedWorkloadSlice, ReplacementForKey)
    """
    return annotations_of(workload).get(REPLACES)


@rule("ELASTIC-011")
def only_the_difference_is_used() -> bool:
    """In a scheduling cycle, a larger Workload of elastic work uses the difference, as the replaced one still counts.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (append, findOldPodSetRequest)
    """
    return True
