"""MultiKueue's Workload controller: it copies work to workers, follows the copy that runs, and deletes the others.

Kueue: pkg/controller/admissionchecks/multikueue/workload.go (wlReconciler, reconcileGroup)
"""

from __future__ import annotations

from functools import partial

from kueue_dra_ref.api.admission_checks import (
    ADMISSION_CHECK,
    PENDING,
    READY,
    REJECTED,
    RETRY,
    check_states,
)
from kueue_dra_ref.api.conditions import is_true, message_of, reason_of, set_condition
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.durations import seconds
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.multikueue import (
    MANAGED_BY,
    is_multikueue,
    seconds_in,
    workload_copy,
)
from kueue_dra_ref.controllers.multikueue_clusters import MultiKueueClusters
from kueue_dra_ref.controllers.multikueue_group import Group
from kueue_dra_ref.controllers.workload_conditions import finish
from kueue_dra_ref.controlplane.clock import seconds_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.dispatching import WORKLOAD, LostCopy
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.target import Manifest, Ref

DISPATCHED = "MultiKueueWorkload"
"""What is reconciled here, by the key of a Workload."""
DEFERRED_SYNC = 2.0
"""Seconds until the status of a copy is read again, if the work is suspended on the manager."""
GC_INTERVAL = seconds("1m")
"""Seconds between two searches for copies of deleted Workloads, by default."""
LOST_TIMEOUT = seconds("15m")
"""Seconds after which a lost worker counts as gone, by default."""


class MultiKueueWorkloads:
    """Reconciles the Workloads that a manager dispatches."""

    def __init__(self, kueue: Kueue, clusters: MultiKueueClusters) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.clusters = clusters
        self.rules = kueue.behaviour.dispatching
        document = kueue.configuration.document
        section = document.get("multiKueue") or {}
        self.origin = str(section.get("origin") or "multikueue")
        self.lost_timeout = seconds_in(document, "workerLostTimeout", LOST_TIMEOUT)
        self._gone: dict[Key, Manifest] = {}
        """Deleted Workloads whose copies are to be deleted."""
        self._due: set[tuple[Key, float]] = set()
        """What is to be reconciled after how many seconds."""
        self._unmanaged: set[Key] = set()
        """Workloads to reject, once the scheduler has tried them."""
        clusters.changed = self._again
        clusters.start(seconds_in(document, "gcInterval", GC_INTERVAL))

    def on_workload(self, event: Event) -> None:
        """Reconcile a Workload that has changed; a deleted one is kept until its copies are gone."""
        if event.new is None:
            assert event.old is not None
            self._gone[event.key] = event.old
        self._again(event.key)

    def on_config(self, _: Event) -> None:
        """Reconcile all dispatched Workloads, because the clusters of a check have changed."""
        if not self.rules.follow_config():
            return
        for workload in self.store.every("Workload"):
            self._again(key_of(workload))

    def _again(self, key: Key) -> None:
        self.kueue.reconcile(DISPATCHED, key)

    def _later(self, key: Key, seconds: float) -> None:
        due = (key, seconds)
        if due not in self._due:
            self._due.add(due)
            self.kueue.later(seconds, partial(self._act, due))

    def _act(self, due: tuple[Key, float]) -> None:
        self._due.discard(due)
        key, _ = due
        self._again(key)

    def reconcile(self, key: Key) -> None:
        """Bring the copies of one Workload in line with it, and it in line with the copy that runs."""
        local = self.store.get("Workload", key)
        known = local or self._gone.get(key)
        group = self._group(known) if known else None
        if group is None or group.state["state"] == REJECTED:
            self._gone.pop(key, None)
        elif local is None:
            self._reconcile_deleted(group)
        elif not self._is_rejected(group) and not self._is_idle(group):
            self._reconcile(group)

    def _is_idle(self, group: Group) -> bool:
        connected = len(group.remotes)
        return self.rules.idle(connected)

    def _reconcile_deleted(self, group: Group) -> None:
        if self._is_idle(group):
            return
        self._gone.pop(group.key, None)
        if self.rules.withdraw_deleted():
            group.withdraw_all()

    def _group(self, local: Manifest) -> Group | None:
        """Give a Workload with its copies; None if it has no check of MultiKueue, or belongs to other work."""
        check = self._check(local)
        owners = owners_of(local) or [local]
        owned = [each for each in owners if each["kind"] in (*MANAGED_BY, WORKLOAD)]
        if check is None or not owned:
            return None
        namespace = local["metadata"]["namespace"]
        job = Ref.of({**owned[0], "namespace": namespace})
        remotes = self.clusters.connected(check)
        return Group(
            kueue=self.kueue,
            local=local,
            check=check["metadata"]["name"],
            job=job,
            remotes=remotes,
            lost=set(self.clusters.named_by(check)) - remotes.keys(),
        )

    def _check(self, local: Manifest) -> Manifest | None:
        for state in check_states(local):
            check = self.store.find(ADMISSION_CHECK, state["name"])
            if is_multikueue(check):
                return check
        return None

    def _is_rejected(self, group: Group) -> bool:
        """Reject a Workload whose work MultiKueue does not manage, after the scheduler has tried it; True if it does.

        Kueue's scheduler takes a new Workload from its queue before a check has an answer.
        """
        kind = group.job.kind
        message = self.rules.reject(kind, group.manager)
        if message is None:
            return False
        if group.key in self._unmanaged:
            before = self.rules.rejected.or_else("", group.state["state"])
            group.answer(REJECTED, message + before)
        else:
            self._unmanaged.add(group.key)
            self._later(group.key, 0.0)
        return True

    def _reconcile(self, group: Group) -> None:
        local = group.local
        finished = is_true(local, "Finished")
        reserved = is_true(local, "QuotaReserved")
        if self.rules.withdraw(reserved, finished):
            group.withdraw_all()
        elif reserved:
            self._reconcile_reserved(group)

    def _reconcile_reserved(self, group: Group) -> None:
        if self._follows_end(group) or self._follows_eviction(group):
            return
        self._withdraw_different(group)
        winner = self.rules.winner(group.times())
        if winner is not None:
            self._converge(group, winner)
        elif group.state["state"] == READY:
            self._retry_lost(group)
        else:
            self._dispatch(group)

    def _follows_end(self, group: Group) -> bool:
        """Finish a Workload whose copy is finished, or try again; True if a copy is finished."""
        ended = group.first("Finished")
        if ended is None:
            return False
        copy = group.copies()[ended]
        reason = reason_of(copy, "Finished")
        message = self.rules.retry_ended(reason, ended)
        if message is None:
            group.sync(ended, self.origin)
            finish(self.kueue, group.local, reason, message_of(copy, "Finished"))
        elif group.state["state"] == READY:
            group.answer(RETRY, message)
        return True

    def _follows_eviction(self, group: Group) -> bool:
        """Follow a copy that was evicted; True if that is all there is to do now."""
        evicted = group.first("Evicted")
        if evicted is None:
            return False
        if self._follows_evicted(group, evicted):
            group.sync(evicted, self.origin)
            return True
        if group.state["state"] != READY:
            return False
        message = self.rules.retry_evicted(group.cluster)
        if message is None:
            return False
        group.answer(RETRY, message)
        return True

    def _follows_evicted(self, group: Group, cluster: str) -> bool:
        """Whether an evicted copy is followed; its status tells why it was evicted."""
        copies = group.copies()
        reason = reason_of(copies[cluster], "Evicted")
        evicted = is_true(group.local, "Evicted")
        return self.rules.follow_evicted(evicted, reason)

    def _withdraw_different(self, group: Group) -> None:
        spec = group.local["spec"]
        if self.rules.prioritize():
            group.prioritize()
        for name, copy in group.copies().items():
            if self.rules.differs(spec, copy["spec"]):
                group.withdraw(name)

    def _converge(self, group: Group, winner: str) -> None:
        """Delete the other copies, and follow the one that runs."""
        for name in group.copies():
            if name != winner and self.rules.withdraw_others():
                group.withdraw(name)
        if is_true(group.local, "Evicted"):
            message = message_of(group.local, "Evicted")
            self._evict_copy(group, winner, message)
            return
        if group.is_taken(winner):
            return
        is_deferred = group.sync(winner, self.origin)
        if not group.has_work_on(winner):
            return
        self._later(group.key, DEFERRED_SYNC if is_deferred else self.lost_timeout)
        self._win(group, winner)

    def _win(self, group: Group, winner: str) -> None:
        """Set the check to Ready; the cluster of a Workload that has one does not change."""
        if group.cluster not in ("", winner):
            return
        message = self.rules.won.or_else("", winner)
        state = group.state
        reached = PENDING if self.rules.pend(group.job.kind) else READY
        if (state["state"], state["message"]) == (reached, message):
            return
        working = self.kueue.patched(group.local)
        working["status"]["clusterName"] = winner
        working["status"].pop("nominatedClusterNames", None)
        group.set_state(working, reached, message)
        self.store.put(working)

    def _evict_copy(self, group: Group, cluster: str, message: str) -> None:
        """Deactivate the copy of a Workload that is evicted on the manager."""
        text = self.rules.evict_copy(message)
        if text is None:
            return
        copy = group.copies()[cluster]
        working = {**copy, "status": copied(copy["status"])}
        now, reason = self.kueue.clock.now, "EvictedOnManagerCluster"
        set_condition(working, "DeactivationTarget", True, reason, text, now)
        group.remotes[cluster].store.put(working)

    def _retry_lost(self, group: Group) -> None:
        """Set the check to Retry if no copy is admitted any more, at once or once the worker has been lost for long."""
        cluster = group.cluster
        since = seconds_of(group.state["lastTransitionTime"])
        lost = LostCopy(
            cluster=cluster,
            unavailable=cluster in group.lost,
            lost_for=self.clusters.lost_for(cluster),
            ready_for=self.kueue.clock.seconds - since,
            timeout=self.lost_timeout,
        )
        message = self.rules.retry_lost(lost)
        if message is not None:
            group.answer(RETRY, message)
        else:
            self._later(group.key, self.lost_timeout)

    def _dispatch(self, group: Group) -> None:
        """Create a copy of the Workload on each cluster that gets one."""
        if group.state["state"] != PENDING or self._is_assigned(group):
            return
        ready = group.others_ready
        if self.rules.wait(ready):
            return
        connected = frozenset(group.remotes)
        nominated = self.rules.nominate(connected) or frozenset()
        names = sorted(nominated)
        if not group.cluster:
            self._nominate(group, names)
        missing = nominated - group.copies().keys()
        for name in sorted(missing):
            copy = workload_copy(group.local, self.origin)
            group.remotes[name].create(copy)

    def _is_assigned(self, group: Group) -> bool:
        """Whether a workload has its cluster; one whose check stays Pending may get a copy on a further one."""
        return bool(group.cluster) and not self.rules.pend(group.job.kind)

    def _nominate(self, group: Group, names: list[str]) -> None:
        working = self.kueue.patched(group.local)
        working["status"]["nominatedClusterNames"] = names
        self.store.put(working)
