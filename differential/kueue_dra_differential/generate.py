"""What hypothesis draws: some worlds that share one Kueue, by the seed that they can be had again with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import DrawFn, SearchStrategy

from kueue_dra_differential.config_profiles import ConfigProfile
from kueue_dra_differential.config_settings import some_settings
from kueue_dra_differential.events import (
    Change,
    Common,
    Offer,
    Restart,
    Worth,
    class_of,
)
from kueue_dra_differential.generated_scenario import GeneratedScenario
from kueue_dra_differential.node_fields import FLAVORS, HEAVY, PLAIN
from kueue_dra_differential.queue_events_manifests import QueueObjects
from kueue_dra_differential.queues import GeneratedQueues
from kueue_dra_differential.sourced_devices import CAPACITIES, COUNTERS
from kueue_dra_differential.strategies import (
    MOST_COHORTS,
    MOST_QUEUES,
    PRIORITIES,
    WORTH,
    above,
    events,
    lines,
    weighted,
)
from kueue_dra_differential.swarm import SwarmConfig, a_mood
from kueue_dra_differential.whole_devices import (
    EXTENDED,
    MAPPINGS,
    OBSERVED,
    OFF,
    OTHER_MAPPINGS,
    WHOLE,
)
from kueue_dra_fixtures.manifests import a_priority_class
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.target import Manifest

SHORTEST, LONGEST = 6, 10
"""Events of a world."""
MOST_BATCHES = 100_000
"""Batches of one number, at most: the seeds of two numbers do not meet."""
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
THEMES = (WHOLE, WHOLE, WHOLE, OBSERVED, EXTENDED, COUNTERS, CAPACITIES, OFF)
"""What the worlds of a batch are about; some more often than others."""

Batch = tuple[Scenario, ...]
"""Worlds with one configuration, one inventory and equally many steps."""


@st.composite
def a_world(
    draw: DrawFn,
    *,
    theme: ConfigProfile,
    mark: str,
    mood: SwarmConfig,
    common: Sequence[Common | None],
) -> tuple[Mapping[str, Any], ...]:
    """Draw the steps of one world; in some, the same in every world of a Kueue, something ``common`` happens."""
    kinds = tuple(FLAVORS) if mood.nodes else (PLAIN,)
    flavors = draw(
        st.lists(
            st.sampled_from(kinds), min_size=1, max_size=3 if mood.broad else 2
        ).map(tuple)
    )
    cohorts = draw(
        st.sampled_from(
            (MOST_COHORTS, 2, 1) if mood.broad else (1, 2, 1 if mood.crowded else 0)
        )
    )
    cohort_tree = tuple(
        draw(above(index - 1 if index else None, mood)) for index in range(cohorts)
    )
    line = lines(cohorts=cohorts, flavors=len(flavors), mood=mood)
    found = draw(
        st.lists(
            line,
            min_size=min(1 + cohorts, 2),
            max_size=MOST_QUEUES if mood.broad else 3,
        )
    )
    own = events(theme, mood, line)
    happens = tuple(draw(own) if each is None else each for each in common)
    queues = GeneratedQueues(
        theme=theme, mark=mark, lines=tuple(found), cohorts=cohort_tree, flavors=flavors
    )
    return tuple(GeneratedScenario(site=QueueObjects(queues), events=happens).steps())


@st.composite
def a_batch(draw: DrawFn, *, of: int, behaviour: Behaviour) -> Batch:
    """Draw worlds of one theme that can be told apart by their names, for one Kueue."""
    usual = draw(st.sampled_from([each for each in THEMES if each.holds_in(behaviour)]))
    set_so = draw(some_settings(behaviour))
    theme = set_so.theme(usual)
    fair = draw(st.sampled_from(((), STRATEGIES, STRATEGIES[:1], STRATEGIES[1:])))
    mood = draw(
        a_mood(
            behaviour=behaviour,
            fair=bool(fair),
            extended=bool(theme.extended),
            told_apart=usual is OBSERVED,
        )
    )
    first, other = (
        set_so.configuration(behaviour, each, theme, fair)
        for each in (MAPPINGS, OTHER_MAPPINGS)
    )
    happens = st.none() if mood.rivals else _in_common(theme, mood, [first, other])
    longer = 4 if mood.rivals else 0
    common = draw(
        st.lists(happens, min_size=SHORTEST + longer, max_size=LONGEST + longer)
    )
    told = [
        draw(a_world(theme=theme, mark=f"w{index}", mood=mood, common=common))
        for index in range(of)
    ]
    classes = (a_priority_class(class_of(value), value) for value in PRIORITIES[1:])
    beginning = (*classes, *([HEAVY] if mood.nodes else []), *theme.inventory)
    return tuple(
        Scenario(name="", configuration=first, inventory=beginning, steps=steps)
        for steps in told
    )


def _in_common(
    theme: ConfigProfile, mood: SwarmConfig, configurations: Sequence[Manifest]
) -> SearchStrategy[Common | None]:
    """Give what a step of all worlds has in common: mostly nothing, now and then a change or a restart."""
    change = st.builds(Change, number=st.integers(0, len(theme.changes) - 1))
    restart = st.builds(Restart, configuration=st.sampled_from(configurations))
    worth = st.builds(
        Worth, priority=st.sampled_from(PRIORITIES[1:]), value=st.sampled_from(WORTH)
    )
    like = st.none() | st.sampled_from([*theme.templates])
    offer = st.builds(Offer, name=st.sampled_from(theme.named), like=like)
    often: dict[SearchStrategy[Any], int] = {st.none(): 17, change: 2, offer: 1}
    often |= {restart: 2} if mood.restarts else {}
    often |= {worth: 2} if mood.edits else {}
    return weighted(often)


def batches(
    *, of: int, behaviour: Behaviour, number: int, count: int = MOST_BATCHES
) -> Iterator[Batch]:
    """Draw ``count`` batches of ``of`` worlds each, the same ones again for the same ``number``."""
    strategy = a_batch(of=of, behaviour=behaviour)
    for index in range(count):
        batch = _drawn(strategy, number * MOST_BATCHES + index)
        yield tuple(
            replace(world, name=f"{number}-{index}-{place}")
            for place, world in enumerate(batch)
        )


def _drawn(strategy: SearchStrategy[Batch], number: int) -> Batch:
    """Draw with a seed of its own: of many drawn with one, the first is the plainest, and some repeat others."""
    found: list[Batch] = []

    @seed(number)
    @settings(
        max_examples=2,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(strategy)
    def collect(batch: Batch) -> None:
        found.append(batch)

    with warnings.catch_warnings():
        # Other threads of a hunt use `random` meanwhile, and a behaviour is long when written out.
        warnings.simplefilter("ignore", HypothesisWarning)
        collect()
    return found[-1]
