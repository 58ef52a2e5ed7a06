"""Kueue 0.14: the rules of pods."""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_pods import PodRules
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.jobframework import (
    pod_groups,
    pod_owners,
    queued_pods,
    topology_requests,
)

PODS = PodRules(
    unmanaged=AnyOf(queued_pods.pod_in_unmanaged_namespace),
    gate=AnyOf(queued_pods.gate_pods),
    ungate=AnyOf(queued_pods.ungate_pods_on_admission),
    group_name=First(pod_groups.group_of_label),
    role=First(pod_groups.role_of_containers),
    pod_sets=First(queued_pods.pod_set_of_pod),
    group_pod_sets=First(
        pod_groups.pod_set_of_fast_group, pod_groups.pod_sets_of_group
    ),
    topology=First(
        when(topology_requests.pod_requests_topology, TopologyAwareScheduling=True)
    ),
    index=First(when(pod_groups.index_of_named_label, TopologyAwareScheduling=True)),
    incomplete=AnyOf(
        pod_groups.group_lacks_pods,
        pod_groups.group_contradicts_itself,
        pod_groups.group_index_is_too_high,
    ),
    finished=First(
        queued_pods.finished_pod_finishes_workload,
        pod_groups.succeeded_group_finishes_workload,
        pod_groups.unretriable_group_finishes_workload,
    ),
    reclaimable=First(when(pod_groups.reclaimable_pods_of_group, ReclaimablePods=True)),
    excess=Each(pod_groups.delete_excess_pods),
    unmatched=AnyOf(pod_groups.prebuilt_workload_takes_pods_as_they_are),
    absent=First(pod_groups.wait_for_replacement_pods),
    delete_running=AnyOf(queued_pods.delete_running_pods),
    delete_with_workload=AnyOf(queued_pods.delete_pods_of_deleted_workload),
    outlive=AnyOf(queued_pods.workload_outlives_its_pod),
    marks=First(
        pod_owners.deployment_marks_its_pods, pod_owners.sets_suspend_their_pods
    ),
    pod_marks=Each(
        pod_owners.marks_without_role, pod_owners.marks_of_leader_worker_set_pod
    ),
    finalize_pods_of_parent=AnyOf(pod_owners.pods_of_parent_have_finalizer),
    let_go=AnyOf(pod_owners.let_go_of_ended_pod),
    workloads=First(pod_owners.pod_sets_of_leader_worker_set),
)
