"""The controllers of ProvisioningRequests: what they react to, and whether their checks are active.

Kueue: pkg/controller/admissionchecks/provisioning/controller.go (SetupWithManager, acHandler, prcHandler);
    pkg/controller/admissionchecks/provisioning/admissioncheck_reconciler.go (acReconciler)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kueue_dra_ref.api.admission_checks import ADMISSION_CHECK, check_states
from kueue_dra_ref.api.conditions import is_false, is_true
from kueue_dra_ref.api.deepcopy import copied
from kueue_dra_ref.api.job_kind import status_of
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.api.provisioning import (
    CONFIG,
    REQUEST,
    config_of,
    is_provisioning,
)
from kueue_dra_ref.controllers.provisioning import ProvisioningWorkloads
from kueue_dra_ref.controllers.workload_conditions import apply_condition
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.workload.provisioning import ParametersReference
from kueue_dra_ref.target import Manifest

ASKING = "ProvisioningWorkload"
"""What is reconciled here, by the key of a Workload."""
KINDS = frozenset({ASKING, CONFIG})
"""What is reconciled here: Workloads, and checks by the kind of their configuration."""

Handlers = Mapping[str, tuple[Callable[[Event], None], ...]]


class Provisioning:
    """Keeps the checks that ask for nodes, and the requests of workloads."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.provisioning
        self.workloads = ProvisioningWorkloads(kueue)

    @property
    def handlers(self) -> Handlers:
        """What handles the changes of each kind."""
        return {
            REQUEST: (self._on_request,),
            CONFIG: (self._on_config,),
            ADMISSION_CHECK: (self._on_check,),
            "Workload": (self._on_workload,),
        }

    def _on_workload(self, event: Event) -> None:
        """Reconcile a workload that has checks, or had some."""
        versions = filter(None, (event.old, event.new))
        if any(map(check_states, versions)):
            self.kueue.reconcile(ASKING, event.key)

    def _on_request(self, event: Event) -> None:
        """Reconcile the workload of a request."""
        request = event.obj
        namespace, _ = event.key
        for owner in owners_of(request):
            key = (namespace, owner["name"])
            self.kueue.reconcile(ASKING, key)

    def _on_config(self, event: Event) -> None:
        """Reconcile the checks, and the workloads if other nodes are to be asked for."""
        for check in self.store.every(ADMISSION_CHECK):
            self.kueue.reconcile(CONFIG, key_of(check))
        if _asked_for(event.old) != _asked_for(event.new):
            self._reconcile_workloads()

    def _on_check(self, event: Event) -> None:
        self.kueue.reconcile(CONFIG, event.key)
        self._reconcile_workloads()

    def _reconcile_workloads(self) -> None:
        for workload in self.store.every("Workload"):
            self.kueue.reconcile(ASKING, key_of(workload))

    def reconcile(
        self,
        kind: str,
        key: Key,
    ) -> None:
        """Bring a check in line with its configuration, or the requests of a workload in line with it."""
        if kind == ASKING:
            self.workloads.reconcile(key)
            return
        _, name = key
        self._activate(name)

    def _activate(self, name: str) -> None:
        """Write whether a check is active, if that has changed."""
        check = self.store.find(ADMISSION_CHECK, name)
        if check is None or not is_provisioning(check):
            return
        written = check["spec"].get("parameters")
        exists = self.workloads.checks.config(check) is not None
        reference = ParametersReference(written=written, exists=exists)
        active = self.rules.active(reference)
        assert active is not None
        holds = is_true if active.value else is_false
        if holds(check, "Active"):
            return
        working = {**check, "status": copied(status_of(check))}
        now = self.kueue.clock.now
        apply_condition(working, active, now)
        self.store.put(working)


def _asked_for(config: Manifest | None) -> tuple[object, ...]:
    """Give what of a configuration decides which nodes are asked for; nothing without one."""
    if config is None:
        return ()
    found = config_of(config)
    return found.class_name, found.parameters, found.managed
