"""KEP-2941 of September 2026, an open text (#13601): how its section on prioritized lists differs from Kueue 0.20.0.

It charges the largest alternative of a prioritized list, where Kueue 0.20.0 rejects alternatives of different counts.

All that the section does not mention is as in Kueue 0.20.0: selectors, counters, capacities and extended resources, and
the gates. With KueueDRAIntegrationPrioritizedList (off by default), a
request with firstAvailable is charged the largest count of its alternatives, which still have to map to one resource
without counters and capacities. A workload with such a request may have no other request for counters or capacities,
and its pods may not request the charged resource as an ordinary one. The text also rejects such workloads before
MultiKueue dispatches them, which the reference does not model. Phases: preprocessing, charges.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_20 import kueue_0_20
from kueue_dra_ref.behaviours.phases_dra import Charges, Preprocessing
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.rules.dra import prioritized_list_envelope, prioritized_lists


def kep_2026_09() -> Behaviour:
    """KEP-2941, the open text of September 2026, as a value."""
    released = kueue_0_20()
    return replace(
        released,
        name="kep-2026-09",
        title="KEP-2941, September 2026 (open text)",
        processing=_processing(released.processing),
        charging=_charging(released.charging),
    )


def _prioritized(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while prioritized lists are enabled."""
    return when(each, KueueDRAIntegrationPrioritizedList=True)


def _processing(released: Preprocessing) -> Preprocessing:
    return replace(
        released,
        request=released.request.add(
            # Alpha support matrix: what a workload with a prioritized list may not have in addition.
            _prioritized(
                prioritized_list_envelope.sourced_request_excludes_prioritized_lists
            ),
            _prioritized(
                prioritized_list_envelope.other_requests_for_the_resource_are_refused
            ),
        ),
        # Accounting rule: counts may differ.
        alternative=released.alternative.drop(
            prioritized_lists.subrequests_charge_one_count
        ),
    )


def _charging(released: Charges) -> Charges:
    return replace(
        released,
        # Accounting rule: the largest alternative is charged.
        request=released.request.swap(
            prioritized_lists.prioritized_list_is_charged_once,
            _prioritized(prioritized_list_envelope.largest_alternative_is_charged),
        ),
    )
