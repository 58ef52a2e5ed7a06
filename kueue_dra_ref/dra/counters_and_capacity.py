"""Charging by sources (Kueue 0.19): counters of all pod sets, then capacities; the first fault ends it.

Kueue: pkg/dra/counters.go (GetCounterResourcesForWorkload, processCounterCharge);
    pkg/dra/capacity.go (DetermineCapacityResourcesForWorkload, processCapacityCharge)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.cel import Device, Undecided
from kueue_dra_ref.dra.device_charge import device_charges
from kueue_dra_ref.dra.device_charge_trace import (
    DeviceChargeTrace,
    adjusted,
    step,
    told_offers,
    under,
)
from kueue_dra_ref.dra.device_match import tries
from kueue_dra_ref.dra.pools import usable_slices
from kueue_dra_ref.dra.selectors import SelectorError
from kueue_dra_ref.explain.step import Step, cited
from kueue_dra_ref.model.lister import DeviceRequestContext, Lister, class_selectors
from kueue_dra_ref.model.rule import Rule
from kueue_dra_ref.model.sources import NOTHING, Source, SourceCharge, SourceType
from kueue_dra_ref.rules.dra.sourced_requests import SourcedRequestRules
from kueue_dra_ref.target import FieldError

Mappings = Sequence[DeviceClassMapping]
Findings = Sequence[Rule[[SourceCharge], FieldError | None]]


@dataclass(slots=True, kw_only=True)
class SourcedCharges:
    """What one pod of each pod set is charged by sources: by pod set, then resource, one amount for each source."""

    charges: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    ended: SelectorError | Undecided | None = None
    """What kept a request from being charged, and the others after it."""


def is_sourced(
    rules: SourcedRequestRules, mappings: Mappings, device_class: str
) -> bool:
    """Whether a class is charged by sources instead of by its devices."""
    return any(
        rule(_sources(rules, mappings, device_class))
        for rule in rules.charge_by_sources
    )


def devices_to_try(
    rules: SourcedRequestRules,
    mappings: Mappings,
    world: Lister,
    each: Sequence[DeviceRequestContext],
) -> Sequence[Device]:
    """The devices that the requests with selectors of one claim are compared with."""
    requests = [
        asked.request for asked in each if asked.request and asked.request.selectors
    ]
    sources = [_sources(rules, mappings, request.device_class) for request in requests]
    drivers = next(
        (found for rule in rules.drivers if (found := rule(sources)) is not None), None
    )
    if drivers is None:
        return world.devices()
    return [
        device
        for driver in drivers
        for device in world.devices()
        if device.driver == driver
    ]


def sourced(
    rules: SourcedRequestRules, mappings: Mappings, each: Sequence[DeviceRequestContext]
) -> SourcedCharges:
    """Charge every request of a workload by the sources of its class; what is amiss with one ends it."""
    done = SourcedCharges()
    for charged in _requests(rules, mappings, each):
        found = _charge(rules, charged, done.steps)
        if not isinstance(found, DeviceChargeTrace):
            done.ended = found
            return done
        pod_set, resource = charged.asked.pod_set.name, charged.source.resource
        done.charges.setdefault(pod_set, {}).setdefault(resource, []).append(
            found.total
        )
    return done


def added(
    rules: Sequence[Rule[[Sequence[int]], int]], amounts: Mapping[str, Sequence[int]]
) -> Mapping[str, int]:
    """What all sources charge one pod, by resource."""
    return {
        name: next((rule(found) for rule in rules), found[-1])
        for name, found in amounts.items()
    }


def _requests(
    rules: SourcedRequestRules, mappings: Mappings, each: Sequence[DeviceRequestContext]
) -> Iterator[SourceCharge]:
    for kind in SourceType:
        for asked in each:
            device_class = (
                asked.request.device_class
                if asked.request and asked.request.is_exact
                else ""
            )
            for source in _sources(rules, mappings, device_class):
                if source.kind is kind:
                    yield SourceCharge(asked=asked, source=source)


def _sources(
    rules: SourcedRequestRules, mappings: Mappings, device_class: str
) -> Sequence[Source]:
    return next((rule(mappings, device_class) for rule in rules.sources), ())


def _charge(
    rules: SourcedRequestRules, charged: SourceCharge, steps: list[Step]
) -> DeviceChargeTrace | SelectorError | Undecided:
    matched = _matched(rules, charged, steps)
    if isinstance(matched.ended, Undecided):
        return matched.ended
    found = device_charges(rules, matched)
    offered = replace(
        matched, offers=[amount for offer in found for amount in offer.amounts]
    )
    for rule in (*rules.match_error, *rules.amount_error):
        if fault := rule(offered):
            steps += told_offers(offered, found)
            return SelectorError(fault=fault, requirements=cited([rule]))
    worst = next(
        (rule(offered.offers) for rule in rules.worst_case if offered.offers),
        (*offered.offers, NOTHING)[0],
    )
    amount = worst.ceiling
    for bound in rules.clamp:
        amount = bound(amount)
    total = next((rule(amount, charged.count) for rule in rules.times_count), amount)
    worth = DeviceChargeTrace(worst=worst, each=amount, total=total, offers=found)
    steps += (
        *told_offers(offered, found),
        *adjusted(rules, offered, worth),
        step(rules, offered, worth),
    )
    return worth


def _matched(
    rules: SourcedRequestRules, charged: SourceCharge, steps: list[Step]
) -> SourceCharge:
    asked, source, request = charged.asked, charged.source, charged.asked.request
    narrowed = class_selectors(asked.world, request.device_class) if request else None
    if request is None or narrowed is None:
        return replace(charged, class_exists=False)
    slices, left_out = usable_slices(rules, source, asked.world.slices())
    found = tries(rules, source, slices, narrowed, request.selectors)
    steps += (*left_out, *found.told(rules, under(charged), source.driver))
    return replace(charged, devices=found.devices, ended=found.ended)
