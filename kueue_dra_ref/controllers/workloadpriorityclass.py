"""The priority of Workloads: from the class that a Job names, and after it when that changes.

Kueue: pkg/controller/core/workloadpriorityclass_controller.go (WorkloadPriorityClassReconciler, Reconcile);
    pkg/controller/jobframework/reconciler.go (PrepareWorkloadPriority, UpdateWorkloadPriority)
"""

from __future__ import annotations

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.jobs import PRIORITY_LABEL, pod_of
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event
from kueue_dra_ref.rules.workload.workload_priority_class import (
    WORKLOAD_CLASS,
    PriorityClassRef,
)
from kueue_dra_ref.target import Manifest

BUILT_IN = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
"""Values of the PriorityClasses that every cluster has."""


class MissingClass(Exception):
    """A Job names a priority class that is not there."""


class WorkloadPriorityClassController:
    """Gives Workloads their priority."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue, self.rules = kueue, kueue.behaviour.priorities

    def of(self, job: Manifest) -> Manifest:
        """The fields of a Workload's spec that say its priority.

        Raises:
            MissingClass: the class that the Job names is not there.

        """
        if name := _wanted(job):
            return self._classed(WORKLOAD_CLASS, KUEUE, name)
        name = pod_of(job).get("priorityClassName") or self._default()
        return (
            self._classed("PriorityClass", "scheduling.k8s.io", name)
            if name
            else {"priority": 0}
        )

    def follow(self, job: Manifest, workload: Manifest) -> bool:
        """Give the Workload of a Job the class that the Job names by now; whether there was something to do.

        Raises:
            MissingClass: that class is not there.

        """
        has = workload["spec"].get("priorityClassRef") or {}
        classed = PriorityClassRef(
            kind=has.get("kind", ""),
            name=has.get("name", ""),
            wanted=_wanted(job),
            reserved=is_true(workload, "QuotaReserved"),
        )
        if not any(rule(classed) for rule in self.rules.follow_label):
            return False
        kept = {
            key: value
            for key, value in workload["spec"].items()
            if key != "priorityClassRef"
        }
        self.kueue.store.put(
            {**self.kueue.patched(workload), "spec": kept | self.of(job)}
        )
        return True

    def on_class(self, event: Event) -> None:
        """Carry the value of a WorkloadPriorityClass over to the Workloads that have it."""
        if event.new is None or not any(rule() for rule in self.rules.propagate_value):
            return
        value = event.new.get("value", 0)
        for found in list(self.kueue.store.every("Workload")):
            spec = found["spec"]
            has = spec.get("priorityClassRef") or {}
            named = (has.get("kind"), has.get("name")) == (WORKLOAD_CLASS, event.key[1])
            if named and spec.get("priority") != value:
                self.kueue.store.put(
                    {**self.kueue.patched(found), "spec": {**spec, "priority": value}}
                )

    def _classed(self, kind: str, group: str, name: str) -> Manifest:
        found = self.kueue.store.find(kind, name)
        built_in = BUILT_IN.get(name, 0) if kind == "PriorityClass" else 0
        if any(
            not rule(found is not None or bool(built_in))
            for rule in self.rules.class_exists
        ):
            raise MissingClass(name)
        value = found.get("value", 0) if found else built_in
        return {
            "priority": value,
            "priorityClassRef": {"group": group, "kind": kind, "name": name},
        }

    def _default(self) -> str:
        every = [
            found
            for found in self.kueue.store.every("PriorityClass")
            if found.get("globalDefault")
        ]
        lowest = min(every, key=lambda found: found.get("value", 0), default=None)
        return str(lowest["metadata"]["name"]) if lowest else ""


def _wanted(job: Manifest) -> str:
    return str((job["metadata"].get("labels") or {}).get(PRIORITY_LABEL, ""))
