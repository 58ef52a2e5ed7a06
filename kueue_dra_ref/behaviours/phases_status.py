"""The parts of a behaviour that write: to the status of Workloads and queues, and to Jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.pending_reason import InadmissibleReason, NotAdmissible
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.rules.jobframework.managed_jobs import JobOwnership
from kueue_dra_ref.rules.workload.workload_priority_class import PriorityClassRef
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment, QueueCounts

Written = Mapping[str, Any]
"""Fields of a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRules:
    """What is written to status."""

    quota_reserved: Each[[str], Condition]
    """Conditions with the name of the ClusterQueue."""
    admitted: Each[[], Condition]
    admission: First[[str, Sequence[PodSetAssignment]], Written]
    pending_condition: First[[NotAdmissible], Condition]
    blocked: First[[NotAdmissible], Condition]
    quota_released: First[[NotAdmissible], Condition]
    inadmissible_condition: Each[[InadmissibleReason], Condition]
    evicted: Each[[str, str], Condition]
    preempted: Each[[str, str], Condition]
    requests: First[
        [Sequence[tuple[str, Mapping[str, int]]], frozenset[str]], list[dict[str, Any]]
    ]
    cluster_queue: Each[[QueueCounts], Written]
    local_queue: Each[[QueueCounts], Written]
    cluster_queue_active: Each[[Sequence[str], Sequence[str]], Condition]
    local_queue_active: Each[[bool, str], Condition]
    extra_conditions: Each[[Mapping[str, int]], Mapping[str, int]] = Each()
    """What of that which a ClusterQueue counts by itself is shown among the requests."""
    unset_quota_reservation: Each[[], Condition] = Each()
    """What is said beside every QuotaReserved that is False."""
    reobserved: AnyOf[[int, int]] = AnyOf()
    """Whether it is said again, by the generation for which it was said and that of the workload."""
    deleted: Each[[], Condition] = Each()
    """What is said of a deleted ClusterQueue that is in use; without rules its status stays as it was."""
    resolved: First[[str], Condition] = First()
    """What is said once the devices of a workload can be charged, by the reason of Requeued before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """Jobs and their Workloads."""

    pod_sets: First[[dict[str, Any]], list[dict[str, Any]]]
    suspended: AnyOf[[bool]]
    unsuspend: AnyOf[[bool]]
    release_quota: AnyOf[[dict[str, Any] | None]]
    finished: First[[dict[str, Any]], tuple[str, str]]
    requeued: AnyOf[[str]]
    min_parallelism: First[[dict[str, Any]], int]
    reduced: Each[[dict[str, Any], int], dict[str, Any]]
    reclaimed: First[[dict[str, Any]], int]
    unequal: AnyOf[[PodSets, PodSets, bool]]
    """Whether a Job has become another than its Workload was made for."""
    queued: First[[JobOwnership], str]
    """The queue of a new Job."""
    default_queue_exempt: AnyOf[[JobOwnership]]
    """Whether a new Job gets no queue that it does not name."""
    manage_without_queue: AnyOf[[JobOwnership]]
    """Whether a Job that names no queue is Kueue's."""
    managed_namespace_exempt: AnyOf[[JobOwnership]]
    """Whether such a Job is not Kueue's after all."""
    unmanaged: AnyOf[[JobOwnership]]
    """Whether nothing is done about a Job, whether it names a queue or not."""
    done: Each[[], tuple[str, str]] = Each()
    """What is said of the reservation that the Workload of a finished Job gives back; it keeps it without rules."""
    fail_on_conflicting_labels: First[
        [Mapping[str, str], Mapping[str, str]], tuple[str, str]
    ] = First()
    """What keeps a Job from starting for good, by its node selector and the node labels of its flavors."""
    delete_if_not_equivalent: AnyOf[[PodSets, PodSets]] = AnyOf()
    """Whether the Workload of a finished Job is deleted, by the pod sets of the Job and its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassRules:
    """The priority of Workloads, and what follows when it changes."""

    needed: AllOf[[bool], bool]
    followed: AnyOf[[PriorityClassRef]]
    valued: AnyOf[[]]
    moved: AnyOf[[int, int]]
    given: First[[str, bool], str] = First()
    """The class that a new Job names, by the one that it is written with and whether there is a default one."""
