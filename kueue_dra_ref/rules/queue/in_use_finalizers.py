"""Deletion of ClusterQueues and ResourceFlavors in use (Kueue 0.19, their reconcilers).

Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile, Update);
    pkg/controller/core/resourceflavor_controller.go (Reconcile, Update)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.topologies import TOPOLOGY
from kueue_dra_ref.model.rule import rule


@dataclass(frozen=True, slots=True, kw_only=True)
class InUse:
    """How many use a deleted object: reservations in a ClusterQueue, or objects that name it."""

    kind: str
    users: int


@rule("QUEUE-049")
def cluster_queue_in_use_finalizer(use: InUse) -> bool:
    """A deleted ClusterQueue keeps its finalizer while it has quota reservations.

    Kueue: pkg/controller/core/clusterqueue_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueueEmpty)
    """
    return use.kind == "ClusterQueue" and use.users > 0


@rule("QUEUE-053")
def resource_flavor_in_use_finalizer(use: InUse) -> bool:
    """A deleted ResourceFlavor keeps its finalizer while a ClusterQueue names it.

    Kueue: pkg/controller/core/resourceflavor_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueuesUsingFlavor)
    """
    return use.kind == "ResourceFlavor" and use.users > 0


@rule("CHECK-015")
def admission_check_in_use_finalizer(use: InUse) -> bool:
    """A deleted AdmissionCheck keeps its finalizer while a ClusterQueue names it.

    Kueue: pkg/controller/core/admissioncheck_controller.go (Reconcile);
        pkg/cache/scheduler/cache.go (ClusterQueuesUsingAdmissionCheck)
    """
    return use.kind == ADMISSION_CHECK and use.users > 0


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
    return use.kind == TOPOLOGY and use.users > 0


@rule("QUEUE-051", "QUEUE-054")
def deleted_objects_ignore_updates(deleted: bool) -> bool:
    """Kueue ignores updates of a ClusterQueue or ResourceFlavor that is terminating.

    Kueue: pkg/controller/core/clusterqueue_controller.go (Update);
        pkg/controller/core/resourceflavor_controller.go (Update)
    """
    return deleted
