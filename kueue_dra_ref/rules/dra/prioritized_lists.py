"""Prioritized lists: one charge, if all alternatives have the same one (Kueue 0.20, provisional).

No counterpart: announced for Kueue 0.20, in no pinned release.
"""

from __future__ import annotations

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.devices import DeviceRequest
from kueue_dra_ref.api.names import aggregated, printed, quoted
from kueue_dra_ref.cel import CompileError, Undecided, compiled
from kueue_dra_ref.model.lister import DeviceRequestContext
from kueue_dra_ref.model.rule import rule
from kueue_dra_ref.target import FieldError


@rule("LIST-001")
def prioritized_list_is_charged_once(
    context: DeviceRequestContext,
) -> tuple[tuple[str, int], ...] | None:
    """Kueue charges a request with firstAvailable once, as it would charge its first alternative.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    if not context.checked.alternatives:
        return None
    first = _first(context)
    return ((first.device_class, first.count),)


@rule("LIST-002")
def subrequest_has_a_count(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | None:
    """Kueue rejects an alternative of firstAvailable without allocation mode ExactCount.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    if alternative.mode == "ExactCount":
        return None
    below = _below(alternative, "allocationMode")
    return context.fault(
        "Unsupported value",
        below,
        'supported values: "ExactCount"',
        printed(alternative.mode),
    )


@rule("LIST-003")
def subrequest_selectors_compile(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | Undecided | None:
    """Kueue rejects an alternative of firstAvailable with selectors that do not compile.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    faults = []
    for index, expression in enumerate(alternative.selectors):
        found = compiled(expression)
        if isinstance(found, Undecided):
            return found
        if isinstance(found, CompileError):
            field = f"{_alternative(alternative)}.selectors[{index}].cel.expression"
            faults.append(
                f"{field}: Invalid value: {quoted(expression)}: CEL compilation failed: {found.detail}"
            )
    if not faults:
        return None
    return context.fault(
        "Invalid value", _below(alternative, "selectors"), aggregated(faults), "null"
    )


@rule("LIST-004")
def subrequest_class_is_mapped(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | None:
    """Kueue rejects an alternative of firstAvailable whose device class no mapping lists.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    if _mapping(context, alternative):
        return None
    return _of_class(context, alternative, "Not found", "")


@rule("LIST-005")
def subrequest_is_not_charged_by_sources(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | None:
    """Kueue rejects an alternative of firstAvailable whose device class has counters or capacities.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    mapping = _mapping(context, alternative)
    if mapping is None or not mapping.sources:
        return None
    detail = "a counter-backed or capacity-backed DeviceClass is not supported for firstAvailable"
    return _of_class(context, alternative, "Invalid value", detail)


@rule("LIST-006")
def subrequests_charge_one_resource(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | None:
    """Kueue rejects an alternative of firstAvailable that maps to another resource than the first one.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    first, own = _mapping(context, _first(context)), _mapping(context, alternative)
    if first is None or own is None or first.name == own.name:
        return None
    detail = (
        f'every alternative must map to "{first.name}", this one maps to "{own.name}"'
    )
    return _of_class(context, alternative, "Invalid value", detail)


@rule("LIST-007")
def subrequests_charge_one_count(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> FieldError | None:
    """Kueue rejects an alternative of firstAvailable with another count than the first one.

    No counterpart: announced for Kueue 0.20, in no pinned release.
    """
    first = _first(context)
    if first.count == alternative.count:
        return None
    detail = f"every alternative must have count {first.count}, this one has {alternative.count}"
    return context.fault(
        "Invalid value", _below(alternative, "count"), detail, str(alternative.count)
    )


def _first(context: DeviceRequestContext) -> DeviceRequest:
    first, *_ = context.checked.alternatives
    return first


def _mapping(
    context: DeviceRequestContext, alternative: DeviceRequest
) -> DeviceClassMapping | None:
    mappings = context.lister.configured()
    return next(
        (each for each in mappings if alternative.device_class in each.device_classes),
        None,
    )


def _below(alternative: DeviceRequest, field: str) -> str:
    return f".{_alternative(alternative)}.{field}"


def _alternative(alternative: DeviceRequest) -> str:
    return f"firstAvailable[{alternative.index}]"


def _of_class(
    context: DeviceRequestContext, alternative: DeviceRequest, type_: str, detail: str
) -> FieldError:
    return context.fault(
        type_,
        _below(alternative, "deviceClassName"),
        detail,
        printed(alternative.device_class),
    )
