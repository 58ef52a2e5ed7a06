"""Kueue's Job controller: a Workload for each Job that names a queue, and the Job suspended until it is admitted.

Kueue: pkg/controller/jobframework/reconciler.go (JobReconciler, ReconcileGenericJob, ensureOneWorkload);
    pkg/controller/jobs/job/job_controller.go (Job)
"""

from __future__ import annotations

import hashlib
from typing import Any

from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.deepcopy import MemoizedCopy
from kueue_dra_ref.api.jobs import queue_named_by
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.controllers.job_pods import JobPods
from kueue_dra_ref.controllers.workload_conditions import unset_quota_reservation
from kueue_dra_ref.controllers.workloadpriorityclass import (
    MissingClass,
    WorkloadPriorityClassController,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.target import Manifest, Ref

_TAKEN = MemoizedCopy()


class JobController:
    """Reconciles Jobs, each with the Workload that it owns."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.jobs
        self.running = JobPods(kueue)
        self.managing = ManagedJobs(self.rules, kueue.configuration, kueue.store)
        self.priorities, self.retries = (
            WorkloadPriorityClassController(kueue),
            Backoff(kueue, "Job"),
        )

    def on(self, event: Event) -> None:
        """Reconcile a Job that has changed."""
        if event.new is not None:
            self.kueue.reconcile("Job", event.key)

    def on_workload(self, event: Event) -> None:
        """Reconcile the Job whose Workload has changed, or is gone."""
        for owner in (event.new or event.old or {})["metadata"].get(
            "ownerReferences"
        ) or ():
            if owner.get("kind") == "Job":
                self.kueue.reconcile("Job", (event.key[0], owner["name"]))

    def reconcile(self, key: Key) -> None:
        """Make the Workload follow its Job, and the Job its Workload."""
        job = self.kueue.store.find("Job", key[1], key[0])
        if job is None or self.managing.objection(job):
            return
        try:
            self._reconciled(
                job, self.kueue.store.find("Workload", workload_name(job), key[0])
            )
        except MissingClass:
            self.retries.failed(key)
        else:
            self.retries.forget(key)

    def _reconciled(self, job: Manifest, workload: Manifest | None) -> None:
        ended = next((end for rule in self.rules.finished if (end := rule(job))), None)
        if ended:
            self._finish(job, workload, *ended)
        elif workload is None:
            self._create(job)
        elif self._not_equivalent(job, workload):
            self._recreate_workload(job, workload)
        elif not is_true(workload, "Finished"):
            self._is_synced(job, workload)

    def _is_synced(self, job: Manifest, workload: Manifest) -> None:
        """Bring a Job and the Workload that was made for it in step, one thing at a time."""
        if self.priorities.follow(job, workload) or self._reclaim(job, workload):
            return
        if is_true(workload, "Evicted"):
            self._stop(job, workload)
        elif not self._sync(job, workload) and (
            failed := self.running.follow(job, workload)
        ):
            self._finish(job, workload, *failed)

    def _not_equivalent(self, job: Manifest, workload: Manifest) -> bool:
        """Whether a Job asks for other pods than its Workload: than those admitted, while it is suspended than any."""
        asked, whole = self._pod_sets(job), workload["spec"]["podSets"]
        if asked is None or is_true(workload, "Finished"):
            return False
        admitted, running = is_true(workload, "Admitted"), _running(workload)
        alike = [running, whole] if job["spec"].get("suspend") else [running]
        return any(
            all(rule(asked, had, admitted) for had in alike)
            for rule in self.rules.not_equivalent
        )

    def _recreate_workload(self, job: Manifest, workload: Manifest) -> None:
        """Write the Workload of a Job that waits anew; else suspend the Job and have another Workload made."""
        if job["spec"].get("suspend") and not is_true(workload, "QuotaReserved"):
            self.kueue.store.put(
                {**self.kueue.patched(workload), "spec": self._spec(job)}
            )
            return
        self.running.suspend(job, workload)
        self.kueue.store.remove(Ref.of(workload))

    def _forgotten(self, job: Manifest, workload: Manifest) -> bool:
        """Delete the Workload of a Job that ran and is done, where it holds nothing and is not like its Job."""
        ran = not job["spec"].get("suspend") and not is_true(workload, "QuotaReserved")
        asked, had = self._pod_sets(job) or [], workload["spec"]["podSets"]
        gone = ran and any(
            rule(asked, had) for rule in self.rules.delete_if_not_equivalent
        )
        if gone:
            self.kueue.store.remove(Ref.of(workload))
        return gone

    def _finish(
        self, job: Manifest, workload: Manifest | None, reason: str, message: str
    ) -> None:
        if (
            workload is None
            or self._forgotten(job, workload)
            or is_true(workload, "Finished")
        ):
            return
        fresh = self.kueue.patched(workload)
        set_condition(fresh, "Finished", True, reason, message, self.kueue.clock.now)
        for rule in self.rules.release_when_finished:
            self._give_back(fresh, *rule())
        self.kueue.store.put(fresh)

    def _give_back(self, workload: Manifest, reason: str, message: str) -> None:
        kinds = (
            ("QuotaReserved", "Admitted")
            if is_true(workload, "Admitted")
            else ("QuotaReserved",)
        )
        for kind in kinds:
            set_condition(workload, kind, False, reason, message, self.kueue.clock.now)
        workload["status"].pop("admission", None)

    def _reclaim(self, job: Manifest, workload: Manifest) -> bool:
        """Note the pods of a Job that will not run again; whether their number has changed."""
        most = workload["spec"]["podSets"][0]["count"]
        found = (
            count
            for rule in self.rules.reclaimable_pods
            if (count := rule(job)) is not None
        )
        count = min(next(found, 0), most)
        wanted = [{"name": "main", "count": count}] if count else []
        if wanted == (workload.get("status") or {}).get("reclaimablePods", []):
            return False
        fresh = self.kueue.patched(workload)
        fresh["status"]["reclaimablePods"] = wanted
        self.kueue.store.put(fresh)
        return True

    def _pod_sets(self, job: Manifest) -> list[dict[str, Any]] | None:
        least = next(
            (
                found
                for rule in self.rules.min_parallelism
                if (found := rule(job)) is not None
            ),
            None,
        )
        extra = {} if least is None else {"minCount": least}
        return next(
            (
                [{**pod_set, **extra} for pod_set in rule(job)]
                for rule in self.rules.pod_sets
            ),
            None,
        )

    def _create(self, job: Manifest) -> None:
        """Make the Workload of a Job; where the API server refuses it the Job has none, and nobody tells it so."""
        if self._pod_sets(job) is None:
            return
        meta = job["metadata"]
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": meta["name"],
            "uid": meta["uid"],
            "controller": True,
        }
        made = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {
                "name": workload_name(job),
                "namespace": meta["namespace"],
                "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]},
                "ownerReferences": [owner],
            },
            "spec": self._spec(job),
        }
        if self._has_workload(made):
            self.kueue.store.put(made)

    def _has_workload(self, made: Manifest) -> bool:
        """Whether the API server takes a new Workload."""
        behaviour = self.kueue.behaviour
        return _TAKEN.once(
            made,
            (behaviour,),
            lambda: not behaviour.definitions.faults(AdmissionRequest(new=made)),
        )

    def _spec(self, job: Manifest) -> dict[str, Any]:
        asked = {"podSets": self._pod_sets(job), **_queue_of(job), "active": True}
        return asked | self.priorities.of(job)

    def _stop(self, job: Manifest, workload: Manifest) -> None:
        self.running.stop(job, workload)
        if is_true(workload, "QuotaReserved") and any(
            rule(job) for rule in self.rules.release_quota
        ):
            unset_quota_reservation(self.kueue, self.kueue.patched(workload))

    def _sync(self, job: Manifest, workload: Manifest) -> bool:
        """Carry a changed queue name of a Job that waits over to its Workload."""
        spec = {
            key: value for key, value in workload["spec"].items() if key != "queueName"
        } | _queue_of(job)
        if is_true(workload, "QuotaReserved") or spec == workload["spec"]:
            return False
        self.kueue.store.put({**self.kueue.patched(workload), "spec": spec})
        return True


def _queue_of(job: Manifest) -> dict[str, str]:
    return {"queueName": name} if (name := queue_named_by(job)) else {}


def workload_name(job: Manifest) -> str:
    """The name of a Job's Workload: the Job's kind and name, and five characters that tell owners apart."""
    meta = job["metadata"]
    digest = hashlib.sha1(
        "\n".join(("Job", "batch", meta["name"], meta["uid"])).encode(),
        usedforsecurity=False,
    )
    return f"job-{meta['name']}"[:57] + "-" + digest.hexdigest()[:5]


def _running(workload: Manifest) -> list[Manifest]:
    """The pod sets as they run: one that may shrink with as many pods as were admitted, any other one with all."""
    admission = (workload.get("status") or {}).get("admission") or {}
    counts = {
        each["name"]: each["count"]
        for each in admission.get("podSetAssignments") or ()
        if "count" in each
    }
    return [
        {**each, "count": counts.get(each["name"], each["count"])}
        if "minCount" in each
        else each
        for each in workload["spec"]["podSets"]
    ]
