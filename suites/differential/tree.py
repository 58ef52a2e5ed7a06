"""What the queue tree of a generated world is drawn as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A ClusterQueue with its LocalQueue; quota and limits in devices, for each flavor in order."""

    cohort: int | None
    """The cohort of the world that it belongs to; None: it stands alone."""
    nominal: tuple[int, ...]
    borrowing: int | None
    lending: int | None
    cpu: int
    apart: bool
    """Whether CPU has a resource group of its own."""
    strict: bool
    within: str
    reclaim: str
    borrow_within: bool
    stops_early: bool
    """Whether the search for a flavor stops where the queue can borrow, and goes on where it could preempt."""
    selects: bool
    """Whether it takes namespaces of the team only."""
    weight: str | None
    """Its weight in fair sharing."""
    pods: int | None
    """Quota of pods in each flavor, where they are covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Above:
    """A cohort of a world: the one above it, and devices that are its own."""

    parent: int | None
    shared: int | None

    @property
    def needs_an_object(self) -> bool:
        """Whether it says anything beyond its name, which ClusterQueues say too."""
        return self.parent is not None or self.shared is not None
