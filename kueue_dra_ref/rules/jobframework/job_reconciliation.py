"""Jobs and their Workloads: Kueue suspends a Job until its Workload is admitted, and when it is evicted.

Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob, EquivalentToWorkload);
    pkg/controller/jobs/job/job_controller.go (ReclaimablePods, RunWithPodSetsInfo)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kueue_dra_ref.api.job_kind import pods_of_job
from kueue_dra_ref.api.job_kinds import JOB, fewest_pods_of, is_active
from kueue_dra_ref.api.jobs import INDEXED, SYNC_ANNOTATION
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.api.names import dns_label_faults
from kueue_dra_ref.api.topologies import TRUE
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]
Labels = Mapping[str, str]
PodSets = Sequence[dict[str, Any]]
_CONTAINERS = ("initContainers", "containers")
_CONTAINERS_AND_TOLERATIONS = (*_CONTAINERS, "tolerations")


@rule("STATUS-029")
def job_pod_sets(job: Job) -> list[dict[str, Any]]:
    """Kueue makes one pod set named main of the pods of a Job, with as many pods as run in parallel.

    Kueue: pkg/controller/jobs/job/job_controller.go (PodSets)
    """
    spec = job["spec"]
    template = spec.get("template") or {}
    return [{"name": "main", "count": pods_of_job(spec), "template": template}]


@rule("STATUS-024")
def suspend_job(admitted: bool) -> bool:
    """Kueue suspends a Job whose workload is not admitted.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultForSuspend);
        pkg/controller/jobframework/reconciler.go (ReconcileGenericJob, stopJob)
    """
    return not admitted


@rule("STATUS-025")
def unsuspend_on_admission(admitted: bool) -> bool:
    """Kueue unsuspends a Job when it admits its workload.

    Kueue: pkg/controller/jobframework/reconciler.go (startJob);
        pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo)
    """
    return admitted


@rule("STATUS-026")
def release_quota_when_pods_stopped(job: Job | None) -> bool:
    """An evicted workload keeps its quota reservation while pods of its Job are active.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob);
        pkg/controller/jobs/job/job_controller.go (IsActive)
    """
    return job is None or not is_active(job)


@rule("QUEUE-007")
def finished_job_finishes_workload(job: Job) -> tuple[str, str] | None:
    """Kueue sets Finished on the workload of a Job that completed or failed.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob);
        pkg/controller/jobs/job/job_controller.go (Finished)
    """
    return JOB.outcome(job)


@rule("STATUS-057")
def pods_name_their_pod_set(name: str, workload: Job) -> Mapping[str, Labels]:
    """Kueue writes the name of the pod set on the pods that it starts.

    Kueue: pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus)
    """
    return {"labels": {"kueue.x-k8s.io/podset": name}}


@rule("STATUS-057", "ELASTIC-037")
def pods_name_their_workload(name: str, workload: Job) -> Mapping[str, Labels]:
    """Kueue writes the name of the Workload on the pods that it starts.

    Kueue: pkg/controller/jobframework/reconciler.go (getPodSetsInfoFromStatus)
    """
    return {"annotations": {"kueue.x-k8s.io/workload": workload["metadata"]["name"]}}


@rule("STATUS-058")
def pods_name_their_queues(name: str, workload: Job) -> Mapping[str, Labels]:
    """Kueue writes the names of both queues on the pods that it starts.

    Kueue: pkg/controller/jobframework/reconciler.go (assignQueueLabels)
    """
    labels = {"kueue.x-k8s.io/local-queue-name": workload["spec"].get("queueName", "")}
    cluster_queue = workload["status"]["admission"]["clusterQueue"]
    if not dns_label_faults(cluster_queue):
        labels["kueue.x-k8s.io/cluster-queue-name"] = cluster_queue
    return {"labels": labels}


@rule("STATUS-051")
def conflicting_node_labels_finish_workload(
    asked: Labels, given: Labels, field: str
) -> tuple[str, str] | None:
    """Kueue sets Finished on a workload whose Job selects nodes other than those of its flavors.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob, FailedToStartFinishedReason);
        pkg/podset/podset.go (Merge, IsPermanent)
    """
    common = asked.keys() & given.keys()
    for key in sorted(common):
        if asked[key] != given[key]:
            message = (
                f"conflict for key={key}, value1={asked[key]}, value2={given[key]}"
            )
            return (
                "FailedToStart",
                f"invalid admission check PodSetUpdate: conflict for {field}: {message}",
            )
    return None


@rule("STATUS-037")
def finished_releases_quota() -> tuple[str, str]:
    """Kueue clears the quota reservation of the workload of a finished Job.

    Kueue 0.15: pkg/workload/workload.go (setFinish)
    """
    return "Finished", "Workload has finished"


@rule("STATUS-063", "STATUS-038")
def finished_work_is_compared() -> bool:
    """Kueue deletes the Workload of finished work that no longer matches it, and makes no other one.

    Kueue: pkg/controller/jobframework/reconciler.go (ensureOneWorkload, FindMatchingWorkloads)
    """
    return True


@rule("STATUS-041", "STATUS-042")
def equivalent_to_workload(job: PodSets, workload: PodSets, admitted: bool) -> bool:
    """A Job with other containers, tolerations or pod counts no longer matches its Workload.

    Kueue adds tolerations to a Job on admission, so it does not compare them then.

    Kueue: pkg/controller/jobframework/reconciler.go (EquivalentToWorkload);
        pkg/util/equality/podset.go (ComparePodSets)
    """
    compared = _CONTAINERS if admitted else _CONTAINERS_AND_TOLERATIONS
    of_job = [_compared_parts(each, compared) for each in job]
    of_workload = [_compared_parts(each, compared) for each in workload]
    return of_job != of_workload


def _compared_parts(pod_set: dict[str, Any], compared: Sequence[str]) -> list[Any]:
    """Give what Kueue compares of a Job and its Workload."""
    template = pod_set.get("template") or {}
    spec = template.get("spec") or {}
    return [
        pod_set["count"],
        pod_set.get("minCount"),
        *(spec.get(name) or [] for name in compared),
    ]


@rule("PREEMPT-027", "PREEMPT-055")
def preempted_workload_is_requeued(reason: str, _of_one_pod: bool) -> bool:
    """Kueue requeues a preempted workload by itself, unlike a workload evicted for another reason.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return reason == "Preempted"


@rule("PREEMPT-027", "PREEMPT-054")
def preempted_workload_of_no_single_pod_is_requeued(
    reason: str, of_one_pod: bool
) -> bool:
    """Kueue requeues a preempted workload, but not that of a pod without a group.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob); pkg/workload/workload.go (OwnedBySinglePod)
    """
    return reason == "Preempted" and not of_one_pod


@rule("PARTIAL-002")
def min_parallelism_annotation(job: Job) -> int | None:
    """Kueue takes the minCount of a workload from the minimum parallelism annotation of its Job, not of other work.

    Kueue: pkg/controller/jobs/job/job_controller.go (minPodsCount)
    """
    written = str(fewest_pods_of(job) or "")
    if not written.removeprefix("-").isdecimal():
        return None
    return int(written)


@rule("PARTIAL-003", "PARTIAL-022")
def run_with_admitted_pod_count(job: Job, pods: int) -> dict[str, Any]:
    """A Job that is partially admitted runs with the admitted number of pods as its parallelism.

    Kueue: pkg/controller/jobs/job/job_controller.go (RunWithPodSetsInfo, syncCompletionWithParallelism)
    """
    annotations = annotations_of(job)
    written = annotations.get(SYNC_ANNOTATION)
    changed = {"parallelism": pods}
    if written in TRUE:
        changed["completions"] = pods
    return changed


@rule("PARTIAL-004", "PARTIAL-014")
def reclaimable_pods(job: Job) -> int:
    """A Job with fewer pods left to complete than its parallelism releases the quota of the other pods.

    Kueue: pkg/controller/jobs/job/job_controller.go (ReclaimablePods)
    """
    return _released(job, _succeeded(job))


@rule("PARTIAL-005")
def reclaimable_pods_of_indexes(job: Job) -> int | None:
    """An Indexed Job releases the quota of failed indexes like that of completed ones.

    Kueue: pkg/controller/jobs/job/job_controller.go (ReclaimablePods, terminalIndexesCount)
    """
    if job["spec"].get("completionMode") != INDEXED:
        return None
    completions = _completions(job)
    return _released(job, sum(index < completions for index in _ended_indexes(job)))


@rule("STATUS-064")
def deactivated_workload_stays_so() -> bool:
    """A deactivated Workload that Kueue updates with its Job is not active again.

    Kueue: pkg/controller/jobframework/reconciler.go (updateWorkloadToMatchJob)
    """
    return True


@rule("PARTIAL-013")
def reclaimable_pods_are_limited() -> bool:
    """A Job releases no more pods than its Workload has; before, the webhook denies to write more.

    Kueue: pkg/workload/workload.go (LimitReclaimablePodsToPodSetSizes)
    """
    return True


def _succeeded(job: Job) -> int:
    status = job.get("status") or {}
    return status.get("succeeded") or 0


def _completions(job: Job) -> int:
    spec = job["spec"]
    found: int = spec.get("completions", spec["parallelism"])
    return found


def _ended_indexes(job: Job) -> set[int]:
    status = job.get("status") or {}
    ended: set[int] = set()
    for field in ("completedIndexes", "failedIndexes"):
        ended.update(_indexes(status.get(field) or ""))
    return ended


def _indexes(written: str) -> Iterator[int]:
    """Parse indexes as a Job's status lists them, such as 1,3-5."""
    for part in filter(None, written.split(",")):
        first, _, last = part.partition("-")
        end = int(last or first) + 1
        yield from range(int(first), end)


def _released(job: Job, ended: int) -> int:
    """Give how many of the pods that may run at once have nothing left to complete."""
    parallelism: int = job["spec"]["parallelism"]
    if parallelism <= 1 or not ended:
        return 0
    return max(parallelism - _completions(job) + ended, 0)
