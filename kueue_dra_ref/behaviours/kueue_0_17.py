"""Kueue 0.17 (0.17.1): what it changes in Kueue 0.16.

Extended resources can be charged (behind a gate of their own), equivalent workloads become inadmissible together, and
lending limits, Cohorts and default queues can no longer be switched off.

Kueue 0.17 charges the number of devices. It rejects a request with selectors, does not evaluate those of a DeviceClass,
and reads no ResourceSlices, counters or capacities. A mapping with sources has an unknown field: Kueue exits.
With both gates DynamicResourceAllocation and DRAExtendedResources on, it charges the extended resource of a DeviceClass
as devices; otherwise it stays an ordinary resource. Phases: preprocessing, charges, extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.api.schema_config_earlier import KUEUE_0_17_VERSIONS
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_14_multikueue import dispatched
from kueue_dra_ref.behaviours.kueue_0_14_topology import placing
from kueue_dra_ref.behaviours.kueue_0_16 import kueue_0_16
from kueue_dra_ref.behaviours.phases_admission_checks import AdmissionCheckRules
from kueue_dra_ref.behaviours.phases_admission_gates import AdmissionGateRules
from kueue_dra_ref.behaviours.phases_dra import ExtendedResources
from kueue_dra_ref.behaviours.phases_multikueue import MultiKueueRules
from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.behaviours.phases_retention import RetentionRules
from kueue_dra_ref.behaviours.phases_scheduling import (
    CohortRules,
    FairSharingRules,
    PreemptionRules,
    QueueRules,
)
from kueue_dra_ref.behaviours.phases_status import JobRules
from kueue_dra_ref.behaviours.phases_topology import TopologyRules
from kueue_dra_ref.behaviours.phases_validation import APIValidation, WebhookRules
from kueue_dra_ref.behaviours.roles import reads
from kueue_dra_ref.features.kube_features import kueue_0_17_gates
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import AnyOf, Collect, First, Fold
from kueue_dra_ref.rules.crd import resourceflavor_crd
from kueue_dra_ref.rules.dra import devices_0_18, extended_resource_requests
from kueue_dra_ref.rules.flavorassigner import topology
from kueue_dra_ref.rules.jobframework import (
    job_reconciliation,
    managed_jobs,
    pod_owners,
    ray_jobs,
    spark_applications,
    workload_names,
)
from kueue_dra_ref.rules.multikueue import dispatching, dispatching_0_17
from kueue_dra_ref.rules.preemption import fair_sharing, preemption_policies
from kueue_dra_ref.rules.queue import cohort_quota, pending_workloads
from kueue_dra_ref.rules.webhooks import (
    admission_gates_webhook,
    clusterqueue_webhook,
    job_webhook,
    spark_webhook,
    topology_webhook,
    workload_webhook,
)
from kueue_dra_ref.rules.workload import admission_checks, admission_gates, retention


def kueue_0_17() -> Behaviour:
    """Kueue 0.17 as a value."""
    earlier = kueue_0_16()
    return replace(
        earlier,
        name="kueue-0.17.1",
        title="Kueue 0.17.1",
        kueue="0.17",
        versions=KUEUE_0_17_VERSIONS,
        gates=kueue_0_17_gates(),
        dependent_gates=("DRAExtendedResources",),
        role=reads("deviceclasses", "resourceclaims", "resourceclaimtemplates"),
        definitions=_definitions(earlier.definitions),
        webhooks=_gate_webhooks(_check_webhooks(_webhooks(earlier.webhooks))),
        gating=_GATING,
        pods=_pods(earlier.pods),
        jobs=_jobs(earlier.jobs),
        extended=_EXTENDED,
        queueing=_queueing(earlier.queueing),
        topology=_topology(earlier.topology),
        dispatching=_dispatching(earlier.dispatching),
        checking=_checking(earlier.checking),
        retaining=_retaining(earlier.retaining),
        cohorts=_cohorts(earlier.cohorts),
        preempting=_preempting(earlier.preempting),
        fair_sharing=_fair_sharing(earlier.fair_sharing),
    )


def _definitions(earlier: APIValidation) -> APIValidation:
    return replace(
        earlier,
        resource_flavor=replace(
            earlier.resource_flavor,
            # The node taints of a flavor with a topology may change.
            cel=earlier.resource_flavor.cel.swap(
                resourceflavor_crd.flavor_with_topology_is_immutable,
                resourceflavor_crd.nodes_of_topology_are_immutable,
            ),
        ),
    )


def _dispatching(earlier: MultiKueueRules) -> MultiKueueRules:
    return replace(
        earlier,
        # Each Job has MultiKueue as its manager.
        manage=earlier.manage.gate(
            dispatching.multikueue_manages_jobs, MultiKueue=True
        ),
        reject=earlier.reject.gate(dispatching.reject_other_managers, MultiKueue=True),
        hold=AnyOf(),
        sync_status=AnyOf(
            dispatched(dispatching.status_follows_running_copy),
            dispatched(dispatching_0_17.status_follows_while_pods_run),
        ),
        # Copies are created when the other checks are Ready.
        wait=AnyOf(dispatched(dispatching.other_checks_come_first)),
        # Work that is evicted on both clusters has the status of its copy, also if its worker evicted it.
        follow_evicted=AnyOf(
            dispatched(dispatching.copy_of_evicted_workload_is_followed)
        ),
    )


# Containers may request devices by the name of an extended resource, which a DeviceClass has; both gates have to be on.
_EXTENDED = ExtendedResources(
    used_by_workload=Collect(
        when(
            extended_resource_requests.extended_resources_are_detected,
            DRAExtendedResources=True,
            DynamicResourceAllocation=True,
        )
    ),
    requested_names=Collect(
        when(
            extended_resource_requests.requests_and_limits_are_charged,
            DRAExtendedResources=True,
            DynamicResourceAllocation=True,
        )
    ),
    is_extended_name=AnyOf(extended_resource_requests.names_with_a_domain_are_extended),
    choose_class=Fold(devices_0_18.mapped_device_class_wins),
    in_container=First(devices_0_18.each_container_requests_whole_devices),
    in_pod=First(extended_resource_requests.max_of_init_and_containers),
    charged_resource=First(extended_resource_requests.mapped_resource_or_own_name),
    not_charged_natively=AnyOf(
        extended_resource_requests.resolved_name_is_not_charged_natively
    ),
)


def _pods(earlier: PodRules) -> PodRules:
    return replace(
        earlier,
        label_with_uid=AnyOf(pod_owners.workload_has_uid_of_owner),
        # The name of the Workload of a StatefulSet depends on its UID, too.
        pod_marks=earlier.pod_marks.swap(
            pod_owners.marks_by_name, pod_owners.marks_of_stateful_set_pod
        ),
        workloads=earlier.workloads.swap(
            pod_owners.pod_set_by_name, pod_owners.pod_set_of_stateful_set
        ),
    )


_JOB_WEBHOOKS = (
    spark_webhook.only_cluster_mode,
    spark_webhook.only_elastic_work_allocates_dynamically,
    when(spark_webhook.amounts_can_be_read, TopologyAwareScheduling=True),
    # Elastic Jobs may request an unconstrained topology alone.
    when(topology_webhook.elastic_job_requests_no_domain, TopologyAwareScheduling=True),
)


def _webhooks(earlier: WebhookRules) -> WebhookRules:
    quota = (
        # LendingLimit is GA and locked on.
        earlier.groups.quota.ungate(
            clusterqueue_webhook.lending_limit_is_not_negative,
            clusterqueue_webhook.lending_limit_needs_cohort,
            clusterqueue_webhook.lending_limit_is_at_most_nominal_quota,
        )
    )
    return replace(
        earlier,
        # A Workload's pod templates are stored as they are written.
        defaults=earlier.defaults.drop(workload_webhook.pod_template_defaults),
        groups=replace(earlier.groups, quota=quota),
        # LocalQueueDefaulting is GA and locked on.
        job=earlier.job.ungate(
            job_webhook.queue_name_is_not_removed_with_default_queue
        ).add(*_JOB_WEBHOOKS),
    )


def _gated(each: Rule[P, R]) -> Rule[P, R]:
    return when(each, AdmissionGatedBy=True)


_GATING = AdmissionGateRules(
    closed=First(_gated(admission_gates.gates_keep_from_admission)),
    cleared=First(_gated(admission_gates.gates_are_cleared)),
    passed_on=First(_gated(admission_gates.gates_of_work_are_passed_on)),
    stay=AnyOf(_gated(admission_gates.gates_of_elastic_work_stay)),
)
"""Admission gates: another controller keeps work from admission."""
_GATE_CHANGES = (
    _gated(admission_gates_webhook.gates_are_not_added),
    _gated(admission_gates_webhook.gates_are_only_removed),
)


def _gate_webhooks(earlier: WebhookRules) -> WebhookRules:
    names = _gated(admission_gates_webhook.gate_names_are_valid)
    return replace(
        earlier,
        job=earlier.job.add(*_GATE_CHANGES, names),
        pod_owner=earlier.pod_owner.add(*_GATE_CHANGES, names),
        workload=earlier.workload.add(names, *_GATE_CHANGES),
    )


def _retaining(earlier: RetentionRules) -> RetentionRules:
    return replace(
        earlier,
        # ObjectRetentionPolicies is GA and locked on.
        finished=earlier.finished.ungate(retention.finished_workload_expires),
        deactivated=earlier.deactivated.ungate(retention.deactivated_work_expires),
    )


def _jobs(earlier: JobRules) -> JobRules:
    return replace(
        earlier,
        # RayServices are new, and SparkApplications, whose gate is off.
        pod_sets=earlier.pod_sets.add(
            ray_jobs.ray_service_pod_sets,
            spark_applications.spark_application_pod_sets,
            before=job_reconciliation.job_pod_sets,
        ),
        restore_pod_counts=earlier.restore_pod_counts.add(
            spark_applications.stopped_application_has_the_executors_of_its_workload
        ),
        # Pods have labels with their queues.
        own_values=earlier.own_values.add(
            when(
                job_reconciliation.pods_name_their_queues, AssignQueueLabelsForPods=True
            )
        ),
        # LocalQueueDefaulting is GA and locked on.
        default_queue=earlier.default_queue.ungate(managed_jobs.default_local_queue),
        # A new gate, which is off, bounds the names of Workloads.
        longest_name=First(
            when(workload_names.workload_names_can_be_labels, ShortWorkloadNames=True)
        ),
    )


def _queueing(earlier: QueueRules) -> QueueRules:
    return replace(
        earlier,
        # Workloads that are equivalent to one that did not fit become inadmissible with it.
        bulk_move_equivalent=AnyOf(
            when(
                pending_workloads.scheduling_equivalence_hashing,
                SchedulingEquivalenceHashing=True,
            )
        ),
        # What Kueue adds to the requests (overhead, defaults) is remembered when a workload is requeued.
        requeue_from=First(pending_workloads.requeue_keeps_adjusted_requests),
        # Pods that the search for a flavor counted stay in the requests that an update is compared with.
        retry_updated=AnyOf(pending_workloads.counted_pods_requeue_on_update),
        retry_from=First(pending_workloads.requeue_uses_adjusted_requests),
    )


def _check_webhooks(earlier: WebhookRules) -> WebhookRules:
    # Admission checks are for flavors that the ClusterQueue has.
    rule = clusterqueue_webhook.checked_flavors_are_of_cluster_queue
    return replace(earlier, cluster_queue=earlier.cluster_queue.add(rule))


def _checking(earlier: AdmissionCheckRules) -> AdmissionCheckRules:
    return replace(
        earlier,
        # Checks for all flavors are listed before a workload has quota, whatever the other checks are for.
        required=First(
            admission_checks.all_checks_without_assigned_flavors,
            admission_checks.checks_of_assigned_flavors,
            admission_checks.checks_of_all_flavors,
        ),
    )


def _cohorts(earlier: CohortRules) -> CohortRules:
    return replace(
        earlier,
        # HierarchicalCohorts and LendingLimit are GA and locked on.
        reads_cohorts=earlier.reads_cohorts.ungate(
            cohort_quota.cohort_objects_are_read
        ),
        lending=earlier.lending.ungate(cohort_quota.lending_limit),
    )


def _preempting(earlier: PreemptionRules) -> PreemptionRules:
    return replace(
        earlier,
        # A request for zero of a resource no longer keeps a workload from preempting.
        ignore_zero_request=AnyOf(preemption_policies.zero_requests_are_ignored),
        # The scheduler pauses 10 ms at most between cycles, no longer 100 ms.
        queue_refused_again=AnyOf(preemption_policies.refused_preemptor_is_tried_again),
    )


def _fair_sharing(earlier: FairSharingRules) -> FairSharingRules:
    return replace(
        earlier,
        # Whether a head borrows is decided at each level of the cohort tree.
        order=earlier.order.swap(
            fair_sharing.non_borrowing_first_0_16,
            when(
                fair_sharing.non_borrowing_first,
                FairSharingPrioritizeNonBorrowing=True,
            ),
        ),
        # A ClusterQueue may take its nominal quota back regardless of the shares.
        within_nominal=AnyOf(
            when(
                fair_sharing.preempt_within_nominal,
                FairSharingPreemptWithinNominal=True,
            )
        ),
        # A ClusterQueue that borrows what its cohort cannot lend counts as one that borrows.
        skip_zero_share=earlier.skip_zero_share.drop(fair_sharing.skip_zero_drs),
    )


def _topology(earlier: TopologyRules) -> TopologyRules:
    return replace(
        earlier,
        # A flavor without a topology may have the quota of what the pods do not request themselves, such as devices.
        flavor=earlier.flavor.swap(
            topology.placed_pods_need_topology_flavor,
            placing(topology.requested_resources_need_topology_flavor),
        ),
        # TASProfileLeastFreeCapacity is gone.
        least_free=earlier.least_free.drop(topology.least_free_capacity_for_all),
        free_all_flavors=AnyOf(topology.all_flavors_are_preempted_in),
    )
