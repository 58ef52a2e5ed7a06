"""The queue of one ClusterQueue: workloads in line, workloads set aside until something changes, and their order.

Kueue: pkg/cache/queue/cluster_queue.go (ClusterQueue, PushOrUpdate, Pop, RequeueIfNotPresent, handleInadmissibleHash,
    preemptorWorkload);
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
from kueue_dra_ref.api.pods import Amounts
from kueue_dra_ref.api.types import PodSet, Workload
from kueue_dra_ref.behaviours.phases_scheduling import QueueRules
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import FlavorScanState
from kueue_dra_ref.rules.queue.pending_workloads import PendingWorkload
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.total_requests import TotalRequests

Key = tuple[str, str]
"""Namespace and name of a Workload."""

Place = tuple[tuple[int, ...], str]
"""The place of a workload in the order of its ClusterQueue; UIDs break ties."""


@dataclass(kw_only=True)
class WorkloadInfo:
    """A workload in a queue: the object as it was when queued, and what it asks for."""

    key: Key
    obj: Manifest
    workload: Workload
    created: int
    demands: tuple[TotalRequests, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Charges whose resource depends on the flavor, with the resources that they may turn out to be."""
    written: Workload | None = None
    """The workload without what Kueue adds to the requests of its pods."""
    remembered: Workload | None = None
    """What a new version is held against, where that is not the workload as it is counted."""
    steps: tuple[Step, ...] = ()
    progress: FlavorScanState | None = None
    """How far the search for flavors came when the workload was last tried."""
    found: Any = None
    """What the last try found, and when, for as long as nothing has changed since."""

    @property
    def may_be_tried(self) -> bool:
        """Whether its Requeued condition lets it be tried."""
        return not is_false(self.obj, "Requeued")

    @cached_property
    def scheduling_hash(self) -> str:
        """What makes two workloads equal to the scheduler: priority, pods, counts, amounts."""
        written = self.obj["spec"].get("podSets") or ()
        shapes = [
            _shape(*each)
            for each in zip(written, self.workload.pod_sets, self.demands, strict=True)
        ]
        return json.dumps([self.workload.priority, shapes], sort_keys=True, default=str)


class PendingWorkloads:
    """One ClusterQueue's workloads that wait; ``preemptor`` goes first while its victims give their quota back."""

    def __init__(self, rules: QueueRules) -> None:
        self.heap: dict[Key, WorkloadInfo] = {}
        self.inadmissible: dict[Key, WorkloadInfo] = {}
        self.sticky_workload: Key | None = None
        self._rules = rules
        self._order: list[tuple[Place, Key]] = []
        self._hash_to_reason: dict[str, QuotaReservedReason] = {}

    def __len__(self) -> int:
        return len(self.heap) + len(self.inadmissible)

    def __iter__(self) -> Iterator[WorkloadInfo]:
        yield from self.heap.values()
        yield from self.inadmissible.values()

    def push(self, queued: WorkloadInfo, *, best_effort: bool) -> None:
        """Queue a workload, or update one that waits; one set aside stays there unless it has changed."""
        old = self.inadmissible.get(queued.key)
        known = old or self.heap.get(queued.key)
        if known is not None and _is_shaped_like(known, queued):
            queued.progress, queued.found = known.progress, known.found
        if old is not None and not _changed(old, queued):
            self.inadmissible[queued.key] = queued
            return
        self.inadmissible.pop(queued.key, None)
        in_line = queued.key in self.heap
        hopeless = best_effort and queued.scheduling_hash in self._hash_to_reason
        if not in_line and (hopeless or not queued.may_be_tried):
            self.inadmissible[queued.key] = queued
        else:
            self.requeue_if_not_present(queued)

    def join(self, queued: Iterable[WorkloadInfo]) -> None:
        """Queue what comes with its LocalQueue, whatever was found of its equals, unless it is here already."""
        for each in queued:
            if each.key not in self.heap and each.key not in self.inadmissible:
                self.requeue_if_not_present(each)

    def drop(self, key: Key) -> None:
        """Forget a workload."""
        self.heap.pop(key, None)
        self.inadmissible.pop(key, None)
        if key == self.sticky_workload:
            self.sticky_workload = None

    def head(self) -> WorkloadInfo | None:
        """Take the first in line out of it."""
        if self.sticky_workload in self.heap:
            return self.heap.pop(self.sticky_workload)
        while self._order:
            place, key = heapq.heappop(self._order)
            if key in self.heap and self._place(self.heap[key]) == place:
                return self.heap.pop(key)
        return None

    def requeue_if_not_present(self, queued: WorkloadInfo) -> None:
        """Return a head to the line."""
        known = self.heap.get(queued.key)
        self.heap[queued.key] = queued
        place = self._place(queued)
        if known is None or self._place(known) != place:
            heapq.heappush(self._order, (place, queued.key))

    def mark_inadmissible(self, queued: WorkloadInfo) -> None:
        """Keep a head out of the line until a sweep."""
        self.inadmissible[queued.key] = queued

    def is_covered_by_hash(self, key: Key) -> QuotaReservedReason | None:
        """What was found of an equal to a workload that is set aside."""
        found = self.inadmissible.get(key)
        return self._hash_to_reason.get(found.scheduling_hash) if found else None

    def handle_inadmissible_hash(
        self, queued: WorkloadInfo, cause: QuotaReservedReason | None
    ) -> list[Key]:
        """Workloads that are equal to one that did not fit, with it, are not tried before the next sweep."""
        self._hash_to_reason[queued.scheduling_hash] = (
            cause or QuotaReservedReason.UNTRIED
        )
        equals = [
            key
            for key, other in self.heap.items()
            if other.scheduling_hash == queued.scheduling_hash
        ]
        for key in equals:
            self.inadmissible[key] = self.heap.pop(key)
        return [queued.key, *equals]

    def queue_inadmissible(self, selected: Callable[[WorkloadInfo], bool]) -> bool:
        """Bring back into line what was set aside; False when nothing moved."""
        self._hash_to_reason.clear()
        moved = [
            queued
            for queued in self.inadmissible.values()
            if queued.may_be_tried and selected(queued)
        ]
        for queued in moved:
            self.requeue_if_not_present(self.inadmissible.pop(queued.key))
        return bool(moved)

    def _place(self, queued: WorkloadInfo) -> Place:
        waiting = PendingWorkload(
            priority=queued.workload.priority, created=queued.created
        )
        return tuple(rule(waiting) for rule in self._rules.order), queued.obj[
            "metadata"
        ]["uid"]


def _is_shaped_like(old: WorkloadInfo, new: WorkloadInfo) -> bool:
    if old.obj["spec"] is new.obj["spec"] and [d.amounts for d in old.demands] == [
        d.amounts for d in new.demands
    ]:
        return True
    return old.scheduling_hash == new.scheduling_hash


def _changed(old: WorkloadInfo, new: WorkloadInfo) -> bool:
    def watched(queued: WorkloadInfo, known: Workload) -> list[object]:
        conditions = {
            c["type"]: c
            for c in (queued.obj.get("status") or {}).get("conditions") or ()
        }
        reclaimed = (queued.obj.get("status") or {}).get("reclaimablePods")
        return [
            queued.obj["spec"],
            known,
            reclaimed,
            conditions.get("Evicted"),
            conditions.get("Requeued"),
        ]

    known = old.remembered or old.workload
    if watched(old, known) != watched(new, new.workload):
        return True
    return known == old.workload and [d.amounts for d in old.demands] != [
        d.amounts for d in new.demands
    ]


_SHAPING = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "resourceClaims",
)


def _shape(
    written: dict[str, Any], counted: PodSet, demand: TotalRequests
) -> list[Any]:
    """One pod set as it is written, with the requests that Kueue makes of it."""
    asked = [written.get(key) for key in ("name", "minCount", "topologyRequest")]
    return [asked, _spec_shape(written, counted), demand.count, dict(demand.amounts)]


def _spec_shape(written: dict[str, Any], counted: PodSet) -> list[Any]:
    spec = (written.get("template") or {}).get("spec") or {}
    ports = [
        each.get("ports")
        for kind in ("initContainers", "containers")
        for each in spec.get(kind) or ()
    ]
    requests = [_canonical(each.requests) for each in counted.containers]
    whole = _canonical(counted.whole.requests) if counted.whole else None
    return [
        requests,
        ports,
        whole,
        _canonical(counted.overhead),
        without_empty({key: spec.get(key) for key in _SHAPING}),
    ]


def _canonical(amounts: Amounts) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items()}
