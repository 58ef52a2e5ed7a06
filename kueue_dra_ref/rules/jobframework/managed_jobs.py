"""Jobs that Kueue manages: those with a queue name, or all in the namespaces that the Configuration selects.

Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
    pkg/controller/jobframework/defaults.go (ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector)
"""

from __future__ import annotations

from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.model.rule import rule


@rule("STATUS-043", "MANAGE-006")
def default_local_queue(job: JobOwnership) -> str:
    """A new Job without a queue name gets the LocalQueue named default of its namespace, if it exists.

    Kueue: pkg/controller/jobframework/defaults.go (ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector,
        defaultLocalQueueApplies)
    """
    return job.queue or ("default" if job.has_default else "")


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
