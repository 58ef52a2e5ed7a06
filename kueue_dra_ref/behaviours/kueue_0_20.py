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
                when(claim_templates.first_available_is_refused, **{_LISTS: False}),
                claim_templates.selectors_must_compile,
                # Administrative access passes, mode All with it.
                dra_resources_unresolved.mode_all_is_refused_but_to_administrators,
            ),
            alternative=tuple(
                when(each, **{_LISTS: True})
                for each in (
                    prioritized_lists.an_alternative_has_a_count,
                    prioritized_lists.selectors_of_an_alternative_compile,
                    prioritized_lists.the_class_of_an_alternative_is_mapped,
                    prioritized_lists.an_alternative_is_charged_by_its_devices,
                    prioritized_lists.alternatives_share_a_resource,
                    prioritized_lists.alternatives_share_a_count,
                )
            ),
            unmapped_class=(dra_resources_unresolved.unmapped_classes_are_not_found,),
        ),
        charging=replace(
            earlier.charging,
            request=(
                dra_resources_unresolved.administrators_are_charged_nothing,
                when(prioritized_lists.alternatives_are_charged_once, **{_LISTS: True}),
                *earlier.charging.request,
            ),
        ),
        reporting=replace(
            earlier.reporting,
            inadmissible_condition=(
                when(workload_status.a_refusal_is_told, **_PLAIN),
                when(workload_status.a_refusal_is_not_requeued, **_PLAIN),
                # Both conditions have one reason, and it is of devices alone.
                when(dra_resources_unresolved.unresolved_devices_are_told, **_OBSERVED),
                when(
                    dra_resources_unresolved.unresolved_devices_are_not_requeued,
                    **_OBSERVED,
                ),
            ),
            resolved=(dra_resources_unresolved.devices_that_resolve_are_told,),
        ),
    )
