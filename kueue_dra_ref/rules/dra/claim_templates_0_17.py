"""Claims in Kueue up to 0.17: rejected parts of a template, sums that overflow, and retries.

Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass); pkg/controller/core/workload_controller.go (Reconcile)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_int64

from kueue_dra_ref.api.unstructured import child
from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("CLAIM-025")
def constraints_are_refused(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a claim with constraints between its devices.

    Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)
    """
    return _unsupported(
        context, "constraints", "device constraints (MatchAttribute) are not supported"
    )


@rule("CLAIM-026")
def device_config_is_refused(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a claim with opaque device configuration.

    Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)
    """
    return _unsupported(context, "config", "device config is not supported")


@rule("CEL-017")
def selectors_are_refused(context: DeviceRequestContext) -> FieldError | None:
    """Kueue rejects a request with selectors, whether they compile or not.

    Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)
    """
    if not context.checked.selectors:
        return None
    return context.fault(
        "Invalid value", ".exactly.selectors", "CEL selectors are not supported", "null"
    )


@rule("COUNT-003", "COUNT-020")
def requests_of_a_claim_wrap_around(amounts: Sequence[int]) -> int:
    """Kueue adds the counts of one class in one claim as 64-bit integers that overflow.

    Kueue 0.17: pkg/dra/claims.go (countDevicesPerClass)
    """
    return c_int64(sum(amounts)).value


@rule("CLAIM-027")
def every_error_is_retried(faults: Iterable[FieldError]) -> bool:
    """Kueue retries a workload with any error in a claim.

    Kueue 0.17: pkg/controller/core/workload_controller.go (Reconcile)
    """
    return True


def _unsupported(
    context: DeviceRequestContext, key: str, detail: str
) -> FieldError | None:
    spec = child(child(context.template or {}, "spec", dict, {}), "spec", dict, {})
    if not child(spec, "devices", dict, {}).get(key):
        return None
    field = f"{context.pod_set.claim_path(context.claim)}.devices.{key}"
    return FieldError(
        field=field,
        type="Invalid value",
        value="null",
        detail=f"{context.claim.source}: {detail}",
    )
