"""Kueue 0.20, provisional: what its change notes say differs from Kueue 0.19; no release could be asked."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import OBSERVABILITY, kueue_0_19
from kueue_dra_ref.features.kube_features import kueue_0_20_gates
from kueue_dra_ref.model.rule import when
from kueue_dra_ref.rules.config import mapping_names_0_20
from kueue_dra_ref.rules.dra import (
    claim_templates,
    dra_resources_unresolved,
    prioritized_lists,
)
from kueue_dra_ref.rules.workload import workload_status

_LISTS = "KueueDRAIntegrationPrioritizedList"
_PLAIN, _OBSERVED = {OBSERVABILITY: False}, {OBSERVABILITY: True}


def kueue_0_20() -> Behaviour:
    """Kueue 0.20 as a value."""
    earlier = kueue_0_19()
    return replace(
        earlier,
        name="kueue-0.20",
        title="Kueue 0.20 (provisional)",
        kueue="0.20",
        # Observability is on by default; three gates of devices are new.
        gates=kueue_0_20_gates(),
        mapping=replace(
            earlier.mapping,
            name=(
                *earlier.mapping.name,
                mapping_names_0_20.a_mapping_is_not_called_pods,
            ),
            source=(
                *earlier.mapping.source,
                mapping_names_0_20.a_capacity_has_one_slash_at_most,
            ),
        ),
        processing=replace(
            earlier.processing,
            request=(
                when(claim_templates.first_available_unsupported, **{_LISTS: False}),
                claim_templates.selectors_must_compile,
                # Administrative access passes, mode All with it.
                dra_resources_unresolved.allocation_mode_all_needs_admin_access,
            ),
            alternative=tuple(
                when(each, **{_LISTS: True})
                for each in (
                    prioritized_lists.subrequest_has_a_count,
                    prioritized_lists.subrequest_selectors_compile,
                    prioritized_lists.subrequest_class_is_mapped,
                    prioritized_lists.subrequest_is_charged_by_device_sources,
                    prioritized_lists.subrequests_charge_one_resource,
                    prioritized_lists.subrequests_charge_one_count,
                )
            ),
            unmapped_class=(dra_resources_unresolved.unmapped_classes_are_not_found,),
        ),
        charging=replace(
            earlier.charging,
            request=(
                dra_resources_unresolved.admin_access_is_not_charged_0_20,
                when(
                    prioritized_lists.prioritized_list_is_charged_once, **{_LISTS: True}
                ),
                *earlier.charging.request,
            ),
        ),
        reporting=replace(
            earlier.reporting,
            inadmissible_condition=(
                when(workload_status.inadmissible_condition, **_PLAIN),
                when(workload_status.requeued_false_condition, **_PLAIN),
                # Both conditions have one reason, and it is of devices alone.
                when(
                    dra_resources_unresolved.dra_resources_unresolved_condition,
                    **_OBSERVED,
                ),
                when(
                    dra_resources_unresolved.dra_resources_unresolved_is_not_requeued,
                    **_OBSERVED,
                ),
            ),
            resolved=(dra_resources_unresolved.dra_resources_resolved_condition,),
        ),
    )
