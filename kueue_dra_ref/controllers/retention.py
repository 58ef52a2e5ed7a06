"""Retention: deletes Workloads that have been finished, and work that Kueue has deactivated, for long enough.

Kueue: pkg/controller/core/workload_controller.go (WorkloadReconciler, Reconcile);
    pkg/controller/jobframework/reconciler.go (handleWorkloadAfterDeactivatedPolicy)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true, reason_of
from kueue_dra_ref.api.job_kinds import owner_of
from kueue_dra_ref.api.ownership import is_owned_by
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.controlplane.clock import since, time_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref


class Retention:
    """Decides what is over, and deletes it."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.settings = kueue.configuration.retention
        self.rules = kueue.behaviour.retaining

    def sync_finished(self, workload: Manifest) -> None:
        """Delete a finished Workload if its time is over; otherwise come back to it then."""
        began = since(workload, "Finished")
        end = self.rules.finished(self.settings, began)
        if end is None or self._may_lack_status(workload):
            return
        key = key_of(workload)
        if self._has_passed(end, "Workload", key):
            ref = Ref.of(workload)
            self.store.remove(ref)
            return
        text = f"finished: Kueue deletes the Workload at {time_of(end)}"
        self.kueue.note(key, self.rules.finished.rules, text)

    def is_expired(self, workload: Manifest, kind: str, key: Key) -> bool:
        """Whether Kueue deletes work, which it has deactivated; if it will later on, come back to it then."""
        if is_active(workload) or not is_true(workload, "Evicted"):
            return False
        if not self.rules.by_kueue(reason_of(workload, "Evicted")):
            return False
        began = since(workload, "Evicted")
        end = self.rules.deactivated(self.settings, began)
        if end is None:
            return False
        if self._has_passed(end, kind, key):
            return True
        text = f"deactivated: Kueue deletes the {kind} at {time_of(end)}"
        self.kueue.note(key_of(workload), self.rules.deactivated.rules, text)
        return False

    def delete(self, job: Manifest) -> None:
        """Delete work; the garbage collector deletes its Workloads."""
        uid = job["metadata"]["uid"]
        ref = Ref.of(job)
        self.store.remove(ref)
        for workload in self.store.every("Workload"):
            if is_owned_by(workload, uid):
                ref = Ref.of(workload)
                self.store.remove(ref)

    def _may_lack_status(self, workload: Manifest) -> bool:
        """Whether the input of a running cluster shows work as not finished whose Workload is.

        Kueue would create another Workload for it, which it does not for finished work.
        """
        owner = owner_of(workload)
        if not self.kueue.continues or owner is None:
            return False
        namespace = workload["metadata"]["namespace"]
        work = self.store.find(*owner, namespace)
        if work is None:
            return False
        finished = self.kueue.behaviour.jobs.finished(work)
        return finished is None

    def _has_passed(self, end: float, kind: str, key: Key) -> bool:
        """Whether a time has passed; until then, reconcile an object when it will have."""
        wait = end - self.kueue.clock.seconds
        if wait <= 0:
            return True
        self.kueue.reconcile_later(wait, key, kind)
        return False
