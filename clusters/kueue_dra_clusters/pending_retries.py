"""Retries that Kueue starts a while after a change: requeues, a changed DeviceClass, inadmissible workloads."""

from __future__ import annotations

from dataclasses import dataclass, field

from kueue_dra_clusters.applied_objects import AppliedObjects
from kueue_dra_clusters.informer import InformerCache
from kueue_dra_clusters.observation import Observation
from kueue_dra_clusters.waiting import (
    NotYet,
    Pauses,
    WaitLimits,
    age_of,
    elapsed_since,
    eventually,
    moment_now,
)

NODE_DELAY = 1.2  # seconds until Kueue starts to act on a changed node
LAG = 0.1  # seconds after which Kueue has surely observed a change


@dataclass(slots=True, kw_only=True)
class PendingRetries:
    """Records each change after which Kueue retries later, and waits for the retry before a case continues."""

    informers: InformerCache
    applied: AppliedObjects
    limits: WaitLimits = field(default_factory=WaitLimits)
    pauses: Pauses = field(default_factory=Pauses)
    changed: float | None = None
    """When something changed that may release quota or activate a queue: Kueue requeues inadmissible workloads."""
    opened: float | None = None
    """When a new object scheduled a requeue that no pending workload needs."""
    _classes: float | None = None
    _retried: float | None = None

    def note_change(self) -> None:
        """Record a change that may admit a pending workload after a requeue."""
        self.changed = moment_now()

    def note_node(self) -> None:
        """Record a change of a node: Kueue waits before it requeues what the node may have room for."""
        self.changed = moment_now() + NODE_DELAY

    def note_opening(self) -> None:
        """Record a new object: the requeue that it triggers admits no workload."""
        self.opened = moment_now()

    def note_class(self) -> None:
        """Record a change of a DeviceClass: Kueue retries pending workloads that request its resource."""
        if self.applied.has_jobs and self.pauses.device_class is not None:
            self._classes = moment_now()

    def note_template(self) -> None:
        """Record when Kueue will have retried inadmissible workloads: a new template may admit them."""
        refused = Observation.at(self.informers, self.applied).refused
        if refused and self.pauses.retries is not None:
            ages = [age_of(found["metadata"]["creationTimestamp"]) for found in refused]
            self._retried = moment_now() + self.pauses.retries * max(ages)

    def forget(self) -> None:
        """Forget all changes: all objects are deleted."""
        self.changed = self.opened = self._classes = self._retried = None

    @property
    def may_admit(self) -> bool:
        """Whether a retry may admit a pending workload."""
        return self.changed is not None or self._classes is not None

    def await_requeue(self) -> None:
        """Wait until Kueue has started the requeue that admits no workload."""
        if (since := self.opened) is not None:
            self.opened = None
            self._let_pass(since, self.pauses.sweep, "a requeue that changes nothing")

    def await_device_classes(self) -> None:
        """Wait until Kueue has started to retry the workloads that a DeviceClass concerns."""
        if (since := self._classes) is not None:
            self._classes = None
            self._let_pass(
                since,
                self.pauses.device_class or 0.0,
                "Kueue to observe a changed DeviceClass",
            )

    def _let_pass(self, since: float, pause: float, what: str) -> None:
        def passed() -> None:
            if elapsed_since(since) < pause + LAG:
                raise NotYet("it is still pending")

        eventually(passed, within=self.limits.sweep, every=0.02, what=what)

    def await_retries(self) -> None:
        """Wait until Kueue has retried inadmissible workloads, or none is inadmissible any more."""
        if (due := self._retried) is None:
            return

        def tried() -> None:
            if elapsed_since(due) >= LAG:
                return
            if Observation.at(self.informers, self.applied).refused:
                raise NotYet("the retry is still pending")

        remaining = max(-elapsed_since(due), 0.0)
        self.informers.eventually(
            tried,
            within=self.limits.settle + remaining,
            what="Kueue to retry inadmissible workloads",
        )
        self._retried = None
