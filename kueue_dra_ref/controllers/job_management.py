"""The Jobs that Kueue manages: suspended when they are made, and each with a Workload.

Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
    pkg/controller/jobframework/defaults.go (ApplyDefaultForSuspend,
    ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector)
"""

from __future__ import annotations

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.behaviours.phases_status import JobRules
from kueue_dra_ref.controlplane.informers import labels_of, stop_policy
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.rules.jobframework.managed_jobs import JobOwnership
from kueue_dra_ref.target import Manifest


class ManagedJobs:
    """Whether a Job is Kueue's, by its queue, its namespace and the Configuration."""

    def __init__(
        self, rules: JobRules, configuration: Configuration, store: Store
    ) -> None:
        self._rules, self._configuration, self._store = rules, configuration, store

    def queue(self, job: Manifest) -> str:
        """The LocalQueue of a new Job, which it may get without naming one."""
        claimed = self._claimed(job)
        given = (
            ()
            if any(rule(claimed) for rule in self._rules.default_queue_exempt)
            else self._rules.default_queue
        )
        return next((rule(claimed) for rule in given), claimed.queue)

    def claims(self, job: Manifest) -> bool:
        """Whether a Job is Kueue's: it is suspended when it is made."""
        return self._is_ours(self._claimed(job))

    def has_default_queue(self, namespace: str) -> bool:
        """Whether a Job in a namespace can be given a queue without naming one."""
        default = self._store.find("LocalQueue", "default", namespace)
        return default is not None and stop_policy(default) == "None"

    def objection(self, job: Manifest) -> str:
        """Why Kueue makes no Workload for a Job; empty when it does."""
        claimed = self._claimed(job)
        if not self._is_ours(claimed):
            return "names no queue (label kueue.x-k8s.io/queue-name)"
        alone = any(rule(claimed) for rule in self._rules.unmanaged)
        return (
            "is in a namespace that managedJobsNamespaceSelector does not select"
            if alone
            else ""
        )

    def _is_ours(self, job: JobOwnership) -> bool:
        unnamed, spared = (
            self._rules.manage_without_queue,
            self._rules.managed_namespace_exempt,
        )
        return bool(job.queue) or (
            any(rule(job) for rule in unnamed) and not any(rule(job) for rule in spared)
        )

    def _claimed(self, job: Manifest) -> JobOwnership:
        name = job["metadata"]["namespace"]
        namespace = self._store.find("Namespace", name) or {"metadata": {"name": name}}
        return JobOwnership(
            queue=queue_named_by(job),
            has_default=self.has_default_queue(name),
            selected=selects(
                self._configuration.managed_jobs_namespace_selector,
                labels_of(namespace),
            ),
            unnamed_too=self._configuration.manage_jobs_without_queue_name,
        )
