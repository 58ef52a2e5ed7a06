"""The phases of a behaviour that handle Jobs and priority classes, and write status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.job_ownership import JobOwnership
from kueue_dra_ref.model.pending_reason import (
    InadmissibleReason,
    NotAdmissible,
)
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First, Fold
from kueue_dra_ref.rules.jobframework.job_reconciliation import PodSets
from kueue_dra_ref.rules.jobframework.workload_slices import Counts, PodRoom
from kueue_dra_ref.rules.workload.workload_priority_class import PriorityClassRef
from kueue_dra_ref.rules.workload.workload_status import PodSetAssignment, QueueCounts
from kueue_dra_ref.target import Manifest

Written = Mapping[str, Any]
"""Fields of a status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRules:
    """Which Jobs Kueue manages, and what passes between a Job and its Workload."""

    annotated_queue: First[[Manifest], str] = First()
    """Which queue does work without a queue label name? Without rules: none."""
    default_queue: First[[JobOwnership], str]
    """Which queue does a new Job without one get?"""
    default_queue_exempt: AnyOf[[JobOwnership]]
    """Does a new Job get no default queue? Without rules: it gets one in every namespace."""
    manage_without_queue: AnyOf[[JobOwnership]]
    """Does Kueue manage a Job that names no queue?"""
    managed_namespace_exempt: AnyOf[[JobOwnership]]
    """Is a Job that names no queue not managed after all, by its namespace?"""
    owned: AnyOf[[JobOwnership]] = AnyOf()
    """Is work not queued, because it belongs to other work?"""
    stale_owner: AnyOf[[str, str]] = AnyOf()
    """Is an owner ignored, by the UID in the reference and its own? Without rules: none is."""
    suspend_owned: AnyOf[[Sequence[Manifest], bool]] = AnyOf()
    """Is work suspended by whether the Workload of its ancestor is admitted?"""
    unmanaged: AnyOf[[JobOwnership]]
    """Does Kueue leave a Job that names a queue unmanaged, by its namespace?"""
    pod_sets: First[[dict[str, Any]], list[dict[str, Any]]]
    """Which pod sets does the Workload of a Job have?"""
    adjust_pod_sets: Fold[list[dict[str, Any]], [dict[str, Any]]] = Fold()
    """What do its pod sets have that its templates lack? Without rules: nothing."""
    min_parallelism: First[[dict[str, Any]], int]
    """How many pods are enough for the Job?"""
    not_equivalent: AnyOf[[PodSets, PodSets, bool]]
    """Has the Job changed so that its Workload no longer matches it?"""
    suspend: AnyOf[[bool]]
    """Is the Job suspended, by whether its Workload is admitted?"""
    unsuspend: AnyOf[[bool]]
    """Does the Job start, by whether its Workload is admitted?"""
    apply_pod_count: Each[[dict[str, Any], int], dict[str, Any]]
    """What changes in a Job that starts with fewer pods?"""
    restore_pod_counts: Each[[dict[str, Any], PodSets], dict[str, Any]] = Each()
    """What changes in the size of work that stops, by the pod sets of its Workload? Without rules: nothing."""
    own_values: Each[[str, Manifest], Mapping[str, Mapping[str, str]]] = Each()
    """What does Kueue write on the pods of a pod set of a Workload that start, by field? Without rules: nothing."""
    overwrites: AnyOf[[Manifest]] = AnyOf()
    """Are annotations of the pods of a Workload overwritten by these? Without rules: other values are conflicts."""
    fail_on_conflicting_labels: First[
        [Mapping[str, str], Mapping[str, str], str], tuple[str, str]
    ] = First()
    """What finishes the Workload of a Job that has other node labels than its flavors, or than admission checks add?"""
    fail_to_start: First[[dict[str, Any]], tuple[str, str]] = First()
    """What finishes the Workload of work that cannot start? Without rules: nothing does."""
    hold: First[[dict[str, Any]], tuple[str, str]] = First()
    """With which reason and message does work release its quota until it is valid? Without rules: it never does."""
    reclaimable_pods: First[[dict[str, Any]], int]
    """How many pods of the Job no longer need quota?"""
    limit_reclaimable: AnyOf[[]] = AnyOf()
    """Are these at most those of its Workload? Without rules: there may be more."""
    reclaimable_pod_sets: First[[dict[str, Any]], list[dict[str, Any]]] = First()
    """How many pods of each pod set no longer need quota, if the work has several?"""
    stay_inactive: AnyOf[[]] = AnyOf()
    """Does a deactivated Workload stay so when its Job changes? Without rules: it is active again."""
    elastic: AnyOf[[dict[str, Any]]] = AnyOf()
    """Is work elastic?"""
    slice_annotations: Each[[str, str], Mapping[str, str]] = Each()
    """Which annotations has a Workload of elastic work, by its own name and the one that it replaces?"""
    first_slice: Each[[str, str], Mapping[str, str]] = Each()
    """Which ones by its own name and that of the first one? Without rules: none."""
    resize_slice: AnyOf[[bool, Counts, Counts]] = AnyOf()
    """Does it get another number of pods, by whether it holds quota and both numbers? Otherwise there is a new one."""
    run_on: AnyOf[[bool]] = AnyOf()
    """Does elastic work run on, by whether its newest Workload is admitted?"""
    finish_replaced: First[[str, str], tuple[str, str]] = First()
    """With which reason and message is a replaced Workload finished, by the UIDs of the new one and of the Job?"""
    finish_evicted: First[[bool], tuple[str, str]] = First()
    """With which ones is an evicted Workload finished when there is another, by whether that one replaces it?"""
    newest_slice_counts: AnyOf[[]] = AnyOf()
    """Does the newest Workload count even if it is evicted? Without rules: then the one before it does."""
    fail_to_restart: First[[str, str], tuple[str, str]] = First()
    """What finishes a Workload of elastic work that starts, by the names of its first Workload and of this one? Without
    rules: nothing does."""
    prioritize_slices: AnyOf[[]] = AnyOf()
    """Do the Workloads of elastic work follow its priority class? Without rules: they keep their priority."""
    gate_pods: AnyOf[[dict[str, Any]]] = AnyOf()
    """Do the pods of elastic work get a scheduling gate of Kueue?"""
    start_pods: First[[PodRoom], int] = First()
    """How many of the pods that wait with that gate may start?"""
    writes_default_template: AnyOf[[]] = AnyOf()
    """Does Kueue write a pod template that work lacks when it starts? Without rules: it does not."""
    framework_off: AnyOf[[str, Sequence[str]]] = AnyOf()
    """Is a kind not queued, by its framework and those of the Configuration?"""
    unreadable: First[[dict[str, Any]], str] = First()
    """Why can Kueue not read the pods of work, so that it makes no Workload? Without rules: it reads them."""
    release_quota: AnyOf[[dict[str, Any] | None]]
    """Does an evicted Workload release its quota, by its Job?"""
    requeue_evicted: AnyOf[[str, bool]]
    """Is an evicted Workload requeued, by the reason of the eviction and whether it is of a pod without a group?"""
    finished: First[[dict[str, Any]], tuple[str, str]]
    """With which reason and message does a Job finish its Workload?"""
    release_when_finished: Each[[], tuple[str, str]] = Each()
    """What is reported when a finished Job releases its reservation? Without rules: the Workload keeps it."""
    longest_name: First[[], int] = First()
    """How many characters may the name of a Workload have? Without rules: as many as that of any object."""
    compare_finished: AnyOf[[]] = AnyOf()
    """Is the Workload of finished work deleted if it does not match it? Without rules: it stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClassRules:
    """The priority of a Workload, and what happens when it changes."""

    default_class: First[[str, bool], str] = First()
    """Which priority class does a new Job get? Without rules: the one that it names, or none."""
    class_exists: AllOf[[bool], bool]
    """Must the priority class of a Job exist before it gets a Workload?"""
    follow_label: AnyOf[[PriorityClassRef]]
    """Does a Workload follow when its Job names another class? Without rules: it keeps its class."""
    propagate_value: AnyOf[[]]
    """Does a new value of a class reach its Workloads? Without rules: they keep the old value."""
    requeue_pending: AnyOf[[int, int]]
    """Does a new priority of an admitted workload requeue others? Without rules: it requeues none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusRules:
    """What Kueue writes to the status of Workloads, ClusterQueues and LocalQueues."""

    inadmissible_condition: Each[[InadmissibleReason], Condition]
    """Which conditions report that the devices of a workload cannot be charged?"""
    dra_resolved: First[[str], Condition] = First()
    """Which condition reports that they can be charged now? Without rules: none does."""
    queue_not_ready: First[[NotAdmissible], Condition]
    """Which condition reports what is wrong with the queue of a workload?"""
    pending_condition: First[[NotAdmissible], Condition]
    """Which condition reports why a workload is pending?"""
    requests: First[
        [Sequence[tuple[str, Mapping[str, int]]], frozenset[str]], list[dict[str, Any]]
    ]
    """Which requests of a pending workload are listed?"""
    extra_requests: Each[[Mapping[str, int]], Mapping[str, int]] = Each()
    """Which of the implicit requests are listed too? Without rules: none."""
    quota_reserved: Each[[str], Condition]
    """Which conditions does an admitted workload get that name its ClusterQueue?"""
    admitted: Each[[], Condition]
    """Which conditions report the admission?"""
    admission: First[[str, Sequence[PodSetAssignment]], Written]
    """What does the admission contain?"""
    evicted: Each[[str, str], Condition]
    """Which conditions report an eviction?"""
    preempted: Each[[str, str], Condition]
    """Which conditions report a preemption?"""
    orphaned: First[[Manifest], tuple[str, str]] = First()
    """With which reason and message does a Workload finish that has lost its owner? Without rules: it does not."""
    quota_released: First[[NotAdmissible], Condition]
    """Which condition reports that an evicted workload has released its quota?"""
    unset_quota_reservation: Each[[], Condition] = Each()
    """Which conditions go with each QuotaReserved that is False? Without rules: none."""
    reobserved: AnyOf[[int, int]] = AnyOf()
    """Are they written again for a new generation of the workload? Without rules: they are not."""
    cluster_queue: Each[[QueueCounts], Written]
    """Which counts and amounts does the status of a ClusterQueue have?"""
    cluster_queue_active: Each[[Sequence[str], Sequence[str]], Condition]
    """Which condition reports whether a ClusterQueue is active?"""
    terminating: Each[[], Condition] = Each()
    """Which condition reports a deleted ClusterQueue that is in use? Without rules: its status does not change."""
    local_queue: Each[[QueueCounts], Written]
    """Which counts and amounts does the status of a LocalQueue have?"""
    local_queue_active: Each[[bool, str], Condition]
    """Which condition reports whether a LocalQueue is active?"""
