"""What the queue tree of a generated world is drawn as."""

from __future__ import annotations

from dataclasses import dataclass

MAY_STOP, TRY_NEXT = "MayStopSearch", "TryNextFlavor"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimits:
    """How much of a resource a queue or cohort borrows and lends at most; None: as much as there is."""

    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FungibilityPolicy:
    """How the search for a flavor goes on where the queue can borrow, and where it could preempt."""

    when_can_borrow: str = MAY_STOP
    when_can_preempt: str = TRY_NEXT
    preference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueLine:
    """A ClusterQueue with its LocalQueue; quota and limits in devices, for each flavor in order."""

    cohort: int | None
    """The cohort of the world that it belongs to; None: it stands alone."""
    nominal: tuple[int, ...]
    limits: QuotaLimits
    cpu: int
    cpu_limits: QuotaLimits
    apart: bool
    """Whether CPU has a resource group of its own."""
    aside: bool
    """Whether what is neither contested nor CPU is in that group."""
    bare: bool
    """Whether all that is not covered at all."""
    backwards: bool
    """Whether its flavors are tried from the last one to the first."""
    strict: bool
    within: str
    reclaim: str
    borrow_within: bool
    threshold: int | None
    """The most that whom it preempts while it borrows may matter."""
    search: FungibilityPolicy
    selects: bool
    """Whether it takes namespaces of the team only."""
    weight: str | None
    """Its weight in fair sharing."""
    pods: int | None
    """Quota of pods in each flavor, where they are covered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentCohort:
    """A cohort of a world: the one above it, devices that are its own (None: it has no quota), and what it weighs."""

    parent: int | None
    shared: int | None
    limits: QuotaLimits = QuotaLimits()
    cpu: int | None = None
    """CPU of its own, to which the same limits hold."""
    everywhere: bool = False
    """Whether it has all that in every flavor, not in the first one only."""
    weight: str | None = None
    """Its weight in fair sharing."""

    @property
    def needs_an_object(self) -> bool:
        """Whether it says anything beyond its name, which ClusterQueues say too."""
        return (
            self.parent is not None
            or self.shared is not None
            or self.weight is not None
        )
