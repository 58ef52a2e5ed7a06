"""Draws batches of scenarios in which a manager of MultiKueue dispatches work to two workers.

In none of them does it matter which of two workers that could both run some work takes it: that is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kueue_dra_differential.batch import Batch
from kueue_dra_differential.dispatch_events import DispatchEvent
from kueue_dra_differential.dispatch_fleet import Fleet, a_fleet
from kueue_dra_differential.dispatch_order import decided
from kueue_dra_differential.dispatch_scenario import DispatchScenario
from kueue_dra_differential.dispatch_site import DispatchQueue, DispatchSite
from kueue_dra_differential.dispatch_strategies import dispatch_events, submissions
from kueue_dra_differential.whole_devices import WHOLE
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.scenarios.scenario import Scenario

_SELDOM = st.sampled_from((False, False, False, False, False, True))
_OWN = (4, 2, 6, 8, 3, 1)
"""The quota of the manager."""
_AMOUNTS = ((4, 0), (0, 4), (6, 0), (0, 6), (1, 4), (4, 1), (0, 2), (2, 2), (0, 0))
"""The quota of both workers: mostly one of them alone has enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One drawn scenario."""

    fleet: Fleet
    mark: str
    queues: tuple[DispatchQueue, DispatchQueue, DispatchQueue]
    events: tuple[DispatchEvent, ...]

    def scenario(self, events: Sequence[DispatchEvent | None]) -> Scenario:
        """Give the scenario of some of the events."""
        site = DispatchSite(mark=self.mark, queues=[*self.queues])
        templates = WHOLE.templates
        found = DispatchScenario(site=site, templates=templates, events=events)
        return self.fleet.scenario([*found.steps()])

    def decided(self, behaviour: Behaviour) -> Scenario:
        """Give the scenario without the events after which two workers could both take some work."""
        return decided(self.events, self.scenario, behaviour)


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchBatch:
    """Drawn scenarios of one fleet."""

    worlds: tuple[World, ...]

    def decided(self, behaviour: Behaviour) -> Batch:
        """Give the scenarios without what depends on chance."""
        return tuple(each.decided(behaviour) for each in self.worlds)


@st.composite
def a_dispatch_batch(draw: DrawFn, *, of: int, behaviour: Behaviour) -> DispatchBatch:
    """Draw scenarios for one manager and its workers, with names of their own."""
    fleet = draw(a_fleet(behaviour))
    worlds = []
    for index in range(of):
        world = draw(_a_world(fleet, f"w{index}"))
        worlds.append(world)
    return DispatchBatch(worlds=tuple(worlds))


@st.composite
def _a_world(draw: DrawFn, fleet: Fleet, mark: str) -> World:
    own, first, second = fleet.contested
    amounts = draw(st.sampled_from(_AMOUNTS))
    manager = _queue(own, draw(st.sampled_from(_OWN)))
    queue = partial(_queue, checked=_SELDOM)
    size = fleet.events
    first_of_all = draw(submissions(fleet))
    events = st.lists(dispatch_events(fleet), min_size=size, max_size=size)
    return World(
        fleet=fleet,
        mark=mark,
        queues=(
            draw(manager),
            draw(queue(first, amounts[0])),
            draw(queue(second, amounts[1])),
        ),
        events=(first_of_all, *draw(events)),
    )


def _queue(
    contested: str, nominal: int, checked: SearchStrategy[bool] | None = None
) -> SearchStrategy[DispatchQueue]:
    return st.builds(
        DispatchQueue,
        nominal=st.just(nominal),
        contested=st.just(contested),
        others=st.just(("nics",)),
        preempts=st.booleans(),
        checked=st.just(False) if checked is None else checked,
    )
