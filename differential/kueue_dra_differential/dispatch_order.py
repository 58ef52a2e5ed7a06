"""Leaves out of scenarios with MultiKueue what depends on chance: which of two workers takes work of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from kueue_dra_differential.dispatch_events import DispatchEvent
from kueue_dra_differential.dispatch_site import connection_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.replay import answers
from kueue_dra_ref.scenarios.diff import difference
from kueue_dra_ref.scenarios.scenario import WORKER_NAMES, Observation, Scenario

Build = Callable[[Sequence[DispatchEvent | None]], Scenario]
"""Gives the scenario of some events."""


def decided(
    events: Sequence[DispatchEvent], build: Build, behaviour: Behaviour
) -> Scenario:
    """Leave out one event after another until nothing depends on the order of the workers."""
    left: list[DispatchEvent | None] = [*events]
    while True:
        scenario = build(left)
        step = first_open(scenario, behaviour)
        if step is None:
            return scenario
        # The first step has no event.
        left[step - 1] = None


def first_open(scenario: Scenario, behaviour: Behaviour) -> int | None:
    """Give the index of the first step after which another order of the workers shows something else."""
    first = connection_of(1)
    last = connection_of(len(WORKER_NAMES) + 1)
    ours = answers(scenario, behaviour)
    others = answers(_renamed(scenario, first, last), behaviour)
    for step, (one, other) in enumerate(zip(ours, others, strict=True)):
        printed = json.dumps(other)
        again = json.loads(printed.replace(last, first))
        if difference(one, _in_order(again)):
            return step
    return None


def _renamed(scenario: Scenario, old: str, new: str) -> Scenario:
    """Rename the first MultiKueueCluster to the last: the names decide between copies of one second."""
    printed = json.dumps(scenario.steps)
    steps = json.loads(printed.replace(old, new))
    return replace(scenario, steps=tuple(steps))


def _in_order(seen: Observation) -> Observation:
    """Sort the clusters that are nominated, as an observation does, after they got their names back."""
    for dispatched in seen.get("dispatched", {}).values():
        dispatched["nominated"].sort()
    return seen
