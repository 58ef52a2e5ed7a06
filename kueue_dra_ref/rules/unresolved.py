"""Kueue 0.20 (provisional), claims: what is said of devices that cannot be charged, and administrative access."""

from __future__ import annotations

from kueue_dra_ref.rule import rule
from kueue_dra_ref.said import Said
from kueue_dra_ref.target import FieldError
from kueue_dra_ref.world import Asked

REASON = "DRAResourcesUnresolved"
_REJECTED = frozenset({REASON, "Inadmissible"})


@rule("CLAIM-032")
def administrators_are_charged_nothing(asked: Asked) -> tuple[tuple[str, int], ...] | None:
    """Administrative access takes no device from anybody, so it passes and is not charged."""
    return () if asked.request and asked.request.admin_access else None


@rule("CLAIM-010", "CLAIM-033")
def mode_all_is_refused_but_to_administrators(asked: Asked) -> FieldError | None:
    """How many devices mode All will take matters only where they are charged."""
    request = asked.request
    if request is None or request.mode != "All" or request.admin_access:
        return None
    return asked.fault("Invalid value", ".exactly.allocationMode", "AllocationMode 'All' is not supported", '"All"')


@rule("CLAIM-034", "CLAIM-014", "CLASS-002", "CLASS-004", "CLASS-005")
def unmapped_classes_are_not_found(asked: Asked, device_class: str) -> FieldError:
    """A class that no mapping names cannot be charged; the field of the class is named, and the class alone."""
    kind = "resourceClaimName" if asked.claim.claim else "resourceClaimTemplateName"
    field = f"{asked.pod_set.claim_path(asked.claim)}.{kind}.deviceClassName"
    return FieldError(field=field, type="Not found", value=f'"{device_class}"')


@rule("OBSERVE-019")
def unresolved_devices_are_told(message: str, requeued: str) -> Said:
    """Say that the devices of a workload cannot be charged, by a reason of their own."""
    del requeued
    return Said(type="QuotaReserved", value=False, reason=REASON, message=message)


@rule("OBSERVE-020")
def unresolved_devices_are_not_requeued(message: str, requeued: str) -> Said:
    """Say by the same reason that the workload does not go back to the queue by itself."""
    return Said(type="Requeued", value=False, reason=REASON, message=requeued or message)


@rule("STATUS-054")
def devices_that_resolve_are_told(before: str) -> Said | None:
    """Say of a workload that was refused that its devices can be charged now."""
    if before not in _REJECTED:
        return None
    return Said(type="Requeued", value=True, reason="DRAResourcesResolved", message="The DRA resources are resolved")
