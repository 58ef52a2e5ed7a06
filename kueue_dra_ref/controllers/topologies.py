"""Topologies and nodes: a change may make room for inadmissible workloads, or deactivate ClusterQueues.

Kueue: pkg/controller/tas/resource_flavor.go (rfReconciler, Reconcile);
    pkg/controller/tas/topology_controller.go (topologyReconciler);
    pkg/controller/core/clusterqueue_controller.go (NotifyTopologyUpdate)
"""

from __future__ import annotations

from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.rules.queue.retries import FlavorChange
from kueue_dra_ref.target import Manifest


class TopologyControllers:
    """Follows Topologies and Nodes."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue

    def on_topology(self, event: Event) -> None:
        """Requeue the workloads of the ClusterQueues that use a topology that is new or gone."""
        kueue = self.kueue
        if event.old is not None and event.new is not None:
            kueue.reconcile(event.kind, event.key)
            return
        kueue.informers.update_cluster_queues()
        kueue.note_move()
        is_retried = kueue.behaviour.topology.retry_with_topology()
        for queue in kueue.informers.cluster_queues_with_topology(event.key[1]):
            if is_retried:
                kueue.notify_retry_inadmissible(queue)
            kueue.refresh(queue)

    def on_flavor(self, event: Event) -> None:
        """Requeue the workloads of all active ClusterQueues if a flavor gets a topology."""
        change = FlavorChange(old=event.old, new=event.new)
        if self.kueue.behaviour.topology.retry_all(change):
            self._retry_all()

    def on_node(self, event: Event) -> None:
        """Requeue the workloads of all active ClusterQueues if a flavor selects a node that has changed."""
        if any(map(self._is_selected, (event.old, event.new))):
            self._retry_all()

    def _retry_all(self) -> None:
        kueue = self.kueue
        kueue.note_move()
        for name in kueue.pending:
            queue = kueue.informers.queue(name)
            if queue and not kueue.informers.inactive(queue):
                kueue.notify_retry_inadmissible(name)

    def _is_selected(self, node: Manifest | None) -> bool:
        """Whether a flavor with a topology selects a node by its labels."""
        if node is None:
            return False
        labels = labels_of(node)
        for wanted, levels in self.kueue.informers.node_selections():
            if not labels.keys() >= set(levels):
                continue
            if wanted.items() <= labels.items():
                return True
        return False
