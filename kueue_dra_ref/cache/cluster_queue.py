"""The pending workloads of a ClusterQueue: a heap in the order of the queue, and the inadmissible workloads.

Kueue: pkg/cache/queue/cluster_queue.go (ClusterQueue, PushOrUpdate, Pop, RequeueIfNotPresent, handleInadmissibleHash,
    preemptorWorkload, backoffWaitingTimeExpired);
    Kueue 0.18: pkg/cache/queue/cluster_queue.go (stickyWorkload)
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kueue_dra_ref.api.conditions import is_false
from kueue_dra_ref.api.deepcopy import without_empty
from kueue_dra_ref.api.pods import SHAPE, ResourceList
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.api.variants import allowed_flavors, has_closed_gate
from kueue_dra_ref.api.workloads import local_queue_of, requeue_at
from kueue_dra_ref.behaviours.phases_scheduling import QueueRules
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.slots import Order
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.rules.queue.pending_workloads import PendingWorkload
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import TotalRequests

Parts = tuple[Any, ...]
Position = tuple[Parts, str]
"""The position of a workload in the order of its ClusterQueue; the UID breaks ties."""

Rank = tuple[Parts, bool, Position]
"""The position in a ClusterQueue that orders by usage: by usage, whether it waits for preemptions, and as without."""

Choices = Mapping[str, tuple[str, ...]]


@dataclass(kw_only=True)
class WorkloadInfo:
    """A pending workload: the object as it was when queued, and its total requests."""

    key: Key
    obj: Manifest
    workload: Workload
    created: int
    total_requests: tuple[TotalRequests, ...]
    backs_off: Callable[[Manifest], bool]
    """Whether it may not be tried yet, by its status."""
    choices: Choices = field(default_factory=dict)
    """Charges whose resource depends on the flavor, with the possible resources of each."""
    written: Workload | None = None
    """The workload without what Kueue adds to the requests of its pods."""
    remembered: Workload | None = None
    """The workload that an update is compared with, if it is not `workload`."""
    is_altered: bool = False
    """Whether the search for a flavor has added requests, so that any later version differs."""
    steps: tuple[Step, ...] = ()
    progress: FlavorScanState | None = None
    """Where the search for flavors stopped in the last cycle of the workload."""
    last_assignment: tuple[Any, Any] = (None, None)
    """The state that the last assignment depends on, and that assignment; it is valid until that state changes."""

    @property
    def may_be_tried(self) -> bool:
        """Whether the workload may be scheduled: its Requeued condition is not False, and it does not back off."""
        return not is_false(self.obj, "Requeued") and not self.backs_off(self.obj)

    @property
    def local_queue(self) -> Key:
        """The LocalQueue that the workload names."""
        return local_queue_of(self.obj)

    @cached_property
    def scheduling_hash(self) -> str:
        """The scheduling equivalence hash: workloads with equal hashes get equal decisions."""
        pod_sets = self.obj["spec"].get("podSets") or ()
        shapes = []
        for written, counted, requests in zip(
            pod_sets, self.workload.pod_sets, self.total_requests, strict=True
        ):
            shapes.append(_shape(written, counted, requests))
        priority = self.workload.priority
        hashed = [priority, shapes, allowed_flavors(self.obj)]
        return json.dumps(hashed, sort_keys=True, default=str)


class PendingWorkloads:
    """The pending workloads of one ClusterQueue; Pop prefers ``sticky_workload``, which waits for its preemptions."""

    def __init__(self, rules: QueueRules) -> None:
        self.heap: dict[Key, WorkloadInfo] = {}
        self.inadmissible: dict[Key, WorkloadInfo] = {}
        self.sticky_workload: Key | None = None
        self._rules = rules
        self._order: list[tuple[Position, Key]] = []
        self._hash_to_reason: dict[str, QuotaReservedReason] = {}
        self.usage: Callable[[Key], float] | None = None
        """Gives the usage of a LocalQueue, if that decides first."""
        self._usage_order: Order[[float]] = Order()

    def order_by_usage(
        self, order: Order[[float]], usage: Callable[[Key], float]
    ) -> None:
        """Order the workloads first by the usage of their LocalQueues, and then as without it."""
        self._usage_order, self.usage = order, usage

    def __len__(self) -> int:
        return len(self.heap) + len(self.inadmissible)

    def __iter__(self) -> Iterator[WorkloadInfo]:
        yield from self.heap.values()
        yield from self.inadmissible.values()

    def has(self, key: Key) -> bool:
        """Whether a workload is pending here."""
        return key in self.heap or key in self.inadmissible

    def rank_by_usage(self) -> Callable[[WorkloadInfo], Rank]:
        """Give the order by usage as it is now: even a workload that waits for its preemptions comes second."""
        usages: dict[Key, Parts] = {}

        def rank(info: WorkloadInfo) -> Rank:
            local_queue = info.local_queue
            if local_queue not in usages:
                assert self.usage is not None
                usages[local_queue] = self._usage_order(self.usage(local_queue))
            overtaken = info.key != self.sticky_workload
            return usages[local_queue], overtaken, self.position(info)

        return rank

    def push_or_update(self, info: WorkloadInfo, *, best_effort: bool) -> None:
        """Add a workload or update it; an inadmissible workload stays inadmissible unless it changed."""
        inadmissible = self.inadmissible.get(info.key)
        in_heap = self.heap.get(info.key)
        known = inadmissible or in_heap
        if known is not None and _has_equal_hash(known, info):
            info.progress = known.progress
            info.last_assignment = known.last_assignment
        if inadmissible is not None and not _is_changed(inadmissible, info):
            self.inadmissible[info.key] = info
            return
        self.inadmissible.pop(info.key, None)
        if in_heap is not None:
            self.requeue_if_not_present(info)
            return
        covered = best_effort and info.scheduling_hash in self._hash_to_reason
        if covered or not info.may_be_tried:
            self.inadmissible[info.key] = info
        else:
            self.requeue_if_not_present(info)

    def add_from_local_queue(
        self, infos: Iterable[WorkloadInfo], *, continues: bool
    ) -> None:
        """Add the workloads of a LocalQueue, none of which is pending here, whatever their scheduling hash.

        Kueue tries workloads that back off as well; those of a running cluster that it continues were added before.
        """
        for info in infos:
            if continues and requeue_at(info.obj):
                self.inadmissible[info.key] = info
            else:
                self.requeue_if_not_present(info)

    def delete(self, key: Key) -> None:
        """Remove a workload."""
        self.heap.pop(key, None)
        self.inadmissible.pop(key, None)
        if key == self.sticky_workload:
            self.sticky_workload = None

    def pop(self) -> WorkloadInfo:
        """Remove and give the head of the heap, which is not empty."""
        if self.usage is not None:
            first = min(self.heap.values(), key=self.rank_by_usage())
            return self.heap.pop(first.key)
        if self.sticky_workload in self.heap:
            return self.heap.pop(self.sticky_workload)
        while True:
            position, key = heapq.heappop(self._order)
            info = self.heap.get(key)
            if info is not None and self.position(info) == position:
                return self.heap.pop(key)

    def requeue_if_not_present(self, info: WorkloadInfo) -> None:
        """Return a workload to the heap."""
        known = self.heap.get(info.key)
        self.heap[info.key] = info
        position = self.position(info)
        if known is not None and self.position(known) == position:
            return
        entry = (position, info.key)
        heapq.heappush(self._order, entry)

    def mark_inadmissible(self, info: WorkloadInfo) -> None:
        """Keep a workload out of the heap until inadmissible workloads are requeued."""
        self.inadmissible[info.key] = info

    def is_covered_by_hash(self, key: Key) -> QuotaReservedReason | None:
        """Give the reason that is known for the scheduling hash of an inadmissible workload."""
        info = self.inadmissible.get(key)
        if info is None:
            return None
        return self._hash_to_reason.get(info.scheduling_hash)

    def handle_inadmissible_hash(
        self, info: WorkloadInfo, reason: QuotaReservedReason | None
    ) -> list[Key]:
        """Move workloads with the hash of one that did not fit to the inadmissible workloads; give their keys."""
        scheduling_hash = info.scheduling_hash
        self._hash_to_reason[scheduling_hash] = reason or QuotaReservedReason.UNTRIED
        equivalent = []
        for key, other in self.heap.items():
            if other.scheduling_hash == scheduling_hash:
                equivalent.append(key)
        for key in equivalent:
            moved = self.heap.pop(key)
            self.inadmissible[key] = moved
        return [info.key, *equivalent]

    def queue_inadmissible(self, selects: Callable[[WorkloadInfo], bool]) -> bool:
        """Requeue the inadmissible workloads that are selected; whether there was any."""
        self._hash_to_reason.clear()
        moved = []
        for info in self.inadmissible.values():
            if not info.may_be_tried:
                continue
            if selects(info):
                moved.append(info)
        for info in moved:
            del self.inadmissible[info.key]
            self.requeue_if_not_present(info)
        return bool(moved)

    def position(self, info: WorkloadInfo) -> Position:
        """Give the place of a workload in the order of the queue, without the usage of its LocalQueue."""
        pending = PendingWorkload(
            priority=info.workload.priority,
            created=info.created,
        )
        metadata = info.obj["metadata"]
        uid = metadata["uid"]
        return self._rules.order(pending), uid


def _has_equal_hash(old: WorkloadInfo, new: WorkloadInfo) -> bool:
    """Whether two versions of a workload have equal hashes; avoids computing them for an unchanged spec."""
    old_spec, spec = old.obj["spec"], new.obj["spec"]
    if spec is old_spec and _amounts(old) == _amounts(new):
        return True
    return old.scheduling_hash == new.scheduling_hash


def _is_changed(old: WorkloadInfo, new: WorkloadInfo) -> bool:
    """Whether an update may make an inadmissible workload admissible."""
    known = old.remembered or old.workload
    if old.is_altered or _watched(old, known) != _watched(new, new.workload):
        return True
    if known != old.workload:
        return False
    return _amounts(old) != _amounts(new)


def _watched(info: WorkloadInfo, workload: Workload) -> list[object]:
    """Give the parts of a workload whose change makes it worth another cycle."""
    status = info.obj.get("status") or {}
    conditions = {}
    for condition in status.get("conditions") or ():
        conditions[condition["type"]] = condition
    return [
        info.obj["spec"],
        workload,
        status.get("reclaimablePods"),
        requeue_at(info.obj),
        conditions.get("Evicted"),
        conditions.get("Requeued"),
        has_closed_gate(info.obj),
    ]


def _amounts(info: WorkloadInfo) -> list[Mapping[str, int]]:
    return [requests.amounts for requests in info.total_requests]


_Fields = dict[str, Any]


def _shape(written: _Fields, counted: PodSet, requests: TotalRequests) -> list[Any]:
    """Give the hashed parts of one pod set, with the requests that Kueue computes for it."""
    return [
        [written.get(key) for key in ("name", "minCount", "topologyRequest")],
        _spec_shape(written, counted),
        requests.count,
        dict(requests.amounts),
    ]


def _spec_shape(written: _Fields, counted: PodSet) -> list[Any]:
    template = written.get("template") or {}
    spec = template.get("spec") or {}
    ports = []
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            ports.append(container.get("ports"))
    pod_level = counted.whole
    return [
        [_canonical(container.requests) for container in counted.containers],
        ports,
        _canonical(pod_level.requests) if pod_level else None,
        _canonical(counted.overhead),
        without_empty({key: spec.get(key) for key in SHAPE}),
    ]


def _canonical(amounts: ResourceList) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
