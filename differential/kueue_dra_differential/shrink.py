"""Shrinks a scenario that differs: leaves out parts, the largest first, while the difference remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from kueue_dra_differential.oracle import Comparison, OutcomeKind
from kueue_dra_ref.scenarios.playback import ConfigurationRejected
from kueue_dra_ref.scenarios.scenario import Scenario

Part = TypeVar("Part")
WORKERS = "workers"
"""The parts of a step for workers, by name."""
Place = tuple[str, bool, bool]
"""Where two observations differ: the path, and which side has no value there."""
Differs = Callable[[Scenario], bool]
"""Whether a scenario still has the difference."""


def smallest(
    first: Comparison,
    alone: Callable[[Scenario], Comparison],
    *,
    going_on: Callable[[Scenario], bool],
) -> Comparison:
    """Shrink a scenario that differs, or in which Kueue exits, and run the result.

    ``alone`` runs a scenario alone; ``going_on`` is called before each try, and ends the search if it returns False.
    The result differs in the same place: without a queue or a namespace, any scenario differs somewhere.
    """
    place = _place(first)

    def differs(scenario: Scenario) -> bool:
        if not going_on(scenario):
            return False
        try:
            outcome = alone(scenario)
        except ConfigurationRejected:
            return False
        return _place(outcome) == place

    start = first.scenario
    if first.difference:
        steps = start.steps[: first.step]
        start = replace(start, steps=steps)
    smaller = shrunk(start, differs)
    return alone(smaller)


def _place(outcome: Comparison) -> Place | OutcomeKind:
    """Where a scenario differs, and which side has no value; without a difference, its outcome."""
    found = outcome.difference
    if found is None:
        return outcome.kind
    if outcome.kind is not OutcomeKind.DIFFERS:
        return outcome.kind
    is_ours_missing = found.ours is None
    is_record_missing = found.recorded is None
    return found.path, is_ours_missing, is_record_missing


def shrunk(scenario: Scenario, differs: Differs) -> Scenario:
    """Leave out steps, then objects of steps, then objects of the inventory, while the difference remains."""
    found = replace(scenario, recorded=())
    while smaller := next(filter(differs, _smaller(found)), None):
        found = smaller
    return found


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Give scenarios without one part each, from half of the steps to one object."""
    for steps in _without_a_part(scenario.steps):
        if steps:
            yield replace(scenario, steps=steps)
    for index, step in enumerate(scenario.steps):
        for smaller in _smaller_steps(step):
            changed = list(scenario.steps)
            changed[index] = smaller
            yield replace(scenario, steps=tuple(changed))
    yield from _smaller_inventories(scenario)


def _smaller_inventories(scenario: Scenario) -> Iterator[Scenario]:
    """Give scenarios without some objects that are there from the start."""
    for inventory in _without_a_part(scenario.inventory):
        yield replace(scenario, inventory=inventory)
    for name, worker in scenario.workers.items():
        for inventory in _without_a_part(worker.inventory):
            less = replace(worker, inventory=inventory)
            yield replace(scenario, workers={**scenario.workers, name: less})


def _smaller_steps(step: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give a step without some objects each, of its own or of its part for a worker."""
    for verb, objects in step.items():
        if verb != WORKERS:
            for left in _without_a_part(tuple(objects)):
                yield {**step, verb: list(left)}
            continue
        for name, part in objects.items():
            for smaller in _smaller_steps(part):
                yield {**step, verb: {**objects, name: smaller}}


def _without_a_part(parts: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Leave out halves, then quarters, down to single parts, the last ones first."""
    size = len(parts) // 2 or len(parts)
    while size:
        for end in range(len(parts), 0, -size):
            begin = max(end - size, 0)
            yield (*parts[:begin], *parts[end:])
        size //= 2
