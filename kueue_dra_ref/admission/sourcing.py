"""Charging by sources (Kueue 0.19): counters of all pod sets, then capacities; the first fault ends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kueue_dra_ref.admission.explanation import Step, cited
from kueue_dra_ref.admission.matching import Finding
from kueue_dra_ref.admission.worth import Worth, shares_asked, step
from kueue_dra_ref.api.configuration import DeviceClassMapping
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.published import Capacity, PublishedDevice
from kueue_dra_ref.rule import Rule
from kueue_dra_ref.rules.sourcing import Sourcing
from kueue_dra_ref.selectors import Device, Undecided
from kueue_dra_ref.sourced import NOTHING, Charged, Kind, Source, Tried
from kueue_dra_ref.target import FieldError
from kueue_dra_ref.world import Asked, Trial, World, class_selectors

Mappings = Sequence[DeviceClassMapping]
Findings = Sequence[Rule[[Charged], FieldError | None]]


@dataclass(slots=True, kw_only=True)
class Sourced:
    """What one pod of each pod set is charged by sources: by pod set, then resource, one amount for each source."""

    charges: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


def is_sourced(rules: Sourcing, mappings: Mappings, device_class: str) -> bool:
    """Whether a class is charged by sources instead of by its devices."""
    return any(rule(_sources(rules, mappings, device_class)) for rule in rules.instead)


def devices_to_try(rules: Sourcing, mappings: Mappings, world: World, each: Sequence[Asked]) -> Sequence[Device]:
    """The devices that the requests with selectors of one claim are compared with."""
    requests = [asked.request for asked in each if asked.request and asked.request.selectors]
    sources = [_sources(rules, mappings, request.device_class) for request in requests]
    drivers = next((found for rule in rules.drivers if (found := rule(sources)) is not None), None)
    if drivers is None:
        return world.devices()
    return [device for driver in drivers for device in world.devices() if device.driver == driver]


def sourced(rules: Sourcing, mappings: Mappings, each: Sequence[Asked]) -> Sourced | Finding | Undecided:
    """Charge every request of a workload by the sources of its class."""
    done = Sourced()
    for charged in _requests(rules, mappings, each):
        found = _charge(rules, charged)
        if not isinstance(found, Worth):
            return found
        pod_set, resource = charged.asked.pod_set.name, charged.source.resource
        done.charges.setdefault(pod_set, {}).setdefault(resource, []).append(found.total)
        done.steps.append(step(rules, charged, found))
    return done


def added(rules: Sequence[Rule[[Sequence[int]], int]], amounts: Mapping[str, Sequence[int]]) -> Mapping[str, int]:
    """What all sources charge one pod, by resource."""
    return {name: next((rule(found) for rule in rules), found[-1]) for name, found in amounts.items()}


def _requests(rules: Sourcing, mappings: Mappings, each: Sequence[Asked]) -> Iterator[Charged]:
    for kind in Kind:
        for asked in each:
            device_class = asked.request.device_class if asked.request and asked.request.is_exact else ""
            for source in _sources(rules, mappings, device_class):
                if source.kind is kind:
                    yield Charged(asked=asked, source=source)


def _sources(rules: Sourcing, mappings: Mappings, device_class: str) -> Sequence[Source]:
    return next((rule(mappings, device_class) for rule in rules.sources), ())


def _charge(rules: Sourcing, charged: Charged) -> Worth | Finding | Undecided:
    matched = _matched(rules, charged)
    if isinstance(matched.ended, Undecided):
        return matched.ended
    offered = replace(matched, offers=_offers(rules, matched))
    for rule in (*rules.lacking, *rules.unoffered):
        if fault := rule(offered):
            return Finding(fault=fault, requirements=cited([rule]))
    worst = next((rule(offered.offers) for rule in rules.worst if offered.offers), (*offered.offers, NOTHING)[0])
    amount = worst.ceiling
    for bound in rules.positive:
        amount = bound(amount)
    total = next((rule(amount, charged.count) for rule in rules.times), amount)
    return Worth(each=amount, total=total, devices=offered.devices)


def _matched(rules: Sourcing, charged: Charged) -> Charged:
    asked, source, request = charged.asked, charged.source, charged.asked.request
    narrowed = class_selectors(asked.world, request.device_class) if request else None
    if request is None or narrowed is None:
        return replace(charged, class_exists=False)
    slices = asked.world.slices()
    for pick in rules.slices:
        slices = pick(source, slices)
    devices: list[PublishedDevice] = []
    for published in (device for each in slices for device in each.devices):
        tried = Tried(
            source=source, device=published.device, class_selectors=narrowed, request_selectors=request.selectors
        )
        outcome = _outcome(rules, tried)
        if not isinstance(outcome, bool):
            return replace(charged, ended=outcome)
        devices += [published] if outcome else []
    return replace(charged, devices=devices)


def _outcome(rules: Sourcing, tried: Tried) -> Trial:
    for rule in rules.eligible:
        outcome = rule(tried)
        if outcome is not True:
            return outcome
    return True


def _offers(rules: Sourcing, charged: Charged) -> Sequence[Quantity]:
    source = charged.source
    if source.kind is Kind.COUNTER:
        return [amount for device in charged.devices for rule in rules.counter for amount in rule(source, device)]
    offered = [each.capacities[source.name] for each in charged.devices if source.name in each.capacities]
    shares = [_share(rules, charged.asked, source.name, capacity) for capacity in offered]
    return [share for share in shares if share is not None]


def _share(rules: Sourcing, asked: Asked, name: str, capacity: Capacity) -> Quantity | None:
    share = next((found for _, found in shares_asked(rules, asked, name, capacity)), None)
    for rule in rules.rounded:
        share = None if share is None else rule(share, capacity)
    return share
