"""Device classes whose resource depends on the flavor: every interpretation of a workload's charges, best first.

No counterpart: KEP-2941 of July 2025 only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kueue_dra_ref.api.quantities import clamp
from kueue_dra_ref.api.types import ClusterQueue, FlavorChoice
from kueue_dra_ref.behaviours.phases_scheduling import FlavorAssignment
from kueue_dra_ref.explain.step import Step
from kueue_dra_ref.rules.flavorassigner.fits_resource_quota import FlavorAssignmentMode
from kueue_dra_ref.scheduler.flavorassigner.assigner import AllRequests
from kueue_dra_ref.scheduler.flavorassigner.assignment import Assignment
from kueue_dra_ref.scheduler.preemption.context import Targets
from kueue_dra_ref.workload.total_requests import TotalRequests

AssignmentWithTargets = tuple[Assignment, Targets]
Rank = tuple[bool, bool, FlavorAssignmentMode]
Picked = Mapping[str, FlavorChoice]
"""The flavor and the resource that each device class is charged to."""


def interpretations(
    rules: FlavorAssignment,
    queue: ClusterQueue,
    choices: Mapping[str, Sequence[str]],
    requests: AllRequests,
) -> Iterator[AllRequests]:
    """Give the requests once for each way to charge every class to one resource of one flavor.

    A class that the ClusterQueue has no resource for is charged to the resource of its first mapping, which no
    resource group covers.
    """
    options = []
    for name, resources in choices.items():
        found = [(name, choice) for choice in _options(rules, queue, resources)]
        options.append(found)
    for combination in itertools.product(*options):
        picked = dict(combination)
        yield tuple(_interpreted(queue, each, picked) for each in requests)


def best(assignments: Iterable[AssignmentWithTargets]) -> AssignmentWithTargets:
    """Give the first assignment that fits, else the first with targets, else the first with the best mode.

    Its message joins the messages of all assignments that are as good.
    """
    tried: list[AssignmentWithTargets] = []
    for each in assignments:
        tried.append(each)
        if each[0].representative_mode is FlavorAssignmentMode.FIT:
            break
    chosen, targets = max(tried, key=_rank)
    rank = _rank((chosen, targets))
    steps: dict[Step, None] = {}
    for assignment, _ in tried:
        for step in assignment.steps:
            steps[step] = None
    equal = [each for each in tried if _rank(each) == rank]
    messages = dict.fromkeys(assignment.message for assignment, _ in equal)
    joined = replace(
        chosen,
        message="; ".join(messages),
        steps=tuple(steps),
    )
    return joined, targets


def _rank(each: AssignmentWithTargets) -> Rank:
    assignment, targets = each
    mode = assignment.representative_mode
    fits = mode is FlavorAssignmentMode.FIT
    return fits, bool(targets), mode


def _options(
    rules: FlavorAssignment, queue: ClusterQueue, resources: Sequence[str]
) -> Sequence[FlavorChoice]:
    options = rules.choices(queue, resources)
    if options:
        return options
    return [FlavorChoice(flavor="", resource=resources[0])]


def _interpreted(
    queue: ClusterQueue, requests: TotalRequests, picked: Picked
) -> TotalRequests:
    """Charge the classes of one pod set as picked; its other flavors of the same groups are not considered."""
    amounts: dict[str, int] = {}
    flavors = set[str]()
    for name, amount in requests.amounts.items():
        resource = name
        choice = picked.get(name)
        if choice is not None:
            resource = choice.resource
            flavors.add(choice.flavor)
        before = amounts.get(resource, 0)
        amounts[resource] = clamp(before + amount)
    not_considered = _other_flavors(queue, flavors)
    pod_set = replace(requests.pod_set, passed_over=not_considered)
    return replace(requests, pod_set=pod_set, amounts=amounts)


def _other_flavors(queue: ClusterQueue, flavors: set[str]) -> frozenset[str]:
    """Give the other flavors of the resource groups that have one of these flavors."""
    others = set[str]()
    for group in queue.groups:
        names = {flavor.name for flavor in group.flavors}
        if not names.isdisjoint(flavors):
            others.update(names - flavors)
    return frozenset(others)
