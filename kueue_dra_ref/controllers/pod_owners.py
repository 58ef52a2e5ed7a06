"""Kueue's controllers of StatefulSets and LeaderWorkerSets: they create Workloads, and mark the pods of these.

Kueue: pkg/controller/jobs/statefulset/statefulset_reconciler.go (Reconciler);
    pkg/controller/jobs/statefulset/statefulset_pod_reconciler.go (PodReconciler);
    pkg/controller/jobs/leaderworkerset/leaderworkerset_reconciler.go (Reconciler)
"""

from __future__ import annotations

from collections.abc import Iterator

from kueue_dra_ref.api.conditions import is_true, set_condition
from kueue_dra_ref.api.job_kind import template_at
from kueue_dra_ref.api.job_kinds import POD
from kueue_dra_ref.api.jobs import JOB_UID, QUEUE_LABEL, queue_named_by
from kueue_dra_ref.api.metadata import annotations_of, labels_of, owners_of
from kueue_dra_ref.api.ownership import is_owned_by, owner_reference
from kueue_dra_ref.api.pod_owners import (
    NUMBERED_BY,
    POD_OWNERS,
    owner_name,
    replicas_of,
    template_paths,
)
from kueue_dra_ref.api.queued_pods import GROUP, IS_GROUP, PARENT, without_finalizer
from kueue_dra_ref.api.workloads import is_active, is_on_hold
from kueue_dra_ref.apiserver.admission_request import AdmissionRequest
from kueue_dra_ref.controllers.admission_gates import (
    gates_passed_on,
    pass_on_gates,
)
from kueue_dra_ref.controllers.execution_time import ExecutionLimit
from kueue_dra_ref.controllers.job_management import ManagedJobs
from kueue_dra_ref.controllers.pod_groups import placed
from kueue_dra_ref.controllers.workload_conditions import no_quota_reservation
from kueue_dra_ref.controllers.workloadpriorityclass import (
    MissingClass,
    WorkloadPriorityClassController,
)
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.jobframework.pod_owners import PodMarks
from kueue_dra_ref.target import Manifest, Ref

_NO_LONGER = ("Pending", "Workload no longer on hold; waiting for quota reservation")


class PodOwnerController:
    """Reconciles the work that Kueue queues through its pods."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.pods
        self.priorities = WorkloadPriorityClassController(kueue)
        self.limits = ExecutionLimit(kueue)
        self.managing = ManagedJobs(
            kueue.behaviour.jobs, kueue.configuration, kueue.store
        )

    def on(self, event: Event) -> None:
        """Reconcile an object that has changed; the garbage collector removes what belongs to one that is gone."""
        if event.new is not None:
            self.kueue.reconcile(event.kind, event.key)
            return
        assert event.old is not None
        for owned in list(self._owned(event.old)):
            self.store.put(without_finalizer(owned))
            self.store.remove(Ref.of(owned))

    def on_workload(self, event: Event) -> None:
        """Reconcile the object whose Workload has lost its quota: Kueue retries what was rejected until then."""
        if event.new is None or is_true(event.new, "QuotaReserved"):
            return
        for owner in owners_of(event.new):
            if owner["kind"] in POD_OWNERS:
                self.kueue.reconcile(owner["kind"], (event.key[0], owner["name"]))

    def on_pod(self, event: Event) -> None:
        """Mark a new pod of such work, and let go of one that ends."""
        pod = event.new
        if pod is None or PARENT not in annotations_of(pod):
            return
        if self.rules.let_go(pod):
            self.store.put(without_finalizer(pod))
            return
        owner = self._owner_of(pod)
        if owner is None or self.managing.objection(owner):
            return
        if GROUP in labels_of(pod):
            self._take_along(owner, pod)
            return
        labelled = self.managing.labelled(owner)
        for marks in self.rules.pod_marks(labelled, pod):
            self._mark(pod, marks)

    def _mark(self, pod: Manifest, marks: PodMarks) -> None:
        meta = dict(pod["metadata"])
        meta["labels"] = {
            **labels_of(pod),
            **marks.labels,
        }
        meta["annotations"] = {
            **annotations_of(pod),
            **marks.annotations,
        }
        self.store.put({**pod, "metadata": meta})

    def _sync_queue_labels(self, owner: Manifest) -> None:
        for pod in self._pods(owner):
            if GROUP in labels_of(pod):
                self._take_along(owner, pod)

    def _take_along(self, owner: Manifest, pod: Manifest) -> None:
        """Give a marked pod the queue that its object names now."""
        queue = queue_named_by(owner)
        if not queue or queue == queue_named_by(pod):
            return
        if self.rules.go_along(owner, pod):
            self._mark(pod, PodMarks(labels={QUEUE_LABEL: queue}, annotations={}))

    def _owner_of(self, pod: Manifest) -> Manifest | None:
        kind, name = owner_name(pod)
        namespace = pod["metadata"]["namespace"]
        return self.store.find(kind, name, namespace) if kind else None

    def reconcile(self, kind: str, key: Key) -> None:
        """Create the Workloads of an object, or bring them in line with it."""
        owner = self.store.get(kind, key)
        if owner is None or self.managing.objection(owner):
            return
        self._sync_queue_labels(owner)
        namespace = owner["metadata"]["namespace"]
        wanted = self.rules.workloads.or_else({}, owner)
        for name, pod_sets in wanted.items():
            found = self.store.find("Workload", name, namespace)
            if found is not None:
                self._follow(owner, self._owned_or_not(owner, found))
            elif any(each["count"] for each in pod_sets):
                self._create(owner, name, pod_sets)
        own = {each["metadata"]["name"]: each for each in self._workloads(owner)}
        for name in own.keys() - wanted.keys():
            self._give_up(owner, own[name])

    def _give_up(self, owner: Manifest, workload: Manifest) -> None:
        """Delete the Workload of a group that is gone, or leave it to the pods of the group."""
        if self.rules.delete_of_gone_group():
            self.store.remove(Ref.of(workload))
            return
        self._disown(owner, workload)

    def _disown(self, owner: Manifest, workload: Manifest) -> Manifest:
        uid = owner["metadata"]["uid"]
        left = [each for each in owners_of(workload) if each["uid"] != uid]
        return self._with_owners(workload, left)

    def _with_owners(self, workload: Manifest, owners: list[Manifest]) -> Manifest:
        working = self.kueue.patched(workload)
        working["metadata"]["ownerReferences"] = owners
        self.store.put(working)
        return working

    def _owned_or_not(self, owner: Manifest, workload: Manifest) -> Manifest:
        """Make an object the owner of its Workload, or no longer, and give the Workload."""
        is_owner = is_owned_by(workload, owner["metadata"]["uid"])
        if self.rules.disown(owner):
            return self._disown(owner, workload) if is_owner else workload
        if is_owner:
            return workload
        return self._with_owners(workload, [*owners_of(workload), _reference(owner)])

    def _workloads(self, owner: Manifest) -> Iterator[Manifest]:
        uid = owner["metadata"]["uid"]
        for workload in self.store.every("Workload"):
            if is_owned_by(workload, uid):
                yield workload

    def _owned(self, owner: Manifest) -> Iterator[Manifest]:
        """Give the pods and the Workloads of an object."""
        yield from self._pods(owner)
        yield from self._workloads(owner)

    def _pods(self, owner: Manifest) -> Iterator[Manifest]:
        meta = owner["metadata"]
        place = (owner["kind"], meta["name"])
        for pod in self.store.every(POD.name):
            is_near = pod["metadata"]["namespace"] == meta["namespace"]
            is_own = is_owned_by(pod, meta["uid"]) or owner_name(pod) == place
            if is_near and is_own:
                yield pod

    def _create(
        self,
        owner: Manifest,
        name: str,
        pod_sets: list[Manifest],
    ) -> None:
        try:
            priority = self.priorities.of(_as_pod(owner, pod_sets))
        except MissingClass:
            return
        spec = {
            "podSets": [
                placed(self.rules, pod_set, template_at(owner, path), NUMBERED_BY[path])
                for pod_set, path in zip(pod_sets, template_paths(owner), strict=True)
            ],
            "active": True,
            **self.limits.of(owner),
            **priority,
        }
        queue = self.managing.named(owner)
        if queue:
            spec["queueName"] = queue
        workload = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": self._head_of_workload(owner, name),
            "spec": spec,
        }
        self.store.put(workload)

    def _head_of_workload(self, owner: Manifest, name: str) -> Manifest:
        meta = owner["metadata"]
        head = {
            "name": name,
            "namespace": meta["namespace"],
            "annotations": {IS_GROUP: "true", **gates_passed_on(self.kueue, owner)},
            "ownerReferences": [_reference(owner)],
        }
        if self.rules.label_with_uid():
            head["labels"] = {JOB_UID: meta["uid"]}
        return head

    def _follow(self, owner: Manifest, workload: Manifest) -> None:
        """Put a Workload on hold, or release it, and give it the queue of its object."""
        if is_true(workload, "Finished"):
            return
        pass_on_gates(self.kueue, owner, workload)
        on_hold = is_on_hold(workload)
        has_quota = is_true(workload, "QuotaReserved") and is_active(workload)
        hold = self.rules.hold(owner, on_hold or has_quota)
        if hold is not None:
            self._release(workload, *hold)
        elif on_hold:
            self._release(workload, *_NO_LONGER)
        elif replicas_of(owner):
            self._move(workload, self.managing.named(owner))

    def _move(self, workload: Manifest, queue: str) -> None:
        """Give a Workload the queue of its object, unless the API server rejects that."""
        if workload["spec"].get("queueName", "") == queue:
            return
        working = self.kueue.patched(workload)
        working["spec"] = {**workload["spec"], "queueName": queue}
        write = AdmissionRequest(new=working, old=workload)
        if not self.kueue.behaviour.definitions.faults(write):
            self.store.put(working)

    def _release(self, workload: Manifest, reason: str, message: str) -> None:
        working = self.kueue.patched(workload)
        now = self.kueue.clock.now
        set_condition(working, "QuotaReserved", False, reason, message, now)
        no_quota_reservation(self.kueue, working)
        self.store.put(working)


def _reference(owner: Manifest) -> Manifest:
    kind = POD_OWNERS[owner["kind"]]
    return owner_reference(kind.api_version, kind.name, owner["metadata"])


def _as_pod(owner: Manifest, pod_sets: list[Manifest]) -> Manifest:
    """Give an object as a pod, whose labels count, and the first priority class that its pods name."""
    specs = [each["template"]["spec"] for each in pod_sets]
    named = filter(None, (spec.get("priorityClassName") for spec in specs))
    spec = {"priorityClassName": next(named, "")}
    return {"kind": POD.name, "metadata": owner["metadata"], "spec": spec}
