"""What the status of a live world's queues says beside its Workloads (Kueue v1beta2 status)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kueue_dra_clusters.applied_objects import queue_name
from kueue_dra_clusters.conditions import condition_of, seen_generation
from kueue_dra_clusters.observation import Observation, cluster_queue_of, holds_quota
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest


def queue_faults(
    look: Observation, cluster_queues: list[Manifest], local_queues: list[Manifest]
) -> Iterator[str]:
    """Name each queue whose status is older than its spec, or whose counts disagree with the Workloads' conditions."""
    yield from (
        f"{_name(queue)} was not looked at yet"
        for queue in (*cluster_queues, *local_queues)
        if _is_unseen(queue)
    )
    holding = [found for found in look.workloads if holds_quota(found)]
    for queue in cluster_queues:
        name = queue["metadata"]["name"]
        yield from _miscounts(
            queue, [found for found in holding if cluster_queue_of(found) == name]
        )
    for queue in local_queues:
        meta = queue["metadata"]
        own = [found for found in holding if queue_name(found) == meta["name"]]
        yield from _miscounts(
            queue,
            [
                found
                for found in own
                if found["metadata"]["namespace"] == meta["namespace"]
            ],
        )
    for queue in cluster_queues:
        own = [
            each
            for each in local_queues
            if each["spec"].get("clusterQueue") == queue["metadata"]["name"]
        ]
        yield from _misses_pending(queue, own)
        yield from _misjudged(queue, own)


def _misjudged(cluster_queue: Manifest, own: list[Manifest]) -> Iterator[str]:
    """Compare whether the ClusterQueue can admit: a LocalQueue may have been looked at just before that changed."""
    wrong = "ClusterQueueIsInactive" if is_true(cluster_queue, "Active") else "Ready"
    for queue in own:
        if condition_of(queue, "Active").get("reason") == wrong:
            yield f"{_name(queue)} says {wrong}, its ClusterQueue does not"


def _misses_pending(cluster_queue: Manifest, own: list[Manifest]) -> Iterator[str]:
    """Compare what waits: a LocalQueue leaves out what the scheduler has in its hand, a ClusterQueue does not."""
    if own and all(is_true(queue, "Active") for queue in (cluster_queue, *own)):
        waiting, counted = _pending(cluster_queue), sum(map(_pending, own))
        if waiting != counted:
            yield f"{_name(cluster_queue)} counts {waiting} pending, its LocalQueues {counted}"


def _pending(queue: Manifest) -> int:
    return int((queue.get("status") or {}).get("pendingWorkloads", 0))


def _miscounts(queue: Manifest, holding: list[Manifest]) -> Iterator[str]:
    counted = Counter(
        reserving=len(holding),
        admitted=sum(is_true(found, "Admitted") for found in holding),
    )
    status = queue.get("status") or {}
    for what, count in counted.items():
        found = status.get(f"{what}Workloads", 0)
        if found != count:
            yield f"{_name(queue)} counts {found} {what}, its Workloads say {count}"


def _is_unseen(queue: Manifest) -> bool:
    """Whether Kueue has yet to write the status; a conflict with another write of the queue puts that off."""
    return bool(seen_generation(queue, "Active") != queue["metadata"]["generation"])


def is_left_alone(cluster_queue: Manifest) -> bool:
    """Whether nothing more is written to the status of a deleted ClusterQueue, as up to Kueue 0.18."""
    deleted = "deletionTimestamp" in cluster_queue["metadata"]
    return (
        deleted and condition_of(cluster_queue, "Active").get("reason") != "Terminating"
    )


def _name(queue: Manifest) -> str:
    return f"{queue['kind']} {queue['metadata']['name']}"
