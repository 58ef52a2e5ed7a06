"""The phases of a behaviour that give quota: queues, cohorts, flavors, preemption, fair sharing, cycles."""

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
from kueue_dra_ref.model.dominant_resource_share import DominantResourceShare
from kueue_dra_ref.model.flavor_check import FlavorCheck
from kueue_dra_ref.model.pending_reason import NotAdmissible, QuotaReservedReason
from kueue_dra_ref.model.reason_message import ReasonMessage
from kueue_dra_ref.model.resource_node import (
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
)
from kueue_dra_ref.rules.queue.retries import FlavorChange
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Nominee, ReservedCapacity
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRules:
    """Where workloads are pending, in which order they are tried, and when they are tried again or evicted."""

    skip_on_local_queue_add: AnyOf[[bool]] = AnyOf()
    """Does a new LocalQueue skip the workload, by whether it is finished? Without rules: it queues every workload."""
    queue_not_ready: First[[QueuePosition], NotAdmissible]
    """Why does the workload not get into its queue?"""
    inactive: Each[[ClusterQueueCheck], ReasonMessage]
    """Find the reasons for which a ClusterQueue is inactive."""
    order: Order[[PendingWorkload]]
    """In which order does a ClusterQueue try its pending workloads?"""
    sticky_preemptor: AnyOf[[ClusterQueue]]
    """Does a workload that waits for its victims stay the head? Without rules: other workloads may overtake it."""
    namespace: First[[ClusterQueue, dict[str, str]], str]
    """What is reported if the ClusterQueue does not select the namespace?"""
    requeue_immediately: AnyOf[[ClusterQueue]]
    """Does a head that does not fit go back to the front of the queue?"""
    mark_inadmissible: AnyOf[[ClusterQueue]]
    """Does a head that does not fit become inadmissible, so that the next workload is tried?"""
    bulk_move_equivalent: AnyOf[[ClusterQueue]] = AnyOf()
    """Do equivalent workloads become inadmissible with the head? Without rules: Kueue tries each of them."""
    requeue_from: First[[Workload], Workload] = First()
    """With what is a new version of a tried workload compared? Without rules: with what is stored."""
    retry_from: First[[Workload], Workload] = First()
    """Which requests does Kueue use when it tries a workload again? Without rules: those that are stored."""
    retry_updated: AnyOf[[Mapping[str, int]]] = AnyOf()
    """Does any update requeue a workload to which the search for a flavor added these requests? Without rules: none."""
    skip_in_requeue: AnyOf[[Manifest]] = AnyOf()
    """Does a requeue of inadmissible workloads skip this one, by its status? Without rules: it skips none."""
    ignore_delete: AnyOf[[Manifest]] = AnyOf()
    """Does the deletion of this workload requeue nothing? Without rules: every deletion requeues."""
    keep_when_moved: AnyOf[[bool]] = AnyOf()
    """Does a workload that moves stay in the queue that it leaves, by whether it has devices? Without rules: no."""
    evict: First[[QuotaHolder], ReasonMessage]
    """Why does Kueue evict a workload that holds quota?"""
    take_back: First[[QuotaHolder], NotAdmissible] = First()
    """Why does a workload lose quota before it is admitted? Without rules: it keeps it."""
    count_on_start: AllOf[[bool], bool] = AllOf()
    """Does a reservation count when Kueue starts, by whether the workload is active? Without rules: each one does."""
    hold_finalizer: AnyOf[[InUse]] = AnyOf()
    """Does a deleted ClusterQueue or ResourceFlavor stay because it is in use?"""
    release_checks: AnyOf[[]] = AnyOf()
    """Does a deleted AdmissionCheck go once no ClusterQueue names it? Without rules: only when it changes itself."""
    ignore_update: AnyOf[[bool]] = AnyOf()
    """Does Kueue ignore changes of a ClusterQueue or ResourceFlavor, by whether it is deleted?"""
    retry_with_flavor: AnyOf[[FlavorChange]] = AnyOf()
    """Does this change of a flavor requeue the ClusterQueues that use it? Without rules: those that get active."""


Ranking = tuple[Rule[[FungibilityCheck], tuple[int, ...]], ...]
"""Rules that rank one outcome before another; the first rule that ranks them differently decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CohortRules:
    """How ClusterQueues share quota in a cohort."""

    reads_cohorts: AnyOf[[]]
    """Does Kueue read Cohort objects?"""
    parent_of_cluster_queue: First[[ClusterQueue], str]
    """Which cohort is a ClusterQueue in?"""
    parent: First[[Cohort], str]
    """Which cohort is the parent of a cohort?"""
    on_cycle: First[[ClusterQueue], str]
    """What is reported of a ClusterQueue whose cohorts form a cycle?"""
    quota: First[[Cohort], tuple[ResourceGroup, ...]]
    """Which quota does a cohort have of its own?"""
    quota_value: First[[str, int], int] = First()
    """How does Kueue count a quota or a limit of a resource? Without rules: as it is written."""
    borrowing: First[[FlavorQuota, str], int]
    """How much may be borrowed from the cohort?"""
    lending: First[[FlavorQuota, str], int]
    """How much may be lent to the cohort?"""
    borrowed_amount: First[[int, int], int]
    """How much does a ClusterQueue borrow, by its usage and its nominal quota?"""
    requeue_tree: AnyOf[[bool]] = AnyOf()
    """Does any change of a ClusterQueue requeue the tree of this cohort above it, by whether it is the root?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorAssignment:
    """Which flavor a workload gets for each resource, and whether the quota suffices."""

    implicit_requests: Each[[ClusterQueue, int], Mapping[str, int]] = Each()
    """What do pods request that no container names, by their number?"""
    uncovered: First[[str], str]
    """What is reported of a resource that no resource group of the ClusterQueue covers?"""
    ignore_zero_request: AnyOf[[int]] = AnyOf()
    """Is a request for this amount of an uncovered resource ignored? Without rules: not even a zero is."""
    ignore_undeclared: AnyOf[[str]] = AnyOf()
    """Are uncovered resources ignored, by the quotaCheckStrategy? Without rules: there is no such strategy."""
    flavors: Collect[[ResourceGroup], FlavorQuota]
    """Which flavors of a resource group are tried, and in which order?"""
    choices: First[[ClusterQueue, Sequence[str]], Sequence[FlavorChoice]] = First()
    """Which flavor and resource are tried for a class of several resources? Without rules: a class has one resource."""
    consider_flavor: AllOf[[PodSet, str], bool] = AllOf()
    """Is the flavor tried for the pod set at all? Without rules: every flavor is."""
    keep_nominated: First[[str, str, str], str] = First()
    """What is reported of a flavor that a second assignment skips? Without rules: none is skipped."""
    resume_from_last_tried: AnyOf[[FlavorScanState, int, int]] = AnyOf()
    """Does the search continue after the flavor that was tried last, by the number of the cycle, and of the releases of
    quota? Otherwise it starts again."""
    flavor: Each[[FlavorCheck], str | UnparsableLabel]
    """What makes a flavor unsuitable for the pods: taints, node labels?"""
    in_group: Each[[FlavorCheck], str | UnparsableLabel] = Each()
    """What makes it unsuitable by the label keys of its resource group? Without rules: flavors are checked alone."""
    quota: First[[ResourceRequest], Status]
    """Does the quota suffice: for ever too small, or too small now?"""
    no_fit_message: First[[int], str] = First()
    """How does a message print an amount that has no limit? Without rules: as a number."""
    stop_search: AnyOf[[GranularMode]] = AnyOf()
    """Is the flavor given up after this resource? Without rules: all its resources are checked."""
    try_next_flavor: AnyOf[[FungibilityCheck]] = AnyOf()
    """Does the search continue with the next flavor?"""
    rank: Order[[FungibilityCheck]] = Order()
    """Which outcome is better, between the resources of a flavor and between flavors?"""
    prefer_flavor: Order[[FungibilityCheck]] = Order()
    """Which flavor is better, where flavors rank differently than resources? Without rules: `rank` decides."""
    replaced_slice: First[[dict[str, Any]], str] = First()
    """Which Workload does a larger one of elastic work replace, by namespace and name? Without rules: none."""
    count_off: First[[int, int], int] = First()
    """What does it need of a resource, by what it requests and what the other one holds? Without rules: all of it."""
    keep_flavor: First[[str, str], str] = First()
    """What is reported of a flavor, by the one in which the replaced Workload has the resource?"""
    use_difference: AnyOf[[]] = AnyOf()
    """Does a cycle count what it needs, or all? Without rules: all of it."""
    stop_at_empty_pod_set: AnyOf[[int]] = AnyOf()
    """Does a pod set that got so many flavors end the assignment? Without rules: later pod sets are assigned too."""
    partial_admission: AnyOf[[Sequence[PodSet]]] = AnyOf()
    """May fewer pods be admitted?"""
    keep_progress_on_skip: AnyOf[[FlavorScanState]] = AnyOf()
    """Does a head that lost its flavor continue behind it later? Without rules: its search starts again."""
    reason_across_flavors: First[
        [Sequence[QuotaReservedReason]], QuotaReservedReason
    ] = First()
    """Which reason counts of those of several flavors? Without rules: all causes have one reason."""
    reason_across_resources: First[
        [Sequence[QuotaReservedReason]], QuotaReservedReason
    ] = First()
    """Which reason counts of those of resources and pod sets? Without rules: all causes have one reason."""
    ignore_silent_pod_set: AnyOf[[Sequence[str]]] = AnyOf()
    """Does a pod set without these messages give no reason? Without rules: each that does not fit gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionRules:
    """Which workloads are candidates for preemption, and which ones Kueue preempts."""

    can_preempt: AnyOf[[PreemptionNeed]]
    """May the workload preempt at all?"""
    skip_search: Collect[[], str] = Collect()
    """For which resources are no victims searched? Without rules: the search frees every resource."""
    ignore_zero_request: AnyOf[[int]] = AnyOf()
    """Does a request of this amount need no preemption? Without rules: even a zero counts as a request."""
    within_cluster_queue: AnyOf[[PreemptorAndCandidate]]
    """Is a workload of the same ClusterQueue a candidate?"""
    reclaim_within_cohort: AnyOf[[PreemptorAndCandidate]]
    """Is a workload of another ClusterQueue a candidate, for a preemptor within its nominal quota?"""
    borrowers: AllOf[[ResourceNode, Collection[FlavorResource]], bool]
    """Does another ClusterQueue or cohort lose workloads?"""
    borrow_within_cohort: AllOf[[PreemptorAndCandidate], bool]
    """Is a workload of another ClusterQueue a candidate, for a preemptor that borrows?"""
    order: Order[[Candidate]]
    """In which order are the candidates preempted?"""
    fill_back: Fold[Sequence[Any], [Callable[[Any], bool]]]
    """Which of the chosen candidates are needed?"""
    ignore_just_admitted: AnyOf[[bool]] = AnyOf()
    """Is a victim left out, by whether its admission is still being written? Without rules: none is."""
    preempted_message: First[[Preemption], str]
    """What is reported to a preempted workload?"""
    pending: First[[int], str]
    """What is reported to a workload that waits for its victims, by their number?"""
    start_next_cycle: AnyOf[[int]]
    """Does the next cycle start before the victims release quota, by their number?"""
    queue_refused_again: AnyOf[[bool]] = AnyOf()
    """Is a head tried again before that, by whether it may be requeued? Without rules: none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FairSharingRules:
    """How fair sharing orders heads and bounds preemption, where the Configuration enables it."""

    order: Order[[TournamentEntry]]
    """Which head goes first, at each level of the cohort tree?"""
    within_nominal: AnyOf[[ResourceNode, Collection[FlavorResource]]]
    """May a ClusterQueue preempt regardless of the shares? Without rules: the strategies always decide."""
    skip_zero_share: AnyOf[[DominantResourceShare]] = AnyOf()
    """Is a ClusterQueue skipped as a target that borrows, by its share? Without rules: each one that borrows counts."""
    final_share: AnyOf[[StrategyShares]]
    """Does LessThanOrEqualToFinalShare allow the preemption?"""
    initial_share: AnyOf[[StrategyShares]]
    """Does LessThanInitialShare allow the preemption?"""
    status_fields: Each[[DominantResourceShare], Mapping[str, Any]]
    """What does the status of a ClusterQueue or Cohort report?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingCycle:
    """How the heads of several ClusterQueues share one scheduling cycle."""

    order: Order[[Nominee]]
    """In which order are the heads processed?"""
    victims_overlap: First[[bool], str]
    """What is reported to a head whose victims another head has already?"""
    recompute: AnyOf[[bool]] = AnyOf()
    """Is a head assigned again, by whether its victims overlap? Without rules: it waits for its turn."""
    recompute_places: AnyOf[[bool]] = AnyOf()
    """Is a head assigned again, by whether it lacks only room on nodes? Without rules: it waits for its turn."""
    deferred_fit: First[[bool], str] = First()
    """What is reported to a head that fits once earlier heads have preempted? Without rules: it is as without them."""
    no_longer_fits: First[[bool], str]
    """What is reported to a head that an earlier head left too little quota?"""
    reserve_nothing: AnyOf[[ClusterQueue]]
    """Does a head that finds no victims leave quota and nodes to later heads, by its ClusterQueue?"""
    reserve_capacity: First[[ReservedCapacity], int]
    """How much quota does it keep from them otherwise?"""
