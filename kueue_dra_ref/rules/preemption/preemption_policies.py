"""Preemption: which workloads may be preempted, in which order (KEP-2941, Risks and Mitigations; Kueue 0.19).

Kueue: pkg/scheduler/preemption/common/preemption_policy.go (SatisfiesPreemptionPolicy);
    pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering);
    pkg/scheduler/preemption/classical/hierarchical_preemption.go (classifyPreemptionVariant,
    isAboveBorrowingThreshold)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kueue_dra_ref.api.types import PreemptionPolicy
from kueue_dra_ref.model.resource_node import FlavorResource, ResourceNode
from kueue_dra_ref.model.rule import rule

T = TypeVar("T")

WITHIN, RECLAIM, SHARING, BORROWING = (
    "InClusterQueue",
    "InCohortReclamation",
    "InCohortFairSharing",
    "InCohortReclaimWhileBorrowing",
)
_WORDS = {
    WITHIN: "prioritization in the ClusterQueue",
    RECLAIM: "reclamation within the cohort",
    SHARING: "Fair Sharing within the cohort",
    BORROWING: "reclamation within the cohort while borrowing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptionNeed:
    """A request that does not fit now: whether it fits the nominal quota, or a subtree of the cohort tree."""

    within_nominal: bool
    inside: bool
    policy: PreemptionPolicy
    fair: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PreemptorAndCandidate:
    """A pending workload and one with a quota reservation; ``created`` is when, in seconds."""

    policy: PreemptionPolicy
    priority: int
    created: int
    other_priority: int
    other_created: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LocalQueueShare:
    """What a LocalQueue has used, which is compared within one ClusterQueue only."""

    cluster_queue: str
    used: float

    def __eq__(self, other: object) -> bool:
        """Whether neither has used more than the other, as far as they are compared."""
        assert isinstance(other, LocalQueueShare)
        return self.cluster_queue != other.cluster_queue or self.used == other.used

    def __lt__(self, other: LocalQueueShare) -> bool:
        """Whether this one has used more, and so comes first."""
        return self.used > other.used


NO_SHARE = LocalQueueShare(cluster_queue="", used=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A workload that may be preempted, as the order of candidates uses it."""

    evicted: bool
    same_queue: bool
    below: bool
    """Whether the preemptor is nearer to the quota in the cohort tree, so that priorities do not matter."""
    priority: int
    reserved: str
    """The time of its quota reservation."""
    usage: LocalQueueShare | None = None
    """What its LocalQueue has used, if its ClusterQueue orders by usage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption:
    """A preemption: its reason, the preemptor and the cohort paths of both workloads."""

    reason: str
    preemptor: str
    """The UID of the Workload."""
    job: str
    """The UID of its job."""
    path: str
    victim_path: str


@rule("PREEMPT-001")
def can_preempt_within_nominal(need: PreemptionNeed) -> bool:
    """A workload that fits the nominal quota of its ClusterQueue can preempt.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota)
    """
    return need.within_nominal


@rule("COHORT-017")
def can_preempt_in_subtree(need: PreemptionNeed) -> bool:
    """A workload that fits the quota of a subtree of the cohort tree can preempt.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (fitsResourceQuota);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (FindHeightOfLowestSubtreeThatFits)
    """
    return need.inside


@rule("PREEMPT-010", "FAIR-004")
def can_preempt_while_borrowing(need: PreemptionNeed) -> bool:
    """A workload that borrows can preempt with borrowWithinCohort, or with fair sharing and reclaimWithinCohort.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (canPreemptWhileBorrowing)
    """
    policy = need.policy
    return policy.borrow != "Never" or (need.fair and policy.reclaim != "Never")


@rule("PREEMPT-002", "PREEMPT-004")
def within_cluster_queue_lower_priority(pair: PreemptorAndCandidate) -> bool:
    """With withinClusterQueue LowerPriority, a workload preempts lower priorities in its ClusterQueue.

    Kueue: pkg/scheduler/preemption/common/preemption_policy.go (SatisfiesPreemptionPolicy);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (collectSameQueueCandidates)
    """
    allowed = pair.policy.within in {"LowerPriority", "LowerOrNewerEqualPriority"}
    return allowed and pair.priority > pair.other_priority


@rule("PREEMPT-003")
def within_cluster_queue_newer_equal_priority(pair: PreemptorAndCandidate) -> bool:
    """With withinClusterQueue LowerOrNewerEqualPriority, a workload also preempts newer equal priorities.

    Kueue: pkg/scheduler/preemption/common/preemption_policy.go (SatisfiesPreemptionPolicy);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (collectSameQueueCandidates)
    """
    allowed = pair.policy.within == "LowerOrNewerEqualPriority"
    return (
        allowed
        and pair.priority == pair.other_priority
        and pair.created < pair.other_created
    )


@rule("PREEMPT-006")
def reclaim_within_cohort_lower_priority(pair: PreemptorAndCandidate) -> bool:
    """With reclaimWithinCohort LowerPriority, a ClusterQueue reclaims quota from lower priorities.

    Kueue: pkg/scheduler/preemption/common/preemption_policy.go (SatisfiesPreemptionPolicy);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (classifyPreemptionVariant)
    """
    return (
        pair.policy.reclaim == "LowerPriority" and pair.priority > pair.other_priority
    )


@rule("PREEMPT-007")
def reclaim_within_cohort_any(pair: PreemptorAndCandidate) -> bool:
    """With reclaimWithinCohort Any, a ClusterQueue reclaims quota whatever the priorities are.

    Kueue: pkg/scheduler/preemption/common/preemption_policy.go (SatisfiesPreemptionPolicy);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (classifyPreemptionVariant)
    """
    return pair.policy.reclaim == "Any"


@rule("PREEMPT-008", "PREEMPT-009")
def candidate_is_borrowing(
    node: ResourceNode, short: Collection[FlavorResource]
) -> bool:
    """Kueue reclaims quota from other ClusterQueues and cohorts only while they borrow.

    Kueue: pkg/scheduler/preemption/classical/candidate_generator.go (candidateIsValid);
        pkg/cache/scheduler/resource_node.go (IsWithinNominalInResources);
        pkg/scheduler/preemption/preemption.go (cqIsBorrowing)
    """
    return any(node.exceeds(one) for one in short)


@rule("PREEMPT-010")
def borrow_within_cohort_is_allowed(pair: PreemptorAndCandidate) -> bool:
    """Without borrowWithinCohort, a workload that borrows preempts no workload of its cohort.

    Kueue: pkg/scheduler/preemption/classical/hierarchical_preemption.go (IsBorrowingWithinCohortForbidden,
        classifyPreemptionVariant)
    """
    return pair.policy.borrow != "Never"


@rule("PREEMPT-011")
def borrow_within_cohort_lower_priority(pair: PreemptorAndCandidate) -> bool:
    """A workload that borrows preempts only lower priorities in its cohort.

    Kueue: pkg/scheduler/preemption/classical/hierarchical_preemption.go (isAboveBorrowingThreshold)
    """
    return pair.other_priority < pair.priority


@rule("PREEMPT-012")
def borrow_within_cohort_max_priority_threshold(pair: PreemptorAndCandidate) -> bool:
    """A workload that borrows preempts no workload above the priority threshold of its ClusterQueue.

    The threshold is ``borrowWithinCohort.maxPriorityThreshold`` of its ClusterQueue.

    Kueue: pkg/scheduler/preemption/classical/hierarchical_preemption.go (isAboveBorrowingThreshold)
    """
    threshold = pair.policy.threshold
    return threshold is None or pair.other_priority <= threshold


@rule("PREEMPT-013")
def evicted_first(candidate: Candidate) -> tuple[int, ...]:
    """Kueue counts workloads that are already evicted as released before it preempts others.

    Kueue: pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering);
        pkg/scheduler/preemption/classical/candidate_generator.go (splitEvicted)
    """
    return (int(not candidate.evicted),)


@rule("PREEMPT-014")
def other_cluster_queues_first(candidate: Candidate) -> tuple[int, ...]:
    """Kueue preempts workloads of other ClusterQueues before those of the same ClusterQueue.

    Kueue: pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering)
    """
    return (int(candidate.same_queue),)


@rule("COHORT-018")
def hierarchical_reclaim_first(candidate: Candidate) -> tuple[int, ...]:
    """Kueue preempts workloads that use quota from farther away in the cohort tree first.

    Kueue: pkg/scheduler/preemption/classical/candidate_generator.go (NewCandidateIterator);
        pkg/scheduler/preemption/classical/hierarchical_preemption.go (collectCandidatesForHierarchicalReclaim)
    """
    return (int(not candidate.below),)


@rule("AFS-023")
def higher_usage_first(candidate: Candidate) -> tuple[LocalQueueShare, ...]:
    """In a ClusterQueue that orders by usage, workloads of the LocalQueue with the higher usage are preempted first.

    Kueue: pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering, resourceUsagePreemptionEnabled)
    """
    return (candidate.usage or NO_SHARE,)


@rule("PREEMPT-015")
def lowest_priority_first(candidate: Candidate) -> tuple[int, ...]:
    """Kueue preempts the workload with the lowest priority first.

    Kueue: pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering)
    """
    return (candidate.priority,)


@rule("PREEMPT-016")
def latest_quota_reservation_first(candidate: Candidate) -> tuple[int, ...]:
    """Among equal priorities, Kueue preempts the workload with the latest quota reservation first.

    Kueue: pkg/scheduler/preemption/common/ordering.go (CandidatesOrdering, quotaReservationTime)
    """
    return tuple(-ord(letter) for letter in candidate.reserved)


@rule("PREEMPT-019")
def fill_back_workloads(
    victims: Sequence[T], fits_without: Callable[[T], bool]
) -> Sequence[T]:
    """Kueue removes targets that are not needed, the last chosen first.

    Kueue: pkg/scheduler/preemption/preemption.go (fillBackWorkloads)
    """
    kept = list(victims)
    *others, _ = enumerate(victims)
    for index, victim in reversed(others):
        if fits_without(victim):
            kept[index] = kept.pop()
    return kept


@rule("PREEMPT-023", "PREEMPT-024")
def preemption_message(preemption: Preemption) -> str:
    """The message of a preempted workload names its preemptor by UIDs, the reason and both cohort paths.

    Kueue: pkg/scheduler/preemption/preemption.go (preemptionMessage, buildCQPath)
    """
    paths = (
        f"preemptor path: {preemption.path}; preemptee path: {preemption.victim_path}"
    )
    return f"{_named(preemption)}; {paths}"


@rule("PREEMPT-024", "PREEMPT-033")
def preemption_message_without_paths(preemption: Preemption) -> str:
    """The message of a preempted workload names its preemptor by UIDs, and the reason.

    Kueue 0.14: pkg/scheduler/preemption/preemption.go (preemptionMessage)
    """
    return _named(preemption)


def _named(preemption: Preemption) -> str:
    owner = f"(UID: {preemption.preemptor}, JobUID: {preemption.job or 'UNKNOWN'})"
    return f"Preempted to accommodate a workload {owner} due to {_WORDS[preemption.reason]}"


@rule("PREEMPT-025")
def preemption_pending_message(victims: int) -> str:
    """The message of a preemptor has the number of preemptions that it waits for.

    Kueue: pkg/scheduler/scheduler.go (markPreemptionOutcome)
    """
    return f". Pending the preemption of {victims} workload(s)"


@rule("PREEMPT-044")
def preemptor_requeues_immediately(preempted: int) -> bool:
    """Kueue retries a preemptor in the next cycle, before its victims have released quota.

    Kueue: pkg/cache/queue/cluster_queue.go (RequeueIfNotPresent, RequeueReasonPendingPreemption)
    """
    return preempted > 0


@rule("QUEUE-070")
def refused_preemptor_is_tried_again(may_be_tried: bool) -> bool:
    """Kueue tries a preemptor that was refused before again while its victims stop: it pauses 10 ms at most.

    Up to 0.16 it pauses up to 100 ms between cycles, so that quota may be released before.

    Kueue: pkg/util/wait/backoff.go (maxBackoff); pkg/cache/queue/cluster_queue.go (backoffWaitingTimeExpired)
    """
    return not may_be_tried


@rule("PREEMPT-045")
def just_admitted_are_no_candidates(just_admitted: bool) -> bool:
    """Kueue cannot preempt a workload whose admission it is still writing.

    Kueue 0.14: pkg/scheduler/preemption/preemption.go (IssuePreemptions, patchPreemption)
    """
    return just_admitted


@rule("PREEMPT-037")
def zero_requests_are_ignored(amount: int) -> bool:
    """A workload may preempt although its ClusterQueue borrows a resource that it requests zero of.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (TotalRequestsFor);
        pkg/scheduler/preemption/preemption.go (workloadFits)
    """
    return amount == 0


@rule("PREEMPT-035")
def pods_resource_is_ignored() -> Collection[str]:
    """Preemption ignores the resource pods that the ClusterQueue counts.

    Kueue: pkg/scheduler/flavorassigner/flavorassigner.go (TotalRequestsFor);
        pkg/scheduler/preemption/preemption.go (GetTargets)
    """
    return ("pods",)
