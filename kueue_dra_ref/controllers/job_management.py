"""The Jobs that Kueue manages: it suspends new ones, and creates a Workload for each.

Kueue: pkg/controller/jobframework/utils.go (WorkloadShouldBeSuspended);
    pkg/controller/jobframework/defaults.go (ApplyDefaultForSuspend,
    ApplyDefaultLocalQueueWithManagedJobsNamespaceSelector)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.job_kind import JobKind
from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD
from kueue_dra_ref.api.jobs import QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.metadata import annotations_of, labels_of
from kueue_dra_ref.api.ownership import OwnerChain, owner_chain
from kueue_dra_ref.api.pod_owners import POD_OWNERS, PodOwner
from kueue_dra_ref.api.queued_pods import PARENT
from kueue_dra_ref.api.ray_kinds import RAY_JOB, uses_existing_cluster
from kueue_dra_ref.behaviours.phases_status import JobRules
from kueue_dra_ref.controlplane.informers import namespace_labels, stop_policy
from kueue_dra_ref.controlplane.store import Store
from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.target import Manifest

_QUEUED: Mapping[str, JobKind | PodOwner] = {**JOB_KINDS, **POD_OWNERS}


def framework_of(job: Manifest) -> str:
    """Name the framework that queues an object; pods of other work are queued with the framework of that work."""
    parent = annotations_of(job).get(PARENT)
    if parent and job["kind"] == POD.name:
        return parent
    return _QUEUED[job["kind"]].framework


class ManagedJobs:
    """Decides whether Kueue manages a Job, by its queue, its namespace and the Configuration."""

    def __init__(
        self, rules: JobRules, configuration: Configuration, store: Store
    ) -> None:
        self._rules = rules
        self._configuration = configuration
        self._store = store

    def queue(self, job: Manifest) -> str:
        """Give the LocalQueue that the label of a new Job names; it may be the default one."""
        label = queue_named_by(job)
        if self.is_off(job):
            return label
        ownership = self._ownership(job)
        if ownership.queue or self._rules.default_queue_exempt(ownership):
            return label
        return self._rules.default_queue.or_else("", ownership)

    def named(self, job: Manifest) -> str:
        """Name the LocalQueue of work; empty for none."""
        return queue_named_by(job) or self._rules.annotated_queue.or_else("", job)

    def labelled(self, job: Manifest) -> Manifest:
        """Give work as if its label named its LocalQueue."""
        name, meta = self.named(job), job["metadata"]
        if name == queue_named_by(job):
            return job
        return {
            **job,
            "metadata": {**meta, "labels": {**labels_of(job), QUEUE_LABEL: name}},
        }

    def claims(self, job: Manifest) -> bool:
        """Whether Kueue manages a new Job, and so suspends it."""
        if self.is_off(job):
            return False
        ownership = self._ownership(job)
        return not self._rules.owned(ownership) and self._is_managed(ownership)

    def missing_owner(self, job: Manifest) -> str:
        """Name the owner of work that does not exist, so that Kueue decides nothing; empty for none."""
        return "" if self.is_off(job) else self._owners(job).missing

    def ancestor(self, job: Manifest) -> Manifest | None:
        """Give the topmost work that Kueue manages among the owners of work."""
        for owner in reversed(self._owners(job).owners):
            if self._is_queued(owner):
                return owner
        return None

    def takes_part(self, job: Manifest) -> bool:
        """Whether Kueue looks at work that belongs to other work, which may be in another namespace's rules."""
        ownership = self._ownership(job)
        return not self._rules.unmanaged(ownership)

    def ownership(self, job: Manifest) -> JobOwnership:
        """Give the queue name of a Job, and what the Configuration states about its namespace."""
        return self._ownership(job)

    def has_default_queue(self, namespace: str) -> bool:
        """Whether a namespace has a default LocalQueue that is not stopped."""
        default = self._store.find("LocalQueue", "default", namespace)
        return default is not None and stop_policy(default) == "None"

    def objection(self, job: Manifest) -> str:
        """Say why Kueue creates no Workload for a Job; empty when it does."""
        if self.is_off(job):
            framework = framework_of(job)
            return (
                f"is of a kind that integrations.frameworks does not name ({framework})"
            )
        if unread := self._unread(job):
            return unread
        owners = self._owners(job)
        if owners.missing:
            return f"has the owner {owners.missing}, which does not exist"
        ownership = self._with_owners(job, owners.owners)
        if self._rules.owned(ownership):
            ancestor = self.ancestor(job)
            assert ancestor is not None
            title = f"{ancestor['kind']} {ancestor['metadata']['name']}"
            return f"belongs to {title}, which Kueue manages"
        if not self._is_managed(ownership):
            return "names no queue (label kueue.x-k8s.io/queue-name)"
        if self._rules.unmanaged(ownership):
            return "is in a namespace that managedJobsNamespaceSelector does not select"
        return ""

    def _unread(self, job: Manifest) -> str:
        """Say why Kueue does not read the pods of a Job; empty when it does."""
        if job["kind"] == RAY_JOB.name and uses_existing_cluster(job):
            return "selects an existing RayCluster (field spec.clusterSelector)"
        return self._rules.unreadable.or_else("", job)

    def is_off(self, job: Manifest) -> bool:
        """Whether Kueue does not queue the kind of a Job."""
        framework = framework_of(job)
        return self._rules.framework_off(framework, self._configuration.frameworks)

    def _is_managed(self, job: JobOwnership) -> bool:
        if job.queue:
            return True
        if not self._rules.manage_without_queue(job):
            return False
        return not self._rules.managed_namespace_exempt(job)

    def _ownership(self, job: Manifest) -> JobOwnership:
        return self._with_owners(job, self._owners(job).owners)

    def _with_owners(self, job: Manifest, owners: Sequence[Manifest]) -> JobOwnership:
        configuration = self._configuration
        name = job["metadata"]["namespace"]
        namespace = self._store.find("Namespace", name) or {"metadata": {"name": name}}
        selector = configuration.managed_jobs_namespace_selector
        return JobOwnership(
            queue=self.named(job),
            has_default=self.has_default_queue(name),
            selected=selects(selector, namespace_labels(namespace)),
            unnamed_too=configuration.manage_jobs_without_queue_name,
            owner_is_queued=bool(owners) and not self.is_off(owners[0]),
            has_queued_ancestor=any(map(self._is_queued, owners)),
        )

    def _owners(self, job: Manifest) -> OwnerChain:
        return owner_chain(job, self._store.find, self._rules.stale_owner)

    def _is_queued(self, owner: Manifest) -> bool:
        """Whether Kueue queues an owner: its kind, and with a queue name if it has to have one."""
        unnamed_too = self._configuration.manage_jobs_without_queue_name
        named = bool(self.named(owner))
        return not self.is_off(owner) and (unnamed_too or named)
