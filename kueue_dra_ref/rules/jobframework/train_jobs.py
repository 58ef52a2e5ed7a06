"""TrainJobs: the pod sets of their Workloads, and which pods need no quota any more.

Kueue: pkg/controller/jobs/trainjob/trainjob_controller.go (PodSets, ReclaimablePods)
"""

from __future__ import annotations

from typing import Any

from kueue_dra_ref.api.job_kind import pods_of_replica, status_of
from kueue_dra_ref.api.job_kinds import is_of, pod_sets_of
from kueue_dra_ref.api.train_jobs import TRAIN_JOB, replicated_jobs_of
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]
PodSets = list[dict[str, Any]]


@rule("WORK-030")
def train_job_pod_sets(job: Job) -> PodSets | None:
    """Kueue makes a pod set of each replicated job in the runtime of a TrainJob, in the size that this asks for.

    Kueue: pkg/controller/jobs/trainjob/trainjob_controller.go (PodSets, getChildJobSet)
    """
    return pod_sets_of(job) if is_of(job, TRAIN_JOB) else None


@rule("WORK-046")
def job_sets_may_not_be_created(job: Job) -> str | None:
    """Up to Kueue 0.14.4 it asks the API server for the JobSet of a TrainJob, which its published role does not allow.

    Kueue: pkg/controller/jobs/trainjob/trainjob_controller.go (jobsetApplyToJobset)
    """
    if not is_of(job, TRAIN_JOB):
        return None
    return (
        "has pods that Kueue up to 0.14.4 cannot read: its role may not create JobSets"
    )


@rule("WORK-031")
def reclaimable_pods_of_train_job(job: Job) -> PodSets | None:
    """Each Job of a TrainJob that succeeded releases the quota of its pods.

    Kueue: pkg/controller/jobs/trainjob/trainjob_controller.go (ReclaimablePods)
    """
    if not is_of(job, TRAIN_JOB):
        return None
    succeeded: dict[str, int] = {}
    for status in status_of(job).get("jobsStatus") or ():
        name = status["name"]
        succeeded[name] = status["succeeded"]
    found = []
    for each in replicated_jobs_of(job):
        name = each["name"]
        done = succeeded.get(name)
        replicas = each.get("replicas", 1)
        if done and done <= replicas:
            count = done * pods_of_replica(each)
            found.append({"name": name.lower(), "count": count})
    return found
