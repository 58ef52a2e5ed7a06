"""How a charge by a source is explained: the most that a matching device charges, and the rules that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.admission.explanation import TIMES, Step, named
from kueue_dra_ref.api.pods import printed
from kueue_dra_ref.api.quantities import Quantity
from kueue_dra_ref.published import Capacity, PublishedDevice
from kueue_dra_ref.rule import Rule
from kueue_dra_ref.rules.sourcing import Sourcing
from kueue_dra_ref.sourced import Charged, Kind
from kueue_dra_ref.world import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a request is charged by one source: for each device, and for all; and how many devices match."""

    each: int
    total: int
    devices: Sequence[PublishedDevice]


def shares_asked(
    rules: Sourcing, asked: Asked, name: str, capacity: Capacity
) -> Iterator[tuple[Rule[[Asked, str, Capacity], Quantity | None], Quantity]]:
    """The shares that could be meant, with the rules that say so; the first is."""
    for rule in rules.asked:
        if (share := rule(asked, name, capacity)) is not None:
            yield rule, share


def step(rules: Sourcing, charged: Charged, worth: Worth) -> Step:
    """Say what a request is charged by one source."""
    source, asked = charged.source, charged.asked
    each, total = (printed(source.resource, n, frozenset({source.resource})) for n in (worth.each, worth.total))
    request = f", request {asked.request.name}" if asked.request else ""
    text = (
        f"pod set {asked.pod_set.name}, claim {asked.claim.name or asked.claim.index}{request}: {source.kind} "
        f"{source.name} of {source.driver} is {each} at most on {named(len(worth.devices), 'matching device')}: "
        f"{each} {TIMES} {named(charged.count, 'device')} = {total} {source.resource}"
    )
    return Step(requirements=_cited(rules, charged, worth), text=text)


def _cited(rules: Sourcing, charged: Charged, worth: Worth) -> tuple[str, ...]:
    """What says how much one device charges, and that the most is; rules for both kinds cite one of each."""
    name, kind = charged.source.name, charged.source.kind
    used: list[Rule[..., Any]] = [*rules.counter] if kind is Kind.COUNTER else []
    for capacity in (each.capacities[name] for each in worth.devices if name in each.capacities):
        used += (
            [rule for rule, _ in shares_asked(rules, charged.asked, name, capacity)][:1]
            if kind is Kind.CAPACITY
            else []
        )
    found = (
        next((one for one in rule.requirements if one.startswith(kind.upper())), "") for rule in (*used, *rules.worst)
    )
    return tuple(dict.fromkeys(filter(None, found)))
