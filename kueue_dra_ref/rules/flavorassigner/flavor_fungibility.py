"""Flavor fungibility (Kueue 0.19): how far the search for a flavor goes, and which of several is taken.

Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor, findFlavorForPodSets, isPreferred)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kueue_dra_ref.api.types import FlavorFungibility
from kueue_dra_ref.model.rule import rule


class PreemptionMode(IntEnum):
    """How an amount can be had, worst first."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    """If others gave something back, but nobody can be made to."""
    PREEMPT = 2
    RECLAIM = 3
    """By preempting in other ClusterQueues only."""
    FIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class GranularMode:
    """What to expect of a flavor: how it can be had, and from how far it has to be borrowed (0: not at all)."""

    mode: PreemptionMode
    level: int = 0

    @property
    def needs_preemption(self) -> bool:
        """Whether there is somebody who would have to give it back."""
        return self.mode in (PreemptionMode.PREEMPT, PreemptionMode.RECLAIM)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorScanState:
    """How far the search for flavors has come: for each pod set the last flavor tried of each resource, -1 for all."""

    tried: Sequence[Mapping[str, int]]
    cycle: int

    @property
    def is_unfinished(self) -> bool:
        """Whether some flavor was not looked at."""
        return any(index != -1 for tried in self.tried for index in tried.values())


@rule("PREEMPT-022")
def try_next_when_no_candidates(
    outlook: GranularMode, policy: FlavorFungibility
) -> bool:
    """The search goes on behind a flavor that cannot be had now and that no preemption would free.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    del policy
    return outlook.mode in (PreemptionMode.NO_FIT, PreemptionMode.NO_CANDIDATES)


@rule("PREEMPT-020")
def when_can_preempt_try_next_flavor(
    outlook: GranularMode, policy: FlavorFungibility
) -> bool:
    """With whenCanPreempt TryNextFlavor, a flavor that needs preemption is kept for later.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    return outlook.needs_preemption and policy.when_can_preempt == "TryNextFlavor"


@rule("COHORT-010")
def when_can_borrow_try_next_flavor(
    outlook: GranularMode, policy: FlavorFungibility
) -> bool:
    """With whenCanBorrow TryNextFlavor, a flavor that has to be borrowed is kept for later.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (shouldTryNextFlavor)
    """
    return outlook.level > 0 and policy.when_can_borrow == "TryNextFlavor"


@rule("PREEMPT-046")
def no_fit_tries_next_flavor(outlook: GranularMode, policy: FlavorFungibility) -> bool:
    """Without fungibility, the search goes on until a flavor can be had now, whatever the policies say.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    del policy
    return outlook.mode is not PreemptionMode.FIT


@rule("PREEMPT-046")
def granular_mode_ranks_flavors(
    outlook: GranularMode, policy: FlavorFungibility
) -> tuple[int, ...]:
    """Without fungibility, what has to be borrowed is as good as what has not.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    del policy
    return (outlook.mode,)


@rule("PREEMPT-029")
def no_preemption_candidates_last(
    outlook: GranularMode, policy: FlavorFungibility
) -> tuple[int, ...]:
    """A flavor that could be had by preemption is preferred to one that nobody can be made to give back.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    del policy
    return (int(outlook.mode is not PreemptionMode.NO_CANDIDATES),)


@rule("PREEMPT-021")
def is_preferred(outlook: GranularMode, policy: FlavorFungibility) -> tuple[int, ...]:
    """Rather borrow than preempt, unless the ClusterQueue prefers it the other way.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if policy.preference == "PreemptionOverBorrowing":
        return -outlook.level, outlook.mode
    return outlook.mode, -outlook.level


@rule("PREEMPT-031")
def inverted_preference_bug_0_15(
    outlook: GranularMode, policy: FlavorFungibility
) -> tuple[int, ...]:
    """Up to 0.15: rather borrow than preempt, unless the ClusterQueue writes that it prefers to borrow.

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if policy.preference == "BorrowingOverPreemption":
        return -outlook.level, outlook.mode
    return outlook.mode, -outlook.level


@rule("PREEMPT-032")
def borrowing_is_preferred(
    outlook: GranularMode, policy: FlavorFungibility
) -> tuple[int, ...]:
    """In 0.14: rather borrow than preempt, whatever a ClusterQueue of later minors would say.

    Kueue 0.14: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    del policy
    return outlook.mode, -outlook.level


@rule("PREEMPT-047")
def prefer_preemption_over_borrowing(
    outlook: GranularMode, policy: FlavorFungibility
) -> tuple[int, ...]:
    """Where borrowing waits for other flavors, and nothing is said of it, rather preempt than borrow (0.14, 0.15).

    Kueue 0.15: pkg/scheduler/flavorassigner/flavorassigner.go (isPreferred)
    """
    if not policy.preference and policy.when_can_borrow == "TryNextFlavor":
        return -outlook.level, outlook.mode
    return inverted_preference_bug_0_15(outlook, policy)


@rule("QUOTA-023")
def no_fit_stops_search(outlook: GranularMode) -> bool:
    """Once one resource can never be had in a flavor, the others are not looked at.

    Kueue 0.18: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets)
    """
    return outlook.mode is PreemptionMode.NO_FIT


@rule("COHORT-022")
def resume_from_last_tried_flavor(progress: FlavorScanState, cycle: int) -> bool:
    """Where a flavor of one group was found and the workload still waits, the next cycle looks behind that flavor.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (findFlavorForPodSets);
        pkg/workload/workload.go (NextFlavorToTryForPodSetResource)
    """
    return cycle - progress.cycle <= 1


@rule("COHORT-011")
def keep_scan_progress_on_skip(progress: FlavorScanState) -> bool:
    """Whoever lost a flavor to another workload goes on with the next one, if there is one.

    Kueue: pkg/scheduler/scheduler.go (markSkipped)
    """
    return progress.is_unfinished
