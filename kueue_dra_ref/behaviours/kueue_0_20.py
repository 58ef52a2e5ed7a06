"""Kueue 0.20, provisional: what its change notes say differs from Kueue 0.19; no release could be asked."""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import OBSERVABILITY, kueue_0_19
from kueue_dra_ref.rule import when
from kueue_dra_ref.rules import alternatives, claims, reporting, stricter_names, unresolved
from kueue_dra_ref.rules.gates import kueue_0_20_gates

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
            name=(*earlier.mapping.name, stricter_names.a_mapping_is_not_called_pods),
            source=(*earlier.mapping.source, stricter_names.a_capacity_has_one_slash_at_most),
        ),
        processing=replace(
            earlier.processing,
            request=(
                when(claims.first_available_is_refused, **{_LISTS: False}),
                claims.selectors_must_compile,
                # Administrative access passes, mode All with it.
                unresolved.mode_all_is_refused_but_to_administrators,
            ),
            alternative=tuple(
                when(each, **{_LISTS: True})
                for each in (
                    alternatives.an_alternative_has_a_count,
                    alternatives.selectors_of_an_alternative_compile,
                    alternatives.the_class_of_an_alternative_is_mapped,
                    alternatives.an_alternative_is_charged_by_its_devices,
                    alternatives.alternatives_share_a_resource,
                    alternatives.alternatives_share_a_count,
                )
            ),
            unmapped=(unresolved.unmapped_classes_are_not_found,),
        ),
        charging=replace(
            earlier.charging,
            request=(
                unresolved.administrators_are_charged_nothing,
                when(alternatives.alternatives_are_charged_once, **{_LISTS: True}),
                *earlier.charging.request,
            ),
        ),
        reporting=replace(
            earlier.reporting,
            refused=(
                when(reporting.a_refusal_is_told, **_PLAIN),
                when(reporting.a_refusal_is_not_requeued, **_PLAIN),
                # Both conditions have one reason, and it is of devices alone.
                when(unresolved.unresolved_devices_are_told, **_OBSERVED),
                when(unresolved.unresolved_devices_are_not_requeued, **_OBSERVED),
            ),
            resolved=(unresolved.devices_that_resolve_are_told,),
        ),
    )
