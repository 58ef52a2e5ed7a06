"""Templates of claims, and the requests that Kueue 0.19 rejects (Workload Processing Flow, step 4).

Kueue: pkg/dra/claims.go (countDevicesPerClass, GetResourceRequestsForResourceClaimTemplates, getClaimSpec)
"""

from __future__ import annotations

from kueue_dra_ref.api.names import aggregated, quoted
from kueue_dra_ref.cel import CompileError, Undecided, compiled
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError, Manifest


@rule("CLAIM-004", "CLAIM-005", "CLAIM-018", "RBAC-001", "RBAC-005")
def template_from_workload_namespace(
    lister: Lister, namespace: str, name: str
) -> Manifest | None:
    """Kueue reads the ResourceClaimTemplate from the namespace of the workload.

    Kueue: pkg/dra/claims.go (getClaimSpec)
    """
    return lister.template(namespace, name)


@rule("CLAIM-006", "CLAIM-007", "CLAIM-015")
def template_must_exist(context: DeviceRequestContext) -> FieldError | None:
    """Kueue retries a workload whose ResourceClaimTemplate does not exist.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    name = context.claim.template
    if context.template is not None or not name:
        return None
    return FieldError(
        field=context.pod_set.claim_path(context.claim),
        type="Internal error",
        detail=f"failed to get claim spec for ResourceClaimTemplate {name} in podset {context.pod_set.name}: "
        f'ResourceClaimTemplate.resource.k8s.io "{name}" not found',
    )


@rule("CLAIM-008", "CLAIM-020")
def first_available_unsupported(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a request with firstAvailable.

    Kueue: pkg/dra/claims.go (countDevicesPerClass)
    """
    if not context.checked.alternatives:
        return None
    return context.fault(
        "Invalid value", "", "FirstAvailable device selection is not supported", "null"
    )


@rule("CEL-001")
def selectors_must_compile(
    context: DeviceRequestContext,
) -> FieldError | Undecided | None:
    """Kueue rejects a request with selectors that do not compile in the CEL environment of DRA.

    Kueue: pkg/dra/claims.go (validateCELSelectors, compileCELSelectors)
    """
    faults = []
    for index, expression in enumerate(context.checked.selectors):
        found = compiled(expression)
        if isinstance(found, Undecided):
            return found
        if isinstance(found, CompileError):
            field = f"devices.requests[{context.checked.index}].exactly.selectors[{index}].cel.expression"
            faults.append(
                f"{field}: Invalid value: {quoted(expression)}: CEL compilation failed: {found.detail}"
            )
    if not faults:
        return None
    message = aggregated(faults)
    return context.fault("Invalid value", ".exactly.selectors", message, "null")


@rule("CLAIM-013")
def admin_access_is_refused(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a request with adminAccess.

    Kueue: pkg/dra/claims.go (countDevicesPerClass)
    """
    if not context.checked.admin_access:
        return None
    return context.fault(
        "Invalid value", ".exactly.adminAccess", "AdminAccess is not supported", "null"
    )


@rule("CLAIM-010")
def allocation_mode_all_is_rejected(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a request with allocation mode All.

    Kueue: pkg/dra/claims.go (countDevicesPerClass)
    """
    if context.checked.mode != "All":
        return None
    return context.fault(
        "Invalid value",
        ".exactly.allocationMode",
        "AllocationMode 'All' is not supported",
        '"All"',
    )


@rule("CLAIM-014", "CLASS-002", "CLASS-004", "CLASS-005")
def unmapped_classes_are_refused(
    context: DeviceRequestContext, device_class: str
) -> FieldError:
    """Kueue rejects a request for a device class that no mapping lists.

    Kueue: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    kind = "resourceClaimName" if context.claim.claim else "resourceClaimTemplateName"
    return FieldError(
        field=f"{context.pod_set.claim_path(context.claim)}.{kind}",
        type="Not found",
        value=f'"DeviceClass {device_class} is not mapped in DRA configuration for podset {context.pod_set.name}"',
    )
