"""Flavor fungibility: how long Kueue tries further flavors, and which one it assigns (Kueue 0.19).

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor, findFlavorForPodSets, isPreferred)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto

from kueue_dra_ref.api.types import FlavorFungibility
from kueue_dra_ref.model.rule import rule


class PreemptionMode(IntEnum):
    """How an amount can be admitted in a flavor, worst first."""

    NO_FIT = auto()
    NO_CANDIDATES = auto()
    """By preemption, but Kueue can preempt no workload."""
    PREEMPT = auto()
    RECLAIM = auto()
    """By preemption in other ClusterQueues only."""
    FIT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class GranularMode:
    """The mode of a flavor, and the height in the cohort tree that it borrows from (0: no borrowing)."""

    mode: PreemptionMode
    level: int = 0

    @property
    def needs_preemption(self) -> bool:
        """Whether Kueue has to preempt workloads."""
        return self.mode in (PreemptionMode.PREEMPT, PreemptionMode.RECLAIM)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorScanState:
    """The last tried flavor of each resource of each pod set (-1: all flavors tried), and when that was."""

    tried: Sequence[Mapping[str, int]]
    cycle: int
    generation: int
    """How often the ClusterQueue had released quota by then."""

    @property
    def is_unfinished(self) -> bool:
        """Whether some flavor was not tried."""
        return any(index != -1 for tried in self.tried for index in tried.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class FungibilityCheck:
    """The mode of a flavor, and the flavorFungibility of the ClusterQueue."""

    granular: GranularMode
    policy: FlavorFungibility

    @property
    def mode(self) -> PreemptionMode:
        """How an amount can be admitted in the flavor."""
        return self.granular.mode

    @property
    def level(self) -> int:
        """The height in the cohort tree that the flavor borrows from; 0: no borrowing."""
        return self.granular.level


@rule("PREEMPT-022")
def try_next_when_no_candidates(check: FungibilityCheck) -> bool:
    """Kueue tries the next flavor after one that neither fits nor has workloads to preempt.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    return check.mode in (PreemptionMode.NO_FIT, PreemptionMode.NO_CANDIDATES)


@rule("PREEMPT-020")
def when_can_preempt_try_next_flavor(check: FungibilityCheck) -> bool:
    """With whenCanPreempt TryNextFlavor, Kueue tries the next flavor after one that needs preemption.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    tries_next = check.policy.when_can_preempt == "TryNextFlavor"
    return check.granular.needs_preemption and tries_next


@rule("COHORT-010")
def when_can_borrow_try_next_flavor(check: FungibilityCheck) -> bool:
    """With whenCanBorrow TryNextFlavor, Kueue tries the next flavor after one that needs borrowing.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    tries_next = check.policy.when_can_borrow == "TryNextFlavor"
    return check.level > 0 and tries_next


@rule("PREEMPT-046")
def no_fit_tries_next_flavor(check: FungibilityCheck) -> bool:
    """With the gate FlavorFungibility off, Kueue tries the next flavor after each one that does not fit now.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return check.mode is not PreemptionMode.FIT


@rule("PREEMPT-046")
def granular_mode_ranks_flavors(check: FungibilityCheck) -> tuple[int, ...]:
    """With the gate FlavorFungibility off, Kueue compares flavors by their mode and ignores borrowing.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return (check.mode,)


@rule("PREEMPT-029")
def no_preemption_candidates_last(check: FungibilityCheck) -> tuple[int, ...]:
    """Kueue prefers a flavor with workloads to preempt to one in which it can preempt none.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    return (int(check.mode is not PreemptionMode.NO_CANDIDATES),)


@rule("PREEMPT-021")
def is_preferred(check: FungibilityCheck) -> tuple[int, ...]:
    """Kueue prefers borrowing to preemption unless the preference is PreemptionOverBorrowing.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if check.policy.preference == "PreemptionOverBorrowing":
        return -check.level, check.mode
    return check.mode, -check.level


@rule("PREEMPT-031")
def inverted_preference_bug_0_15(check: FungibilityCheck) -> tuple[int, ...]:
    """Kueue inverts the preference: it prefers preemption with BorrowingOverPreemption only.

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if check.policy.preference == "BorrowingOverPreemption":
        return -check.level, check.mode
    return check.mode, -check.level


@rule("PREEMPT-032")
def borrowing_is_preferred(check: FungibilityCheck) -> tuple[int, ...]:
    """Kueue prefers borrowing to preemption; a ClusterQueue cannot set another preference.

    Kueue 0.14: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    return check.mode, -check.level


@rule("PREEMPT-047")
def prefer_preemption_over_borrowing(check: FungibilityCheck) -> tuple[int, ...]:
    """Kueue prefers preemption without a preference if whenCanBorrow is TryNextFlavor.

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if not check.policy.preference and check.policy.when_can_borrow == "TryNextFlavor":
        return -check.level, check.mode
    return inverted_preference_bug_0_15(check)


@rule("QUOTA-023")
def no_fit_stops_search(granular: GranularMode) -> bool:
    """Kueue does not check the other resources of a flavor once one can never fit.

    Kueue 0.18: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return granular.mode is PreemptionMode.NO_FIT


@rule("COHORT-022")
def resume_from_last_tried_flavor(
    state: FlavorScanState, cycle: int, generation: int
) -> bool:
    """Kueue resumes the flavor search after the last tried flavor as long as the ClusterQueue releases no quota.

    Kueue: pkg/scheduler/scheduler.go (lastAssignmentOutdated);
        pkg/workload/workload.go (NextFlavorToTryForPodSetResource)
    """
    return generation == state.generation


@rule("COHORT-026")
def resume_in_next_cycle(state: FlavorScanState, cycle: int, generation: int) -> bool:
    """Kueue resumes the flavor search in the next cycle, whatever quota was released meanwhile.

    Kueue: pkg/scheduler/scheduler.go (lastAssignmentOutdated)
    """
    return cycle - state.cycle <= 1


@rule("COHORT-011")
def keep_scan_progress_on_skip(state: FlavorScanState) -> bool:
    """A workload that loses a flavor to another workload in the same cycle resumes with the next flavor.

    Kueue: pkg/scheduler/scheduler.go (markSkipped)
    """
    return state.is_unfinished
