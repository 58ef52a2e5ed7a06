"""Where a pending workload is in the order of its ClusterQueue, and which workloads are before it and why.

No counterpart: explanations of the simulation; `PendingWorkloads` has the order.
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.cache.cluster_queue import PendingWorkloads, WorkloadInfo
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.model.lister import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadBefore:
    """A pending workload that its ClusterQueue tries earlier, and why."""

    key: Key
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePlace:
    """The place of a pending workload in its ClusterQueue; ``position`` counts from 1."""

    cluster_queue: str
    strategy: str
    position: int
    pending: int
    """The number of pending workloads in the ClusterQueue."""
    before: tuple[WorkloadBefore, ...]


def queue_of_pending(kueue: Kueue, key: Key) -> str:
    """Name the ClusterQueue in which a workload is pending; empty if it is in none."""
    for name, pending in kueue.pending.items():
        if pending.has(key):
            return name
    return ""


def pending_info(kueue: Kueue, key: Key) -> WorkloadInfo | None:
    """Give a pending workload with its requests; None if no ClusterQueue has it."""
    name = queue_of_pending(kueue, key)
    if not name:
        return None
    pending = kueue.pending[name]
    return pending.heap.get(key) or pending.inadmissible[key]


def in_order(pending: PendingWorkloads) -> list[WorkloadInfo]:
    """Give all pending workloads in the order of their queue, the inadmissible ones too."""
    if pending.usage is None:
        return sorted(pending, key=pending.position)
    return sorted(pending, key=pending.rank_by_usage())


def infos_before(kueue: Kueue, key: Key) -> list[WorkloadInfo]:
    """Give the pending workloads that the ClusterQueue of a workload tries before it, in order."""
    name = queue_of_pending(kueue, key)
    if not name:
        return []
    before: list[WorkloadInfo] = []
    for info in in_order(kueue.pending[name]):
        if info.key == key:
            return before
        before.append(info)
    return before


def place_of(kueue: Kueue, key: Key) -> QueuePlace | None:
    """Give the place of a workload in the order of its ClusterQueue; None if it is pending in none."""
    info = pending_info(kueue, key)
    if info is None:
        return None
    name = queue_of_pending(kueue, key)
    queue = kueue.informers.queue(name)
    infos = infos_before(kueue, key)
    before = []
    for each in infos:
        why = _less_usage(kueue, name, each, info) or _why(each, info)
        before.append(WorkloadBefore(key=each.key, why=why))
    return QueuePlace(
        cluster_queue=name,
        strategy=queue.strategy if queue else "",
        position=len(before) + 1,
        pending=len(kueue.pending[name]),
        before=tuple(before),
    )


def _less_usage(
    kueue: Kueue, cluster_queue: str, earlier: WorkloadInfo, info: WorkloadInfo
) -> str:
    """Say that the LocalQueue of an earlier workload has used less, if that decides; empty otherwise."""
    if kueue.pending[cluster_queue].usage is None:
        return ""
    less = kueue.local_queue_usage(earlier.local_queue)
    more = kueue.local_queue_usage(info.local_queue)
    if less == more:
        return ""
    _, name = earlier.local_queue
    return f"its LocalQueue {name} has a usage of {less:.6g}, lower than {more:.6g}"


def _why(earlier: WorkloadInfo, info: WorkloadInfo) -> str:
    """Say why a workload is before another one: its priority, or its creation."""
    priority = info.workload.priority
    if earlier.workload.priority > priority:
        return f"priority {earlier.workload.priority}, higher than {priority}"
    created = _created(earlier)
    if created == _created(info):
        return f"priority {priority} as well, and created in the same second, but first"
    return f"priority {priority} as well, and created earlier, {created}"


def _created(info: WorkloadInfo) -> str:
    return str(info.obj["metadata"].get("creationTimestamp", ""))
