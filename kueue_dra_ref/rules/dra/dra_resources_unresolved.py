"""Conditions of inadmissible DRA workloads, and requests with adminAccess (Kueue 0.20, provisional).

No counterpart: announced for Kueue 0.20, in no pinned release.
"""

from __future__ import annotations

from kueue_dra_ref.model.condition import Condition
from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.pending_reason import InadmissibleReason
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError

REASON = "DRAResourcesUnresolved"
_REJECTED = frozenset({REASON, "Inadmissible"})


@rule("CLAIM-032")
def admin_access_is_not_charged_0_20(
    context: DeviceRequestContext,
) -> tuple[tuple[str, int], ...] | None:
    """Kueue accepts a request with adminAccess and charges nothing for it.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    return () if context.checked.admin_access else None


@rule("CLAIM-010", "CLAIM-033")
def allocation_mode_all_needs_admin_access(
    context: DeviceRequestContext,
) -> FieldError | None:
    """Kueue rejects a request with allocation mode All but without adminAccess.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    request = context.checked
    if request.mode != "All" or request.admin_access:
        return None
    return context.fault(
        "Invalid value",
        ".exactly.allocationMode",
        "AllocationMode 'All' is not supported",
        '"All"',
    )


@rule("CLAIM-034", "CLAIM-014", "CLASS-002", "CLASS-004", "CLASS-005")
def unmapped_classes_are_not_found(
    context: DeviceRequestContext, device_class: str
) -> FieldError:
    """Kueue rejects a request for an unmapped device class at the field deviceClassName of the claim.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    kind = "resourceClaimName" if context.claim.claim else "resourceClaimTemplateName"
    field = f"{context.pod_set.claim_path(context.claim)}.{kind}.deviceClassName"
    return FieldError(field=field, type="Not found", value=f'"{device_class}"')


@rule("OBSERVE-019")
def dra_resources_unresolved_condition(refused: InadmissibleReason) -> Condition:
    """Kueue sets QuotaReserved False with reason DRAResourcesUnresolved on an inadmissible DRA workload.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    return Condition(
        type="QuotaReserved", value=False, reason=REASON, message=refused.message
    )


@rule("OBSERVE-020")
def dra_resources_unresolved_is_not_requeued(refused: InadmissibleReason) -> Condition:
    """Kueue sets Requeued False with reason DRAResourcesUnresolved on an inadmissible DRA workload.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    return Condition(
        type="Requeued",
        value=False,
        reason=REASON,
        message=refused.requeued or refused.message,
    )


@rule("STATUS-054")
def dra_resources_resolved_condition(before: str) -> Condition | None:
    """Kueue sets Requeued True with reason DRAResourcesResolved on a formerly inadmissible DRA workload.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    if before not in _REJECTED:
        return None
    return Condition(
        type="Requeued",
        value=True,
        reason="DRAResourcesResolved",
        message="The DRA resources are resolved",
    )
