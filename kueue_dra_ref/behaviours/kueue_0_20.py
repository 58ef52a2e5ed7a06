"""Kueue 0.20, provisional: what its change notes change of Kueue 0.19; no release was asked."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
from kueue_dra_ref.features.kube_features import kueue_0_20_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.model.slots import First
from kueue_dra_ref.rules.config import mapping_names_0_20
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    dra_resources_unresolved,
    prioritized_lists,
)
from kueue_dra_ref.rules.workload import unadmitted_workloads, workload_status


def kueue_0_20() -> Behaviour:
    """Kueue 0.20 as a value."""
    earlier = kueue_0_19()
    return replace(
        earlier,
        name="kueue-0.20",
        title="Kueue 0.20 (provisional)",
        kueue="0.20",
        gates=kueue_0_20_gates(),
        mapping=replace(
            earlier.mapping,
            name=earlier.mapping.name.add(mapping_names_0_20.name_is_not_pods),
            source=earlier.mapping.source.add(
                mapping_names_0_20.capacity_name_has_at_most_one_slash
            ),
        ),
        processing=replace(
            earlier.processing,
            request=earlier.processing.request.drop(
                claim_templates.allocation_mode_all_is_rejected
            )
            .swap(
                claim_templates.first_available_unsupported,
                when(
                    claim_templates.first_available_unsupported,
                    KueueDRAIntegrationPrioritizedList=False,
                ),
            )
            .swap(
                claim_templates.admin_access_is_refused,
                dra_resources_unresolved.allocation_mode_all_needs_admin_access,
            ),
            alternative=First(
                when(
                    prioritized_lists.subrequest_has_a_count,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                when(
                    prioritized_lists.subrequest_selectors_compile,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                when(
                    prioritized_lists.subrequest_class_is_mapped,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                when(
                    prioritized_lists.subrequest_is_not_charged_by_sources,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                when(
                    prioritized_lists.subrequests_charge_one_resource,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                when(
                    prioritized_lists.subrequests_charge_one_count,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
            ),
            unmapped_class=earlier.processing.unmapped_class.swap(
                claim_templates.unmapped_classes_are_refused,
                dra_resources_unresolved.unmapped_classes_are_not_found,
            ),
        ),
        charging=replace(
            earlier.charging,
            request=First(
                dra_resources_unresolved.admin_access_is_not_charged_0_20,
                when(
                    prioritized_lists.prioritized_list_is_charged_once,
                    KueueDRAIntegrationPrioritizedList=True,
                ),
                charges.the_count_is_charged,
            ),
        ),
        reporting=replace(
            earlier.reporting,
            inadmissible_condition=earlier.reporting.inadmissible_condition.drop(
                unadmitted_workloads.reason_misconfigured_on_inadmissible
            )
            .swap(
                workload_status.requeued_false_condition,
                when(
                    workload_status.requeued_false_condition,
                    UnadmittedWorkloadsObservability=False,
                ),
            )
            .add(
                when(
                    dra_resources_unresolved.dra_resources_unresolved_condition,
                    UnadmittedWorkloadsObservability=True,
                ),
                when(
                    dra_resources_unresolved.dra_resources_unresolved_is_not_requeued,
                    UnadmittedWorkloadsObservability=True,
                ),
            ),
            resolved=First(dra_resources_unresolved.dra_resources_resolved_condition),
        ),
    )
