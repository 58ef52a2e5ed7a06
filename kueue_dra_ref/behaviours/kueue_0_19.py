"""Kueue 0.19 (0.19.0 to 0.19.2), whole-device path: every rule that holds there, in the order of application."""

from __future__ import annotations

from kueue_dra_ref.api.schema_config import KUEUE_0_19_VERSIONS
from kueue_dra_ref.behaviours.behaviour import (
    Assigning,
    Behaviour,
    Charging,
    Jobs,
    Mapped,
    Processing,
    Queueing,
    Reporting,
)
from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import claims, counting, detection, jobs, lookup, matching, queueing, quota, reporting
from kueue_dra_ref.rules.gates import kueue_0_19_gates
from kueue_dra_ref.rules.mapping import KUEUE_0_19_MAPPING

_READ = ("get", "list", "watch")
_INTEGRATION = "KueueDRAIntegration"
_REJECT = "KueueDRARejectWorkloadsWhenDRADisabled"


def kueue_0_19() -> Behaviour:
    """Kueue 0.19 as a value."""
    return Behaviour(
        name="kueue-0.19",
        title="Kueue 0.19",
        kueue="0.19",
        versions=KUEUE_0_19_VERSIONS,
        gates=kueue_0_19_gates(),
        integration=_INTEGRATION,
        dependants=("KueueDRAIntegrationExtendedResource", "KueueDRAIntegrationPartitionableDevices"),
        role=tuple(
            {"apiGroups": ("resource.k8s.io",), "resources": (name,), "verbs": _READ}
            for name in ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices")
        ),
        mapping=KUEUE_0_19_MAPPING,
        mapped=Mapped.IN_THE_CONFIGURATION,
        processing=_PROCESSING,
        charging=CHARGING,
        queueing=QUEUEING,
        assigning=ASSIGNING,
        reporting=REPORTING,
        jobs=JOBS,
    )


_PROCESSING = Processing(
    detected=(when(detection.a_template_makes_a_device_workload, **{_INTEGRATION: True}),),
    refused=(
        when(detection.claims_are_refused_while_the_gate_is_off, **{_INTEGRATION: False, _REJECT: True}),
        when(detection.direct_claims_are_refused, **{_INTEGRATION: True}),
    ),
    read_template=(claims.templates_are_read_where_the_workload_lives,),
    forbidden=(detection.templates_cannot_be_read_without_permission,),
    template=(claims.the_template_must_exist,),
    request=(
        claims.first_available_is_refused,
        claims.selectors_must_compile,
        claims.admin_access_is_refused,
        claims.mode_all_is_refused,
    ),
    matching=matching.Matching(
        eligible=(
            matching.a_device_serves_one_request_of_a_claim,
            matching.the_selectors_of_the_class_hold,
            matching.the_selectors_of_the_request_hold,
        ),
        findings=(
            matching.the_class_must_exist,
            matching.an_error_on_a_device_refuses,
            matching.too_few_devices_refuse,
        ),
    ),
    unmapped=(claims.unmapped_classes_are_refused,),
    mappings=(lookup.the_configuration_maps_the_classes,),
    lookup=(lookup.the_mapping_of_a_class_names_the_resource,),
)

CHARGING = Charging(
    claims=(counting.claims_are_those_of_the_pod,),
    request=(counting.the_count_is_charged,),
    in_claim=(counting.requests_of_a_claim_add_up,),
    in_pod=(counting.claims_of_a_pod_add_up,),
    beside=(counting.devices_are_charged_beside_ordinary_requests,),
    pods=(counting.a_pod_set_is_charged_for_each_pod,),
)

QUEUEING = Queueing(
    order=(queueing.higher_priority_goes_first, queueing.older_goes_first),
    kept=(queueing.strict_fifo_keeps_its_head,),
    set_aside=(queueing.best_effort_sets_its_head_aside,),
    namespace=(queueing.the_namespace_must_be_selected,),
    blocked=(
        queueing.the_local_queue_must_exist,
        queueing.the_local_queue_must_run,
        queueing.the_cluster_queue_must_exist,
        queueing.the_cluster_queue_must_be_active,
    ),
    inactive=(queueing.a_stopped_cluster_queue_is_inactive, queueing.missing_flavors_make_a_cluster_queue_inactive),
    evicted=(
        queueing.deactivation_evicts,
        queueing.a_drained_local_queue_evicts,
        queueing.a_drained_cluster_queue_evicts,
    ),
)

ASSIGNING = Assigning(
    flavors=(quota.flavors_are_tried_as_listed,),
    uncovered=(quota.uncovered_resources_are_unavailable,),
    flavor=(quota.taints_must_be_tolerated, quota.node_labels_must_match),
    quota=(quota.more_than_the_capacity_never_fits, quota.more_than_what_is_unused_waits),
)

REPORTING = Reporting(
    admitted=(reporting.quota_is_reserved, reporting.the_workload_is_admitted),
    admission=(reporting.the_admission_is_written,),
    waiting=(reporting.waiting_is_told,),
    blocked=(reporting.a_blocked_queue_is_told,),
    refused=(reporting.a_refusal_is_told, reporting.a_refusal_is_not_requeued),
    evicted=(reporting.eviction_is_told,),
    requests=(reporting.requests_of_a_waiting_workload_are_shown,),
    cluster_queue=(
        reporting.pending_workloads_are_counted,
        reporting.reserving_and_admitted_workloads_are_counted,
        reporting.reserved_quota_is_listed,
        reporting.used_quota_is_listed,
    ),
    local_queue=(reporting.a_local_queue_counts_its_workloads, reporting.a_local_queue_lists_its_quota),
    cluster_queue_active=(reporting.a_cluster_queue_says_whether_it_is_active,),
    local_queue_active=(reporting.a_local_queue_says_whether_it_is_active,),
)

JOBS = Jobs(
    pod_sets=(jobs.a_job_is_one_pod_set,),
    suspended=(jobs.a_job_waits_suspended,),
    released=(jobs.admission_releases_the_job,),
    returned=(jobs.quota_is_returned_once_no_pod_runs,),
    finished=(jobs.a_finished_job_finishes_its_workload,),
)
