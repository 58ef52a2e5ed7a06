"""Classes whose resource depends on the flavor: every way in which a workload's charges could be meant, best first.

No counterpart: KEP-2941 of July 2025 only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.types import ClusterQueue, FlavorChoice
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment
from kueue_dra_ref.scheduler.preemption.context import PreemptionTarget
from kueue_dra_ref.workload.total_requests import TotalRequests

Demands = tuple[TotalRequests, ...]
Victims = tuple[PreemptionTarget, ...]


def interpretations(
    rules: FlavorAssignment,
    queue: ClusterQueue,
    choices: Mapping[str, Sequence[str]],
    demands: Demands,
) -> Iterator[Demands]:
    """The demands with each class charged to one resource of one flavor; as they are when there is nothing to choose.

    A class that the ClusterQueue has no resource for is charged to its first mapping, which nothing there covers.
    """
    options = [_options(rules, queue, resources) for resources in choices.values()]
    for chosen in itertools.product(*options):
        picked = dict(zip(choices, chosen, strict=True))
        yield tuple(_read(queue, demand, picked) for demand in demands)


def best(
    outcomes: Iterable[tuple[Assignment, Victims]],
) -> tuple[Assignment, Victims]:
    """The first outcome that fits now, or else that victims could make fit, or else the first of the best.

    With it goes what keeps the others from fitting.
    """
    tried = list[tuple[Assignment, Victims]]()
    for outcome in outcomes:
        tried.append(outcome)
        if outcome[0].fit is FlavorAssignmentMode.NOW:
            break
    best, victims = max(tried, key=_worth)
    told = dict.fromkeys(
        each.message
        for each, found in tried
        if each.fit is best.fit and bool(found) is bool(victims)
    )
    steps = dict.fromkeys(step for each, _ in tried for step in each.steps)
    return replace(
        best, message="; ".join(filter(None, told)), steps=tuple(steps)
    ), victims


def _worth(
    outcome: tuple[Assignment, Victims],
) -> tuple[bool, bool, FlavorAssignmentMode]:
    assignment, victims = outcome
    return assignment.fit is FlavorAssignmentMode.NOW, bool(victims), assignment.fit


def _options(
    rules: FlavorAssignment, queue: ClusterQueue, resources: Sequence[str]
) -> Sequence[FlavorChoice]:
    found = next((rule(queue, resources) for rule in rules.choices), ())
    return found or [FlavorChoice(flavor="", resource=resources[0])]


def _read(
    queue: ClusterQueue, demand: TotalRequests, picked: Mapping[str, FlavorChoice]
) -> TotalRequests:
    mine = {name: picked[name] for name in demand.amounts if name in picked}
    if not mine:
        return demand
    amounts: dict[str, int] = {}
    for name, amount in demand.amounts.items():
        resource = mine[name].resource if name in mine else name
        amounts[resource] = clamp(amounts.get(resource, 0) + amount)
    examined = {choice.flavor for choice in mine.values()}
    names = ({flavor.name for flavor in group.flavors} for group in queue.groups)
    passed_over = frozenset().union(
        *(found - examined for found in names if found & examined)
    )
    return replace(
        demand,
        pod_set=replace(demand.pod_set, passed_over=passed_over),
        amounts=amounts,
    )
