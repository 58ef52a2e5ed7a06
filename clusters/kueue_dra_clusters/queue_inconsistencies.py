"""Finds queues whose status disagrees with their Workloads (Kueue v1beta2 status)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_clusters.applied_objects import queue_name
from kueue_dra_clusters.conditions import condition_of, seen_generation
from kueue_dra_clusters.observation import Observation, cluster_queue_of
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest

Manifests = list[Manifest]


def queue_faults(
    look: Observation, cluster_queues: Manifests, local_queues: Manifests
) -> Iterator[str]:
    """Name each queue whose status is older than its spec, or whose counts disagree with the Workloads' conditions."""
    for queue in (*cluster_queues, *local_queues):
        if _is_unseen(queue):
            yield f"{_name(queue)} was not reconciled yet"
    holding = look.charged
    for queue in cluster_queues:
        yield from _cluster_queue_miscounts(queue, holding)
    for queue in local_queues:
        yield from _local_queue_miscounts(queue, holding)
    for queue in cluster_queues:
        name = queue["metadata"]["name"]
        own = [each for each in local_queues if _cluster_queue(each) == name]
        yield from _misses_pending(queue, own)
        yield from _wrong_reasons(queue, own)


def _cluster_queue_miscounts(queue: Manifest, holding: Manifests) -> Iterator[str]:
    name = queue["metadata"]["name"]
    own = [found for found in holding if cluster_queue_of(found) == name]
    yield from _miscounts(queue, own)


def _local_queue_miscounts(queue: Manifest, holding: Manifests) -> Iterator[str]:
    own = [found for found in holding if _names(found, queue)]
    yield from _miscounts(queue, own)


def _names(workload: Manifest, local_queue: Manifest) -> bool:
    """Whether a Workload names a LocalQueue."""
    meta = local_queue["metadata"]
    if queue_name(workload) != meta["name"]:
        return False
    own = workload["metadata"]
    return bool(own["namespace"] == meta["namespace"])


def _cluster_queue(local_queue: Manifest) -> Any:
    return local_queue["spec"].get("clusterQueue")


def _wrong_reasons(cluster_queue: Manifest, own: Manifests) -> Iterator[str]:
    """Compare the condition Active: Kueue may have reconciled a LocalQueue just before its ClusterQueue changed."""
    is_active = is_true(cluster_queue, "Active")
    wrong = "ClusterQueueIsInactive" if is_active else "Ready"
    for queue in own:
        active = condition_of(queue, "Active")
        if active.get("reason") == wrong:
            name = _name(queue)
            yield f"{name} has reason {wrong}, its ClusterQueue does not"


def _misses_pending(cluster_queue: Manifest, own: Manifests) -> Iterator[str]:
    """Compare pending counts: a LocalQueue leaves out the workload that the scheduler tries."""
    if not own:
        return
    for queue in (cluster_queue, *own):
        if not is_true(queue, "Active"):
            return
    pending = _pending(cluster_queue)
    counted = sum(map(_pending, own))
    if pending != counted:
        name = _name(cluster_queue)
        yield f"{name} counts {pending} pending, its LocalQueues {counted}"


def _pending(queue: Manifest) -> int:
    status = queue.get("status") or {}
    return int(status.get("pendingWorkloads", 0))


def _miscounts(queue: Manifest, holding: Manifests) -> Iterator[str]:
    admitted = sum(is_true(found, "Admitted") for found in holding)
    expected = {"reserving": len(holding), "admitted": admitted}
    status = queue.get("status") or {}
    for state, count in expected.items():
        counted = status.get(f"{state}Workloads", 0)
        if counted != count:
            name = _name(queue)
            yield f"{name} counts {counted} {state}, of its Workloads {count} are"


def _is_unseen(queue: Manifest) -> bool:
    """Whether Kueue has not updated the status yet, for example after a conflict with another write."""
    generation = queue["metadata"]["generation"]
    return bool(seen_generation(queue, "Active") != generation)


def is_not_updated(cluster_queue: Manifest) -> bool:
    """Whether Kueue does not update the status of a deleted ClusterQueue any more, as up to 0.18."""
    deleted = "deletionTimestamp" in cluster_queue["metadata"]
    active = condition_of(cluster_queue, "Active")
    return deleted and active.get("reason") != "Terminating"


def _name(queue: Manifest) -> str:
    name = queue["metadata"]["name"]
    return f"{queue['kind']} {name}"
