"""The controllers of MultiKueue: what they react to, and what they reconcile.

Kueue: pkg/controller/admissionchecks/multikueue/controllers.go (SetupControllers)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK
from kueue_dra_ref.api.multikueue import CLUSTER, CONFIG, SECRET
from kueue_dra_ref.controllers.multikueue import DISPATCHED, MultiKueueWorkloads
from kueue_dra_ref.controllers.multikueue_clusters import Dial, MultiKueueClusters
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.model.lister import Key

KINDS = frozenset({DISPATCHED, CLUSTER, CONFIG})
"""What is reconciled here: Workloads, clusters, and checks by the kind of their configuration."""

Handlers = Mapping[str, tuple[Callable[[Event], None], ...]]


class MultiKueue:
    """The controllers of a Kueue that is the manager of other clusters."""

    def __init__(self, kueue: Kueue, dial: Dial) -> None:
        self.clusters = MultiKueueClusters(kueue=kueue, dial=dial)
        self.workloads = MultiKueueWorkloads(kueue, self.clusters)

    @property
    def handlers(self) -> Handlers:
        """What handles the changes of each kind."""
        clusters, workloads = self.clusters, self.workloads
        return {
            SECRET: (clusters.on_secret,),
            CLUSTER: (clusters.on_cluster,),
            CONFIG: (clusters.on_config, workloads.on_config),
            ADMISSION_CHECK: (clusters.on_check,),
            "Workload": (workloads.on_workload,),
        }

    def reconcile(self, kind: str, key: Key) -> None:
        """Reconcile one object."""
        if kind == DISPATCHED:
            self.workloads.reconcile(key)
        else:
            self.clusters.reconcile(kind, key)
