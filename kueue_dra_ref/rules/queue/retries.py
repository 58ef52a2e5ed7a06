"""Which changes of flavors and topologies make Kueue try inadmissible workloads again.

Kueue: pkg/controller/core/resourceflavor_controller.go (ResourceFlavorReconciler, flavorSchedulingFieldsChanged);
    pkg/controller/tas/resource_flavor.go (rfReconciler);
    pkg/controller/core/clusterqueue_controller.go (NotifyTopologyUpdate)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import Manifest

_SCHEDULING_FIELDS = ("nodeLabels", "nodeTaints", "tolerations")
"""What of a flavor decides which pods get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorChange:
    """A change of a flavor: ``old`` is None when it was created, ``new`` when it was deleted."""

    old: Manifest | None
    new: Manifest | None

    @property
    def is_update(self) -> bool:
        """Whether the flavor exists before and after."""
        return None not in (self.old, self.new)

    @property
    def before(self) -> Manifest:
        """The spec of the flavor before; empty without it."""
        return _spec_of(self.old)

    @property
    def after(self) -> Manifest:
        """The spec of the flavor after; empty without it."""
        return _spec_of(self.new)

    def changes(self, field: str) -> bool:
        """Whether a field of the spec has another value."""
        return bool(self.before.get(field) != self.after.get(field))


@rule("QUEUE-063")
def changed_flavor_retries_its_queues(change: FlavorChange) -> bool:
    """Kueue retries the ClusterQueues of a flavor when its node labels, taints or tolerations change.

    Kueue: pkg/controller/core/resourceflavor_controller.go (flavorSchedulingFieldsChanged)
    """
    return change.is_update and any(map(change.changes, _SCHEDULING_FIELDS))


@rule("TAS-036")
def flavor_with_topology_retries_all(change: FlavorChange) -> bool:
    """Kueue retries all active ClusterQueues when a flavor gets a topology.

    Kueue: pkg/controller/tas/resource_flavor.go (Create, Update)
    """
    return "topologyName" in change.after and change.changes("topologyName")


@rule("TAS-039")
def taints_of_topology_retry_all(change: FlavorChange) -> bool:
    """Kueue retries all active ClusterQueues when the taints of a flavor with a topology change.

    Kueue: pkg/controller/tas/resource_flavor.go (Update)
    """
    return "topologyName" in change.before and change.changes("nodeTaints")


@rule("TAS-037")
def topology_retries_its_queues() -> bool:
    """Kueue retries the ClusterQueues that use a topology when it is created.

    Kueue: pkg/controller/core/clusterqueue_controller.go (NotifyTopologyUpdate)
    """
    return True


def _spec_of(flavor: Manifest | None) -> Manifest:
    spec: Manifest = (flavor or {}).get("spec") or {}
    return spec
