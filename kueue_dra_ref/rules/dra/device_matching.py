"""Selectors of requests: enough published devices must match before Kueue checks quota (Kueue 0.19).

Kueue: pkg/dra/claims.go (countMatchingDevices, validateCELSelectorsAgainstDevices, resolveAndCompileDeviceClass)
"""

from __future__ import annotations

from dataclasses import dataclass

from kueue_dra_ref.cel import Device, EvaluationError, Undecided
from kueue_dra_ref.model.lister import DeviceRequestContext, Trial, all_hold, uncompiled
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.model.slots import AllOf, First
from kueue_dra_ref.target import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A device that Kueue tries for a request; ``taken`` are the positions of devices of earlier requests."""

    device: Device
    place: int
    taken: frozenset[int]
    class_selectors: tuple[str, ...]
    request_selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The result for a request: the positions of the matching devices, or what ended the search."""

    places: frozenset[int]
    ended: EvaluationError | Undecided | None = None


@rule("CEL-006", "CEL-007", "CEL-015")
def device_serves_one_request_of_claim(candidate: Candidate) -> Trial:
    """A device that matches an earlier request of a claim does not count for a later one.

    Kueue: pkg/dra/claims.go (countMatchingDevices, validateCELSelectorsAgainstDevices)
    """
    return candidate.place not in candidate.taken


@rule("CEL-010")
def class_selectors_match(candidate: Candidate) -> Trial:
    """A device must match the selectors of the DeviceClass.

    Kueue: pkg/dra/claims.go (countMatchingDevices)
    """
    return all_hold(candidate.class_selectors, candidate.device)


@rule("CEL-002", "CEL-014")
def request_selectors_match(candidate: Candidate) -> Trial:
    """A device must match every selector of the request.

    Kueue: pkg/dra/claims.go (countMatchingDevices, evaluateSelectorsOnDevice)
    """
    return all_hold(candidate.request_selectors, candidate.device)


@rule("CEL-011")
def class_must_exist(
    context: DeviceRequestContext, matched: Matched | None
) -> FieldError | None:
    """Kueue retries a workload whose request with selectors names a DeviceClass that does not exist.

    Kueue: pkg/dra/claims.go (resolveAndCompileDeviceClass)
    """
    if matched is not None:
        return None
    name = context.checked.device_class
    detail = f'failed to get DeviceClass {name}: DeviceClass.resource.k8s.io "{name}" not found'
    return context.fault("Internal error", "", detail)


@rule("CEL-019")
def class_selectors_compile(
    context: DeviceRequestContext, _: Matched | None
) -> FieldError | None:
    """Kueue rejects a request with selectors when a selector of its DeviceClass does not compile.

    Kueue: pkg/dra/claims.go (resolveAndCompileDeviceClass, compileCELSelectors)
    """
    found = uncompiled(context.lister, context.checked.device_class)
    return (
        context.fault(found.type, found.field, found.detail, found.value)
        if found
        else None
    )


@rule("CEL-005")
def selector_error_rejects(
    context: DeviceRequestContext, matched: Matched | None
) -> FieldError | None:
    """Kueue rejects a workload when a selector fails to evaluate on a device.

    Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
    """
    if matched is None or not isinstance(matched.ended, EvaluationError):
        return None
    detail = f"CEL evaluation failed for DeviceClass {context.checked.device_class}: {matched.ended.detail}"
    return context.fault("Invalid value", ".exactly.selectors", detail, "null")


@rule("CEL-003", "CEL-004", "CEL-013")
def too_few_devices_are_retried(
    context: DeviceRequestContext, matched: Matched | None
) -> FieldError | None:
    """Kueue retries a workload that requests more devices than match the selectors.

    Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
    """
    request = context.checked
    if matched is None or len(matched.places) >= request.count:
        return None
    detail = (
        f"insufficient matching devices for CEL selector in DeviceClass {request.device_class}: "
        f"{len(matched.places)} device(s) match in the cluster but {request.count} requested"
    )
    return context.fault("Internal error", ".exactly.selectors", detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceMatchingRules:
    """Which published devices match the selectors of a request, and what is reported if too few do."""

    eligible: AllOf[[Candidate], Trial] = AllOf()
    """Does a published device match? Without rules: selectors are not evaluated on devices."""
    findings: First[[DeviceRequestContext, Matched | None], FieldError] = First()
    """What is wrong with the class or the matching devices? Without rules: nothing is checked."""
