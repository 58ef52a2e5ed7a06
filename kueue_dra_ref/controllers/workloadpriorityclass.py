"""The priority of Workloads: it comes from the class that their Job names, and follows both when they change.

Kueue: pkg/controller/core/workloadpriorityclass_controller.go (WorkloadPriorityClassReconciler, Reconcile);
    pkg/controller/jobframework/reconciler.go (PrepareWorkloadPriority, UpdateWorkloadPriority)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.job_kinds import priority_class_of
from kueue_dra_ref.api.jobs import PRIORITY_LABEL
from kueue_dra_ref.api.metadata import labels_of
from kueue_dra_ref.api.scheme import KUEUE
from kueue_dra_ref.controlplane.kueue import Kueue
from kueue_dra_ref.controlplane.store import Event, key_of
from kueue_dra_ref.model.lister import Key
from kueue_dra_ref.rules.workload.workload_priority_class import (
    WORKLOAD_CLASS,
    PriorityClassRef,
)
from kueue_dra_ref.target import Manifest

BUILT_IN: Mapping[tuple[str, str], Manifest] = {
    ("PriorityClass", "system-cluster-critical"): {"value": 2_000_000_000},
    ("PriorityClass", "system-node-critical"): {"value": 2_000_001_000},
}
"""The classes that every cluster has, by kind and name."""


class MissingClass(Exception):
    """A Job names a priority class that does not exist."""


class WorkloadPriorityClassController:
    """Gives Workloads their priority."""

    def __init__(self, kueue: Kueue) -> None:
        self.kueue = kueue
        self.store = kueue.store
        self.rules = kueue.behaviour.priorities

    def of(self, job: Manifest) -> Manifest:
        """Give the priority fields of the spec of a Job's Workload.

        Raises:
            MissingClass: the class that the Job names does not exist.

        """
        labeled = _label(job)
        if labeled:
            return self._from_class(WORKLOAD_CLASS, KUEUE, labeled)
        name = priority_class_of(job) or self._default()
        if name:
            return self._from_class("PriorityClass", "scheduling.k8s.io", name)
        return {"priority": 0}

    def follow(self, job: Manifest, workload: Manifest) -> Manifest | None:
        """Give the Workload of a Job the class that the Job names now; the Workload if that has changed it.

        Raises:
            MissingClass: that class does not exist.

        """
        reference = workload["spec"].get("priorityClassRef") or {}
        classed = PriorityClassRef(
            kind=reference.get("kind", ""),
            name=reference.get("name", ""),
            wanted=_label(job),
            reserved=is_true(workload, "QuotaReserved"),
        )
        if not self.rules.follow_label(classed):
            return None
        spec = dict(workload["spec"])
        spec.pop("priorityClassRef", None)
        spec |= self.of(job)
        working = self.kueue.patched(workload)
        working["spec"] = spec
        return self.store.put(working)

    def on_class(self, event: Event) -> None:
        """Copy the value of a WorkloadPriorityClass to the Workloads that reference it, one after the other.

        Each of these requests takes longer than a scheduling cycle, so that Kueue schedules between two of them.
        """
        if event.new is None or not self.rules.propagate_value():
            return
        name = event.key[1]
        value = event.new.get("value", 0)
        for found in self.store.every("Workload"):
            if _references(found["spec"], name):
                propagate = partial(self._propagate, key_of(found), value)
                self.kueue.later(0.0, propagate)

    def _propagate(self, workload: Key, value: int) -> None:
        found = self.store.get("Workload", workload)
        if found is None:
            return
        working = self.kueue.patched(found)
        working["spec"] = {**found["spec"], "priority": value}
        self.store.put(working)

    def _from_class(
        self,
        kind: str,
        group: str,
        name: str,
    ) -> Manifest:
        found = self.store.find(kind, name) or BUILT_IN.get((kind, name))
        if not self.rules.class_exists(found is not None):
            raise MissingClass(name)
        value = (found or {}).get("value", 0)
        reference = {"group": group, "kind": kind, "name": name}
        return {"priority": value, "priorityClassRef": reference}

    def _default(self) -> str:
        """Name the global default PriorityClass with the lowest value; empty without one."""
        classes = self.store.every("PriorityClass")
        defaults = [found for found in classes if found.get("globalDefault")]
        if not defaults:
            return ""
        lowest = min(defaults, key=lambda found: found.get("value", 0))
        return str(lowest["metadata"]["name"])


def _label(job: Manifest) -> str:
    labels = labels_of(job)
    return str(labels.get(PRIORITY_LABEL, ""))


def _references(spec: Manifest, name: str) -> bool:
    reference = spec.get("priorityClassRef") or {}
    named = (reference.get("kind"), reference.get("name"))
    return named == (WORKLOAD_CLASS, name)
