"""The parts of a behaviour that write: to the status of Workloads and queues, and to Jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import QuotaReservedReason
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.rules.jobframework.managed_jobs import JobOwnership
from kueue_dra_ref.rules.workload.workload_priority_class import PriorityClassRef
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment, QueueCounts

Written = Mapping[str, Any]
"""Fields of a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRules:
    """What is written to status."""

    admitted: tuple[Rule[[str], Condition], ...]
    admission: tuple[Rule[[str, Sequence[PodSetAssignment]], Written], ...]
    pending_condition: tuple[
        Rule[[QuotaReservedReason | None, str], Condition | None], ...
    ]
    blocked: tuple[Rule[[QuotaReservedReason | None, str], Condition | None], ...]
    quota_released: tuple[
        Rule[[QuotaReservedReason | None, str], Condition | None], ...
    ]
    inadmissible_condition: tuple[Rule[[str, str], Condition], ...]
    evicted: tuple[Rule[[str, str], Condition], ...]
    preempted: tuple[Rule[[str, str], Condition], ...]
    requests: tuple[
        Rule[
            [Sequence[tuple[str, Mapping[str, int]]], frozenset[str]],
            list[dict[str, Any]],
        ],
        ...,
    ]
    cluster_queue: tuple[Rule[[QueueCounts], Written], ...]
    local_queue: tuple[Rule[[QueueCounts], Written], ...]
    cluster_queue_active: tuple[Rule[[Sequence[str], Sequence[str]], Condition], ...]
    local_queue_active: tuple[Rule[[bool, str], Condition], ...]
    extra_conditions: tuple[Rule[[Mapping[str, int]], Mapping[str, int]], ...] = ()
    """What of that which a ClusterQueue counts by itself is shown among the requests."""
    unset_quota_reservation: tuple[Rule[[], Condition], ...] = ()
    """What is said beside every QuotaReserved that is False."""
    reobserved: tuple[Rule[[int, int], bool], ...] = ()
    """Whether it is said again, by the generation for which it was said and that of the workload."""
    deleted: tuple[Rule[[], Condition], ...] = ()
    """What is said of a deleted ClusterQueue that is in use; without rules its status stays as it was."""
    resolved: tuple[Rule[[str], Condition | None], ...] = ()
    """What is said once the devices of a workload can be charged, by the reason of Requeued before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """Jobs and their Workloads."""

    pod_sets: tuple[Rule[[dict[str, Any]], list[dict[str, Any]]], ...]
    suspended: tuple[Rule[[bool], bool], ...]
    unsuspend: tuple[Rule[[bool], bool], ...]
    release_quota: tuple[Rule[[dict[str, Any] | None], bool], ...]
    finished: tuple[Rule[[dict[str, Any]], tuple[str, str] | None], ...]
    requeued: tuple[Rule[[str], bool], ...]
    min_parallelism: tuple[Rule[[dict[str, Any]], int | None], ...]
    reduced: tuple[Rule[[dict[str, Any], int], dict[str, Any]], ...]
    reclaimed: tuple[Rule[[dict[str, Any]], int | None], ...]
    unequal: tuple[Rule[[PodSets, PodSets, bool], bool], ...]
    """Whether a Job has become another than its Workload was made for."""
    queued: tuple[Rule[[JobOwnership], str], ...]
    """The queue of a new Job."""
    default_queue_exempt: tuple[Rule[[JobOwnership], bool], ...]
    """Whether a new Job gets no queue that it does not name."""
    manage_without_queue: tuple[Rule[[JobOwnership], bool], ...]
    """Whether a Job that names no queue is Kueue's."""
    managed_namespace_exempt: tuple[Rule[[JobOwnership], bool], ...]
    """Whether such a Job is not Kueue's after all."""
    unmanaged: tuple[Rule[[JobOwnership], bool], ...]
    """Whether nothing is done about a Job, whether it names a queue or not."""
    done: tuple[Rule[[], tuple[str, str]], ...] = ()
    """What is said of the reservation that the Workload of a finished Job gives back; it keeps it without rules."""
    fail_on_conflicting_labels: tuple[
        Rule[[Mapping[str, str], Mapping[str, str]], tuple[str, str] | None], ...
    ] = ()
    """What keeps a Job from starting for good, by its node selector and the node labels of its flavors."""
    delete_if_not_equivalent: tuple[Rule[[PodSets, PodSets], bool], ...] = ()
    """Whether the Workload of a finished Job is deleted, by the pod sets of the Job and its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassRules:
    """The priority of Workloads, and what follows when it changes."""

    needed: tuple[Rule[[bool], bool], ...]
    followed: tuple[Rule[[PriorityClassRef], bool], ...]
    valued: tuple[Rule[[], bool], ...]
    moved: tuple[Rule[[int, int], bool], ...]
    given: tuple[Rule[[str, bool], str], ...] = ()
    """The class that a new Job names, by the one that it is written with and whether there is a default one."""
