"""The queue controllers: which lines there are, and when they are swept.

Kueue: pkg/controller/core/clusterqueue_controller.go (ClusterQueueReconciler);
    pkg/controller/core/localqueue_controller.go (LocalQueueReconciler);
    pkg/controller/core/cohort_controller.go (CohortReconciler);
    pkg/cache/queue/inadmissible_workloads.go (NotifyRetryInadmissible, queueInadmissibleWorkloads)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.labels import selects
from kueue_dra_ref.api.workloads import is_active
from kueue_dra_ref.cache.cluster_queue import Key, PendingWorkloads
from kueue_dra_ref.controlplane.informers import labels_of, stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue, ManagedQueue
from kueue_dra_ref.controlplane.store import Event, is_deleted
from kueue_dra_ref.target import Manifest


class QueueControllers:
    """Follows ClusterQueues, LocalQueues, ResourceFlavors, ResourceSlices and Namespaces."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue

    def on_cluster_queue(self, event: Event) -> None:
        """Open, change or close the line of a ClusterQueue."""
        name, kueue = event.key[1], self.kueue
        kueue.rebuild_hierarchy()
        if event.old is not None and event.new is not None and is_deleted(event.new):
            self._reconcile_behind(name)
            kueue.refresh(name)
            return
        if event.new is None:
            kueue.pending.pop(name, None)
        elif event.old is None:
            self._activate(name)
        if event.new is not None and _spec(event.old) != _spec(event.new):
            kueue.notify_retry_inadmissible(name)
        if (
            event.old is None
            or event.new is None
            or stop_policy(event.old) != stop_policy(event.new)
        ):
            self._reconcile_behind(name)
        kueue.refresh(name)

    def on_figures(self, event: Event) -> None:
        """Any change of a ClusterQueue, of its figures too, has Kueue look at the cohorts between it and the root.

        Looking at a cohort sweeps its whole tree, as if the cohort itself had changed; a flat cohort has none between.
        """
        named = next(
            obj["spec"].get("cohortName", "") for obj in (event.new, event.old) if obj
        )
        cohort = self.kueue.hierarchy.cohorts.get(named)
        for each in [cohort, *cohort.path_parent_to_root()][:-1] if cohort else ():
            if self.kueue.store.find("Cohort", each.name):
                self.kueue.sweep_cohort_later(each.name)
                self._show(each.name)

    def on_cohort(self, event: Event) -> None:
        """A cohort that comes or changes lets its whole tree be tried again."""
        if not self.kueue.reads_cohorts:
            return
        self.kueue.rebuild_hierarchy()
        if event.new is not None:
            self.kueue.sweep_cohort_later(event.key[1])
        for name in self.kueue.hierarchy.cohorts:
            self._show(name)

    def _show(self, cohort: str) -> None:
        """Have the share of a cohort written, where there are shares."""
        if self.kueue.configuration.fair_sharing is not None:
            self.kueue.stale["Cohort", ("", cohort)] = None

    def on_local_queue(self, event: Event) -> None:
        """Manage a LocalQueue, or let it go while it is stopped."""
        kueue, key = self.kueue, event.key
        if event.new is None or stop_policy(event.new) != "None":
            self._remove(key)
        elif key not in kueue.local_queues:
            self._manage(key, event.new)
        else:
            self._point_local_queue(key, event.new["spec"].get("clusterQueue", ""))
        if (
            event.old is None
            or event.new is None
            or stop_policy(event.old) != stop_policy(event.new)
        ):
            self._reconcile_workloads(key)
        for obj in filter(None, (event.old, event.new)):
            kueue.refresh(obj["spec"].get("clusterQueue", ""))
        kueue.stale["LocalQueue", key] = None

    def on_flavor(self, event: Event) -> None:
        """A flavor that comes, changes or goes concerns the ClusterQueues that name it."""
        self.kueue.informers.note_flavor(event.key[1])
        if event.old is not None and event.new is not None and is_deleted(event.new):
            return
        self.kueue.moves += 1
        for name in self.kueue.informers.workloads_naming(event.key[1]):
            self.kueue.notify_retry_inadmissible(name)
            self.kueue.refresh(name)

    def on_slice(self, event: Event) -> None:
        """A slice of a driver that is followed lets everything that waits be tried again."""
        followed = self.kueue.behaviour.processing.sourcing.followed
        drivers = {
            driver
            for rule in followed
            for driver in rule(self.kueue.configuration.mappings)
        }
        if any(
            each["spec"].get("driver") in drivers
            for each in (event.old, event.new)
            if each
        ):
            for name in self.kueue.pending:
                self.kueue.notify_retry_inadmissible(name)

    def on_namespace(self, event: Event) -> None:
        """A namespace whose labels come to match a ClusterQueue has its workloads tried again."""
        if event.old is None or event.new is None:
            return
        before, after = labels_of(event.old), labels_of(event.new)
        for name in list(self.kueue.pending):
            queue = self.kueue.informers.queue(name)
            selector = queue.namespace_selector if queue else None
            if (
                selector is not None
                and selects(selector, after)
                and not selects(selector, before)
            ):
                self.kueue.notify_retry_inadmissible(name)

    def _activate(self, name: str) -> None:
        line = self.kueue.pending.setdefault(
            name, PendingWorkloads(self.kueue.behaviour.queueing)
        )
        for managed in self.kueue.local_queues.values():
            if managed.cluster_queue == name:
                line.add_from_local_queue(managed.items.values())

    def _manage(self, key: Key, found: Manifest) -> None:
        managed = self.kueue.local_queues[key] = ManagedQueue(
            cluster_queue=found["spec"].get("clusterQueue", "")
        )
        for workload in self.kueue.store.every("Workload"):
            if (
                workload["metadata"]["namespace"],
                workload["spec"].get("queueName"),
            ) != key:
                continue
            self.kueue.assigned[key[0], workload["metadata"]["name"]] = key
            if not self._waits(workload):
                continue
            if self.kueue.asks_for_devices(workload):
                self.kueue.reconcile("Workload", (key[0], workload["metadata"]["name"]))
            else:
                self.kueue.assign_to_local_queue(workload)
        if (line := self.kueue.pending.get(managed.cluster_queue)) is not None:
            line.add_from_local_queue(managed.items.values())

    def _point_local_queue(self, key: Key, cluster_queue: str) -> None:
        """Take what waits in a LocalQueue from one line to another."""
        managed = self.kueue.local_queues[key]
        if managed.cluster_queue == cluster_queue:
            return
        if (line := self.kueue.pending.get(managed.cluster_queue)) is not None:
            for item in managed.items:
                line.delete(item)
        managed.cluster_queue = cluster_queue
        if (line := self.kueue.pending.get(cluster_queue)) is not None:
            line.add_from_local_queue(managed.items.values())

    def _waits(self, workload: Manifest) -> bool:
        if not is_active(workload) or is_true(workload, "QuotaReserved"):
            return False
        return not any(
            rule(is_true(workload, "Finished"))
            for rule in self.kueue.behaviour.queueing.skip_on_local_queue_add
        )

    def _remove(self, key: Key) -> None:
        if key in self.kueue.local_queues:
            self._point_local_queue(key, "")
            del self.kueue.local_queues[key]

    def _reconcile_behind(self, cluster_queue: str) -> None:
        for queue in self.kueue.store.every("LocalQueue"):
            if queue["spec"].get("clusterQueue") == cluster_queue:
                self._reconcile_workloads(
                    (queue["metadata"]["namespace"], queue["metadata"]["name"])
                )

    def _reconcile_workloads(self, local_queue: Key) -> None:
        for workload in self.kueue.store.every("Workload"):
            meta = workload["metadata"]
            if (meta["namespace"], workload["spec"].get("queueName")) == local_queue:
                self.kueue.reconcile("Workload", (meta["namespace"], meta["name"]))


def _spec(obj: Manifest | None) -> object:
    return (obj or {}).get("spec")
