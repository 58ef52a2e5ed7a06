"""The parts of a behaviour that decide who gets quota: queues, flavors, cohorts, cycles, preemption, fairness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import (
    ClusterQueue,
    Cohort,
    FlavorChoice,
    FlavorFungibility,
    FlavorQuota,
    PodSet,
    ResourceGroup,
    Workload,
)
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.resource_node import (
    DominantResourceShare,
    FlavorResource,
    ResourceNode,
)
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import (
    ResourceRequest,
    Status,
)
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FlavorScanState,
    GranularMode,
)
from kueue_dra_ref.rules.flavorassigner.node_affinity import UnparsableLabel
from kueue_dra_ref.rules.preemption.fair_sharing import StrategyShares, TournamentEntry
from kueue_dra_ref.rules.preemption.preemption_policies import (
    Candidate,
    Preemption,
    PreemptionNeed,
    PreemptorAndCandidate,
)
from kueue_dra_ref.rules.queue.admissibility import QueuePosition
from kueue_dra_ref.rules.queue.in_use_finalizers import InUse
from kueue_dra_ref.rules.queue.pending_workloads import (
    PendingWorkload,
    QuotaHolder,
    ReasonMessage,
)
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Nominee, ReservedCapacity
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """Who waits where, who goes first, and who is evicted."""

    order: tuple[Rule[[PendingWorkload], int], ...]
    requeue_immediately: tuple[Rule[[ClusterQueue], bool], ...]
    mark_inadmissible: tuple[Rule[[ClusterQueue], bool], ...]
    sticky_preemptor: tuple[Rule[[ClusterQueue], bool], ...]
    namespace: tuple[Rule[[ClusterQueue, dict[str, str]], str | None], ...]
    queue_not_ready: tuple[Rule[[QueuePosition], NotAdmissible | None], ...]
    inactive: tuple[Rule[[ClusterQueue, tuple[str, ...]], ReasonMessage | None], ...]
    evicted: tuple[Rule[[QuotaHolder], ReasonMessage | None], ...]
    requeue_from: tuple[Rule[[Workload], Workload], ...] = ()
    """What a new version of a workload that was tried is held against; as it is written without rules."""
    retry_from: tuple[Rule[[Workload], Workload], ...] = ()
    """What is looked at when a workload is tried again; what is written without rules."""
    skip_in_requeue: tuple[Rule[[Manifest], bool], ...] = ()
    """Whom no sweep brings back, by the status that is stored when it is set aside."""
    bulk_move_equivalent: tuple[Rule[[ClusterQueue], bool], ...] = ()
    """Whether workloads that equal one that did not fit are set aside with it."""
    skip_on_local_queue_add: tuple[Rule[[bool], bool], ...] = ()
    """Who is not queued when its LocalQueue comes, by whether it is finished."""
    count_on_start: tuple[Rule[[bool], bool], ...] = ()
    """Which reservations are counted when Kueue starts, by whether their workload is active; all without rules."""
    hold_finalizer: tuple[Rule[[InUse], bool], ...] = ()
    """Which ClusterQueues and flavors stay although they were deleted, by their use."""
    ignore_update: tuple[Rule[[bool], bool], ...] = ()
    """Of which ClusterQueues and flavors no change is taken note of, by whether they were deleted."""
    ignore_delete: tuple[Rule[[Manifest], bool], ...] = ()
    """For which deleted workloads nobody who waits is tried again, by what was stored of them last."""


Ranking = tuple[Rule[[GranularMode, FlavorFungibility], tuple[int, ...]], ...]
"""Rules that make one outlook better than another, the first that tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorAssignment:
    """Flavors and quota."""

    flavors: tuple[Rule[[ResourceGroup], Sequence[FlavorQuota]], ...]
    uncovered: tuple[Rule[[str], str], ...]
    counted: tuple[Rule[[ClusterQueue, int], Mapping[str, int]], ...] = ()
    """What so many pods are charged beside what they ask for."""
    ignore_zero_request: tuple[Rule[[int], bool], ...] = ()
    """Which amounts of a resource that is not covered do not matter."""
    ignore_undeclared: tuple[Rule[[str], bool], ...] = ()
    """Whether no resource that is not covered matters, by the quotaCheckStrategy of the Configuration."""
    stop_at_empty_pod_set: tuple[Rule[[int], bool], ...] = ()
    """Whether so many flavors for a pod set that asks for something end the look at those behind it."""
    flavor: tuple[
        Rule[[PodSet, str, Mapping[str, Any]], str | UnparsableLabel | None], ...
    ]
    quota: tuple[Rule[[ResourceRequest], Status | None], ...]
    no_fit_message: tuple[Rule[[int], str | None], ...] = ()
    """What is said of a sum or a quota instead of the amount."""
    in_group: tuple[
        Rule[
            [PodSet, str, Mapping[str, Any], Collection[str]],
            str | UnparsableLabel | None,
        ],
        ...,
    ] = ()
    """What speaks against a flavor in view of the label keys of all flavors of its group."""
    choices: tuple[
        Rule[[ClusterQueue, Sequence[str]], Sequence[FlavorChoice]], ...
    ] = ()
    """For a class of several resources, which flavor and resource are examined one after another."""
    considered: tuple[Rule[[PodSet, str], bool], ...] = ()
    """Whether a flavor is looked at for a pod set at all."""
    try_next_flavor: tuple[Rule[[GranularMode, FlavorFungibility], bool], ...] = ()
    rank: Ranking = ()
    prefer_flavor: Ranking = ()
    """How flavors rank, where they do otherwise than the resources of one flavor."""
    stop_search: tuple[Rule[[GranularMode], bool], ...] = ()
    """Whether what is found of one resource ends the look at the others, which come in any order."""
    resume_from_last_tried: tuple[Rule[[FlavorScanState, int], bool], ...] = ()
    """Whether a search goes on in a later cycle; else it begins again."""
    keep_progress_on_skip: tuple[Rule[[FlavorScanState], bool], ...] = ()
    """Whether what was searched is remembered of a workload that lost a flavor to another one."""
    partial_admission: tuple[Rule[[Sequence[PodSet]], bool], ...] = ()
    reason_across_flavors: tuple[
        Rule[[Sequence[QuotaReservedReason]], QuotaReservedReason], ...
    ] = ()
    reason_across_resources: tuple[
        Rule[[Sequence[QuotaReservedReason]], QuotaReservedReason], ...
    ] = ()
    """Of several causes the one that counts: of flavors, and of what is needed together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortRules:
    """Who shares quota with whom."""

    parent_of_cluster_queue: tuple[Rule[[ClusterQueue], str], ...]
    reads_cohorts: tuple[Rule[[], bool], ...]
    """Whether Cohorts are looked at."""
    parent: tuple[Rule[[Cohort], str], ...]
    quota: tuple[Rule[[Cohort], tuple[ResourceGroup, ...]], ...]
    borrowing: tuple[Rule[[FlavorQuota, str], int | None], ...]
    lending: tuple[Rule[[FlavorQuota, str], int | None], ...]
    on_cycle: tuple[Rule[[ClusterQueue], str], ...]
    borrowed: tuple[Rule[[int, int], int], ...]
    counted: tuple[Rule[[str, int], int], ...] = ()
    """What Kueue makes of a quota or a limit of a resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingCycle:
    """How the heads of several ClusterQueues share one scheduling cycle."""

    order: tuple[Rule[[Nominee], int], ...]
    victims_overlap: tuple[Rule[[bool], str | None], ...]
    no_longer_fits: tuple[Rule[[bool], str | None], ...]
    reserve_capacity: tuple[Rule[[ClusterQueue, ReservedCapacity], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionRules:
    """Who may be preempted, and who is."""

    can_preempt: tuple[Rule[[PreemptionNeed], bool], ...]
    within_cluster_queue: tuple[Rule[[PreemptorAndCandidate], bool], ...]
    reclaim_within_cohort: tuple[Rule[[PreemptorAndCandidate], bool], ...]
    borrowers: tuple[Rule[[ResourceNode, Collection[FlavorResource]], bool], ...]
    borrow_within_cohort: tuple[Rule[[PreemptorAndCandidate], bool], ...]
    order: tuple[Rule[[Candidate], tuple[int, ...]], ...]
    fill_back: tuple[Rule[[Sequence[Any], Callable[[Any], bool]], Sequence[Any]], ...]
    preempted_message: tuple[Rule[[Preemption], str], ...]
    pending: tuple[Rule[[int], str], ...]
    at_once: tuple[Rule[[int], bool], ...]
    """How many preemptions of a cycle have the next one begin before their victims give quota back."""
    ignore_just_admitted: tuple[Rule[[bool], bool], ...] = ()
    """Whether a victim cannot be evicted, by whether it has been admitted a moment ago."""
    skip_search: tuple[Rule[[], Collection[str]], ...] = ()
    """Resources that whoever preempts does not reckon with."""
    ignore_zero_request: tuple[Rule[[int], bool], ...] = ()
    """Amounts that whoever preempts does not reckon with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharingRules:
    """How borrowing is kept fair, where the Configuration asks for it."""

    order: tuple[Rule[[TournamentEntry], tuple[float, ...]], ...]
    within_nominal: tuple[Rule[[ResourceNode, Collection[FlavorResource]], bool], ...]
    final_share: tuple[Rule[[StrategyShares], bool], ...]
    initial_share: tuple[Rule[[StrategyShares], bool], ...]
    status_fields: tuple[Rule[[DominantResourceShare], Mapping[str, Any]], ...]
    skip_zero_share: tuple[Rule[[DominantResourceShare], bool], ...] = ()
    """Who is asked for nothing, beside who borrows nothing."""
