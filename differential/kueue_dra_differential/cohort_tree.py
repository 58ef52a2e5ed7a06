"""The generated ClusterQueues and cohorts of one scenario."""

from __future__ import annotations

from dataclasses import dataclass

MAY_STOP, TRY_NEXT = "MayStopSearch", "TryNextFlavor"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimits:
    """Borrowing and lending limit of a resource; None: no limit."""

    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FungibilityPolicy:
    """``flavorFungibility``: what the flavor search does when a flavor needs borrowing or preemption."""

    when_can_borrow: str = MAY_STOP
    when_can_preempt: str = TRY_NEXT
    preference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueUsage:
    """The two LocalQueues of a ClusterQueue."""

    orders: bool
    """Whether the work of the one that has used less is next."""
    weights: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantPolicy:
    """What the variants of the work of a ClusterQueue do: the work migrates to preferred flavors."""

    bounded: bool
    """Whether work that migrates does so to the first flavor only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueueLine:
    """A ClusterQueue with its LocalQueue; quota and limits in devices, for each flavor in order."""

    cohort: int | None
    """The index of its cohort in the scenario; None: no cohort."""
    nominal: tuple[int, ...]
    limits: QuotaLimits
    cpu: int
    cpu_limits: QuotaLimits
    apart: bool
    """Whether CPU has a resource group of its own."""
    aside: bool
    """Whether resources that are neither contested nor CPU are in that group."""
    bare: bool
    """Whether the ClusterQueue does not cover those resources at all."""
    backwards: bool
    """Whether its flavors are in reverse order."""
    strict: bool
    within: str
    reclaim: str
    borrow_within: bool
    threshold: int | None
    """``borrowWithinCohort.maxPriorityThreshold``."""
    search: FungibilityPolicy
    selects: bool
    """Whether its namespace selector selects the namespaces of the team only."""
    weight: str | None
    """Its weight in fair sharing."""
    pods: int | None
    """Quota of pods in each flavor; None: not covered."""
    checks: tuple[tuple[int, bool], ...] = ()
    """Its admission checks, each with whether it is for the first flavor alone."""
    usage: LocalQueueUsage | None = None
    """Whose work is next by what they have used; None: it has one LocalQueue."""
    policy: VariantPolicy | None = None
    """What its variants do; None: its work has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentCohort:
    """A cohort of a scenario: its parent, its own quota in devices (None: no quota), and its weight."""

    parent: int | None
    shared: int | None
    limits: QuotaLimits = QuotaLimits()
    cpu: int | None = None
    """Its own CPU quota, with the same limits."""
    everywhere: bool = False
    """Whether it has the quota in every flavor, not only in the first one."""
    weight: str | None = None
    """Its weight in fair sharing."""

    @property
    def needs_an_object(self) -> bool:
        """Whether it has a field in addition to its name; without one, ClusterQueues only name it."""
        fields = (self.parent, self.shared, self.weight)
        return any(field is not None for field in fields)
