"""The smallest scenario that still comes out so: what can be left out is left out, the largest parts first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from kueue_dra_differential.oracle import Comparison, OutcomeKind
from kueue_dra_ref.scenarios.playback import ConfigurationRejected
from kueue_dra_ref.scenarios.scenario import Scenario

Part = TypeVar("Part")


def smallest(
    first: Comparison,
    alone: Callable[[Scenario], Comparison],
    *,
    going_on: Callable[[Scenario], bool],
) -> Comparison:
    """Shrink a world that differs, or that ended its Kueue, and judge what is left.

    ``alone`` judges a world by itself; ``going_on`` hears of each try, and may end it.  What is left differs in the
    same place: without a queue or a namespace, anything would.
    """

    def differs(scenario: Scenario) -> bool:
        try:
            return going_on(scenario) and _place(alone(scenario)) == _place(first)
        except ConfigurationRejected:
            return False

    steps = (
        first.scenario.steps[: first.step] if first.difference else first.scenario.steps
    )
    return alone(shrunk(replace(first.scenario, steps=steps), differs))


def _place(outcome: Comparison) -> tuple[str, bool, bool] | OutcomeKind:
    """Where a world differs, and on which side something is there at all; else how it came out."""
    found = outcome.difference
    if found is None or outcome.kind is not OutcomeKind.DIFFERS:
        return outcome.kind
    return found.path, found.ours is None, found.recorded is None


def shrunk(scenario: Scenario, differs: Callable[[Scenario], bool]) -> Scenario:
    """Leave out steps, then objects of steps, then objects of the inventory, for as long as it goes on to differ."""
    found = replace(scenario, recorded=())
    while smaller := next(filter(differs, _smaller(found)), None):
        found = smaller
    return found


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Give scenarios with a part less each, from half of the steps to one object."""
    for steps in _without_a_part(scenario.steps):
        if steps:
            yield replace(scenario, steps=steps)
    for index, step in enumerate(scenario.steps):
        for verb, objects in step.items():
            for left in _without_a_part(tuple(objects)):
                changed = {**step, verb: list(left)}
                yield replace(
                    scenario,
                    steps=(
                        *scenario.steps[:index],
                        changed,
                        *scenario.steps[index + 1 :],
                    ),
                )
    for inventory in _without_a_part(scenario.inventory):
        yield replace(scenario, inventory=inventory)


def _without_a_part(parts: Sequence[Part]) -> Iterator[tuple[Part, ...]]:
    """Leave out halves, then quarters, down to single parts, the last ones first."""
    size = len(parts) // 2 or len(parts)
    while size:
        for end in range(len(parts), 0, -size):
            yield (*parts[: max(end - size, 0)], *parts[end:])
        size //= 2
