"""Draws batches of scenarios that share one Kueue; a seed gives the same batches again."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisWarning
from hypothesis.strategies import DrawFn, SearchStrategy

from kueue_dra_differential.batch import Batch
from kueue_dra_differential.config_profiles import ConfigProfile, Step
from kueue_dra_differential.config_sections import with_sections
from kueue_dra_differential.config_settings import some_settings
from kueue_dra_differential.dispatch_worlds import a_dispatch_batch
from kueue_dra_differential.events import (
    Change,
    Common,
    Offer,
    Restart,
    Worth,
    class_of,
)
from kueue_dra_differential.frameworks import with_frameworks
from kueue_dra_differential.generated_scenario import GeneratedScenario
from kueue_dra_differential.node_fields import FLAVORS, HEAVY, PLAIN
from kueue_dra_differential.other_work import THROUGH_PODS, kinds_of
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
from kueue_dra_differential.swarm import (
    SwarmConfig,
    a_swarm,
    in_focus,
    with_features,
    with_kinds,
)
from kueue_dra_differential.swarm_features import MULTIKUEUE
from kueue_dra_differential.topologies import RACKED, nodes
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

Drawn = TypeVar("Drawn")
SHORTEST, LONGEST = 6, 10
"""The number of events of a scenario."""
MOST_BATCHES = 100_000
"""The most batches of one number, so that the seeds of two numbers differ."""
MORE = 4
"""How many more events rivals have, and scenarios of work that waits for something."""
BLOCKING = 4
"""How many times smaller batches are in which Kueue admits nothing while it waits for pods."""
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
THEMES = (WHOLE, WHOLE, WHOLE, OBSERVED, EXTENDED, COUNTERS, CAPACITIES, OFF)
"""The themes of batches; some more often than others."""


@st.composite
def a_scenario(
    draw: DrawFn,
    *,
    theme: ConfigProfile,
    mark: str,
    swarm: SwarmConfig,
    common: Sequence[Common | None],
) -> tuple[Step, ...]:
    """Draw the steps of one scenario; events that are ``common`` to the batch happen at the same steps."""
    flavors = draw(_flavors(swarm))
    cohorts = draw(_cohort_count(swarm))
    cohort_tree = []
    for index in range(cohorts):
        parent = index - 1 if index else None
        cohort_tree.append(draw(above(parent, swarm)))
    line = lines(cohorts=cohorts, flavors=len(flavors), swarm=swarm)
    most = MOST_QUEUES if swarm.broad else 3
    found = draw(st.lists(line, min_size=min(1 + cohorts, 2), max_size=most))
    own = events(theme, swarm, line)
    drawn = tuple(draw(own) if each is None else each for each in common)
    queues = GeneratedQueues(
        theme=theme,
        mark=mark,
        lines=tuple(found),
        cohorts=tuple(cohort_tree),
        flavors=flavors,
        checked=swarm.checks,
        nodes=draw(nodes()) if swarm.placed else (),
    )
    scenario = GeneratedScenario(site=QueueObjects(queues), events=drawn)
    return tuple(scenario.steps())


def _flavors(swarm: SwarmConfig) -> SearchStrategy[tuple[str, ...]]:
    usual = tuple(FLAVORS) if swarm.nodes else (PLAIN,)
    if swarm.placed:
        usual = (*RACKED, *RACKED, *usual)
    kinds = st.sampled_from(usual)
    least = 2 if swarm.varied else 1
    most = 3 if swarm.broad or swarm.varied else 2
    return st.lists(kinds, min_size=least, max_size=most).map(tuple)


def _cohort_count(swarm: SwarmConfig) -> SearchStrategy[int]:
    if swarm.broad:
        return st.sampled_from((MOST_COHORTS, 2, 1))
    return st.sampled_from((1, 2, 1 if swarm.crowded else 0))


@st.composite
def a_batch(
    draw: DrawFn, *, of: int, behaviour: Behaviour, wanted: Collection[str] = ()
) -> Batch:
    """Draw scenarios of one theme, with names of their own and the ``wanted`` features, for one Kueue."""
    usual = draw(st.sampled_from([each for each in THEMES if each.holds_in(behaviour)]))
    settings = draw(some_settings(behaviour))
    theme = settings.theme(usual)
    fair = draw(st.sampled_from(((), STRATEGIES, STRATEGIES[:1], STRATEGIES[1:])))
    swarm = draw(
        a_swarm(
            behaviour=behaviour,
            fair=bool(fair),
            extended=bool(theme.extended),
            distinct_reasons=usual is OBSERVED,
        )
    )
    swarm = draw(in_focus(with_features(swarm, wanted)))
    swarm = draw(with_kinds(swarm, kinds_of(behaviour), THROUGH_PODS))
    found = []
    for mappings in (MAPPINGS, OTHER_MAPPINGS):
        one = settings.configuration(behaviour, mappings, theme, fair, swarm)
        complete = with_frameworks(one, swarm.kinds)
        found.append(draw(with_sections(complete, swarm, behaviour)))
    return draw(_scenarios(theme, swarm, found, of=of))


@st.composite
def _scenarios(
    draw: DrawFn,
    theme: ConfigProfile,
    swarm: SwarmConfig,
    configurations: Sequence[Manifest],
    *,
    of: int,
) -> Batch:
    """Draw scenarios that begin with the first of two Configurations."""
    first, other = configurations
    common = draw(_common_events(theme, swarm, [first, other]))
    inventory = _inventory(theme, swarm)
    found = []
    # Each scenario that blocks has a Kueue of its own, which takes its time.
    count = max(of // BLOCKING, 1) if swarm.blocks else of
    for index in range(count):
        mark = f"w{index}"
        one = a_scenario(theme=theme, mark=mark, swarm=swarm, common=common)
        steps = draw(one)
        scenario = Scenario(
            name="", configuration=first, inventory=inventory, steps=steps
        )
        found.append(scenario)
    return tuple(found)


def _common_events(
    theme: ConfigProfile, swarm: SwarmConfig, configurations: Sequence[Manifest]
) -> SearchStrategy[list[Common | None]]:
    """Give the events of a batch; None for an event of each scenario's own."""
    more = MORE if swarm.is_long else 0
    own = st.none() if swarm.rivals else None
    common = own or _in_common(theme, swarm, configurations)
    return st.lists(common, min_size=SHORTEST + more, max_size=LONGEST + more)


def _inventory(theme: ConfigProfile, swarm: SwarmConfig) -> tuple[Manifest, ...]:
    found = [a_priority_class(class_of(value), value) for value in PRIORITIES[1:]]
    if swarm.nodes:
        found.append(HEAVY)
    return (*found, *theme.inventory)


def _in_common(
    theme: ConfigProfile, swarm: SwarmConfig, configurations: Sequence[Manifest]
) -> SearchStrategy[Common | None]:
    """Give the common event of a step: mostly None, now and then a change or a restart."""
    change = st.builds(Change, number=st.integers(0, len(theme.changes) - 1))
    restart = st.builds(Restart, configuration=st.sampled_from(configurations))
    worth = st.builds(
        Worth, priority=st.sampled_from(PRIORITIES[1:]), value=st.sampled_from(WORTH)
    )
    like = st.none() | st.sampled_from([*theme.templates])
    offer = st.builds(Offer, name=st.sampled_from(theme.named), like=like)
    often: dict[SearchStrategy[Any], int] = {st.none(): 17, change: 2, offer: 1}
    if swarm.restarts:
        often[restart] = 2
    if swarm.edits:
        often[worth] = 2
    return weighted(often)


def batches(
    *,
    of: int,
    behaviour: Behaviour,
    number: int,
    count: int = MOST_BATCHES,
    part: int = 1,
    parts: int = 1,
    wanted: Collection[str] = (),
) -> Iterator[Batch]:
    """Draw ``count`` batches of ``of`` scenarios each, the same ones again for the same ``number``.

    All of them have the ``wanted`` features (`FEATURES`), others by chance.

    Of several ``parts``, each draws other batches, and all together draw those of one.
    """
    for index in range(part - 1, count, parts):
        own = number * MOST_BATCHES + index
        if MULTIKUEUE in wanted:
            drawn = _drawn(a_dispatch_batch(of=of, behaviour=behaviour), own)
            batch = drawn.decided(behaviour)
        else:
            batch = _drawn(a_batch(of=of, behaviour=behaviour, wanted=wanted), own)
        named = []
        for place, scenario in enumerate(batch):
            named.append(replace(scenario, name=f"{number}-{index}-{place}"))
        yield tuple(named)


def _drawn(strategy: SearchStrategy[Drawn], number: int) -> Drawn:
    """Draw one batch with a seed of its own, the second draw: the first one of a seed is always the simplest."""
    found: list[Drawn] = []

    @seed(number)
    @settings(
        max_examples=2,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(strategy)
    def collect(batch: Drawn) -> None:
        found.append(batch)

    with warnings.catch_warnings():
        # Other threads use `random` meanwhile, and the repr of a behaviour is long.
        warnings.simplefilter("ignore", HypothesisWarning)
        collect()
    return found[-1]
