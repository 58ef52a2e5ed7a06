"""Kueue 0.14: what it asks a cluster autoscaler for.

No counterpart: the rules of one phase as a value.
"""

from __future__ import annotations

from kueue_dra_ref.behaviours.phases_provisioning import ProvisioningRules
from kueue_dra_ref.model.slots import AnyOf, Each, First
from kueue_dra_ref.rules.workload import provisioning

PROVISIONING = ProvisioningRules(
    active=First(
        provisioning.check_without_configuration_is_inactive,
        provisioning.check_of_missing_configuration_is_inactive,
        provisioning.check_with_configuration_is_active,
    ),
    unread=AnyOf(provisioning.other_reference_is_not_read),
    ask=AnyOf(
        provisioning.ask_for_all_pods_without_managed_resources,
        provisioning.ask_for_pods_with_managed_resources,
    ),
    needless=First(provisioning.ready_without_request),
    inactive=First(provisioning.pending_without_configuration),
    parameters=First(provisioning.pass_on_annotations),
    outdated=AnyOf(
        provisioning.other_class_replaces_request,
        provisioning.other_parameters_replace_request,
    ),
    merge=AnyOf(
        provisioning.merge_identical_templates,
        provisioning.merge_identical_requirements,
    ),
    answer=First(
        provisioning.failure_is_retried,
        provisioning.last_failure_rejects,
        provisioning.revoked_capacity_rejects,
        provisioning.expired_booking_does_not_stop_admitted_work,
        provisioning.expired_booking_is_retried,
        provisioning.last_expired_booking_rejects,
        provisioning.provisioned_is_ready,
        provisioning.accepted_shows_progress,
        provisioning.unanswered_is_pending,
    ),
    follow=AnyOf(
        provisioning.failed_request_is_followed,
        provisioning.expired_request_is_followed,
    ),
    retries=Each(provisioning.retries_of_workload),
    delay_workload=First(provisioning.delay_of_retry_0_14),
    evict_first=AnyOf(provisioning.retry_evicts_before_its_delay),
    updates=Each(
        provisioning.pods_name_their_request,
        provisioning.pods_select_provisioned_nodes,
    ),
)
