"""A cluster in the middle of a recorded scenario, taken over as `simulate` takes over a dump of a real one.

The reference shows the rest of the scenario then, where a real Kueue showed it without a break.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kueue_dra_differential.oracle import compared
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.recorded_target import RecordedTarget
from kueue_dra_ref.reference.replay import replaying
from kueue_dra_ref.scenarios.details import DETAILS
from kueue_dra_ref.scenarios.scenario import Observation, Scenario


def differing(scenario: Scenario, release: Behaviour) -> str:
    """Say where the reference first shows something else after half of the steps; empty if it does not."""
    found = compared(scenario, _continued(scenario, release))
    return str(found.difference).partition(":")[0] if found.difference else ""


def _continued(scenario: Scenario, release: Behaviour) -> Iterator[Observation]:
    """Replay a scenario, and take the cluster over after half of the steps; details are shown as recorded."""
    half = len(scenario.steps) // 2
    target, observations = replaying(scenario, release)
    assert isinstance(target, RecordedTarget)
    yield from islice(observations, half)
    _take_over(target)
    for recorded, shown in zip(scenario.recorded[half:], observations, strict=True):
        details = {DETAILS: recorded[DETAILS]} if DETAILS in recorded else {}
        yield {**shown, **details}


def _take_over(target: RecordedTarget) -> None:
    """Begin again from the objects that are there; the client remembers what it wrote, and what it has looked at."""
    objects = [each for kind in target.store.kinds for each in target.store.every(kind)]
    running, seconds, look = target._running, target.clock.seconds, target._last_look
    assert running is not None
    last_applied = target._writer._last_applied
    target.clean()
    target._writer._last_applied = last_applied
    assert not target.restore(objects, seconds)
    assert not target.start(running)
    target._last_look = look
    target.settle()
