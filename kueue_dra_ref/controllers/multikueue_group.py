"""A Workload of a manager with its copies on workers, and what is written to either.

Kueue: pkg/controller/admissionchecks/multikueue/workload.go (wlGroup, RemoveRemoteObjects);
    pkg/controller/jobs/job/job_multikueue_adapter.go (SyncJob)
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from kueue_dra_ref.api.admission_checks import READY, check_states
from kueue_dra_ref.api.conditions import condition, is_true
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.job_kinds import JOB_KINDS, is_suspended
from kueue_dra_ref.api.multikueue import managed_by, work_copy
from kueue_dra_ref.controllers.multikueue_clusters import Remote
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.dispatching import CopyTimes, JobPair, earliest
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref

PRIORITY = ("priority", "priorityClassRef")
"""What of the spec of a Workload its priority class decides."""


@dataclass(slots=True, kw_only=True)
class Group:
    """A Workload of a manager with its check, the work that owns it, and its clusters."""

    kueue: Kueue
    local: Manifest
    check: str
    job: Ref
    remotes: Mapping[str, Remote]
    lost: Set[str]
    """The clusters of the check that are not connected."""

    @property
    def key(self) -> Key:
        """The key of the Workload and of its copies."""
        return key_of(self.local)

    @property
    def state(self) -> Manifest:
        """The state of the check."""
        return {each["name"]: each for each in check_states(self.local)}[self.check]

    @property
    def cluster(self) -> str:
        """The cluster on which the work runs; empty for none."""
        return str(status_of(self.local).get("clusterName", ""))

    @property
    def others_ready(self) -> bool:
        """Whether the other checks are Ready."""
        states = check_states(self.local)
        others = [each for each in states if each["name"] != self.check]
        return all(each["state"] == READY for each in others)

    @property
    def manager(self) -> str:
        """What manages the work; empty for its own controller."""
        job = self.work()
        return managed_by(job) if job else ""

    def work(self) -> Manifest | None:
        """Give the work that owns the Workload."""
        job = self.job
        return self.kueue.store.find(job.kind, job.name, job.namespace)

    def copies(self) -> dict[str, Manifest]:
        """Give the copies of the Workload, by cluster."""
        found = {}
        for name, remote in self.remotes.items():
            copy = remote.store.get("Workload", self.key)
            if copy is not None:
                found[name] = copy
        return found

    def since(self, kind: str) -> dict[str, str]:
        """Give the times at which copies got a condition, by cluster."""
        found = {}
        for name, copy in self.copies().items():
            if is_true(copy, kind):
                each = condition(copy, kind)
                assert each is not None
                found[name] = str(each["lastTransitionTime"])
        return found

    def times(self) -> CopyTimes:
        """Give the times at which copies were admitted, and those at which they got quota."""
        return CopyTimes(
            admitted=self.since("Admitted"),
            reserved=self.since("QuotaReserved"),
        )

    def first(self, kind: str) -> str | None:
        """Name the cluster whose copy got a condition first."""
        return earliest(self.since(kind))

    def prioritize(self) -> None:
        """Write the priority of the Workload to its copies."""
        own = self.local["spec"]
        changed = {key: own[key] for key in PRIORITY if key in own}
        for name, copy in self.copies().items():
            if _has_class(copy):
                spec = {**copy["spec"], **changed}
                self.remotes[name].store.put({**copy, "spec": spec})

    def withdraw_all(self) -> None:
        """Delete what the manager has created on every worker."""
        for name in self.remotes:
            self.withdraw(name)

    def withdraw(self, cluster: str) -> None:
        """Delete the work and the Workload that the manager has created on a worker."""
        remote, rules = self.remotes[cluster], self.kueue.behaviour.dispatching
        copy = remote.store.get("Workload", self.key)
        if copy is None and not rules.withdraw_work():
            return
        if not self.is_taken(cluster):
            remote.withdraw(self.job)
        remote.withdraw(Ref.of(self.local))

    def _work_on(self, cluster: str) -> Manifest | None:
        """Give the work of that name on a worker."""
        job = self.job
        return self.remotes[cluster].store.find(job.kind, job.name, job.namespace)

    def has_work_on(self, cluster: str) -> bool:
        """Whether a worker has work of that name; it may reject the copy, and Kueue goes on trying."""
        return self._work_on(cluster) is not None

    def is_taken(self, cluster: str) -> bool:
        """Whether a worker has work of that name that is not a copy."""
        work = self._work_on(cluster)
        if work is None:
            return False
        return self.kueue.behaviour.dispatching.foreign(work)

    def sync(self, cluster: str, origin: str) -> bool:
        """Create the work on a worker, or copy its status; True if that has to wait until the work runs here."""
        remote, job = self.remotes[cluster], self.work()
        if job is None:
            return False
        copy = self._work_on(cluster)
        if copy is None:
            _, name = self.key
            remote.create(work_copy(job, name, origin))
            return False
        waits = not self._has_status_of(job, copy)
        if not waits:
            status = copied(status_of(copy))
            self.kueue.store.put({**job, "status": status})
        return waits

    def _has_status_of(self, job: Manifest, copy: Manifest) -> bool:
        """Whether work gets the status of its copy."""
        kind = JOB_KINDS[self.job.kind]
        pair = JobPair(
            kind=kind.name,
            suspended=is_suspended(job),
            active=kind.is_active(job),
            copy_suspended=is_suspended(copy),
            copy_finished=kind.outcome(copy) is not None,
        )
        return self.kueue.behaviour.dispatching.sync_status(pair)

    def answer(self, state: str, message: str) -> None:
        """Write the state of the check."""
        working = self.kueue.patched(self.local)
        self.set_state(working, state, message)
        self.kueue.store.put(working)

    def set_state(self, working: Manifest, state: str, message: str) -> None:
        """Set the state of the check in a Workload that is going to be written."""
        for each in check_states(working):
            if each["name"] == self.check:
                each["lastTransitionTime"] = self.kueue.clock.now
                each["state"] = state
                each["message"] = message


def _has_class(copy: Manifest) -> bool:
    """Whether the priority of a copy is that of a WorkloadPriorityClass."""
    reference = copy["spec"].get("priorityClassRef") or {}
    return reference.get("kind") == "WorkloadPriorityClass"
