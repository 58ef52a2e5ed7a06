"""Fair sharing: the order of heads by shares, and preemption until shares are fair (Kueue 0.19).

Kueue: pkg/scheduler/fair_sharing_iterator.go (less);
    pkg/scheduler/preemption/fairsharing/strategy.go (LessThanOrEqualToFinalShare, LessThanInitialShare)
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from kueue_dra_ref.api.quantities import MAX_INT64
from kueue_dra_ref.model.dominant_resource_share import (
    DominantResourceShare,
)
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.model.rule import rule

INITIAL = "LessThanInitialShare"
"""The strategy that compares with the share of the target before the preemption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentEntry:
    """The head of one branch of a cohort: the share of the branch with it, and its request."""

    share: DominantResourceShare
    asked: Collection[FlavorResource]
    """Flavors and resources that it requests more than zero of."""
    priority: int
    created: int
    level: int
    """The height in the cohort tree that the head borrows from; 0: no borrowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyShares:
    """The preemptor's share with its new workload, and the target's share before and after the preemption."""

    preemptor: DominantResourceShare
    before: DominantResourceShare
    after: DominantResourceShare


@rule("FAIR-001")
def non_borrowing_first(entry: TournamentEntry) -> tuple[float, ...]:
    """Kueue serves a ClusterQueue or cohort that would borrow none of the requested resources first.

    Kueue: pkg/scheduler/fair_sharing_iterator.go (less); pkg/cache/scheduler/fair_sharing.go (IsBorrowingOn)
    """
    return (float(any(one in entry.share.borrowed for one in entry.asked)),)


@rule("FAIR-012", "FAIR-001")
def non_borrowing_first_0_16(
    entry: TournamentEntry,
) -> tuple[float, ...]:
    """Kueue serves a head first that borrows nothing, not even from the nearest cohort.

    Kueue 0.16: pkg/scheduler/fair_sharing_iterator.go (less);
        pkg/scheduler/flavorassigner/flavorassigner.go (RequiresBorrowing)
    """
    return (float(entry.level > 0),)


@rule("FAIR-002")
def lower_drs_first(entry: TournamentEntry) -> tuple[float, ...]:
    """Kueue serves the ClusterQueue or cohort with the smaller dominant resource share first.

    Kueue: pkg/scheduler/fair_sharing_iterator.go (less); pkg/cache/scheduler/fair_sharing.go (CompareDRS)
    """
    return entry.share.compare_key


@rule("FAIR-008")
def higher_priority_first_on_equal_share(
    entry: TournamentEntry,
) -> tuple[float, ...]:
    """Kueue serves the head of higher priority first when shares are equal.

    Kueue: pkg/scheduler/fair_sharing_iterator.go (less)
    """
    return (-entry.priority,)


@rule("FAIR-009")
def older_first_on_equal_priority(entry: TournamentEntry) -> tuple[float, ...]:
    """Kueue serves the older workload first when shares and priorities are equal.

    Kueue: pkg/scheduler/fair_sharing_iterator.go (less)
    """
    return (entry.created,)


@rule("FAIR-003")
def preempt_within_nominal(
    queue: ResourceNode, short: Collection[FlavorResource]
) -> bool:
    """A ClusterQueue within its nominal quota preempts to reclaim it, whatever the shares are.

    Kueue: pkg/scheduler/preemption/preemption.go (runFirstFsStrategy, queueWithinNominalInResourcesNeedingPreemption)
    """
    return not any(queue.borrows(one) for one in short)


@rule("FAIR-005")
def less_than_or_equal_to_final_share(shares: StrategyShares) -> bool:
    """With LessThanOrEqualToFinalShare, Kueue preempts if the new preemptor share is at most the new target share.

    Kueue: pkg/scheduler/preemption/fairsharing/strategy.go (LessThanOrEqualToFinalShare)
    """
    return shares.preemptor.compare_key <= shares.after.compare_key


@rule("FAIR-006")
def less_than_initial_share(shares: StrategyShares) -> bool:
    """With LessThanInitialShare, Kueue preempts if the new preemptor share is below the old target share.

    Kueue: pkg/scheduler/preemption/fairsharing/strategy.go (LessThanInitialShare)
    """
    return shares.preemptor.compare_key < shares.before.compare_key


@rule("FAIR-014")
def skip_zero_drs(share: DominantResourceShare) -> bool:
    """Kueue does not preempt in a borrowing ClusterQueue or cohort whose dominant resource share is zero.

    Kueue 0.16: pkg/cache/scheduler/fair_sharing.go (dominantResourceShare, IsZero);
        pkg/scheduler/preemption/fairsharing/ordering.go (nextTarget)
    """
    return not share.unweighted_ratio


@rule("FAIR-007")
def fair_sharing_status(share: DominantResourceShare) -> dict[str, object]:
    """Kueue shows the weightedShare of a ClusterQueue or Cohort in its status, rounded up.

    Kueue: pkg/controller/core/helpers.go (WeightedShare);
        pkg/controller/core/clusterqueue_controller.go (updateCqStatusIfChanged);
        pkg/controller/core/cohort_controller.go (updateCohortStatusIfChanged)
    """
    rounded_up = (
        MAX_INT64
        if share.zero_weight_borrows
        else math.ceil(share.precise_weighted_share)
    )
    return {"fairSharing": {"weightedShare": rounded_up}}
