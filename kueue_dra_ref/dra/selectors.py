"""Selectors against published devices: request by request, greedily, each device once inside a claim (Kueue 0.19).

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
    """What is wrong with a request, and the requirement that says so."""

    fault: FieldError
    requirements: tuple[str, ...]


def unmatched(
    rules: DeviceMatchingRules,
    each: Sequence[DeviceRequestContext],
    devices: Sequence[Device],
) -> tuple[SelectorError, ...] | Undecided:
    """What is wrong with the requests of one claim that carry selectors; nothing when devices are not looked at."""
    faults: list[SelectorError] = []
    taken: frozenset[int] = frozenset()
    for asked in each if rules.eligible or rules.findings else ():
        if asked.request and asked.request.is_exact and asked.request.selectors:
            matched = _matched(rules, asked, devices, taken)
            if matched and isinstance(matched.ended, Undecided):
                return matched.ended
            taken |= matched.places if matched else frozenset()
            found = (
                SelectorError(fault=fault, requirements=cited([rule]))
                for rule in rules.findings
                if (fault := rule(asked, matched))
            )
            faults.extend([first] if (first := next(found, None)) else [])
    return tuple(faults)


def _matched(
    rules: DeviceMatchingRules,
    asked: DeviceRequestContext,
    devices: Sequence[Device],
    taken: frozenset[int],
) -> Matched | None:
    request = asked.request
    assert request is not None
    narrowed = class_selectors(asked.world, request.device_class)
    if narrowed is None:
        return None
    places: set[int] = set()
    for place, device in enumerate(devices):
        if len(places) >= request.count:
            break
        candidate = Candidate(
            device=device,
            place=place,
            taken=taken,
            class_selectors=narrowed,
            request_selectors=request.selectors,
        )
        failed = rules.eligible.failed(candidate)
        outcome = True if failed is None else failed.value
        if not isinstance(outcome, bool):
            return Matched(places=frozenset(places), ended=outcome)
        places |= {place} if outcome else set()
    return Matched(places=frozenset(places))
