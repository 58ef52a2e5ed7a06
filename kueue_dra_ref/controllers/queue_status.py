"""The status of ClusterQueues, LocalQueues and Cohorts: what they count, and whether they can admit.

Kueue: pkg/controller/core/clusterqueue_controller.go (updateCqStatusIfChanged);
    pkg/controller/core/localqueue_controller.go (updateStatusIfChanged);
    pkg/controller/core/cohort_controller.go (updateCohortStatusIfChanged)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.cache.cluster_queue import Key
from kueue_dra_ref.controllers.workload_conditions import apply_condition
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import is_deleted
from kueue_dra_ref.controlplane.usage import UsageTotals
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.dominant_resource_share import (
    dominant_resource_share,
)
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.rules.workload.workload_status import QueueCounts
from kueue_dra_ref.target import Manifest


class QueueStatus:
    """Writes it."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.reporting

    def write(self, kind: str, key: Key) -> None:
        """Write the status of one queue."""
        found = self.kueue.store.find(kind, key[1], key[0])
        if found is not None and (
            kind != "ClusterQueue" or not is_deleted(found) or self.rules.deleted
        ):
            write = {
                "ClusterQueue": self._cluster_queue,
                "LocalQueue": self._local_queue,
                "Cohort": self._cohort,
            }
            status = write[kind](found)
            self.kueue.store.put(
                {**found, "metadata": dict(found["metadata"]), "status": status}
            )

    def _cluster_queue(self, found: Manifest) -> dict[str, Any]:
        kueue, queue = self.kueue, self.kueue.informers.queue(found["metadata"]["name"])
        assert queue is not None
        pending = len(kueue.pending.get(queue.name, ()))
        figures = self._figures(
            queue.name, pending, kueue.usage.of_cluster_queue(queue.name)
        )
        status: dict[str, Any] = {
            "conditions": [
                dict(c) for c in (found.get("status") or {}).get("conditions") or ()
            ]
        }
        for written in (rule(figures) for rule in self.rules.cluster_queue):
            status |= written
        for said in self._readiness(queue):
            apply_condition({"status": status}, said, kueue.clock.now)
        return status | self._share(kueue.hierarchy.queues.get(queue.name))

    def _readiness(self, queue: ClusterQueue) -> Iterator[Condition]:
        """Say whether a ClusterQueue can admit."""
        told = self.kueue.informers.inactive(queue)
        for rule in self.rules.cluster_queue_active if not queue.deleted else ():
            yield rule([t.reason for t in told], [t.message for t in told])
        for said in self.rules.deleted if queue.deleted else ():
            yield said()

    def _cohort(self, found: Manifest) -> dict[str, Any]:
        return self._share(self.kueue.hierarchy.cohorts.get(found["metadata"]["name"]))

    def _share(self, node: ResourceNode | None) -> dict[str, Any]:
        if node is None or self.kueue.configuration.fair_sharing is None:
            return {}
        shown = (
            rule(dominant_resource_share(node))
            for rule in self.kueue.behaviour.fair_sharing.status_fields
        )
        return {key: value for written in shown for key, value in written.items()}

    def _local_queue(self, found: Manifest) -> dict[str, Any]:
        kueue, meta = self.kueue, found["metadata"]
        key, name = (
            (meta["namespace"], meta["name"]),
            found["spec"].get("clusterQueue", ""),
        )
        queue, managed = kueue.informers.queue(name), kueue.local_queues.get(key)
        stopped = stop_policy(found) != "None"
        held = kueue.usage.of_local_queue(key, name) if queue else UsageTotals()
        figures = self._figures(
            name, len(managed.items) if managed and not stopped else 0, held
        )
        status: dict[str, Any] = {
            "conditions": [
                dict(c) for c in (found.get("status") or {}).get("conditions") or ()
            ]
        }
        for written in (rule(figures) for rule in self.rules.local_queue):
            status |= written
        shown = kueue.store.find("ClusterQueue", name)
        state = (
            "missing"
            if shown is None
            else "active"
            if is_true(shown, "Active")
            else "inactive"
        )
        for rule in self.rules.local_queue_active:
            apply_condition({"status": status}, rule(stopped, state), kueue.clock.now)
        return status

    def _figures(self, name: str, pending: int, held: UsageTotals) -> QueueCounts:
        queue = self.kueue.informers.queue(name)
        return QueueCounts(
            pending=pending,
            reserving=held.reserving,
            admitted=held.admitted,
            reserved=held.reserved,
            used=held.used,
            groups=queue.groups if queue else (),
            borrowed=self._borrowed(name, held),
            in_bytes=self.kueue.in_bytes,
            flavor=self.kueue.informers.flavor,
        )

    def _borrowed(
        self, name: str, held: UsageTotals
    ) -> dict[str, dict[FlavorResource, int]]:
        """What is reserved and used beyond the nominal quota; nothing for a ClusterQueue outside any cohort."""
        node = self.kueue.hierarchy.queues.get(name)
        rules = self.kueue.behaviour.cohorts.borrowed if node and node.parent else ()
        return {
            word: {
                of: rule(amount, node.quota_for(of).nominal)
                for of, amount in amounts.items()
                for rule in rules
            }
            for word, amounts in (("reserved", held.reserved), ("used", held.used))
            if node
        }
