"""Kueue 0.20.0, provisional: what it changes in Kueue 0.19.7, by its change notes; it could not be run.

Observability is on by default, with a reason of its own for devices that cannot be charged. Prioritized lists (behind a
gate) and administrative access are no longer rejected.

Kueue 0.20.0 charges devices, counters and extended resources as 0.19.7 does; KueueDRAIntegrationConsumableCapacity is
still off by default. It evaluates selectors on published devices. A request with adminAccess is accepted and charged
nothing, with allocation mode All too. With KueueDRAIntegrationPrioritizedList (off by default) it charges a request
with firstAvailable once, as its first alternative; all alternatives must map to one resource and ask for one count,
and may have no counters or capacities. Phases: preprocessing, charges, extended-resources.
"""

from __future__ import annotations

from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.behaviours.kueue_0_19_7 import kueue_0_19_7
from kueue_dra_ref.behaviours.phases_dra import Charges, Preprocessing
from kueue_dra_ref.behaviours.phases_status import StatusRules
from kueue_dra_ref.behaviours.phases_validation import APIValidation
from kueue_dra_ref.features.kube_features import kueue_0_20_gates
from kueue_dra_ref.model.rule import P, R, Rule, when
from kueue_dra_ref.model.slots import Collect, First
from kueue_dra_ref.rules.crd import topology_crd
from kueue_dra_ref.rules.dra import (
    charges,
    claim_templates,
    dra_resources_unresolved,
    prioritized_lists,
    sourced_requests,
)
from kueue_dra_ref.rules.workload import unadmitted_workloads, workload_status


def kueue_0_20() -> Behaviour:
    """Kueue 0.20 as a value."""
    earlier = kueue_0_19_7()
    return replace(
        earlier,
        name="kueue-0.20.0",
        title="Kueue 0.20.0 (provisional)",
        kueue="0.20",
        # Many gates are new, flipped or gone; all dependencies are in the registry that Kubernetes' gates share.
        gates=kueue_0_20_gates(),
        definitions=_definitions(earlier.definitions),
        processing=_slices(_processing(earlier.processing)),
        charging=_charging(earlier.charging),
        reporting=_reporting(earlier.reporting),
    )


def _prioritized(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while prioritized lists are enabled."""
    return when(each, KueueDRAIntegrationPrioritizedList=True)


def _observed(each: Rule[P, R]) -> Rule[P, R]:
    """Put a rule in force while unadmitted workloads are observable."""
    return when(each, UnadmittedWorkloadsObservability=True)


def _definitions(earlier: APIValidation) -> APIValidation:
    return replace(
        earlier,
        # The levels of a Topology may change above the hostname (#13910).
        topology=replace(
            earlier.topology,
            cel=earlier.topology.cel.swap(
                topology_crd.levels_are_immutable,
                topology_crd.levels_change_above_hostname,
            ),
        ),
    )


def _processing(earlier: Preprocessing) -> Preprocessing:
    return replace(
        _alternatives(earlier),
        request=(
            earlier.request
            # Prioritized lists are accepted while their gate is on.
            .gate(
                claim_templates.first_available_unsupported,
                KueueDRAIntegrationPrioritizedList=False,
            )
            # Administrative access is accepted, and with it mode All, which charges nothing then.
            .drop(claim_templates.allocation_mode_all_is_rejected)
            .swap(
                claim_templates.admin_access_is_refused,
                dra_resources_unresolved.allocation_mode_all_needs_admin_access,
            )
        ),
        # The error names the field of the class.
        unmapped_class=earlier.unmapped_class.swap(
            claim_templates.unmapped_classes_are_refused,
            dra_resources_unresolved.unmapped_classes_are_not_found,
        ),
    )


def _slices(processing: Preprocessing) -> Preprocessing:
    sourcing = replace(
        processing.sourcing,
        # A ResourceSlice requeues the ClusterQueues that cover a resource with sources, not all.
        retried_resources=Collect(sourced_requests.resources_with_sources_are_retried),
    )
    return replace(processing, sourcing=sourcing)


def _alternatives(earlier: Preprocessing) -> Preprocessing:
    return replace(
        earlier,
        # Each alternative of a prioritized list has to charge the same.
        alternative=First(
            _prioritized(prioritized_lists.subrequest_has_a_count),
            _prioritized(prioritized_lists.subrequest_selectors_compile),
            _prioritized(prioritized_lists.subrequest_class_is_mapped),
            _prioritized(prioritized_lists.subrequest_is_not_charged_by_sources),
            _prioritized(prioritized_lists.subrequests_charge_one_resource),
            _prioritized(prioritized_lists.subrequests_charge_one_count),
        ),
    )


def _charging(earlier: Charges) -> Charges:
    return replace(
        earlier,
        # Administrative access is not charged, and a prioritized list is charged once.
        request=earlier.request.add(
            dra_resources_unresolved.admin_access_is_not_charged_0_20,
            _prioritized(prioritized_lists.prioritized_list_is_charged_once),
            before=charges.the_count_is_charged,
        ),
    )


def _reporting(earlier: StatusRules) -> StatusRules:
    return replace(
        earlier,
        # Observability: both conditions have the same reason, which is about devices alone.
        inadmissible_condition=(
            earlier.inadmissible_condition.drop(
                unadmitted_workloads.reason_misconfigured_on_inadmissible
            )
            .gate(
                workload_status.requeued_false_condition,
                UnadmittedWorkloadsObservability=False,
            )
            .add(
                _observed(dra_resources_unresolved.dra_resources_unresolved_condition),
                _observed(
                    dra_resources_unresolved.dra_resources_unresolved_is_not_requeued
                ),
            )
        ),
    )
