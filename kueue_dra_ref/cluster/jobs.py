"""Kueue's Job controller: a Workload for each Job that names a queue, and the Job suspended until it is admitted."""

from __future__ import annotations

import hashlib
from typing import Any

from kueue_dra_ref.admission.queues import Key
from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.cluster.kueue import Kueue
from kueue_dra_ref.cluster.status import give_back
from kueue_dra_ref.cluster.store import Event
from kueue_dra_ref.target import Manifest, Ref

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"


class JobController:
    """Reconciles Jobs, each with the Workload that it owns."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.jobs

    def on(self, event: Event) -> None:
        """Reconcile a Job that has changed."""
        if event.new is not None:
            self.kueue.reconcile("Job", event.key)

    def on_workload(self, event: Event) -> None:
        """Reconcile the Job whose Workload has changed."""
        for owner in ((event.new or {}).get("metadata") or {}).get("ownerReferences") or ():
            if owner.get("kind") == "Job":
                self.kueue.reconcile("Job", (event.key[0], owner["name"]))

    def reconcile(self, key: Key) -> None:
        """Make the Workload follow its Job, and the Job its Workload."""
        job = self.kueue.store.find("Job", key[1], key[0])
        if job is None or not _queue_of(job):
            return
        workload = self.kueue.store.find("Workload", workload_name(job), key[0])
        ended = next((end for rule in self.rules.finished if (end := rule(job))), None)
        if ended:
            self._finish(job, workload, *ended)
        elif workload is None:
            self._create(job)
        elif self._reclaim(job, workload):
            return
        elif is_true(workload, "Evicted"):
            self._stop(job, workload)
        elif not self._follow(job, workload):
            self._run_or_suspend(job, workload)

    def _forgotten(self, job: Manifest, workload: Manifest) -> bool:
        """Delete the Workload of a Job that ran and is done, where it holds nothing and is not like its Job."""
        ran = not job["spec"].get("suspend") and not is_true(workload, "QuotaReserved")
        asked, had = self._pod_sets(job) or [], workload["spec"]["podSets"]
        gone = ran and any(rule(asked, had) for rule in self.rules.unlike)
        if gone:
            self.kueue.store.remove(Ref.of(workload))
        return gone

    def _finish(self, job: Manifest, workload: Manifest | None, reason: str, message: str) -> None:
        if workload is None or self._forgotten(job, workload) or is_true(workload, "Finished"):
            return
        fresh = self.kueue.patched(workload)
        set_condition(fresh, "Finished", True, reason, message, self.kueue.clock.now)
        for rule in self.rules.done:
            self._give_back(fresh, *rule())
        self.kueue.store.put(fresh)

    def _give_back(self, workload: Manifest, reason: str, message: str) -> None:
        kinds = ("QuotaReserved", "Admitted") if is_true(workload, "Admitted") else ("QuotaReserved",)
        for kind in kinds:
            set_condition(workload, kind, False, reason, message, self.kueue.clock.now)
        workload["status"].pop("admission", None)

    def _reclaim(self, job: Manifest, workload: Manifest) -> bool:
        """Note the pods of a Job that will not run again; whether their number has changed."""
        most = workload["spec"]["podSets"][0]["count"]
        count = min(next((rule(job) for rule in self.rules.reclaimed), 0), most)
        wanted = [{"name": "main", "count": count}] if count else []
        if wanted == (workload.get("status") or {}).get("reclaimablePods", []):
            return False
        fresh = self.kueue.patched(workload)
        fresh["status"]["reclaimablePods"] = wanted
        self.kueue.store.put(fresh)
        return True

    def _pod_sets(self, job: Manifest) -> list[dict[str, Any]] | None:
        least = next((found for rule in self.rules.least if (found := rule(job)) is not None), None)
        extra = {} if least is None else {"minCount": least}
        return next(([{**pod_set, **extra} for pod_set in rule(job)] for rule in self.rules.pod_sets), None)

    def _create(self, job: Manifest) -> None:
        pod_sets = self._pod_sets(job)
        if pod_sets is None:
            return
        meta = job["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"], "controller": True}
        priority, reference = self._priority(job)
        spec = {"podSets": pod_sets, "queueName": _queue_of(job), "priority": priority, "active": True}
        self.kueue.store.put(
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Workload",
                "metadata": {
                    "name": workload_name(job),
                    "namespace": meta["namespace"],
                    "labels": {"kueue.x-k8s.io/job-uid": meta["uid"]},
                    "ownerReferences": [owner],
                },
                "spec": spec | ({"priorityClassRef": reference} if reference else {}),
            }
        )

    def _priority(self, job: Manifest) -> tuple[int, dict[str, str]]:
        labels = job["metadata"].get("labels") or {}
        if name := labels.get(PRIORITY_LABEL):
            found = self.kueue.store.find("WorkloadPriorityClass", name)
            return (found or {}).get("value", 0), {
                "group": "kueue.x-k8s.io",
                "kind": "WorkloadPriorityClass",
                "name": name,
            }
        name = ((job["spec"].get("template") or {}).get("spec") or {}).get("priorityClassName")
        found = self.kueue.store.find("PriorityClass", name) if name else self._default_priority()
        if found is None:
            return 0, {}
        reference = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": found["metadata"]["name"]}
        return found.get("value", 0), reference

    def _default_priority(self) -> Manifest | None:
        return next((found for found in self.kueue.store.every("PriorityClass") if found.get("globalDefault")), None)

    def _stop(self, job: Manifest, workload: Manifest) -> None:
        self._suspend(
            self._resized(job, workload["spec"]["podSets"]), any(rule(False) for rule in self.rules.suspended)
        )
        if is_true(workload, "QuotaReserved") and any(rule(job) for rule in self.rules.returned):
            give_back(self.kueue, self.kueue.patched(workload))

    def _follow(self, job: Manifest, workload: Manifest) -> bool:
        """Carry a changed queue name or pod template of a suspended Job over to its Workload."""
        if is_true(workload, "QuotaReserved"):
            return False
        wanted = self._pod_sets(job) or workload["spec"]["podSets"]
        spec = {**workload["spec"], "queueName": _queue_of(job), "podSets": wanted}
        if spec == workload["spec"]:
            return False
        self.kueue.store.put({**self.kueue.patched(workload), "spec": spec})
        return True

    def _run_or_suspend(self, job: Manifest, workload: Manifest) -> None:
        admitted = is_true(workload, "Admitted")
        if job["spec"].get("suspend"):
            if any(rule(admitted) for rule in self.rules.released):
                self._release(job, workload)
        else:
            self._suspend(job, any(rule(admitted) for rule in self.rules.suspended))

    def _resized(self, job: Manifest, pod_sets: list[dict[str, Any]]) -> Manifest:
        """A Job that may run with fewer pods, with as many as its pod set has."""
        if all(rule(job) is None for rule in self.rules.least):
            return job
        changes = [rule(job, pod_sets[0]["count"]) for rule in self.rules.reduced]
        spec = {key: value for change in changes for key, value in change.items()}
        return {**job, "spec": {**job["spec"], **spec}}

    def _suspend(self, job: Manifest, wanted: bool) -> None:
        if wanted and not job["spec"].get("suspend"):
            self.kueue.store.put({**job, "metadata": dict(job["metadata"]), "spec": {**job["spec"], "suspend": True}})

    def _release(self, job: Manifest, workload: Manifest) -> None:
        job = self._resized(job, workload["status"]["admission"]["podSetAssignments"])
        template = job["spec"].get("template") or {}
        spec: dict[str, Any] = dict(template.get("spec") or {})
        for flavor in self._flavors(workload):
            if labels := flavor.get("nodeLabels"):
                spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **labels}
            if tolerations := flavor.get("tolerations"):
                spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
        changed = {**job["spec"], "suspend": False, "template": {**template, "spec": spec}}
        self.kueue.store.put({**job, "metadata": dict(job["metadata"]), "spec": changed})

    def _flavors(self, workload: Manifest) -> list[dict[str, Any]]:
        assignments = workload["status"]["admission"]["podSetAssignments"]
        names = dict.fromkeys(name for assignment in assignments for name in assignment["flavors"].values())
        found = (self.kueue.store.find("ResourceFlavor", name) for name in names)
        return [flavor.get("spec") or {} for flavor in found if flavor]


def workload_name(job: Manifest) -> str:
    """The name of a Job's Workload: the Job's kind and name, and five characters that tell owners apart."""
    meta = job["metadata"]
    digest = hashlib.sha1("\n".join(("Job", "batch", meta["name"], meta["uid"])).encode(), usedforsecurity=False)
    return f"job-{meta['name']}"[:57] + "-" + digest.hexdigest()[:5]


def _queue_of(job: Manifest) -> str:
    return str((job["metadata"].get("labels") or {}).get(QUEUE_LABEL, ""))
