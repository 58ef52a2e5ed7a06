"""The state of a running Kueue: its configuration, pending workloads, quota usage, and the objects to reconcile.

Kueue: pkg/cache/queue/manager.go (Manager); pkg/cache/scheduler/cache.go (Cache)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from kueue_dra_ref.api.admission_fair_sharing import weight_of
from kueue_dra_ref.api.cluster_queues import cohort_of
from kueue_dra_ref.api.conditions import is_false, is_true, reason_of, restore_condition
from kueue_dra_ref.api.configuration import Configuration
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.pods import units
from kueue_dra_ref.api.pods_ready import WaitForPodsReady
from kueue_dra_ref.api.types import Workload
from kueue_dra_ref.api.variants import is_parent, is_variant
from kueue_dra_ref.api.workloads import admission_of, local_queue_of, requeue_at
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.cache.cluster_queue import PendingWorkloads, WorkloadInfo
from kueue_dra_ref.cache.hierarchy import Hierarchy, build_hierarchy
from kueue_dra_ref.cache.snapshot import ReservedWorkload, Snapshot
from kueue_dra_ref.cache.topology_tree import TopologyTree, use_nodes
from kueue_dra_ref.cache.usage_ledger import UsageEntry, UsageLedger
from kueue_dra_ref.controlplane.clock import Clock, seconds_of, since
from kueue_dra_ref.controlplane.consumed import continued, history_of
from kueue_dra_ref.controlplane.informers import Informers
from kueue_dra_ref.controlplane.store import Store, is_deleted, key_of
from kueue_dra_ref.controlplane.store_lister import StoreLister
from kueue_dra_ref.controlplane.timeouts import Object, Timeouts
from kueue_dra_ref.controlplane.usage import UsageCache, reclaimable_pods
from kueue_dra_ref.dra.preprocess import asks_for_devices
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.creation_order import ordered_by
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.dra_resources import DRAResources
from kueue_dra_ref.workload.map_order import MapOrder
from kueue_dra_ref.workload.resources import adjust_resources
from kueue_dra_ref.workload.resources_trace import adjustment_steps
from kueue_dra_ref.workload.total_requests import (
    in_bytes,
    total_requests,
)
from kueue_dra_ref.workload.total_requests_trace import total_request_steps

REQUEUE_BATCH_PERIOD = 1.0
"""Seconds between a change and the requeue of the inadmissible workloads that it may help."""


class ToDo(OrderedDict[Object, None]):
    """Objects to reconcile, each once; taking the first takes the same time for any number, unlike in a dict."""


@dataclass(slots=True, kw_only=True)
class ManagedQueue:
    """A LocalQueue that is not stopped: the ClusterQueue that it points at, and its pending workloads."""

    cluster_queue: str
    items: dict[Key, WorkloadInfo] = field(default_factory=dict)


class Kueue:
    """One run of Kueue over a store; a restart is a new one over the same store."""

    continues: bool
    """Whether it goes on from the objects of a running cluster, instead of starting there."""
    assigned: dict[Key, Key]
    """The last LocalQueue of each Workload; a Workload that was inadmissible from the start has none."""
    checks_when_queued: dict[Key, Sequence[Manifest]]
    """The checks that Workloads have lost since they were queued for the next cycle."""
    just_queued: set[Key]
    """The Workloads that were queued since the last cycle."""
    moves: object
    """Another object after each change that decisions of the scheduler depend on."""
    _hierarchy: Hierarchy | None = None

    def __init__(
        self,
        behaviour: Behaviour,
        configuration: Configuration,
        store: Store,
        clock: Clock,
        *,
        continues: bool = False,
    ) -> None:
        self.continues = continues
        self.behaviour = behaviour
        self.configuration = configuration
        self.store = store
        self.clock = clock
        self.informers = Informers(behaviour, store)
        self.lister = StoreLister(store, configuration)
        self.in_bytes = in_bytes(behaviour, configuration)
        self.usage = UsageCache(self._update_usage, self.order_of, self._of_pods)
        self.pending: dict[str, PendingWorkloads] = {}
        self.local_queues: dict[Key, ManagedQueue] = {}
        self.assigned = {}
        self.derivations: dict[Key, DRAResources] = {}
        self.decisions: dict[Key, tuple[Step, ...]] = {}
        """The steps that led to the last decision on each Workload."""
        self.checks_when_queued = {}
        self.just_queued = set()
        self.timeouts = Timeouts(began=clock.seconds)
        self.to_do = ToDo()
        self.stale: dict[Object, None] = {}
        self._requeues: set[tuple[str, str]] = set()
        """The cohort trees and ClusterQueues whose inadmissible workloads are due to be requeued."""
        self.moves = object()
        self.map_order = MapOrder(orders=behaviour.random_map_order)
        self.ledger = self._new_ledger()

    def _new_ledger(self) -> UsageLedger | None:
        """Keep the usage of LocalQueues if the Configuration asks for it."""
        settings = self.configuration.admission_fair_sharing
        rules = self.behaviour.sharing
        if settings is None or not rules.sample():
            return None
        return UsageLedger(rules, settings, self._begin_usage)

    def _begin_usage(self, local_queue: Key) -> UsageEntry:
        found = self.store.get("LocalQueue", local_queue)
        history = history_of(self.usage, local_queue, found)
        if self.continues:
            return continued(history, self.clock.seconds)
        consumed = self.behaviour.sharing.history.or_else({}, history)
        return UsageEntry(consumed=consumed, updated=self.clock.seconds)

    def local_queue_usage(self, local_queue: Key) -> float:
        """Give the usage of a LocalQueue by which a ClusterQueue orders workloads."""
        assert self.ledger is not None
        found = self.store.get("LocalQueue", local_queue)
        return self.ledger.usage(local_queue, weight_of(found))

    def orders_by_usage(self, cluster_queue: str) -> bool:
        """Whether a ClusterQueue orders workloads by the usage of their LocalQueues."""
        queue = self.informers.queue(cluster_queue)
        if self.ledger is None or queue is None:
            return False
        return self.ledger.rules.usage_based(queue)

    def reconcile(self, kind: str, key: Key) -> None:
        """Add an object to those that are to be reconciled."""
        self.to_do[kind, key] = None

    def reconcile_last(self, kind: str, key: Key) -> None:
        """Add an object to those that are to be reconciled, after all others that are."""
        self.reconcile(kind, key)
        self.to_do.move_to_end((kind, key))

    def refresh(self, cluster_queue: str) -> None:
        """Have the status of a ClusterQueue and of its LocalQueues written again.

        A deleted one goes after the reconciles of workloads: the API server answers the removal of its finalizer later.
        """
        key = ("", cluster_queue)
        self.stale["ClusterQueue", key] = None
        queue = self.store.get("ClusterQueue", key)
        if queue is not None and is_deleted(queue):
            self.reconcile_last("ClusterQueue", key)
        for found in self.store.every("LocalQueue"):
            if found["spec"].get("clusterQueue") == cluster_queue:
                self.stale["LocalQueue", key_of(found)] = None

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something after a delay, unless Kueue has restarted by then."""
        self.clock.after(seconds, act)

    def reconcile_later(self, seconds: float, key: Key, kind: str = "Workload") -> None:
        """Reconcile an object when its timeout, backoff or retention ends, once for each end."""
        until = self.clock.seconds + seconds
        if self.timeouts.note((kind, key), until):
            self.later(seconds, partial(self.reconcile, kind, key))

    def note(self, key: Key, rules: Iterable[Rule[..., Any]], text: str) -> None:
        """Add to the decision on a Workload what follows later, once."""
        step = Step(requirements=cited(rules), text=text)
        steps = (*self.decisions.get(key, ()), step)
        self.decisions[key] = tuple(dict.fromkeys(steps))

    def next_end(self) -> float:
        """Give when the next timeout, backoff or retention ends, in seconds."""
        return self.timeouts.next_end(self.clock.seconds)

    def queue_of(self, workload: Manifest) -> tuple[Key, ManagedQueue | None]:
        """Give the LocalQueue that a Workload names, and its state if Kueue manages it."""
        key = local_queue_of(workload)
        return key, self.local_queues.get(key)

    def cluster_queue_of(self, workload: Manifest) -> str:
        """Name the ClusterQueue of a Workload; empty if Kueue does not manage its LocalQueue."""
        _, managed = self.queue_of(workload)
        return managed.cluster_queue if managed else ""

    def enqueue(self, obj: Manifest, *, released: bool = False) -> bool:
        """Queue a workload in its LocalQueue and ClusterQueue; False when one does not exist.

        One that may not be queued now stays where it is queued already.  A parent of variants gets into its LocalQueue
        when its quota is released.
        """
        if self.behaviour.pods.withheld(obj) or self.behaviour.gating.closed(obj):
            return True
        if not released and self._is_left_out(obj):
            return True
        info = self.assign_to_local_queue(obj)
        if info is None:
            return False
        cluster_queue = self.cluster_queue_of(obj)
        queue = self.informers.queue(cluster_queue)
        pending = self.pending.get(cluster_queue)
        if pending is None:
            return False
        if queue and self.may_be_tried(obj):
            best_effort = queue.strategy == "BestEffortFIFO"
            pending.push_or_update(info, best_effort=best_effort)
            self.just_queued.add(info.key)
        return True

    def assign_to_local_queue(self, obj: Manifest) -> WorkloadInfo | None:
        """Add a workload to its LocalQueue, but not to the ClusterQueue; None when the LocalQueue does not exist."""
        key = key_of(obj)
        local_queue, managed = self.queue_of(obj)
        if not self._stays_when_moved(obj):
            self._delete_from_other_queues(key, managed)
        if managed is None:
            return None
        self.assigned[key] = local_queue
        info = managed.items[key] = self._workload_info(key, obj)
        self.refresh(managed.cluster_queue)
        return info

    def has_variants(self, obj: Manifest) -> bool:
        """Whether a Workload is admitted with one of its variants."""
        return self._makes_variants(obj, self.cluster_queue_of(obj))

    def is_charged(self, obj: Manifest) -> bool:
        """Whether the admission of a Workload takes quota."""
        admission = admission_of(obj)
        queue = admission.get("clusterQueue", "")
        if not self.behaviour.concurrent.not_charged():
            return True
        return not self._makes_variants(obj, queue)

    def may_be_tried(self, obj: Manifest) -> bool:
        """Whether a ClusterQueue tries a Workload that is in one of its LocalQueues, and not its variants instead."""
        return not (is_parent(obj) and self.behaviour.concurrent.not_queued())

    def _is_left_out(self, obj: Manifest) -> bool:
        return self.behaviour.concurrent.not_queued() and self.has_variants(obj)

    def _makes_variants(self, obj: Manifest, cluster_queue: str) -> bool:
        queue = self.store.find("ClusterQueue", cluster_queue)
        if queue is None or is_variant(obj):
            return False
        return self.behaviour.concurrent.enabled(queue)

    def dequeue(self, key: Key) -> None:
        """Delete a workload from all queues."""
        self._delete_from_other_queues(key, None)

    def order_of(self, obj: Manifest) -> int:
        """Give the place of a workload in the order of its queue: that of its creation, or of an eviction."""
        began = seconds_of(obj["metadata"]["creationTimestamp"])
        if is_true(obj, "Evicted") and self._is_late(reason_of(obj, "Evicted")):
            began = since(obj, "Evicted")
        return ordered_by(int(began), self.store.order_of(obj))

    def _is_late(self, reason: str) -> bool:
        """Whether a workload that is evicted for a reason is ordered by the time of that."""
        if self.behaviour.checking.order_by_eviction(reason):
            return True
        rules, waiting = self.behaviour.waiting, self.waiting
        return waiting is not None and rules.order_by_eviction(waiting, reason)

    def backs_off(self, obj: Manifest) -> bool:
        """Whether an evicted workload may not be tried yet."""
        until = requeue_at(obj)
        return bool(until) and seconds_of(until) > self.clock.seconds

    @cached_property
    def waiting(self) -> WaitForPodsReady | None:
        """The settings of waitForPodsReady with the defaults of the release; None if Kueue does not wait for pods."""
        waiting, rules = self.configuration.waiting, self.behaviour.waiting
        if not rules.enabled(waiting):
            return None
        waiting = replace(waiting, timeout=rules.timeout(waiting))
        recovery = rules.recovery_timeout(waiting)
        if recovery is not None and rules.endless(recovery):
            recovery = None
        blocks = rules.blocking(waiting)
        return replace(waiting, recovery_timeout=recovery, block_admission=blocks)

    @property
    def hierarchy(self) -> Hierarchy:
        """The cohort tree, with its usage."""
        if self._hierarchy is None:
            self._hierarchy = self._built_hierarchy()
        return self._hierarchy

    def _built_hierarchy(self) -> Hierarchy:
        informers = self.informers
        named = map(informers.queue, informers.names("ClusterQueue"))
        queues = [queue for queue in named if queue]
        cohorts = []
        if self.reads_cohorts:
            cohorts = [cohort_of(found) for found in self.store.every("Cohort")]
        return build_hierarchy(
            self.behaviour.cohorts,
            queues,
            cohorts,
            self.usage.used(),
        )

    @property
    def reads_cohorts(self) -> bool:
        """Whether the Cohort objects have an effect."""
        return self.behaviour.cohorts.reads_cohorts()

    def note_move(self) -> None:
        """Note a change that decisions of the scheduler depend on."""
        self.moves = object()

    def rebuild_hierarchy(self) -> None:
        """Build the cohort tree again, because a ClusterQueue or Cohort has changed."""
        self._hierarchy = None
        self.note_move()

    def snapshot(self) -> Snapshot:
        """Give what a scheduling cycle sees, and changes tentatively."""
        hierarchy, informers = self.hierarchy, self.informers
        queues = {}
        for name in self.pending:
            queue = informers.queue(name)
            is_looped = name in hierarchy.looped
            if queue and not is_looped and not informers.inactive(queue):
                queues[name] = queue
        return Snapshot(
            hierarchy=hierarchy,
            queues=queues,
            reserved_workloads=self.usage.reservations,
            flavor=self.informers.flavor,
            local_queue_usage=self._usage_in_snapshot,
            topologies=self._topologies(),
        )

    def _usage_in_snapshot(self, workload: ReservedWorkload) -> float | None:
        """Give the usage by which a candidate is ordered; None if its ClusterQueue does not order by usage."""
        if not self.orders_by_usage(workload.cluster_queue):
            return None
        return self.local_queue_usage(workload.local_queue)

    def _topologies(self) -> dict[str, TopologyTree]:
        """Give the nodes of each flavor with a topology, and what Workloads use of them."""
        trees = self.informers.topologies()
        if not trees:
            return trees
        shares = self.behaviour.topology.share_nodes()
        for queue in self.pending:
            for workload in self.usage.reservations(queue):
                for placed in workload.placed:
                    use_nodes(trees, placed, shares=shares)
        return trees

    def _of_pods(self, obj: Manifest) -> Mapping[str, Mapping[str, int]]:
        """Give what one pod of each pod set requests of its node, unless that is what the quota charges."""
        if self.behaviour.topology.use_charged():
            return {}
        found = {}
        for pod_set in self.adjusted(obj).pod_sets:
            requests = pod_set.requests
            found[pod_set.name] = {
                name: units(name, requests[name]) for name in requests
            }
        return found

    def notify_retry_inadmissible(self, cluster_queue: str) -> None:
        """Requeue the inadmissible workloads of a ClusterQueue and of its cohort tree, with the next batch."""
        root = self.hierarchy.root(cluster_queue)
        if root:
            self._requeue_later("Cohort", root)
        else:
            self._requeue_later("ClusterQueue", cluster_queue)

    def queue_cohort_later(self, cohort: str) -> None:
        """Requeue the inadmissible workloads of a cohort's whole tree, with the next batch."""
        node = self.hierarchy.cohorts.get(cohort)
        if node is not None:
            self._requeue_later("Cohort", node.root.name)

    def _requeue_later(self, kind: str, name: str) -> None:
        if not self.behaviour.batches_requeues:
            self.queue_inadmissible_workloads(kind, name)
        elif (kind, name) not in self._requeues:
            self._requeues.add((kind, name))
            requeue = partial(self.queue_inadmissible_workloads, kind, name)
            self.later(REQUEUE_BATCH_PERIOD, requeue)

    def patched(self, obj: Manifest, info: WorkloadInfo | None = None) -> Manifest:
        """Copy the newest version of a Workload for an update, with the conditions that ``info`` was queued with."""
        found = self.store.get("Workload", key_of(obj)) or obj
        working = {
            **found,
            "metadata": dict(found["metadata"]),
            "status": copied(status_of(found)),
        }
        if info is not None:
            _restore_conditions(working, info.obj)
        return working

    def queue_inadmissible_workloads(self, kind: str, name: str) -> None:
        """Requeue the inadmissible workloads of a ClusterQueue, or of a cohort tree."""
        self._requeues.discard((kind, name))
        if kind == "ClusterQueue":
            self._queue_inadmissible_of(name)
            return
        for member in self.hierarchy.members(name):
            self._queue_inadmissible_of(member)

    def _queue_inadmissible_of(self, cluster_queue: str) -> None:
        queue = self.informers.queue(cluster_queue)
        pending = self.pending.get(cluster_queue)
        if queue is None or pending is None:
            return

        def is_selected(info: WorkloadInfo) -> bool:
            return self.informers.selects(queue, info.key[0])

        pending.queue_inadmissible(is_selected)

    def _update_usage(self, reserved: ReservedWorkload, sign: int) -> None:
        """Add a reservation to the cohort tree (1), or remove it (-1)."""
        self.note_move()
        node = self.hierarchy.queues.get(reserved.cluster_queue)
        if node is None:
            return
        change = node.add_usage if sign == 1 else node.remove_usage
        for flavor_resource, amount in reserved.amounts.items():
            change(flavor_resource, amount)

    def _workload_info(self, key: Key, obj: Manifest) -> WorkloadInfo:
        """Compute the requests of a workload: its adjusted pods and what its devices charge."""
        rules = self.behaviour.adjusting
        written = self.informers.workload(obj)
        limits = self.lister.namespace_limits(key[0])
        resources = self.derivations.get(key, _NO_DEVICES)
        workload = adjust_resources(rules, limits, written)
        reclaimable = reclaimable_pods(obj)
        requests = total_requests(
            self.behaviour, self.configuration, workload, resources, reclaimable
        )
        steps = (
            *resources.steps,
            *adjustment_steps(rules, limits, written),
            *total_request_steps(self.behaviour, requests, resources),
        )
        return WorkloadInfo(
            key=key,
            obj=obj,
            workload=workload,
            written=written,
            created=self.order_of(obj),
            backs_off=self.backs_off,
            total_requests=requests,
            choices=resources.choices,
            steps=steps,
        )

    def asks_for_devices(self, obj: Manifest) -> bool:
        """Whether a Workload requests devices, so that Kueue queues it when it reconciles it."""
        workload = self.informers.workload(obj)
        return asks_for_devices(self.behaviour, self.lister, workload)

    def adjusted(self, obj: Manifest) -> Workload:
        """Give a Workload with what Kueue adds to the requests of its pods."""
        namespace = obj["metadata"]["namespace"]
        limits = self.lister.namespace_limits(namespace)
        workload = self.informers.workload(obj)
        return adjust_resources(self.behaviour.adjusting, limits, workload)

    def _stays_when_moved(self, obj: Manifest) -> bool:
        """Whether a Workload stays in the queue that it leaves; its devices are looked at where that may be."""
        keep = self.behaviour.queueing.keep_when_moved
        return bool(keep) and keep(self.asks_for_devices(obj))

    def _delete_from_other_queues(self, key: Key, keep: ManagedQueue | None) -> None:
        for managed in self.local_queues.values():
            if managed is keep or key not in managed.items:
                continue
            del managed.items[key]
            pending = self.pending.get(managed.cluster_queue)
            if pending:
                pending.delete(key)
            self.refresh(managed.cluster_queue)


_NO_DEVICES = DRAResources()


def _restore_conditions(working: Manifest, queued: Manifest) -> None:
    """Give a workload the conditions that it had when it was queued, where it has been found inadmissible since then.

    The patch of an admission applies all conditions of the version that was queued.

    Kueue: pkg/workload/patching/patching.go (PatchAdmissionStatus)
    """
    for kind in ("QuotaReserved", "Requeued"):
        if is_false(working, kind) and not is_false(queued, kind):
            restore_condition(working, kind, queued)
