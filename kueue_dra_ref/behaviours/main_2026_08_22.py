"""Kueue's main branch on 2026-08-22 (ff69552e79), between 0.19.2 and 0.20.0: what of 0.20.0 it did not have yet.

It is 0.20.0 without prioritized lists, without what 0.19.3 to 0.19.7 brought, and with the reasons of 0.19.

It charges devices, counters, capacities and extended resources as 0.19.2 does, and evaluates selectors on published
devices. It has most of the gates of 0.20.0, with their defaults: observability, default priority classes and the second
assignment of heads whose victims overlap are on. A request with adminAccess is accepted and charged nothing. It was
built and run on 72 generated scenarios, none of which had overlapping victims: those rules follow its source. Phases:
preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19 import kueue_0_19
from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20
from kueue_dra_ref.behaviours.phases_dra import Charges, Preprocessing
from kueue_dra_ref.behaviours.phases_status import StatusRules
from kueue_dra_ref.features.kube_features import main_2026_08_22_gates
from kueue_dra_ref.model.slots import First
from kueue_dra_ref.rules.dra import (
    claim_templates,
    dra_resources_unresolved,
    prioritized_lists,
)


def main_2026_08_22() -> Behaviour:
    """Kueue's main branch of 2026-08-22 as a value."""
    released, before = kueue_0_20(), kueue_0_19()
    return replace(
        released,
        name="main-2026-08-22",
        title="Kueue's main branch of 2026-08-22",
        gates=main_2026_08_22_gates(),
        # Names of mappings and capacities (#13989, #14951): 0.19.3.
        mapping=before.mapping,
        # Overhead and sidecars of extended resources (#14154): 0.19.6.
        extended=before.extended,
        # Victims for the resource pods (#16167): 0.19.7.
        preempting=before.preempting,
        processing=_processing(released.processing),
        charging=_charging(released.charging),
        reporting=_reporting(released.reporting, before.reporting),
    )


def _processing(released: Preprocessing) -> Preprocessing:
    return replace(
        released,
        # Prioritized lists (#14130) are rejected, and an unmapped class is an error of its template (#16123).
        request=released.request.ungate(claim_templates.first_available_unsupported),
        alternative=First(),
        unmapped_class=released.unmapped_class.swap(
            dra_resources_unresolved.unmapped_classes_are_not_found,
            claim_templates.unmapped_classes_are_refused,
        ),
    )


def _charging(released: Charges) -> Charges:
    return replace(
        released,
        request=released.request.drop(
            prioritized_lists.prioritized_list_is_charged_once
        ),
    )


def _reporting(released: StatusRules, before: StatusRules) -> StatusRules:
    return replace(
        released,
        # Reasons for devices that cannot be charged (#16123), and that they can be again (#15888).
        inadmissible_condition=before.inadmissible_condition,
        dra_resolved=before.dra_resolved,
    )
