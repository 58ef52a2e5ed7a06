"""The parts of a behaviour that decide who gets quota: queues, flavors, cohorts, cycles, preemption, fairness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.api.types import (
    Choice,
    ClusterQueue,
    Cohort,
    FlavorQuota,
    Fungibility,
    PodSet,
    ResourceGroup,
    Workload,
)
from kueue_dra_ref.model.pending_reason import Blocked, Cause
from kueue_dra_ref.model.resource_node import FlavorResource, Node, Share
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import Need, Objection
from kueue_dra_ref.rules.flavorassigner.flavor_fungibility import Outlook, Progress
from kueue_dra_ref.rules.flavorassigner.node_affinity import Unreadable
from kueue_dra_ref.rules.preemption.fair_sharing import Contender, Shares
from kueue_dra_ref.rules.preemption.preemption_policies import (
    Candidate,
    Preemption,
    Rivals,
    Shortage,
)
from kueue_dra_ref.rules.queue.admissibility import Place
from kueue_dra_ref.rules.queue.in_use_finalizers import Use
from kueue_dra_ref.rules.queue.pending_workloads import Holding, Told, Waiting
from kueue_dra_ref.rules.scheduler.scheduling_cycle import Claimed, Nominee
from kueue_dra_ref.target import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Queueing:
    """Who waits where, who goes first, and who is evicted."""

    order: tuple[Rule[[Waiting], int], ...]
    requeue_immediately: tuple[Rule[[ClusterQueue], bool], ...]
    mark_inadmissible: tuple[Rule[[ClusterQueue], bool], ...]
    sticky_preemptor: tuple[Rule[[ClusterQueue], bool], ...]
    namespace: tuple[Rule[[ClusterQueue, dict[str, str]], str | None], ...]
    queue_not_ready: tuple[Rule[[Place], Blocked | None], ...]
    inactive: tuple[Rule[[ClusterQueue, tuple[str, ...]], Told | None], ...]
    evicted: tuple[Rule[[Holding], Told | None], ...]
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
    hold_finalizer: tuple[Rule[[Use], bool], ...] = ()
    """Which ClusterQueues and flavors stay although they were deleted, by their use."""
    ignore_update: tuple[Rule[[bool], bool], ...] = ()
    """Of which ClusterQueues and flavors no change is taken note of, by whether they were deleted."""
    ignore_delete: tuple[Rule[[Manifest], bool], ...] = ()
    """For which deleted workloads nobody who waits is tried again, by what was stored of them last."""


Ranking = tuple[Rule[[Outlook, Fungibility], tuple[int, ...]], ...]
"""Rules that make one outlook better than another, the first that tells them apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigning:
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
    flavor: tuple[Rule[[PodSet, str, Mapping[str, Any]], str | Unreadable | None], ...]
    quota: tuple[Rule[[Need], Objection | None], ...]
    no_fit_message: tuple[Rule[[int], str | None], ...] = ()
    """What is said of a sum or a quota instead of the amount."""
    in_group: tuple[
        Rule[
            [PodSet, str, Mapping[str, Any], Collection[str]], str | Unreadable | None
        ],
        ...,
    ] = ()
    """What speaks against a flavor in view of the label keys of all flavors of its group."""
    choices: tuple[Rule[[ClusterQueue, Sequence[str]], Sequence[Choice]], ...] = ()
    """For a class of several resources, which flavor and resource are examined one after another."""
    considered: tuple[Rule[[PodSet, str], bool], ...] = ()
    """Whether a flavor is looked at for a pod set at all."""
    try_next_flavor: tuple[Rule[[Outlook, Fungibility], bool], ...] = ()
    rank: Ranking = ()
    prefer_flavor: Ranking = ()
    """How flavors rank, where they do otherwise than the resources of one flavor."""
    stop_search: tuple[Rule[[Outlook], bool], ...] = ()
    """Whether what is found of one resource ends the look at the others, which come in any order."""
    resume_from_last_tried: tuple[Rule[[Progress, int], bool], ...] = ()
    """Whether a search goes on in a later cycle; else it begins again."""
    keep_progress_on_skip: tuple[Rule[[Progress], bool], ...] = ()
    """Whether what was searched is remembered of a workload that lost a flavor to another one."""
    partial_admission: tuple[Rule[[Sequence[PodSet]], bool], ...] = ()
    reason_across_flavors: tuple[Rule[[Sequence[Cause]], Cause], ...] = ()
    reason_across_resources: tuple[Rule[[Sequence[Cause]], Cause], ...] = ()
    """Of several causes the one that counts: of flavors, and of what is needed together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohorts:
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
class Cycle:
    """How the heads of several ClusterQueues share one scheduling cycle."""

    order: tuple[Rule[[Nominee], int], ...]
    victims_overlap: tuple[Rule[[bool], str | None], ...]
    no_longer_fits: tuple[Rule[[bool], str | None], ...]
    reserve_capacity: tuple[Rule[[ClusterQueue, Claimed], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preempting:
    """Who may be preempted, and who is."""

    can_preempt: tuple[Rule[[Shortage], bool], ...]
    within_cluster_queue: tuple[Rule[[Rivals], bool], ...]
    reclaim_within_cohort: tuple[Rule[[Rivals], bool], ...]
    borrowers: tuple[Rule[[Node, Collection[FlavorResource]], bool], ...]
    borrow_within_cohort: tuple[Rule[[Rivals], bool], ...]
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
class FairSharing:
    """How borrowing is kept fair, where the Configuration asks for it."""

    order: tuple[Rule[[Contender], tuple[float, ...]], ...]
    within_nominal: tuple[Rule[[Node, Collection[FlavorResource]], bool], ...]
    final_share: tuple[Rule[[Shares], bool], ...]
    initial_share: tuple[Rule[[Shares], bool], ...]
    status_fields: tuple[Rule[[Share], Mapping[str, Any]], ...]
    skip_zero_share: tuple[Rule[[Share], bool], ...] = ()
    """Who is asked for nothing, beside who borrows nothing."""
