"""The parts of a behaviour that decide who gets quota: queues, flavors, cohorts, cycles, preemption, fairness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import (
    ClusterQueue,
    Cohort,
    FlavorChoice,
    FlavorQuota,
    PodSet,
    ResourceGroup,
    Workload,
)
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.resource_node import (
    DominantResourceShare,
    FlavorResource,
    ResourceNode,
)
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.slots import AllOf, AnyOf, Collect, Each, First, Fold, Order
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import (
    ResourceRequest,
    Status,
)
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import (
    FlavorScanState,
    FungibilityCheck,
    GranularMode,
)
from kueue_dra_ref.rules.flavorassigner.node_affinity import UnparsableLabel
from kueue_dra_ref.rules.preemption.fair_sharing import (
    StrategyShares,
    TournamentEntry,
)
from kueue_dra_ref.rules.preemption.preemption_policies import (
    Candidate,
    Preemption,
    PreemptionNeed,
    PreemptorAndCandidate,
)
from kueue_dra_ref.rules.queue.admissibility import QueuePosition
from kueue_dra_ref.rules.queue.in_use_finalizers import InUse
from kueue_dra_ref.rules.queue.pending_workloads import (
    ClusterQueueCheck,
    PendingWorkload,
    QuotaHolder,
    ReasonMessage,
)
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Nominee, ReservedCapacity
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """Who waits where, who goes first, and who is evicted."""

    order: Order[[PendingWorkload]]
    requeue_immediately: AnyOf[[ClusterQueue]]
    mark_inadmissible: AnyOf[[ClusterQueue]]
    sticky_preemptor: AnyOf[[ClusterQueue]]
    namespace: First[[ClusterQueue, dict[str, str]], str]
    queue_not_ready: First[[QueuePosition], NotAdmissible]
    inactive: Each[[ClusterQueueCheck], ReasonMessage]
    evicted: First[[QuotaHolder], ReasonMessage]
    requeue_from: First[[Workload], Workload] = First()
    """What a new version of a workload that was tried is held against; as it is written without rules."""
    retry_from: First[[Workload], Workload] = First()
    """What is looked at when a workload is tried again; what is written without rules."""
    skip_in_requeue: AnyOf[[Manifest]] = AnyOf()
    """Whom no sweep brings back, by the status that is stored when it is set aside."""
    bulk_move_equivalent: AnyOf[[ClusterQueue]] = AnyOf()
    """Whether workloads that equal one that did not fit are set aside with it."""
    skip_on_local_queue_add: AnyOf[[bool]] = AnyOf()
    """Who is not queued when its LocalQueue comes, by whether it is finished."""
    count_on_start: AllOf[[bool], bool] = AllOf()
    """Which reservations are counted when Kueue starts, by whether their workload is active; all without rules."""
    hold_finalizer: AnyOf[[InUse]] = AnyOf()
    """Which ClusterQueues and flavors stay although they were deleted, by their use."""
    ignore_update: AnyOf[[bool]] = AnyOf()
    """Of which ClusterQueues and flavors no change is taken note of, by whether they were deleted."""
    ignore_delete: AnyOf[[Manifest]] = AnyOf()
    """For which deleted workloads nobody who waits is tried again, by what was stored of them last."""


Ranking = tuple[Rule[[FungibilityCheck], tuple[int, ...]], ...]
"""Rules that make one outlook better than another, the first that tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorAssignment:
    """Flavors and quota."""

    flavors: Collect[[ResourceGroup], FlavorQuota]
    uncovered: First[[str], str]
    counted: Each[[ClusterQueue, int], Mapping[str, int]] = Each()
    """What so many pods are charged beside what they ask for."""
    ignore_zero_request: AnyOf[[int]] = AnyOf()
    """Which amounts of a resource that is not covered do not matter."""
    ignore_undeclared: AnyOf[[str]] = AnyOf()
    """Whether no resource that is not covered matters, by the quotaCheckStrategy of the Configuration."""
    stop_at_empty_pod_set: AnyOf[[int]] = AnyOf()
    """Whether so many flavors for a pod set that asks for something end the look at those behind it."""
    flavor: Each[[FlavorCheck], str | UnparsableLabel]
    quota: First[[ResourceRequest], Status]
    no_fit_message: First[[int], str] = First()
    """What is said of a sum or a quota instead of the amount."""
    in_group: Each[[FlavorCheck], str | UnparsableLabel] = Each()
    """What speaks against a flavor in view of the label keys of all flavors of its group."""
    choices: First[[ClusterQueue, Sequence[str]], Sequence[FlavorChoice]] = First()
    """For a class of several resources, which flavor and resource are examined one after another."""
    considered: AllOf[[PodSet, str], bool] = AllOf()
    """Whether a flavor is looked at for a pod set at all."""
    try_next_flavor: AnyOf[[FungibilityCheck]] = AnyOf()
    rank: Order[[FungibilityCheck]] = Order()
    prefer_flavor: Order[[FungibilityCheck]] = Order()
    """How flavors rank, where they do otherwise than the resources of one flavor."""
    stop_search: AnyOf[[GranularMode]] = AnyOf()
    """Whether what is found of one resource ends the look at the others, which come in any order."""
    resume_from_last_tried: AnyOf[[FlavorScanState, int]] = AnyOf()
    """Whether a search goes on in a later cycle; else it begins again."""
    keep_progress_on_skip: AnyOf[[FlavorScanState]] = AnyOf()
    """Whether what was searched is remembered of a workload that lost a flavor to another one."""
    partial_admission: AnyOf[[Sequence[PodSet]]] = AnyOf()
    reason_across_flavors: First[
        [Sequence[QuotaReservedReason]], QuotaReservedReason
    ] = First()
    reason_across_resources: First[
        [Sequence[QuotaReservedReason]], QuotaReservedReason
    ] = First()
    """Of several causes the one that counts: of flavors, and of what is needed together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortRules:
    """Who shares quota with whom."""

    parent_of_cluster_queue: First[[ClusterQueue], str]
    reads_cohorts: AnyOf[[]]
    """Whether Cohorts are looked at."""
    parent: First[[Cohort], str]
    quota: First[[Cohort], tuple[ResourceGroup, ...]]
    borrowing: First[[FlavorQuota, str], int]
    lending: First[[FlavorQuota, str], int]
    on_cycle: First[[ClusterQueue], str]
    borrowed: First[[int, int], int]
    counted: First[[str, int], int] = First()
    """What Kueue makes of a quota or a limit of a resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingCycle:
    """How the heads of several ClusterQueues share one scheduling cycle."""

    order: Order[[Nominee]]
    victims_overlap: First[[bool], str]
    no_longer_fits: First[[bool], str]
    reserve_capacity: First[[ClusterQueue, ReservedCapacity], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionRules:
    """Who may be preempted, and who is."""

    can_preempt: AnyOf[[PreemptionNeed]]
    within_cluster_queue: AnyOf[[PreemptorAndCandidate]]
    reclaim_within_cohort: AnyOf[[PreemptorAndCandidate]]
    borrowers: AllOf[[ResourceNode, Collection[FlavorResource]], bool]
    borrow_within_cohort: AllOf[[PreemptorAndCandidate], bool]
    order: Order[[Candidate]]
    fill_back: Fold[Sequence[Any], [Callable[[Any], bool]]]
    preempted_message: First[[Preemption], str]
    pending: First[[int], str]
    at_once: AnyOf[[int]]
    """How many preemptions of a cycle have the next one begin before their victims give quota back."""
    ignore_just_admitted: AnyOf[[bool]] = AnyOf()
    """Whether a victim cannot be evicted, by whether it has been admitted a moment ago."""
    skip_search: Collect[[], str] = Collect()
    """Resources that whoever preempts does not reckon with."""
    ignore_zero_request: AnyOf[[int]] = AnyOf()
    """Amounts that whoever preempts does not reckon with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharingRules:
    """How borrowing is kept fair, where the Configuration asks for it."""

    order: Order[[TournamentEntry]]
    within_nominal: AnyOf[[ResourceNode, Collection[FlavorResource]]]
    final_share: AnyOf[[StrategyShares]]
    initial_share: AnyOf[[StrategyShares]]
    status_fields: Each[[DominantResourceShare], Mapping[str, Any]]
    skip_zero_share: AnyOf[[DominantResourceShare]] = AnyOf()
    """Who is asked for nothing, beside who borrows nothing."""
