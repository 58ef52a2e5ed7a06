"""The status of ClusterQueues, LocalQueues and Cohorts: their counts and usage, and whether they can admit.

Kueue: pkg/controller/core/clusterqueue_controller.go (updateCqStatusIfChanged);
    pkg/controller/core/localqueue_controller.go (updateStatusIfChanged);
    pkg/controller/core/cohort_controller.go (updateCohortStatusIfChanged)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.types import ClusterQueue
from kueue_dra_ref.controllers.local_queue_usage import LocalQueueUsage
from kueue_dra_ref.controllers.workload_conditions import apply_condition
from kueue_dra_ref.controlplane.informers import stop_policy
from kueue_dra_ref.controlplane.kueue import Kueue, ManagedQueue
from kueue_dra_ref.controlplane.store import is_deleted, key_of
from kueue_dra_ref.controlplane.usage import UsageTotals
from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.dominant_resource_share import (
    dominant_resource_share,
)
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.rules.workload.workload_status import QueueCounts
from kueue_dra_ref.target import Manifest

Status = dict[str, Any]
_STOPPED = ManagedQueue(cluster_queue="")
"""A LocalQueue that is stopped keeps no workloads."""


class QueueStatus:
    """Writes the status of queues and cohorts."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.reporting
        self.sharing = LocalQueueUsage(kueue)
        self._by_kind = {
            "ClusterQueue": self._cluster_queue,
            "LocalQueue": self._local_queue,
            "Cohort": self._cohort,
        }

    def write(self, kind: str, key: Key) -> None:
        """Write the status of one object; that of a deleted ClusterQueue only where a behaviour reports on it."""
        found = self.store.get(kind, key)
        if found is None:
            return
        is_deleted_queue = kind == "ClusterQueue" and is_deleted(found)
        if is_deleted_queue and not self.rules.terminating:
            return
        status = self._by_kind[kind](found)
        updated = {**found, "status": status}
        updated["metadata"] = dict(found["metadata"])
        self.store.put(updated)

    def _cluster_queue(self, found: Manifest) -> Status:
        kueue = self.kueue
        name = found["metadata"]["name"]
        queue = kueue.informers.queue(name)
        assert queue is not None
        pending = len(kueue.pending.get(name, ()))
        totals = kueue.usage.of_cluster_queue(name)
        status = _with_conditions(found)
        counts = self._counts(name, pending, totals)
        for fields in self.rules.cluster_queue(counts):
            status |= fields
        for each in self._active_conditions(queue):
            apply_condition({"status": status}, each, kueue.clock.now)
        node = kueue.hierarchy.queues.get(name)
        return status | self._share(node)

    def _active_conditions(self, queue: ClusterQueue) -> list[Condition]:
        """Say whether a ClusterQueue can admit."""
        if queue.deleted:
            return self.rules.terminating()
        inactive = self.kueue.informers.inactive(queue)
        reasons = [each.reason for each in inactive]
        messages = [each.message for each in inactive]
        return self.rules.cluster_queue_active(reasons, messages)

    def _cohort(self, found: Manifest) -> Status:
        name = found["metadata"]["name"]
        node = self.kueue.hierarchy.cohorts.get(name)
        return self._share(node)

    def _share(self, node: ResourceNode | None) -> Status:
        """Give the fair sharing part of a status; empty without fair sharing."""
        status: Status = {}
        strategies = self.kueue.configuration.fair_sharing
        if node is None or strategies is None:
            return status
        share = dominant_resource_share(node)
        rules = self.kueue.behaviour.fair_sharing
        for fields in rules.status_fields(share):
            status |= fields
        return status

    def _local_queue(self, found: Manifest) -> Status:
        kueue = self.kueue
        key = key_of(found)
        name = found["spec"].get("clusterQueue", "")
        stopped = stop_policy(found) != "None"
        totals = kueue.usage.of_local_queue(key, name)
        managed = kueue.local_queues.get(key, _STOPPED)
        counts = self._counts(name, len(managed.items), totals)
        status = _with_conditions(found)
        for fields in self.rules.local_queue(counts):
            status |= fields
        state = self._state(name)
        for each in self.rules.local_queue_active(stopped, state):
            apply_condition({"status": status}, each, kueue.clock.now)
        return status | self._consumed(found, stopped or state != "active")

    def _consumed(self, local_queue: Manifest, is_idle: bool) -> Status:
        """Give the part of a status that shows what a LocalQueue has consumed; of an idle one it does not change."""
        status = status_of(local_queue)
        shown: Status = {}
        if "fairSharing" in status:
            shown["fairSharing"] = status["fairSharing"]
        if not is_idle:
            shown |= self.sharing.sample(local_queue)
        return shown

    def _state(self, cluster_queue: str) -> str:
        found = self.store.find("ClusterQueue", cluster_queue)
        if found is None:
            return "missing"
        if is_true(found, "Active"):
            return "active"
        return "inactive"

    def _counts(
        self,
        name: str,
        pending: int,
        totals: UsageTotals,
    ) -> QueueCounts:
        queue = self.kueue.informers.queue(name)
        return QueueCounts(
            pending=pending,
            reserving=totals.reserving,
            admitted=totals.admitted,
            reserved=totals.reserved,
            used=totals.used,
            groups=queue.groups if queue else (),
            borrowed=self._borrowed(name, totals),
            in_bytes=self.kueue.in_bytes,
            flavor=self.kueue.informers.flavor,
        )

    def _borrowed(
        self, name: str, totals: UsageTotals
    ) -> dict[str, dict[FlavorResource, int]]:
        """Give the reservation and the usage above nominal quota; empty for a ClusterQueue outside any cohort."""
        node = self.kueue.hierarchy.queues.get(name)
        if node is None:
            return {}
        return {
            "reserved": self._above_nominal(node, totals.reserved),
            "used": self._above_nominal(node, totals.used),
        }

    def _above_nominal(
        self, node: ResourceNode, amounts: Mapping[FlavorResource, int]
    ) -> dict[FlavorResource, int]:
        borrowed_amount = self.kueue.behaviour.cohorts.borrowed_amount
        found: dict[FlavorResource, int] = {}
        if node.parent is None:
            return found
        for flavor_resource, amount in amounts.items():
            nominal = node.quota_for(flavor_resource).nominal
            borrowed = borrowed_amount(amount, nominal)
            assert borrowed is not None
            found[flavor_resource] = borrowed
        return found


def _with_conditions(found: Manifest) -> Status:
    """Give a new status with copies of the conditions that an object has."""
    conditions = status_of(found).get("conditions") or ()
    copies = [dict(each) for each in conditions]
    return {"conditions": copies}
