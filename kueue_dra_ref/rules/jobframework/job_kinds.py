"""Kinds of work other than Jobs: the pod sets of their Workloads, when they finish, and which pods need no quota.

Kueue: pkg/controller/jobs/jobset/jobset_controller.go (JobSet);
    pkg/controller/jobframework/integrationmanager.go (IntegrationCallbacks)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kueue_dra_ref.api.job_kind import pods_of_replica
from kueue_dra_ref.api.job_kinds import (
    JOB,
    JOB_KINDS,
    JOB_SET,
    TRAINING,
    is_of,
    pod_sets_of,
    succeeded_jobs,
)
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.model.rule import rule

Job = dict[str, Any]


@rule("WORK-001")
def framework_is_not_enabled(framework: str, enabled: Sequence[str]) -> bool:
    """Kueue does not queue work whose kind integrations.frameworks does not name.

    Kueue: pkg/controller/jobframework/setup.go (SetupControllers)
    """
    return framework not in enabled


@rule("WORK-022")
def annotated_work_is_elastic(job: Job) -> bool:
    """Work with the annotation elastic-job is elastic.

    Kueue: pkg/workloadslicing/workloadslicing.go (Enabled)
    """
    annotations = annotations_of(job)
    return annotations.get("kueue.x-k8s.io/elastic-job") == "true"


@rule("WORK-002")
def job_set_pod_sets(job: Job) -> list[dict[str, Any]] | None:
    """Kueue makes a pod set of each replicated job of a JobSet, with the parallel pods of all its replicas.

    Kueue: pkg/controller/jobs/jobset/jobset_controller.go (PodSets, podsCount)
    """
    return pod_sets_of(job) if is_of(job, JOB_SET) else None


@rule("WORK-005")
def training_job_pod_sets(job: Job) -> list[dict[str, Any]] | None:
    """Kueue makes a pod set of each replica type of a training job, in the order of the kind, with its replicas.

    Kueue: pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go (PodSets, podsCount);
        pkg/controller/jobs/mpijob/mpijob_controller.go (PodSets, podsCount)
    """
    return pod_sets_of(job) if is_of(job, *TRAINING) else None


@rule("WORK-003")
def finished_work_finishes_workload(job: Job) -> tuple[str, str] | None:
    """Kueue sets Finished on the workload of a JobSet or a training job that completed or failed.

    Kueue: pkg/controller/jobs/jobset/jobset_controller.go (Finished);
        pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go (Finished);
        pkg/controller/jobs/mpijob/mpijob_controller.go (Finished)
    """
    return None if is_of(job, JOB) else JOB_KINDS[job["kind"]].outcome(job)


@rule("WORK-004")
def reclaimable_pods_of_replicated_jobs(job: Job) -> list[dict[str, Any]] | None:
    """Each Job of a JobSet that succeeded releases the quota of its pods.

    Kueue: pkg/controller/jobs/jobset/jobset_controller.go (ReclaimablePods)
    """
    if not is_of(job, JOB_SET):
        return None
    found = []
    for each, done in succeeded_jobs(job):
        if done and done <= each["replicas"]:
            name = str(each["name"]).lower()
            found.append({"name": name, "count": done * pods_of_replica(each)})
    return found
