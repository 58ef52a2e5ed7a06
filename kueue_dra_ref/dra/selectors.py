"""CEL selectors of a claim against published devices: each request takes the first matches (Kueue 0.19).

Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices, countMatchingDevices)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kueue_dra_ref.cel import Device, Undecided
from kueue_dra_ref.explain.step import cited
from kueue_dra_ref.model.lister import DeviceRequestContext, class_selectors
from kueue_dra_ref.rules.dra.device_matching import (
    Candidate,
    DeviceMatchingRules,
    Matched,
)
from kueue_dra_ref.target import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectorError:
    """An error of a request, and the requirements that it violates."""

    fault: FieldError
    requirements: tuple[str, ...]


def validate_selectors(
    rules: DeviceMatchingRules,
    requests: Sequence[DeviceRequestContext],
    devices: Sequence[Device],
) -> tuple[SelectorError, ...] | Undecided:
    """Match the requests of one claim that have selectors; give their errors, or Undecided if CEL is.

    A device that matches one request of the claim does not count for the next.  Without rules no device is matched.

    Kueue: pkg/dra/claims.go (validateCELSelectorsAgainstDevices)
    """
    if not rules.findings:
        return ()
    errors: list[SelectorError] = []
    taken: frozenset[int] = frozenset()
    for context in requests:
        if not context.checked.selectors:
            continue
        matched = _count_matching_devices(rules, context, devices, taken)
        if matched and isinstance(matched.ended, Undecided):
            return matched.ended
        if matched:
            taken |= matched.places
        found = rules.findings.answer(context, matched)
        if found:
            cites = cited([found.rule])
            errors.append(SelectorError(fault=found.value, requirements=cites))
    return tuple(errors)


def _count_matching_devices(
    rules: DeviceMatchingRules,
    context: DeviceRequestContext,
    devices: Sequence[Device],
    taken: frozenset[int],
) -> Matched | None:
    """Give the devices that match a request, as many as it requests; None if its DeviceClass does not exist.

    Kueue: pkg/dra/claims.go (countMatchingDevices)
    """
    request = context.checked
    of_class = class_selectors(context.lister, request.device_class)
    if of_class is None:
        return None
    places: set[int] = set()
    for place, device in enumerate(devices):
        if len(places) >= request.count:
            break
        candidate = Candidate(
            device=device,
            place=place,
            taken=taken,
            class_selectors=of_class,
            request_selectors=request.selectors,
        )
        failed = rules.eligible.failed(candidate)
        if failed is None:
            places.add(place)
        elif not isinstance(failed.value, bool):
            return Matched(places=frozenset(places), ended=failed.value)
    return Matched(places=frozenset(places))
