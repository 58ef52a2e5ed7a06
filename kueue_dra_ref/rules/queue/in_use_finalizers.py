"""Deletion of ClusterQueues and ResourceFlavors in use (Kueue 0.19, their reconcilers).

Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile, Update);
    pkg/controller/core/resourceflavor_controller.go (Reconcile, Update)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.rule import rule


@dataclass(frozen=True, slots=True, kw_only=True)
class InUse:
    """The uses of a deleted object: reservations in a ClusterQueue, ClusterQueues that name a flavor or a check."""

    reservations: int = 0
    cluster_queues: int = 0
    checked_queues: int = 0
    flavors: int = 0
    """The flavors that name a topology."""


@rule("QUEUE-049")
def cluster_queue_in_use_finalizer(use: InUse) -> bool:
    """A deleted ClusterQueue keeps its finalizer while it has quota reservations.

    Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueueEmpty)
    """
    return use.reservations > 0


@rule("QUEUE-053")
def resource_flavor_in_use_finalizer(use: InUse) -> bool:
    """A deleted ResourceFlavor keeps its finalizer while a ClusterQueue names it.

    Kueue: pkg/controller/core/resourceflavor_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueuesUsingFlavor)
    """
    return use.cluster_queues > 0


@rule("CHECK-015")
def admission_check_in_use_finalizer(use: InUse) -> bool:
    """A deleted AdmissionCheck keeps its finalizer while a ClusterQueue names it.

    Kueue: pkg/controller/core/admissioncheck_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueuesUsingAdmissionCheck)
    """
    return use.checked_queues > 0


@rule("CHECK-018")
def cluster_queue_change_releases_check() -> bool:
    """Kueue looks at a deleted AdmissionCheck again when a ClusterQueue names it no longer.

    Kueue: pkg/controller/core/admissioncheck_controller.go (NotifyClusterQueueUpdate)
    """
    return True


@rule("TAS-025")
def topology_in_use_finalizer(use: InUse) -> bool:
    """A deleted Topology keeps its finalizer while a ResourceFlavor names it.

    Kueue: pkg/controller/tas/topology_controller.go (Reconcile)
    """
    return use.flavors > 0


@rule("QUEUE-051", "QUEUE-054")
def deleted_objects_ignore_updates(deleted: bool) -> bool:
    """Kueue ignores updates of a ClusterQueue or ResourceFlavor that is terminating.

    Kueue: pkg/controller/core/clusterqueue_controller.go (Update);
        pkg/controller/core/resourceflavor_controller.go (Update)
    """
    return deleted
