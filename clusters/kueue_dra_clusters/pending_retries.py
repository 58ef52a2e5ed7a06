"""What Kueue does of itself a while after a change: it sweeps, looks at a DeviceClass, tries again what it refused."""

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

LAG = 0.1  # seconds in which Kueue has surely seen a change


@dataclass(slots=True, kw_only=True)
class PendingRetries:
    """Takes note of each change after which something is to come, and lets it come before a case goes on."""

    mirror: InformerCache
    world: AppliedObjects
    limits: WaitLimits = field(default_factory=WaitLimits)
    pauses: Pauses = field(default_factory=Pauses)
    changed: float | None = None
    """When something changed that may free quota or open a queue: a sweep has to pass."""
    opened: float | None = None
    """When something new made Kueue announce a sweep, which nothing that waits so far can need."""
    _classes: float | None = None
    _retried: float | None = None

    def note_change(self) -> None:
        """Remember that a sweep has to pass that may let a waiting workload in."""
        self.changed = moment_now()

    def note_opening(self) -> None:
        """Remember that a sweep is announced that lets nobody in."""
        self.opened = moment_now()

    def note_class(self) -> None:
        """Remember that a DeviceClass came, changed or went: Kueue looks again at what waits for its resource."""
        if self.world.has_jobs and self.pauses.device_class is not None:
            self._classes = moment_now()

    def note_template(self) -> None:
        """Remember by when Kueue will have tried again what it refused: a new template may let it in."""
        refused = Observation.at(self.mirror, self.world).refused
        if refused and self.pauses.retries is not None:
            ages = [age_of(found["metadata"]["creationTimestamp"]) for found in refused]
            self._retried = moment_now() + self.pauses.retries * max(ages)

    def forget(self) -> None:
        """Expect nothing: the world is empty."""
        self.changed = self.opened = self._classes = self._retried = None

    @property
    def may_let_in(self) -> bool:
        """Whether something that waits may get in by what is to come."""
        return self.changed is not None or self._classes is not None

    def await_requeue(self) -> None:
        """Return when Kueue has begun the sweep that lets nobody in."""
        if (since := self.opened) is not None:
            self.opened = None
            self._let_pass(since, self.pauses.sweep, "a sweep that changes nothing")

    def let_classes_be_seen(self) -> None:
        """Return when Kueue has begun to look again at what a DeviceClass concerns."""
        if (since := self._classes) is not None:
            self._classes = None
            self._let_pass(
                since,
                self.pauses.device_class or 0.0,
                "a changed DeviceClass to be looked at",
            )

    def _let_pass(self, since: float, pause: float, what: str) -> None:
        def passed() -> None:
            if elapsed_since(since) < pause + LAG:
                raise NotYet("it is still ahead")

        eventually(passed, within=self.limits.sweep, every=0.02, what=what)

    def let_retries_pass(self) -> None:
        """Return when Kueue has tried again what it refused, or refuses nothing any more."""
        if (due := self._retried) is None:
            return

        def tried() -> None:
            if (
                elapsed_since(due) < LAG
                and Observation.at(self.mirror, self.world).refused
            ):
                raise NotYet("what was refused is not tried again yet")

        ahead = max(-elapsed_since(due), 0.0)
        self.mirror.eventually(
            tried,
            within=self.limits.settle + ahead,
            what="what was refused to be tried again",
        )
        self._retried = None
