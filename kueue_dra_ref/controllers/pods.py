"""Kueue's Pod controller: it creates a Workload for each pod or group of pods, and gates the pods until admission.

Kueue: pkg/controller/jobframework/reconciler.go (ReconcileGenericJob, ensureOneWorkload);
    pkg/controller/jobs/pod/pod_controller.go (Reconciler, Run, Stop, Finalize);
    pkg/controller/jobs/pod/event_handlers.go (reconcileRequestForPod, workloadHandler)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from kueue_dra_ref.api.conditions import condition, is_true, set_condition
from kueue_dra_ref.api.job_kinds import POD, is_ready
from kueue_dra_ref.api.metadata import labels_of, owners_of
from kueue_dra_ref.api.ownership import owner_reference
from kueue_dra_ref.api.queued_pods import (
    INDEX,
    IS_GROUP,
    MANAGED,
    has_finalizer,
    is_gated,
    is_held,
    is_leaving,
    is_of_group,
    phase_of,
    without_finalizer,
    without_gates,
)
from kueue_dra_ref.controllers.admission_gates import (
    gates_passed_on,
    pass_on_gates,
)
from kueue_dra_ref.controllers.job import OUT_OF_SYNC, JobReconciler
from kueue_dra_ref.controllers.job_pods import Failed
from kueue_dra_ref.controllers.pod_groups import GroupMatch, GroupMatching, placed
from kueue_dra_ref.controllers.workload_conditions import (
    finish,
    reclaim,
    unset_quota_reservation,
)
from kueue_dra_ref.controllers.workloadpriorityclass import MissingClass
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.pod_group import PodGroup
from kueue_dra_ref.target import Manifest, Ref
from kueue_dra_ref.workload.pod_set_info import PodSetInfo

_OF_GROUP = "group/"
"""The prefix of a group's name in the key that is reconciled; no pod has such a name."""
_WAITING = "WaitingForReplacementPods"
_MISSING = ("PodsFailed", "Some Failed pods need replacement")
_COMPLETE = ("PodsReady", "No pods need replacement")


class PodReconciler(JobReconciler):
    """Reconciles pods, alone and in groups, each with its Workload."""

    def __init__(self, kueue: Kueue) -> None:
        super().__init__(kueue, POD)
        self.pod_rules = kueue.behaviour.pods
        self.matching = GroupMatching(rules=self.pod_rules, store=self.store)
        self._removing: set[str] = set()
        """The UIDs of the Workloads that this controller deletes."""

    def on(self, event: Event) -> None:
        """Reconcile a pod that has changed; the garbage collector removes the Workload of the last one that is gone."""
        pod = event.obj
        name = self._group_of(pod)
        self._collect(pod, name)
        if name:
            self._reconcile_named(event, name)
        elif event.new is not None:
            self.kueue.reconcile(POD.name, event.key)

    def _reconcile_named(self, event: Event, name: str) -> None:
        namespace, _ = event.key
        key = (namespace, f"{_OF_GROUP}{name}")
        self.kueue.reconcile(POD.name, key)

    def on_workload(self, event: Event) -> None:
        """Reconcile the pods whose Workload has changed; delete them if a user deleted it."""
        workload = event.obj
        if is_of_group(workload):
            _, name = event.key
            self._reconcile_named(event, name)
        else:
            super().on_workload(event)
        if event.new is None:
            self._free_name(event, workload)
            self._workload_is_gone(workload)

    def _free_name(self, event: Event, workload: Manifest) -> None:
        """Reconcile the group that a Workload has kept from one of its own, by its name."""
        if self.pod_rules.foreign(workload):
            _, name = event.key
            self._reconcile_named(event, name)

    def _workload_is_gone(self, workload: Manifest) -> None:
        uid = workload["metadata"]["uid"]
        by_user = uid not in self._removing
        self._removing.discard(uid)
        if is_true(workload, "Finished"):
            return
        if self.pod_rules.delete_with_workload(by_user):
            owners = self._owners(workload)
            self._delete(owners)
            self._finalize(owners)

    def _owners(self, workload: Manifest) -> list[Manifest]:
        """Give the pods that own a Workload and exist; a pod may have the name of an owner that is gone."""
        meta = workload["metadata"]
        found = []
        for owner in owners_of(workload):
            pod = self.store.find(POD.name, owner["name"], meta["namespace"])
            if pod is not None and owner["uid"] == pod["metadata"]["uid"]:
                found.append(pod)
        return found

    def _group_of(self, pod: Manifest) -> str:
        return self.pod_rules.group_name.or_else("", pod)

    def _workload_for(self, group: PodGroup) -> Manifest | None:
        if not group.name:
            return self._workload_of(group.first)
        namespace = group.first["metadata"]["namespace"]
        return self.store.find("Workload", group.name, namespace)

    def _collect(self, pod: Manifest, name: str) -> None:
        """Remove a Workload whose pods are all gone, as the garbage collector does when Kueue is idle."""
        group = PodGroup(pods=[pod], name=name)
        workload = self._workload_for(group)
        if workload is None or self._owners(workload):
            return
        owners = owners_of(workload)
        kinds = {owner.get("kind") for owner in owners}
        if kinds != {POD.name}:
            return
        if self.pod_rules.outlive():
            self.kueue.later(0.0, partial(self._remove, workload))
        else:
            self._remove(workload)

    def _remove(self, workload: Manifest) -> None:
        self._removing.add(workload["metadata"]["uid"])
        self.store.remove(Ref.of(workload))

    def _load(self, key: Key) -> PodGroup:
        namespace, name = key
        if not name.startswith(_OF_GROUP):
            pod = self.store.get(POD.name, key)
            alone = pod is not None and not self._group_of(pod)
            return PodGroup(pods=[pod] if pod and alone else [])
        name = name.removeprefix(_OF_GROUP)
        pods = []
        for pod in self.store.every(POD.name):
            if pod["metadata"]["namespace"] != namespace:
                continue
            if self._group_of(pod) == name:
                pods.append(pod)
        return PodGroup(pods=pods, name=name)

    def reconcile(self, key: Key) -> None:
        """Bring a Workload in line with its pods, and the pods in line with their Workload."""
        group = self._load(key)
        if not group.pods or labels_of(group.first).get(MANAGED) != "true":
            return
        if not group.name and is_leaving(group.first):
            self._finalize(group.pods)
            return
        if self.managing.objection(group.first) or self._is_stuck(group):
            return
        try:
            self._reconcile_pods(group)
        except MissingClass:
            self.backoff.failed(key)
        else:
            self.backoff.forget(key)

    def _is_stuck(self, group: PodGroup) -> bool:
        """Whether Kueue fails to compare a group with the Workload that it has."""
        return self.pod_rules.stuck(group) and self._workload_for(group) is not None

    def _reconcile_pods(self, group: PodGroup) -> None:
        workload = self._workload_for(group)
        if self._is_blocked(group, workload):
            self._finalize(group.unusable)
            return
        match = GroupMatch(kept=list(group.pods))
        if workload is not None and group.name:
            match = self.matching.of(group, workload)
        if workload is not None and not self._is_equivalent(group, match, workload):
            self._replace(group, workload)
            return
        if workload is not None and group.name:
            self._settle_members(match, workload)
            if self._report_absent(match.absent, workload):
                return
        kept = PodGroup(
            pods=match.kept,
            name=group.name,
        )
        self._reconcile_group(kept, workload)

    def _is_blocked(self, group: PodGroup, workload: Manifest | None) -> bool:
        """Whether a Workload that is not of a group has its name."""
        if workload is None or not group.name or group.is_prebuilt:
            return False
        return self.pod_rules.foreign(workload)

    def _is_equivalent(
        self, group: PodGroup, match: GroupMatch, workload: Manifest
    ) -> bool:
        if not group.name and is_true(workload, "Finished"):
            return True
        if self.limits.differs(group.first, workload):
            return False
        if group.name:
            return self.matching.is_equivalent(match.kept, workload)
        pod_sets = self._pod_sets_of(group)
        admitted = is_true(workload, "Admitted")
        written = workload["spec"]["podSets"]
        return not self.rules.not_equivalent(pod_sets, written, admitted)

    def _replace(self, group: PodGroup, workload: Manifest) -> None:
        """Update a Workload that does not match its pods and holds no quota; otherwise delete it, and pods that run."""
        if self.pod_rules.unmatched(group):
            finish(self.kueue, workload, *OUT_OF_SYNC)
            return
        if group.is_held and not is_true(workload, "QuotaReserved"):
            pod_sets = self._pod_sets_of(group)
            if pod_sets and not self._is_incomplete(group):
                self._update(workload, self._spec_of(group))
            return
        self._stop_pods(group)
        self._remove(workload)

    def _settle_members(self, match: GroupMatch, workload: Manifest) -> None:
        """Make every pod of a group own its Workload, delete what is too much, and let go of what is replaced."""
        owners = list(owners_of(workload))
        known = {owner.get("uid") for owner in owners}
        added = [pod for pod in match.kept if pod["metadata"]["uid"] not in known]
        if added:
            working = self.kueue.patched(workload)
            owners += map(_owner_reference, added)
            working["metadata"]["ownerReferences"] = owners
            self.store.put(working)
        self._finalize(match.excess)
        self._delete(match.excess)
        self._finalize(match.replaced)

    def _report_absent(self, absent: int, workload: Manifest) -> Manifest | None:
        """Report whether a group waits for other pods; give the Workload if that has changed."""
        found = condition(workload, _WAITING)
        if found is None and not absent:
            return None
        reason, message = _MISSING if absent else _COMPLETE
        evicted = condition(workload, "Evicted")
        if absent and evicted and evicted["status"] == "True":
            reason, message = evicted["reason"], evicted["message"]
        elif found is not None and (found["status"] == "True") is bool(absent):
            return None
        working = self.kueue.patched(workload)
        now = self.kueue.clock.now
        if not set_condition(working, _WAITING, bool(absent), reason, message, now):
            return None
        return self.store.put(working)

    def _reconcile_group(self, group: PodGroup, workload: Manifest | None) -> None:
        if workload is not None and is_true(workload, "Finished"):
            self._finalize(group.pods)
            return
        finished = self.pod_rules.finished(group)
        if finished:
            if workload is not None:
                finish(self.kueue, workload, *finished)
            self._finalize(group.pods)
        elif workload is None:
            self._create_for(group)
        else:
            self._sync_group(group, workload)

    def _sync_group(self, group: PodGroup, workload: Manifest) -> None:
        """Bring pods and their equivalent Workload in line, one change at a time."""
        if self._pass_on_gates(group, workload):
            return
        if self.priorities.follow(group.first, workload):
            return
        if self._reclaim_pods(group, workload):
            return
        self.pods_ready.sync(workload, self._is_ready(group))
        if is_true(workload, "Evicted"):
            self._evict_pods(group, workload)
            self._expire_pods(group, workload)
        else:
            self._follow_admission(group, workload)

    def _pass_on_gates(self, group: PodGroup, workload: Manifest) -> bool:
        """Give a Workload the admission gates of its pods; True if it had others. What was made first has its own."""
        if group.is_prebuilt or group.is_made:
            return False
        return pass_on_gates(self.kueue, group.first, workload)

    def _is_ready(self, group: PodGroup) -> bool:
        """Whether all pods are there and ready."""
        complete = self.kueue.behaviour.waiting.group_is_complete
        if group.name and not complete(len(group.pods), group.total):
            return False
        return all(map(is_ready, group.pods))

    def _follow_admission(self, group: PodGroup, workload: Manifest) -> None:
        """Run pods exactly while their Workload is admitted."""
        admitted = is_true(workload, "Admitted")
        if not group.is_held:
            if self.pod_rules.gate(admitted):
                self._stop_pods(group)
        elif self.pod_rules.ungate(admitted):
            failed = self._run(group, workload)
            if failed:
                finish(self.kueue, workload, *failed)
        elif not self.pod_rules.keep_queue(group):
            self._sync_queue(group.first, workload)

    def _reclaim_pods(self, group: PodGroup, workload: Manifest) -> bool:
        """Write how many pods of a group need no quota any more; True when that number has changed."""
        if not group.name:
            return False
        roles = self.matching.roles(group)
        found = self.pod_rules.reclaimable.or_else([], group, roles)
        found.sort(key=lambda each: str(each["name"]))
        return reclaim(self.kueue, workload, found)

    def _evict_pods(self, group: PodGroup, workload: Manifest) -> None:
        """Delete the pods of an evicted Workload that run, and release its quota once none is active.

        The Workload of a group is queued before the group says which pods are missing.
        """
        self._stop_pods(group)
        if not is_true(workload, "QuotaReserved"):
            return
        current = self._current(group)
        if group.name and any(map(_is_active, current)):
            return
        unset_quota_reservation(self.kueue, self.kueue.patched(workload))
        self.kueue.reconcile_last(POD.name, _reconcile_key(group))

    def _expire_pods(self, group: PodGroup, workload: Manifest) -> None:
        """Delete pods that Kueue has deactivated and that have been kept for long enough, and let go of them."""
        if self.retention.is_expired(workload, POD.name, _reconcile_key(group)):
            self._delete(group.pods)
            self._finalize(group.pods)

    def _current(self, group: PodGroup) -> list[Manifest]:
        """Give the pods of a group as they are stored now."""
        found = []
        for pod in group.pods:
            meta = pod["metadata"]
            stored = self.store.find(POD.name, meta["name"], meta["namespace"])
            if stored is not None:
                found.append(stored)
        return found

    def _create_for(self, group: PodGroup) -> None:
        """Create the Workload of pods; pods that run without one are deleted first."""
        if not group.is_held and self._stop_pods(group):
            return
        if group.name:
            self._finalize(group.unusable)
            group = self._within_total(group)
        if self._is_incomplete(group) or not self._pod_sets_of(group):
            return
        if group.name:
            self._create_of_group(group)
        else:
            self._create_workload(group.first, self._spec_of(group))

    def _is_incomplete(self, group: PodGroup) -> bool:
        return bool(group.name) and self.pod_rules.incomplete(group)

    def _within_total(self, group: PodGroup) -> PodGroup:
        """Delete the pods of a group beyond those that it announces, and give the others."""
        usable = len(group.usable)
        excess = sum(self.pod_rules.excess(usable, group.total))
        if not excess:
            return group
        surplus = group.usable[-excess:]
        self._finalize(surplus)
        self._delete(surplus)
        left = [pod for pod in group.pods if pod not in surplus]
        return PodGroup(
            pods=left,
            name=group.name,
        )

    def _create_of_group(self, group: PodGroup) -> None:
        """Create the Workload of a group, which all its pods own."""
        namespace = group.first["metadata"]["namespace"]
        meta = {
            "name": group.name,
            "namespace": namespace,
            "annotations": {
                IS_GROUP: "true",
                **gates_passed_on(self.kueue, group.first),
            },
            "ownerReferences": list(map(_owner_reference, group.pods)),
        }
        workload = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": meta,
            "spec": self._spec_of(group),
        }
        if self._is_accepted(workload):
            self.store.put(workload)

    def _pod_sets_of(self, group: PodGroup) -> list[Manifest]:
        if not group.name:
            return self.pod_rules.pod_sets.or_else([], group)
        roles = self.matching.roles(group)
        return self.pod_rules.group_pod_sets.or_else([], group, roles)

    def _spec_of(self, group: PodGroup) -> Manifest:
        pod_sets = []
        for pod_set in self._pod_sets_of(group):
            pod = self.matching.first_of(group, pod_set["name"])
            pod_sets.append(placed(self.pod_rules, pod_set, pod, INDEX))
        return {**self._spec(group.first), "podSets": pod_sets}

    def _run(self, group: PodGroup, workload: Manifest) -> Failed | None:
        """Remove the gates of pods, and send each to the nodes of the flavors of its pod set."""
        for pod in filter(is_gated, group.usable):
            assignment = self._assignment_of(pod, group, workload)
            info = self.pods.info(pod, assignment, workload)
            if not isinstance(info, PodSetInfo):
                return info
            ungated = without_gates(pod)
            info.add_to(ungated)
            self.store.put(ungated)
        return None

    def _assignment_of(
        self, pod: Manifest, group: PodGroup, workload: Manifest
    ) -> Manifest:
        """Give the assignment of the pod set of a pod; in a group that does not match its Workload none is run."""
        assignments = workload["status"]["admission"]["podSetAssignments"]
        if group.name:
            by_role = {each["name"]: each for each in assignments}
            return dict(by_role[self.matching.role(pod)])
        alone, *_ = assignments
        return dict(alone)

    def _stop_pods(self, group: PodGroup) -> bool:
        """Delete the pods that run, and say whether there were some."""
        running = []
        for pod in group.pods:
            if not is_leaving(pod) and self.pod_rules.delete_running(is_held(pod)):
                running.append(pod)
        self._delete(running)
        return bool(running)

    def _delete(self, pods: Iterable[Manifest]) -> None:
        for pod in pods:
            self.store.remove(Ref.of(pod))

    def _finalize(self, pods: Iterable[Manifest]) -> None:
        """Let go of pods that are over, so that they can be deleted."""
        for pod in pods:
            meta = pod["metadata"]
            stored = self.store.find(POD.name, meta["name"], meta["namespace"])
            if stored is not None and has_finalizer(stored):
                self.store.put(without_finalizer(stored))


def _reconcile_key(group: PodGroup) -> Key:
    """Give the key by which a group is reconciled, or a pod that is in none."""
    namespace, name = key_of(group.first)
    return namespace, f"{_OF_GROUP}{group.name}" if group.name else name


def _owner_reference(pod: Manifest) -> Manifest:
    return owner_reference(POD.api_version, POD.name, pod["metadata"])


def _is_active(pod: Manifest) -> bool:
    """Whether a pod runs; one that was deleted without a node is gone as soon as Kueue has seen it."""
    return phase_of(pod) == "Running" and not is_leaving(pod)
