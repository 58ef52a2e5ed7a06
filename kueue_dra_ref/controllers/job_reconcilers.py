"""The reconciler of each kind of work.

Kueue: pkg/controller/jobframework/setup.go (setupControllers)
"""

from __future__ import annotations

from kueue_dra_ref.api.job_kinds import JOB_KINDS, POD
from kueue_dra_ref.api.metadata import owners_of
from kueue_dra_ref.controllers.job import JobReconciler
from kueue_dra_ref.controllers.pods import PodReconciler
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event


class JobReconcilers(dict[str, JobReconciler]):
    """Reconcilers by kind, each made when the first work of its kind comes: most runs have one kind or two."""

    def __init__(self, kueue: Kueue) -> None:
        super().__init__({POD.name: PodReconciler(kueue)})
        self.kueue = kueue

    def __missing__(self, kind: str) -> JobReconciler:
        """Make the reconciler of a kind."""
        made = self[kind] = JobReconciler(self.kueue, JOB_KINDS[kind])
        return made

    def on(self, event: Event) -> None:
        """Reconcile work that has changed, or is gone."""
        self[event.kind].on(event)

    def on_workload(self, event: Event) -> None:
        """Reconcile the work that owns a Workload, kind by kind; groups of pods own theirs in another way."""
        owners = {owner.get("kind") for owner in owners_of(event.obj)}
        for kind in JOB_KINDS:
            if kind in owners or kind == POD.name:
                self[kind].on_workload(event)
