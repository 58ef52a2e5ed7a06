"""Charges of requests, and how they add up (Workload Processing Flow, step 5; Risks and Mitigations).

Kueue: pkg/dra/claims.go (countDevicesPerClass, GetResourceRequestsForResourceClaimTemplates);
    pkg/workload/workload.go (totalRequestsFromPodSets)
"""

from __future__ import annotations

from collections.abc import Sequence

from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.types import Claim, PodSet
from kueue_dra_ref.cel import Undecided
from kueue_dra_ref.model.lister import DeviceRequestContext, all_hold, class_selectors
from kueue_dra_ref.model.rule import rule

Charge = tuple[tuple[str, int], ...]
"""Device class and number of devices."""


@rule(
    "COUNT-001",
    "COUNT-002",
    "CLAIM-012",
    "CLAIM-016",
    "CLAIM-017",
    "CLASS-003",
    "CEL-009",
)
def the_count_is_charged(context: DeviceRequestContext) -> Charge | None:
    """Kueue charges a request for an exact count the devices that it asks for.

    Kueue: pkg/dra/claims.go (countDevicesPerClass)
    """
    request = context.checked
    if request.mode != "ExactCount":
        return None
    return ((request.device_class, request.count),) if request.device_class else ()


@rule("RISK-002")
def admin_access_is_not_charged(context: DeviceRequestContext) -> Charge | None:
    """Kueue charges nothing for a request with adminAccess.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    return () if context.checked.admin_access else None


@rule("RISK-001")
def every_subrequest_is_charged(context: DeviceRequestContext) -> Charge | None:
    """Kueue charges every device class that the alternatives of a prioritized list name.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    if not context.checked.alternatives:
        return None
    return tuple(
        (alternative.device_class, _most(context, alternative))
        for alternative in context.checked.alternatives
    )


@rule("RISK-003")
def allocation_mode_all_is_charged_worst_case(
    context: DeviceRequestContext,
) -> Charge | None:
    """Kueue charges allocation mode All the largest number of devices that one claim can get.

    No counterpart: the texts of KEP-2941 only, no release decides it.
    """
    request = context.checked
    if request.mode != "All":
        return None
    return ((request.device_class, _most(context, request)),)


def _most(context: DeviceRequestContext, request: DeviceRequest) -> int:
    if request.mode != "All":
        return request.count
    selectors = (
        class_selectors(context.lister, request.device_class) or ()
    ) + request.selectors
    outcomes = [all_hold(selectors, device) for device in context.lister.devices()]
    return sum(
        outcome is True or isinstance(outcome, Undecided) for outcome in outcomes
    )


@rule("COUNT-007", "COUNT-008", "COUNT-009", "COUNT-010")
def claims_of_pod(pod_set: PodSet) -> tuple[Claim, ...]:
    """Kueue charges each claim under resourceClaims of a pod that names a template, used or not.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    return tuple(claim for claim in pod_set.claims if claim.template)


@rule("COUNT-003", "COUNT-017")
def requests_of_a_claim_add_up(amounts: Sequence[int]) -> int:
    """Kueue adds the counts of one class in one claim and saturates at the largest 64-bit integer.

    Kueue: pkg/dra/claims.go (countDevicesPerClass)
    """
    return clamp(sum(amounts))


@rule("COUNT-004", "COUNT-005", "COUNT-010", "MAP-013")
def claims_of_a_pod_add_up(amounts: Sequence[int]) -> int:
    """Kueue adds what the claims of a pod charge to one resource.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    return clamp(sum(amounts))


@rule("COUNT-006", "COUNT-011", "COUNT-013")
def multiply_by_pod_count(amount: int, pods: int) -> int:
    """Kueue multiplies the charge of a pod by the number of pods of its pod set.

    Kueue: pkg/workload/workload.go (totalRequestsFromPodSets)
    """
    return clamp(amount * pods)


@rule("COUNT-014", "COUNT-018", "COUNT-015", "COUNT-016")
def devices_add_to_pod_requests(ordinary: int, devices: int) -> int:
    """Kueue adds devices to what containers request under the name of the mapping.

    Kueue: pkg/workload/workload.go (totalRequestsFromPodSets)
    """
    return clamp(ordinary + devices)
