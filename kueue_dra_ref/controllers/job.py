"""Kueue's Job controller: it creates a Workload for each Job of a queue, and suspends the Job until admission.

Kueue: pkg/controller/jobframework/reconciler.go (JobReconciler, ReconcileGenericJob, ensureOneWorkload);
    pkg/controller/jobs/job/job_controller.go (Job)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.deepcopy import MemoizedCopy
from kueue_dra_ref.api.job_kind import JobKind
from kueue_dra_ref.api.job_kinds import (
    JOB,
    is_ready,
    is_suspended,
    with_suspend,
)
from kueue_dra_ref.api.jobs import JOB_UID
from kueue_dra_ref.api.metadata import annotations_of, owners_of
from kueue_dra_ref.api.ownership import is_owned_by, owner_reference
from kueue_dra_ref.api.train_jobs import resolved, unresolved
from kueue_dra_ref.api.workload_names import LONGEST, hashed_name
from kueue_dra_ref.api.workloads import admitted_counts, is_active
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.controllers.admission_gates import (
    gates_passed_on,
    pass_on_gates,
)
from kueue_dra_ref.controllers.backoff import Backoff
from kueue_dra_ref.controllers.execution_time import ExecutionLimit
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.controllers.job_pods import JobPods
from kueue_dra_ref.controllers.pods_ready import PodsReady
from kueue_dra_ref.controllers.retention import Retention
from kueue_dra_ref.controllers.workload_conditions import (
    finish,
    no_quota_reservation,
    reclaim,
    unset_quota_reservation,
)
from kueue_dra_ref.controllers.workload_slices import (
    Denied,
    Incompatible,
    WorkloadSlices,
)
from kueue_dra_ref.controllers.workloadpriorityclass import (
    MissingClass,
    WorkloadPriorityClassController,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.target import Manifest, Ref

Owned = dict[Key, dict[str, None]]
"""The names of the objects of each owner, the newest last, by the namespace and the owner's UID."""
_ACCEPTED = MemoizedCopy()
OUT_OF_SYNC = ("OutOfSync", "The prebuilt workload is out of sync with its user job")
"""The reason and the message of a Workload that is not that of the work that names it."""


class JobReconciler:
    """Reconciles the work of one kind, each object with the Workload that it owns."""

    def __init__(self, kueue: Kueue, kind: JobKind = JOB) -> None:
        self.kind = kind
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.jobs
        self.pods = JobPods(kueue)
        self.managing = ManagedJobs(self.rules, kueue.configuration, self.store)
        self.priorities = WorkloadPriorityClassController(kueue)
        self.backoff = Backoff(kueue, kind.name)
        self.slices = WorkloadSlices(kueue)
        self.pods_ready = PodsReady(kueue)
        self.limits = ExecutionLimit(kueue)
        self.retention = Retention(kueue)
        self._owned: Owned = {}
        """The Workloads of each Job."""
        self._parts: Owned = {}
        """The Jobs that belong to other work."""

    def on(self, event: Event) -> None:
        """Reconcile a Job that has changed, or is gone."""
        self.kueue.reconcile(self.kind.name, event.key)
        for owner in owners_of(event.obj):
            _note_owner(self._parts, event, owner["uid"])

    def on_workload(self, event: Event) -> None:
        """Reconcile the Job whose Workload has changed, or is gone."""
        obj = event.obj
        for owner in owners_of(obj):
            if owner.get("kind") == self.kind.name:
                _note_owner(self._owned, event, str(owner.get("uid", "")))
                job = (event.key[0], owner["name"])
                self.kueue.reconcile(self.kind.name, job)

    def on_workload_of_owner(self, event: Event) -> None:
        """Reconcile the Jobs that belong to the work whose Workload has changed."""
        namespace, _ = event.key
        for owner in owners_of(event.new or {}):
            for part in self._parts.get((namespace, owner["uid"]), ()):
                self.kueue.reconcile(self.kind.name, (namespace, part))

    def _workload_of(self, job: Manifest) -> Manifest | None:
        """Give the newest Workload that a Job owns, whatever its name."""
        meta = job["metadata"]
        namespace = meta["namespace"]
        names = self._owned.get((namespace, meta["uid"]), {})
        name = next(reversed(names), "") or self._name(job)
        return self.store.find("Workload", name, namespace)

    def _slices_of(self, job: Manifest) -> list[Manifest]:
        """Give the Workloads that elastic work owns and that are not finished, the oldest first."""
        meta = job["metadata"]
        namespace = meta["namespace"]
        uid = meta["uid"]
        names = self._owned.get((namespace, uid), {})
        found = [self.store.find("Workload", name, namespace) for name in names]
        return self.slices.unfinished(found)

    def reconcile(self, key: Key) -> None:
        """Bring the Workload in line with its Job, and the Job in line with its Workload."""
        job = self.store.get(self.kind.name, key)
        if job is None:
            self.kueue.timeouts.forget((self.kind.name, key))
            return
        job = resolved(job, self.store.find)
        if self._is_left_alone(job):
            return
        prebuilt = self.kueue.behaviour.dispatching.prebuilt(job)
        if prebuilt is not None:
            self._reconcile_prebuilt(job, prebuilt)
            return
        workload = self._workload_of(job)
        try:
            if self.rules.elastic(job):
                self._reconcile_slices(job)
            else:
                self._reconcile(job, workload)
        except MissingClass:
            self.backoff.failed(key)
        else:
            self.backoff.forget(key)

    def _reconcile_prebuilt(self, job: Manifest, name: str) -> None:
        """Bring work in line with the Workload that another client has created for it, which it owns from now on."""
        workload = self.store.find("Workload", name, job["metadata"]["namespace"])
        if workload is None:
            self.pods.stop_unmatched(job)
            return
        if is_true(workload, "Finished"):
            return
        owners = owners_of(workload)
        if not owners:
            meta = {**workload["metadata"], "ownerReferences": [self._owner(job)]}
            self.store.put({**workload, "metadata": meta})
        elif not is_owned_by(workload, job["metadata"]["uid"]):
            return
        elif finished := self.rules.finished(job):
            finish(self.kueue, workload, *finished)
        elif not self._equivalent_to_workload(job, workload):
            finish(self.kueue, workload, *OUT_OF_SYNC)
            self.pods.stop_unmatched(job)
        else:
            self._follow(job, workload)

    def _is_left_alone(self, job: Manifest) -> bool:
        """Whether Kueue creates no Workload for work; what belongs to other work may have to stop with it."""
        managing = self.managing
        if not managing.is_off(job) and not managing.missing_owner(job):
            self._suspend_owned(job)
        return bool(managing.objection(job))

    def _suspend_owned(self, job: Manifest) -> None:
        """Suspend work that belongs to work which does not run."""
        ancestor = self.managing.ancestor(job)
        if ancestor is None or is_suspended(job) or self.rules.finished(job):
            return
        if not self.managing.takes_part(job):
            return
        uid = ancestor["metadata"]["uid"]
        every = self.store.every("Workload")
        workloads = [each for each in every if is_owned_by(each, uid)]
        elastic = self.rules.elastic(job) or self.rules.elastic(ancestor)
        if self.rules.suspend_owned(workloads, elastic):
            self.store.put(with_suspend(unresolved(job), True))

    def _reconcile_slices(self, job: Manifest) -> None:
        """Bring the slices of elastic work in line with it; other pod sets than theirs make it other work."""
        try:
            pod_sets = self._pod_sets(job)
            workload = self.slices.ensure(self._slices_of(job), pod_sets)
        except Incompatible:
            self._reconcile(job, self._workload_of(job))
            return
        except Denied:
            return
        hold = self.rules.hold(job)
        if hold:
            self._put_on_hold(workload, *hold)
        else:
            self._follow_slice(job, workload)

    def _follow_slice(self, job: Manifest, workload: Manifest | None) -> None:
        """Bring elastic work and the Workload that counts for it in line, or create one."""
        self._prioritize_slices(job)
        finished = self.rules.finished(job)
        if finished and workload is not None:
            finish(self.kueue, workload, *finished)
        elif workload is not None:
            self._sync(job, workload)
        elif not finished:
            self._create_slice(job)

    def _prioritize_slices(self, job: Manifest) -> None:
        """Give the slices of elastic work the priority class that it names now."""
        if not self.rules.prioritize_slices():
            return
        for workload in self._slices_of(job):
            self.priorities.follow(job, workload)

    def _create_slice(self, job: Manifest) -> None:
        """Create a Workload of elastic work; until a larger one is admitted, the one before it counts."""
        slices = self._slices_of(job)
        meta = job["metadata"]
        generation = str(meta["generation"])
        name = self._name(job, generation)
        namespace = meta["namespace"]
        if self.store.find("Workload", name, namespace) is not None:
            return
        replaced = next(iter(slices), None)
        annotations = self.slices.annotations(name, replaced)
        spec = self._spec(job)
        self._create_workload(job, spec, name, annotations)

    def _reconcile(self, job: Manifest, workload: Manifest | None) -> None:
        finished = self.rules.finished(job)
        hold = self.rules.hold(job)
        compares = not finished or self.rules.compare_finished()
        if hold and self._is_held(job, workload):
            self._put_on_hold(workload, *hold)
        elif workload is None:
            if not finished:
                spec = self._spec(job)
                self._create_workload(job, spec)
        elif compares and not self._equivalent_to_workload(job, workload):
            self._replace_workload(job, workload)
        elif is_true(workload, "Finished"):
            return
        elif finished:
            finish(self.kueue, workload, *finished)
        else:
            self._sync(job, workload)

    def _is_held(self, job: Manifest, workload: Manifest | None) -> bool:
        """Whether work on hold keeps the Workload that it has, or gets none."""
        return workload is None or self._equivalent_to_workload(job, workload)

    def _put_on_hold(
        self, workload: Manifest | None, reason: str, message: str
    ) -> None:
        """Release the quota of work that is on hold."""
        if workload is None or is_true(workload, "Finished"):
            return
        if not is_true(workload, "QuotaReserved"):
            return
        working = self.kueue.patched(workload)
        now = self.kueue.clock.now
        set_condition(working, "QuotaReserved", False, reason, message, now)
        no_quota_reservation(self.kueue, working)
        self.store.put(working)

    def _sync(self, job: Manifest, workload: Manifest) -> None:
        """Bring a Job and its equivalent Workload in line, one change at a time."""
        if not self._passes_on(job, workload):
            self._follow(job, workload)

    def _passes_on(self, job: Manifest, workload: Manifest) -> bool:
        """Give a Workload the admission gates and the priority class of its Job; True if it had others."""
        elastic = self.rules.elastic(job)
        stay = self.kueue.behaviour.gating.stay(elastic)
        if not stay and pass_on_gates(self.kueue, job, workload):
            return True
        if elastic:
            return False
        followed = self.priorities.follow(job, workload)
        return followed is not None

    def _follow(self, job: Manifest, workload: Manifest) -> None:
        """Bring a Job and its Workload in line, except for the priority."""
        if self._reclaim(job, workload):
            return
        is_ready_now = self._is_work_ready(job)
        self.pods_ready.sync(workload, is_ready_now)
        if is_true(workload, "Evicted"):
            self._stop(job, workload)
            self._expire(job, workload)
            return
        self._sync_queue(job, workload)
        failed = self.pods.follow(job, workload)
        if failed:
            finish(self.kueue, workload, *failed)

    def _is_work_ready(self, job: Manifest) -> bool:
        """Whether all pods of work are there and ready."""
        complete = self.kueue.behaviour.waiting.work_is_complete
        return is_ready(job) and complete(job)

    def _equivalent_to_workload(self, job: Manifest, workload: Manifest) -> bool:
        """Whether a Job has the pods that were admitted, or while it is suspended also those of the Workload's spec."""
        if self.limits.differs(job, workload):
            return False
        admitted = is_true(workload, "Admitted")
        changed = self.rules.not_equivalent
        pod_sets = self._pod_sets(job)
        if not changed(pod_sets, _running_pod_sets(workload), admitted):
            return True
        if not is_suspended(job):
            return False
        written = workload["spec"]["podSets"]
        return not changed(pod_sets, written, admitted)

    def _replace_workload(self, job: Manifest, workload: Manifest) -> None:
        """Update the Workload of a pending Job in place; otherwise suspend a Job that runs, and delete the Workload."""
        if is_suspended(job) and not is_true(workload, "QuotaReserved"):
            spec = self._spec(job)
            self._update(workload, spec)
            return
        if not self.rules.finished(job):
            self.pods.suspend(job, workload)
        ref = Ref.of(workload)
        self.store.remove(ref)

    def _update(self, workload: Manifest, spec: Manifest) -> None:
        """Update a Workload with its work; a deactivated one may stay so."""
        working = self.kueue.patched(workload)
        working["spec"] = spec
        if self.rules.stay_inactive():
            active = is_active(workload)
            working["spec"] = {**spec, "active": active}
        self.store.put(working)

    def _reclaim(self, job: Manifest, workload: Manifest) -> bool:
        """Write how many pods of a Job will not run again; True when that number has changed."""
        reclaimable = self._reclaimable(job, workload)
        return reclaim(self.kueue, workload, reclaimable)

    def _reclaimable(self, job: Manifest, workload: Manifest) -> list[Manifest]:
        """Give how many pods of each pod set will not run again."""
        pod_sets = self.rules.reclaimable_pod_sets(job)
        if pod_sets is not None:
            return pod_sets
        if job["kind"] != JOB.name:
            return []
        [pod_set] = workload["spec"]["podSets"]
        count = self.rules.reclaimable_pods.or_else(0, job)
        if self.rules.limit_reclaimable():
            count = min(count, pod_set["count"])
        return [{"name": "main", "count": count}] if count else []

    def _pod_sets(self, job: Manifest) -> list[dict[str, Any]]:
        pod_sets = self.rules.pod_sets.or_else([], job)
        pod_sets = self.rules.adjust_pod_sets(pod_sets, job)
        min_count = self.rules.min_parallelism(job)
        if min_count is None:
            return pod_sets
        return [{**each, "minCount": min_count} for each in pod_sets]

    def _create_workload(
        self, job: Manifest, spec: Manifest, name: str = "", annotations: Any = None
    ) -> None:
        """Create a Workload of a Job; if the API server rejects it, the status of the Job does not say so."""
        meta = job["metadata"]
        annotations = {**self._passed_on(job), **(annotations or {})}
        workload = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {
                "name": name or self._name(job),
                "namespace": meta["namespace"],
                "labels": {JOB_UID: meta["uid"]},
                "ownerReferences": [self._owner(job)],
                **({"annotations": annotations} if annotations else {}),
            },
            "spec": spec,
        }
        if self._is_accepted(workload):
            self.store.put(workload)

    def _passed_on(self, job: Manifest) -> Mapping[str, str]:
        """Give the annotations of work that its Workload has as well."""
        rules, annotations = self.kueue.behaviour, annotations_of(job)
        parameters = rules.provisioning.parameters.or_else({}, annotations)
        return {**parameters, **gates_passed_on(self.kueue, job)}

    def _name(self, job: Manifest, *generation: str) -> str:
        """Name a Workload after its Job; the Workloads of elastic work differ by its generation."""
        kind, meta = self.kind, job["metadata"]
        name = meta["name"]
        return hashed_name(
            f"{kind.name.lower()}-{name}",
            *(kind.name, kind.group, name, meta["uid"], *generation),
            longest=self.rules.longest_name.or_else(LONGEST),
        )

    def _owner(self, job: Manifest) -> Manifest:
        """Give the reference of a Workload to the work that owns it."""
        kind, meta = self.kind, job["metadata"]
        reference = owner_reference(kind.api_version, kind.name, meta)
        return {**reference, "controller": True}

    def _is_accepted(self, workload: Manifest) -> bool:
        """Whether the API server accepts a new Workload, and the webhook for Workloads with it."""
        behaviour = self.kueue.behaviour

        def validated() -> bool:
            request = AdmissionRequest(new=workload)
            is_denied = any(behaviour.webhooks.faults(request))
            return not is_denied and not behaviour.definitions.faults(request)

        return _ACCEPTED.once(workload, (behaviour,), validated)

    def _spec(self, job: Manifest) -> dict[str, Any]:
        return {
            "podSets": self._pod_sets(job),
            **self._queue_of(job),
            "active": True,
            **self.limits.of(job),
            **self.priorities.of(job),
        }

    def _stop(self, job: Manifest, workload: Manifest) -> None:
        """Suspend an evicted Job, and release its quota once its pods have stopped."""
        self.pods.stop(job, workload, admitted=False)
        if not is_true(workload, "QuotaReserved"):
            return
        if self.rules.release_quota(job):
            working = self.kueue.patched(workload)
            unset_quota_reservation(self.kueue, working)

    def _expire(self, job: Manifest, workload: Manifest) -> None:
        """Delete a Job that Kueue has deactivated and that has been kept for long enough."""
        if self.retention.rules.keep(job):
            return
        key = key_of(job)
        if self.retention.is_expired(workload, self.kind.name, key):
            self.retention.delete(job)

    def _queue_of(self, job: Manifest) -> dict[str, str]:
        name = self.managing.named(job)
        return {"queueName": name} if name else {}

    def _sync_queue(self, job: Manifest, workload: Manifest) -> None:
        """Copy the queue name of a pending Job to its Workload."""
        if is_true(workload, "QuotaReserved"):
            return
        spec = dict(workload["spec"])
        spec.pop("queueName", None)
        spec |= self._queue_of(job)
        if spec == workload["spec"]:
            return
        working = self.kueue.patched(workload)
        working["spec"] = spec
        self.store.put(working)


def _running_pod_sets(workload: Manifest) -> PodSets:
    """Give the pod sets with their admitted counts where partial admission may have reduced them."""
    counts = admitted_counts(workload)
    running = []
    for each in workload["spec"]["podSets"]:
        name = each["name"]
        if "minCount" in each and name in counts:
            each = {**each, "count": counts[name]}
        running.append(each)
    return running


def _note_owner(known: Owned, event: Event, uid: str) -> None:
    """Keep which objects an owner has, by its UID."""
    namespace, name = event.key
    owned = known.setdefault((namespace, uid), {})
    if event.new is not None:
        owned[name] = None
    else:
        owned.pop(name, None)
