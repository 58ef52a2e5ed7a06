"""Jobs that Kueue manages: those with a queue name, or all in the namespaces that the Configuration selects.

Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
    pkg/controller/jobframework/defaults.go (ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import QUEUE_LABEL
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest


@rule("WORK-023")
def work_of_queued_work(job: JobOwnership) -> bool:
    """Kueue does not queue work that belongs to other work that it manages.

    Kueue: pkg/controller/jobframework/reconciler.go (FindAncestorJobManagedByKueue, ReconcileGenericJob)
    """
    return job.has_queued_ancestor


@rule("WORK-024")
def stale_owner_is_ignored(referenced: str, uid: str) -> bool:
    """Kueue ignores an owner with another UID than the owner reference has.

    Kueue: pkg/controller/jobframework/reconciler.go (FindAncestorJobManagedByKueue)
    """
    return referenced != uid


@rule("WORK-025")
def no_default_queue_for_owned_work(job: JobOwnership) -> bool:
    """Work gets no default LocalQueue if its controller is of a kind that Kueue queues.

    Kueue: pkg/controller/jobframework/defaults.go (defaultLocalQueueApplies)
    """
    return job.owner_is_queued


@rule("WORK-026", "WORK-051", "WORK-052")
def suspend_work_of_waiting_work(workloads: Sequence[Manifest], elastic: bool) -> bool:
    """Kueue suspends work whose ancestor has no admitted Workload.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return not any(is_true(each, "Admitted") for each in workloads)


@rule("WORK-026", "WORK-051")
def suspend_work_of_unadmitted_work(
    workloads: Sequence[Manifest], elastic: bool
) -> bool:
    """Kueue suspends work unless the newest Workload of its ancestor that is not finished is admitted.

    Kueue: pkg/controller/jobframework/reconciler.go (shouldSuspendChildJob)
    """
    newest = _newest(workloads)
    if newest is None:
        return True
    return not elastic and not is_true(newest, "Admitted")


@rule("WORK-053")
def suspend_elastic_work_of_evicted_work(
    workloads: Sequence[Manifest], elastic: bool
) -> bool:
    """Kueue suspends elastic work, and what belongs to it, once the newest Workload of its ancestor is evicted.

    Kueue: pkg/controller/jobframework/reconciler.go (shouldSuspendChildJob)
    """
    newest = _newest(workloads)
    return elastic and newest is not None and is_true(newest, "Evicted")


def _newest(workloads: Sequence[Manifest]) -> Manifest | None:
    """Give the newest Workload that is not finished."""
    left = [each for each in workloads if not is_true(each, "Finished")]
    return left[-1] if left else None


@rule("QUEUE-065")
def annotation_names_queue(job: Manifest) -> str | None:
    """Work without a queue label may name its queue in an annotation of that name.

    Kueue 0.14: pkg/controller/jobframework/interface.go (QueueNameForObject)
    """
    return annotations_of(job).get(QUEUE_LABEL)


@rule("STATUS-043", "MANAGE-006")
def default_local_queue(job: JobOwnership) -> str:
    """A new Job without a queue name gets the LocalQueue named default of its namespace, if it exists.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector,
        defaultLocalQueueApplies)
    """
    return "default" if job.has_default else ""


@rule("MANAGE-005")
def no_default_queue_in_unmanaged_namespace(job: JobOwnership) -> bool:
    """A Job gets no default LocalQueue in a namespace that managedJobsNamespaceSelector does not select.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector);
        pkg/controller/jobframework/utils.go (namespaceMatchesSelector)
    """
    return not job.selected


@rule("MANAGE-001")
def manage_jobs_without_queue_name(job: JobOwnership) -> bool:
    """Kueue manages a Job without a queue name when manageJobsWithoutQueueName is set.

    Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
        pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return job.unnamed_too


@rule("MANAGE-002")
def manage_jobs_without_queue_name_by_namespace(
    job: JobOwnership,
) -> bool:
    """Kueue does not manage a Job without a queue name in a namespace that is not selected.

    Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
        pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return not job.selected


@rule("MANAGE-003")
def unmanaged_namespace(job: JobOwnership) -> bool:
    """Kueue creates no Workload for a Job in a namespace that managedJobsNamespaceSelector does not select.

    Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob)
    """
    return not job.selected
