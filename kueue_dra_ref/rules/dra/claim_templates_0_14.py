"""Claims in Kueue 0.14, which rejects no request and reports errors without a field.

Kueue 0.14: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates, countDevicesPerClass)
"""

from __future__ import annotations

from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("CLAIM-006", "CLAIM-007", "CLAIM-015", "CLAIM-031")
def missing_template_message_0_14(
    context: DeviceRequestContext,
) -> FieldError | None:
    """Kueue names the template, the workload and the pod set when a ResourceClaimTemplate does not exist.

    Kueue 0.14: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    name = context.claim.template
    if context.template is not None or not name:
        return None
    lacking = f'ResourceClaimTemplate.resource.k8s.io "{name}" not found'
    message = f"failed to get claim spec for ResourceClaimTemplate {name} in {_pod_set_name(context)}"
    return _plain_error(f"{message}: failed to get claim spec: {lacking}")


@rule("CLAIM-014", "CLAIM-031", "CLASS-002", "CLASS-004", "CLASS-005")
def unmapped_class_message_0_14(
    context: DeviceRequestContext, device_class: str
) -> FieldError:
    """Kueue names the class, the workload and the pod set when no mapping lists the class.

    Kueue 0.14: pkg/dra/claims.go (GetResourceRequestsForResourceClaimTemplates)
    """
    message = f"DeviceClass {device_class} is not mapped in DRA configuration for {_pod_set_name(context)}"
    return _plain_error(f"{message}: DeviceClass is not mapped in DRA configuration")


@rule("CLAIM-029")
def allocation_mode_all_is_charged_zero(
    context: DeviceRequestContext,
) -> tuple[tuple[str, int], ...] | None:
    """Kueue charges no devices for a request with allocation mode All, but its class needs a mapping.

    Kueue 0.14: pkg/dra/claims.go (countDevicesPerClass)
    """
    request = context.checked
    if request.mode != "All":
        return None
    return ((request.device_class, 0),)


def _pod_set_name(context: DeviceRequestContext) -> str:
    return f"workload {context.workload.name} podset {context.pod_set.name}"


def _plain_error(message: str) -> FieldError:
    return FieldError(field="", type="", detail=message)
