"""Kueue 0.16 (0.16.0 to 0.16.2): what it changes in Kueue 0.15.

The preference between borrowing and preemption means what it says, requeues are batched for a second, and fair sharing
prefers workloads that do not borrow.

Kueue 0.16 charges devices as 0.15 does: their number, while the gate DynamicResourceAllocation is on (off by default).
It rejects requests with selectors, firstAvailable, adminAccess or allocation mode All, and reads no ResourceSlices,
counters, capacities or extended resources. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_16_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched, managed
from kueue_dra_ref.behaviours.kueue_0_14_topology import placing
from kueue_dra_ref.behaviours.kueue_0_15 import kueue_0_15
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.behaviours.phases_pods_ready import PodsReadyRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    FairSharingRules,
    FlavorAssignment,
    QueueRules,
)
from kueue_dra_ref.behaviours.phases_status import JobRules, PriorityClassRules
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import WebhookRules
from kueue_dra_ref.features.kube_features import kueue_0_16_gates
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AllOf, AnyOf, Each, First
from kueue_dra_ref.rules.config import device_class_mappings, mapping_names_0_15
from kueue_dra_ref.rules.config.device_class_mappings import MappingRules
from kueue_dra_ref.rules.flavorassigner import (
    fits_resource_quota,
    flavor_fungibility,
    taints,
    topology,
)
from kueue_dra_ref.rules.jobframework import (
    job_reconciliation,
    managed_jobs,
    pod_groups,
    pod_owners,
    workload_slices,
)
from kueue_dra_ref.rules.multikueue import dispatching, dispatching_0_17
from kueue_dra_ref.rules.preemption import fair_sharing
from kueue_dra_ref.rules.queue import pending_workloads, retries
from kueue_dra_ref.rules.webhooks import ray_webhook
from kueue_dra_ref.rules.workload import pods_ready, workload_priority_class


def kueue_0_16() -> Behaviour:
    """Kueue 0.16 as a value."""
    earlier = kueue_0_15()
    return replace(
        earlier,
        name="kueue-0.16.2",
        title="Kueue 0.16.2",
        kueue="0.16",
        versions=KUEUE_0_16_VERSIONS,
        gates=kueue_0_16_gates(),
        # Inadmissible workloads are requeued a second after quota is released, no longer at once.
        batches_requeues=True,
        mapping=_mapping(earlier.mapping),
        webhooks=_webhooks(earlier.webhooks),
        jobs=_jobs(earlier.jobs),
        pods=_pods(earlier.pods),
        priorities=_priorities(earlier.priorities),
        queueing=_queueing(earlier.queueing),
        waiting=_waiting(earlier.waiting),
        assigning=_assigning(earlier.assigning),
        topology=_topology(earlier.topology),
        dispatching=_dispatching(earlier.dispatching),
        fair_sharing=_fair_sharing(earlier.fair_sharing),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        _withdrawing(earlier),
        # The copy that is admitted wins, and no longer the one that has quota.
        winner=First(
            _awaiting(dispatching.first_admitted_copy_wins, True),
            _awaiting(dispatching_0_17.first_reserving_copy_wins, False),
        ),
        # A suspended Job shows the pods that still run on the worker.
        sync_status=earlier.sync_status.add(
            managed(dispatching_0_17.status_follows_while_pods_run)
        ),
    )


def _awaiting(each: Rule[P, R], is_on: bool) -> Rule[P, R]:
    """Put a rule in force by whether MultiKueue waits until copies are admitted."""
    return when(each, MultiKueue=True, MultiKueueWaitForWorkloadAdmitted=is_on)


def _withdrawing(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        # Copies are not made again for another priority.
        prioritize=AnyOf(dispatched(dispatching.copies_get_the_priority)),
        # Copies of work go even if their Workload is gone.
        withdraw_work=AnyOf(dispatched(dispatching.work_without_workload_goes)),
        # An eviction on the worker is followed on the manager, and the other way round.
        follow_evicted=AnyOf(
            dispatched(dispatching_0_17.copy_evicted_by_manager_is_followed)
        ),
        retry_evicted=First(
            when(
                dispatching.retry_when_copy_is_evicted,
                MultiKueue=True,
                MultiKueueRedoAdmissionOnEvictionInWorker=True,
            )
        ),
        evict_copy=First(dispatched(dispatching.copy_is_evicted_with_workload)),
    )


def _waiting(earlier: PodsReadyRules) -> PodsReadyRules:
    return replace(
        earlier,
        # Pods that are lost have a timeout by default.
        recovery_timeout=earlier.recovery_timeout.add(
            pods_ready.recovery_takes_as_long_as_the_start
        ),
        endless=AnyOf(pods_ready.recovery_timeout_of_zero_never_ends),
    )


def _pods(earlier: PodRules) -> PodRules:
    return replace(
        earlier,
        # The pods of such work have no finalizer.
        finalize_pods_of_parent=AnyOf(
            when(
                pod_owners.pods_of_parent_have_finalizer,
                SkipFinalizersForPodsSuspendedByParent=False,
            )
        ),
        # Kueue lets go of a deleted pod, too, and of those of a StatefulSet.
        let_go=AnyOf(pod_owners.let_go_of_pod_that_ends),
        # The Workload of a StatefulSet without replicas goes with its pods.
        disown=AnyOf(pod_owners.workload_is_disowned_without_replicas),
        # The Workload of a group that is scaled away does not stay as long as its pods.
        delete_of_gone_group=AnyOf(pod_owners.workload_goes_with_its_group),
        # A StatefulSet has its Workload before its pods, with one pod set called main.
        pod_marks=earlier.pod_marks.swap(
            pod_owners.marks_without_role, pod_owners.marks_by_name
        ),
        workloads=earlier.workloads.add(pod_owners.pod_set_by_name),
        # Moved to another queue, a StatefulSet takes its pods along.
        go_along=AnyOf(pod_owners.pods_of_stateful_set_go_along),
        stuck=AnyOf(pod_groups.failed_pods_are_not_compared),
    )


def _mapping(earlier: MappingRules) -> MappingRules:
    return replace(
        earlier,
        # Names are checked, and errors worded, as in Kubernetes 1.35: a label key instead of a qualified name.
        name=earlier.name.swap(
            mapping_names_0_15.name_is_a_qualified_name,
            device_class_mappings.name_is_a_label_key,
        ),
        device_class=earlier.device_class.swap(
            mapping_names_0_15.class_is_a_qualified_name,
            device_class_mappings.class_is_a_label_key,
        ),
    )


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    return replace(
        earlier,
        # The same change of words in the errors of webhooks.
        rephrase=earlier.rephrase.drop(mapping_names_0_15.qualified_name_messages),
        # A RayJob with autoscaling may be without a queue.
        new_job=earlier.new_job.drop(
            ray_webhook.new_ray_job_that_autoscales_is_elastic
        ),
    )


def _jobs(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        # A deactivated Workload is not active again because its Job changes.
        stay_inactive=AnyOf(job_reconciliation.deactivated_workload_stays_so),
        # Work stops with a finished ancestor; elastic work, and what belongs to it, only with an evicted one.
        suspend_owned=AnyOf(
            managed_jobs.suspend_work_of_unadmitted_work,
            managed_jobs.suspend_elastic_work_of_evicted_work,
        ),
        # All Workloads of elastic work name the first one.
        first_slice=Each(workload_slices.slices_have_the_name_of_the_first),
        own_values=earlier.own_values.add(
            when(
                workload_slices.all_pods_name_their_first_workload,
                ElasticJobsViaWorkloadSlices=True,
            )
        ),
        # The Workload of a finished Job keeps its reservation, as up to 0.14.
        release_when_finished=earlier.release_when_finished.drop(
            job_reconciliation.finished_releases_quota
        ),
    )


def _priorities(earlier: PriorityClassRules) -> PriorityClassRules:
    return replace(
        earlier,
        # A pending workload without a priority class gets one when its Job names one.
        follow_label=earlier.follow_label.add(
            workload_priority_class.pending_workload_gets_first_priority_class
        ),
        # A new value of a WorkloadPriorityClass reaches its Workloads.
        propagate_value=AnyOf(
            workload_priority_class.priority_class_value_is_propagated
        ),
    )


def _queueing(earlier: QueueRules) -> QueueRules:
    return replace(
        earlier,
        # A workload that was deactivated while it held quota is not counted after a restart.
        count_on_start=AllOf(pending_workloads.inactive_is_not_cached_on_start),
        # Every deleted workload requeues the inadmissible ones, also if it held no quota.
        ignore_delete=earlier.ignore_delete.drop(
            pending_workloads.deleted_pending_triggers_no_requeue
        ),
        # A workload is in one queue at most.
        keep_when_moved=earlier.keep_when_moved.drop(
            pending_workloads.moved_work_with_devices_stays_queued
        ),
    )


def _assigning(earlier: FlavorAssignment) -> FlavorAssignment:
    return replace(
        earlier,
        # A request for zero of an uncovered resource no longer keeps a workload out.
        ignore_zero_request=AnyOf(fits_resource_quota.zero_of_uncovered_is_ignored),
        # A larger Workload of elastic work counts the difference, not all that it requests.
        use_difference=AnyOf(workload_slices.only_the_difference_is_used),
        # But a pod set that requests nothing else gets no flavor, and the assignment stops there.
        stop_at_empty_pod_set=AnyOf(fits_resource_quota.empty_pod_set_stops_assignment),
        # Tolerations compare numbers (operators Lt and Gt).
        flavor=earlier.flavor.swap(
            taints.taints_must_be_tolerated_0_15,
            taints.taints_must_be_tolerated,
        ),
        # The preference is read as it is written, and without one borrowing is preferred.
        rank=earlier.rank.drop(
            flavor_fungibility.prefer_preemption_over_borrowing
        ).swap(
            flavor_fungibility.inverted_preference_bug_0_15,
            flavor_fungibility.is_preferred,
        ),
    )


def _fair_sharing(earlier: FairSharingRules) -> FairSharingRules:
    return replace(
        earlier,
        # A head that does not borrow goes first, whatever the shares are.
        order=earlier.order.add(
            when(
                fair_sharing.non_borrowing_first_0_16,
                FairSharingPrioritizeNonBorrowing=True,
            ),
            before=fair_sharing.lower_drs_first,
        ),
    )


def _topology(earlier: TopologyRules) -> TopologyRules:
    return replace(
        earlier,
        # The search looks for what the pods themselves request, but placed pods use what the quota charges:
        # those with devices of claims never fit. Tolerations can compare numbers.
        place_charged=AnyOf(),
        use_charged=AnyOf(topology.charged_amounts_are_used),
        exclude_node=earlier.exclude_node.swap(
            topology.untolerated_taint_excludes_node_0_15,
            topology.untolerated_taint_excludes_node,
        ),
        retry_with_topology=AnyOf(placing(retries.topology_retries_its_queues)),
    )
