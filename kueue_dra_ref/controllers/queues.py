"""The queue controllers: they keep the pending workloads of each queue, and requeue inadmissible ones.

Kueue: pkg/controller/core/clusterqueue_controller.go (ClusterQueueReconciler);
    pkg/controller/core/localqueue_controller.go (LocalQueueReconciler);
    pkg/controller/core/cohort_controller.go (CohortReconciler);
    pkg/cache/queue/inadmissible_workloads.go (NotifyRetryInadmissible, queueInadmissibleWorkloads)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.workloads import is_active, local_queue_of
from kueue_dra_ref.cache.cluster_queue import PendingWorkloads
from kueue_dra_ref.controllers.local_queue_usage import LocalQueueUsage
from kueue_dra_ref.controlplane.informers import namespace_labels, stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue, ManagedQueue
from kueue_dra_ref.controlplane.store import Event, is_deleted, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.queue.retries import FlavorChange
from kueue_dra_ref.target import Manifest


class QueueControllers:
    """Follows ClusterQueues, LocalQueues, ResourceFlavors, AdmissionChecks, ResourceSlices and Namespaces."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.sharing = LocalQueueUsage(kueue)

    def on_cluster_queue(self, event: Event) -> None:
        """Add, update or remove the queue of a ClusterQueue."""
        kueue = self.kueue
        name = event.key[1]
        kueue.rebuild_hierarchy()
        kueue.informers.note_cluster_queue(name)
        if _is_terminating(event):
            self._reconcile_pending(name)
            kueue.refresh(name)
            return
        if event.new is None:
            kueue.pending.pop(name, None)
        elif event.old is None:
            self._activate(name)
        kueue.notify_retry_inadmissible(name)
        if _stop_policy_changed(event) or _checks_changed(event):
            self._reconcile_pending(name)
        kueue.refresh(name)

    def on_status(self, event: Event) -> None:
        """Requeue the tree of a nested cohort after any change of a ClusterQueue, even of its status.

        Kueue then reconciles the cohorts between the ClusterQueue and the root, and each reconcile requeues the whole
        tree, as if the cohort itself had changed.  A flat cohort has none in between.
        """
        parent = event.obj["spec"].get("cohortName", "")
        cohorts = self.kueue.hierarchy.cohorts
        cohort = cohorts.get(parent)
        if cohort is None:
            return
        rules = self.kueue.behaviour.cohorts
        for each in (cohort, *cohort.path_parent_to_root()):
            is_root = each.name == cohort.root.name
            if rules.requeue_tree(is_root) and self.store.find("Cohort", each.name):
                self.kueue.queue_cohort_later(each.name)
                self._refresh_share(each.name)

    def on_cohort(self, event: Event) -> None:
        """Requeue the whole tree of a cohort that was created or changed."""
        if not self.kueue.reads_cohorts:
            return
        self.kueue.rebuild_hierarchy()
        if event.new is not None:
            _, cohort = event.key
            self.kueue.queue_cohort_later(cohort)
        for name in self.kueue.hierarchy.cohorts:
            self._refresh_share(name)

    def _refresh_share(self, cohort: str) -> None:
        """Have the fair share of a cohort written, which is none without fair sharing."""
        key = ("", cohort)
        self.kueue.stale["Cohort", key] = None

    def on_local_queue(self, event: Event) -> None:
        """Manage a LocalQueue that is not stopped."""
        kueue = self.kueue
        key, found = event.key, event.new
        if found is None:
            self.sharing.forget(key)
        if found is None or stop_policy(found) != "None":
            self._remove(key)
        elif key not in kueue.local_queues:
            self._manage(key, found)
        else:
            self._point_local_queue(key, _cluster_queue_of(found))
        if _stop_policy_changed(event):
            self._reconcile_workloads(key)
        for obj in (event.old, event.new):
            if obj is not None:
                kueue.refresh(_cluster_queue_of(obj))
        kueue.stale["LocalQueue", key] = None

    def on_flavor(self, event: Event) -> None:
        """Requeue the workloads of the ClusterQueues that get active by a flavor, or that use one that has changed."""
        kueue = self.kueue
        name = event.key[1]
        woken = kueue.informers.note_flavor(name)
        if _is_terminating(event):
            return
        kueue.note_move()
        change = FlavorChange(old=event.old, new=event.new)
        is_retried = kueue.behaviour.queueing.retry_with_flavor(change)
        for queue in kueue.informers.cluster_queues_using(name):
            if is_retried or queue in woken:
                kueue.notify_retry_inadmissible(queue)
            kueue.refresh(queue)

    def on_admission_check(self, event: Event) -> None:
        """Requeue the workloads of the ClusterQueues that get active by an AdmissionCheck."""
        kueue = self.kueue
        for queue in kueue.informers.update_cluster_queues():
            kueue.notify_retry_inadmissible(queue)
        for queue in kueue.informers.cluster_queues_checked_by(event.key[1]):
            kueue.refresh(queue)

    def on_slice(self, event: Event) -> None:
        """Requeue inadmissible workloads when a watched driver publishes other devices."""
        kueue = self.kueue
        rules = kueue.behaviour.processing.sourcing
        mappings = kueue.configuration.mappings
        watched = set(rules.watched_drivers(mappings))
        before = _spec_of(event.old).get("driver")
        after = _spec_of(event.new).get("driver")
        if watched.isdisjoint({before, after}):
            return
        resources = rules.retried_resources(mappings)
        for name in kueue.pending:
            if not rules.retried_resources or self._covers(name, resources):
                kueue.notify_retry_inadmissible(name)

    def _covers(self, cluster_queue: str, resources: Iterable[str]) -> bool:
        """Whether a ClusterQueue covers one of some resources."""
        queue = self.kueue.informers.queue(cluster_queue)
        groups = queue.groups if queue else ()
        covered = set[str]()
        for group in groups:
            covered.update(group.covered)
        return not covered.isdisjoint(resources)

    def on_namespace(self, event: Event) -> None:
        """Requeue the inadmissible workloads of the ClusterQueues that select a namespace by its new labels."""
        old, new = event.old, event.new
        if old is None or new is None:
            return
        before = namespace_labels(old)
        after = namespace_labels(new)
        for name in list(self.kueue.pending):
            queue = self.kueue.informers.queue(name)
            selector = queue.namespace_selector if queue else None
            if selector is None or not selects(selector, after):
                continue
            if not selects(selector, before):
                self.kueue.notify_retry_inadmissible(name)

    def _activate(self, name: str) -> None:
        """Queue the workloads of the LocalQueues that point at a new ClusterQueue."""
        kueue = self.kueue
        pending = PendingWorkloads(kueue.behaviour.queueing)
        if kueue.ledger is not None and kueue.orders_by_usage(name):
            pending.order_by_usage(kueue.ledger.rules.order, kueue.local_queue_usage)
        kueue.pending.setdefault(name, pending)
        for managed in kueue.local_queues.values():
            if managed.cluster_queue == name:
                self._add_to_cluster_queue(managed)

    def _manage(self, key: Key, found: Manifest) -> None:
        """Queue the pending workloads of a new LocalQueue, or of one that runs again."""
        kueue = self.kueue
        name = _cluster_queue_of(found)
        managed = ManagedQueue(cluster_queue=name)
        kueue.local_queues[key] = managed
        for workload in self._workloads_in(key):
            workload_key = key_of(workload)
            kueue.assigned[workload_key] = key
            if not self._is_pending(workload):
                continue
            if kueue.asks_for_devices(workload):
                kueue.reconcile("Workload", workload_key)
            else:
                kueue.assign_to_local_queue(workload)
        self._add_to_cluster_queue(managed)

    def _point_local_queue(self, key: Key, cluster_queue: str) -> None:
        """Move the pending workloads of a LocalQueue from one ClusterQueue to another."""
        kueue = self.kueue
        managed = kueue.local_queues[key]
        if managed.cluster_queue == cluster_queue:
            return
        before = kueue.pending.get(managed.cluster_queue)
        if before is not None:
            for item in managed.items:
                before.delete(item)
        managed.cluster_queue = cluster_queue
        self._add_to_cluster_queue(managed)

    def _add_to_cluster_queue(self, managed: ManagedQueue) -> None:
        """Add the workloads of a LocalQueue to its ClusterQueue, if that exists."""
        pending = self.kueue.pending.get(managed.cluster_queue)
        if pending is None:
            return
        tried = []
        for info in managed.items.values():
            if self.kueue.may_be_tried(info.obj):
                tried.append(info)
        pending.add_from_local_queue(tried, continues=self.kueue.continues)

    def _is_pending(self, workload: Manifest) -> bool:
        if not is_active(workload) or is_true(workload, "QuotaReserved"):
            return False
        finished = is_true(workload, "Finished")
        rules = self.kueue.behaviour.queueing
        return not rules.skip_on_local_queue_add(finished)

    def _remove(self, key: Key) -> None:
        if key in self.kueue.local_queues:
            self._point_local_queue(key, "")
            del self.kueue.local_queues[key]

    def _reconcile_pending(self, cluster_queue: str) -> None:
        """Reconcile the workloads of all LocalQueues that point at a ClusterQueue."""
        for queue in self.store.every("LocalQueue"):
            if _cluster_queue_of(queue) == cluster_queue:
                self._reconcile_workloads(key_of(queue))

    def _reconcile_workloads(self, local_queue: Key) -> None:
        for workload in self._workloads_in(local_queue):
            self.kueue.reconcile("Workload", key_of(workload))

    def _workloads_in(self, local_queue: Key) -> Iterator[Manifest]:
        for workload in self.store.every("Workload"):
            if local_queue_of(workload) == local_queue:
                yield workload


def _is_terminating(event: Event) -> bool:
    """Whether an object changed that is deleted, but still has finalizers."""
    old, new = event.old, event.new
    if old is None or new is None:
        return False
    return is_deleted(new)


def _stop_policy_changed(event: Event) -> bool:
    before, after = event.old, event.new
    if before is None or after is None:
        return True
    return stop_policy(before) != stop_policy(after)


def _checks_changed(event: Event) -> bool:
    """Whether a ClusterQueue names other admission checks, or has other flavors."""
    key = "admissionChecksStrategy"
    return _spec_of(event.old).get(key) != _spec_of(event.new).get(key)


def _cluster_queue_of(local_queue: Manifest) -> str:
    spec = local_queue["spec"]
    return str(spec.get("clusterQueue", ""))


def _spec_of(obj: Manifest | None) -> Manifest:
    return obj["spec"] if obj else {}
