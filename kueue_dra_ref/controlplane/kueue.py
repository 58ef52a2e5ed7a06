"""Kueue's state while it runs: its configuration, the lines of its queues, who holds quota, and what is still to do.

Kueue: pkg/cache/queue/manager.go (Manager); pkg/cache/scheduler/cache.go (Cache)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kueue_dra_ref.api.cluster_queues import cohort_of
from kueue_dra_ref.api.conditions import drop_condition, is_false
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import Key, PendingWorkloads, WorkloadInfo
from kueue_dra_ref.cache.hierarchy import Hierarchy, build_hierarchy
from kueue_dra_ref.cache.snapshot import ReservedWorkload, Snapshot
from kueue_dra_ref.controlplane.clock import Clock
from kueue_dra_ref.controlplane.informers import Informers
from kueue_dra_ref.controlplane.store import Store, is_deleted
from kueue_dra_ref.controlplane.store_lister import StoreLister
from kueue_dra_ref.controlplane.usage import UsageCache
from kueue_dra_ref.dra.preprocess import asks_for_devices
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.map_order import MapOrder
from kueue_dra_ref.workload.resources import adjusted, told
from kueue_dra_ref.workload.total_requests import demands, explained, in_bytes

SWEEP = 1.0
"""Seconds between a change and the sweep that tries again what was set aside."""


@dataclass(slots=True, kw_only=True)
class ManagedQueue:
    """A LocalQueue that is not stopped: the ClusterQueue it points at, and its workloads that wait."""

    cluster_queue: str
    items: dict[Key, WorkloadInfo] = field(default_factory=dict)


class Kueue:
    """One run of Kueue over a store; a restart is a new one over the same store."""

    def __init__(
        self,
        behaviour: Behaviour,
        configuration: Configuration,
        store: Store,
        clock: Clock,
    ) -> None:
        self.behaviour, self.configuration, self.store, self.clock = (
            behaviour,
            configuration,
            store,
            clock,
        )
        self.informers = Informers(behaviour, store)
        self.lister = StoreLister(store, configuration.mappings)
        self.in_bytes = in_bytes(behaviour, configuration)
        self.usage = UsageCache(self._moved_queue, store.order_of)
        self.pending: dict[str, PendingWorkloads] = {}
        self.local_queues: dict[Key, ManagedQueue] = {}
        self.assigned: dict[Key, Key] = {}
        """The LocalQueue that each Workload has been in; those that were refused at once have been in none."""
        self.derivations: dict[Key, DRAResources] = {}
        self.decisions: dict[Key, tuple[Step, ...]] = {}
        """How the last decision on each Workload came about, from its claims to the verdict."""
        self.to_do: dict[tuple[str, Key], None] = {}
        self.stale: dict[tuple[str, Key], None] = {}
        self._swept: set[tuple[str, str]] = set()
        self._tree: Hierarchy | None = None
        self.moves = 0
        """How often anything has changed that decisions of the scheduler depend on."""
        self.map_order = MapOrder()

    def reconcile(self, kind: str, key: Key) -> None:
        """Put an object on the list of what is to be reconciled."""
        self.to_do[kind, key] = None

    def refresh(self, cluster_queue: str) -> None:
        """The status of a ClusterQueue, and of the LocalQueues that point at it, has to be written anew."""
        self.stale["ClusterQueue", ("", cluster_queue)] = None
        queue = self.store.find("ClusterQueue", cluster_queue)
        if queue is not None and is_deleted(queue):
            self.reconcile("ClusterQueue", ("", cluster_queue))
        for found in self.store.every("LocalQueue"):
            if found["spec"].get("clusterQueue") == cluster_queue:
                self.stale[
                    "LocalQueue",
                    (found["metadata"]["namespace"], found["metadata"]["name"]),
                ] = None

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something after a while, unless Kueue has been restarted by then."""
        self.clock.after(seconds, act)

    def queue_of(self, workload: Manifest) -> tuple[Key, ManagedQueue | None]:
        """The LocalQueue that a Workload names, when Kueue manages it."""
        key = (workload["metadata"]["namespace"], workload["spec"].get("queueName", ""))
        return key, self.local_queues.get(key)

    def enqueue(self, obj: Manifest) -> bool:
        """Put a workload into its LocalQueue and into the line of its ClusterQueue; False when one is missing."""
        queued, (_, managed) = self.assign_to_local_queue(obj), self.queue_of(obj)
        if queued is None or managed is None:
            return False
        queue, line = (
            self.informers.queue(managed.cluster_queue),
            self.pending.get(managed.cluster_queue),
        )
        if queue and line is not None:
            line.push_or_update(queued, best_effort=queue.strategy == "BestEffortFIFO")
        return line is not None

    def assign_to_local_queue(self, obj: Manifest) -> WorkloadInfo | None:
        """Put a workload into its LocalQueue, into no line yet; None when that is missing."""
        key = (obj["metadata"]["namespace"], obj["metadata"]["name"])
        local_queue, managed = self.queue_of(obj)
        self._delete_from_other_queues(key, managed)
        if managed is None:
            return None
        self.assigned[key] = local_queue
        queued = managed.items[key] = self._workload_info(key, obj)
        self.refresh(managed.cluster_queue)
        return queued

    def dequeue(self, key: Key) -> None:
        """Take a workload out of every queue."""
        self._delete_from_other_queues(key, None)

    @property
    def hierarchy(self) -> Hierarchy:
        """The cohort tree, with what is held in it."""
        if self._tree is None:
            queues = [
                queue
                for name in self.informers.names("ClusterQueue")
                if (queue := self.informers.queue(name))
            ]
            cohorts = [
                cohort_of(found)
                for found in self.store.every("Cohort")
                if self.reads_cohorts
            ]
            self._tree = build_hierarchy(
                self.behaviour.cohorts, queues, cohorts, self.usage.used()
            )
        return self._tree

    @property
    def reads_cohorts(self) -> bool:
        """Whether what Cohorts say matters."""
        return any(rule() for rule in self.behaviour.cohorts.reads_cohorts)

    def rebuild_hierarchy(self) -> None:
        """A ClusterQueue or Cohort has changed, so the tree has to be made anew."""
        self._tree = None
        self.moves += 1

    def snapshot(self) -> Snapshot:
        """What a scheduling cycle may look at, and try things out in."""
        queues = (
            self.informers.queue(name)
            for name in self.pending
            if name not in self.hierarchy.looped
        )
        return Snapshot(
            hierarchy=self.hierarchy,
            queues={
                queue.name: queue
                for queue in queues
                if queue and not self.informers.inactive(queue)
            },
            reserved_workloads=self.usage.reservations,
            flavor=self.informers.flavor,
        )

    def notify_retry_inadmissible(self, cluster_queue: str) -> None:
        """Something changed that may let in workloads of a ClusterQueue, or of its cohorts: try them in a second."""
        root = self.hierarchy.root(cluster_queue)
        self._sweep_soon("Cohort" if root else "ClusterQueue", root or cluster_queue)

    def sweep_cohort_later(self, cohort: str) -> None:
        """A cohort has changed: try in a second what waits anywhere in its tree."""
        node = self.hierarchy.cohorts.get(cohort)
        if node is not None:
            self._sweep_soon("Cohort", node.root.name)

    def _sweep_soon(self, kind: str, name: str) -> None:
        if not self.behaviour.sweeps_later:
            self.queue_inadmissible_workloads(kind, name)
        elif (kind, name) not in self._swept:
            self._swept.add((kind, name))
            self.later(SWEEP, lambda: self.queue_inadmissible_workloads(kind, name))

    def patched(self, obj: Manifest, queued: WorkloadInfo | None = None) -> Manifest:
        """The newest version of a Workload, as a copy to be changed and put; what ``queued`` has shed is shed."""
        meta = obj["metadata"]
        found = self.store.find("Workload", meta["name"], meta["namespace"]) or obj
        fresh = {
            **found,
            "metadata": dict(found["metadata"]),
            "status": copied(found.get("status") or {}),
        }
        for kind in ("QuotaReserved", "Requeued") if queued else ():
            assert queued is not None
            if is_false(fresh, kind) and not is_false(queued.obj, kind):
                drop_condition(fresh, kind)
        return fresh

    def queue_inadmissible_workloads(self, kind: str, name: str) -> None:
        self._swept.discard((kind, name))
        for each in self.hierarchy.members(name) if kind == "Cohort" else [name]:
            self._queue_inadmissible_of(each)

    def _queue_inadmissible_of(self, cluster_queue: str) -> None:
        queue, line = (
            self.informers.queue(cluster_queue),
            self.pending.get(cluster_queue),
        )
        if queue and line is not None:
            line.queue_inadmissible(
                lambda queued: self.informers.selects(queue, queued.key[0])
            )

    def _moved_queue(self, hold: ReservedWorkload, sign: int) -> None:
        node = self._tree.queues.get(hold.cluster_queue) if self._tree else None
        for of, amount in hold.amounts.items() if node else ():
            assert node is not None
            node.add_usage(of, amount) if sign > 0 else node.remove_usage(of, amount)
        self.moves += 1

    def _workload_info(self, key: Key, obj: Manifest) -> WorkloadInfo:
        written, around = self.informers.workload(obj), self.lister.surroundings(key[0])
        rules, done = (
            self.behaviour.adjusting,
            self.derivations.get(key, DRAResources()),
        )
        workload = adjusted(rules, around, written)
        reclaimed = {
            r["name"]: r["count"]
            for r in (obj.get("status") or {}).get("reclaimablePods") or ()
        }
        asked = demands(self.behaviour, self.configuration, workload, done, reclaimed)
        return WorkloadInfo(
            key=key,
            obj=obj,
            workload=workload,
            written=written,
            created=self.store.order_of(obj),
            total_requests=asked,
            choices=done.choices,
            steps=(
                *done.steps,
                *told(rules, around, written),
                *explained(self.behaviour, asked, done),
            ),
        )

    def asks_for_devices(self, obj: Manifest) -> bool:
        """Whether a Workload is handled when it is reconciled, because of its devices."""
        return asks_for_devices(
            self.behaviour, self.lister, self.informers.workload(obj)
        )

    def adjusted(self, obj: Manifest) -> Workload:
        """A Workload with what Kueue adds to the requests of its pods."""
        around = self.lister.surroundings(obj["metadata"]["namespace"])
        return adjusted(self.behaviour.adjusting, around, self.informers.workload(obj))

    def _delete_from_other_queues(self, key: Key, keep: ManagedQueue | None) -> None:
        for managed in self.local_queues.values():
            if managed is not keep and key in managed.items:
                del managed.items[key]
                if line := self.pending.get(managed.cluster_queue):
                    line.delete(key)
                self.refresh(managed.cluster_queue)
