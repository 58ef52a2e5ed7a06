"""What hypothesis draws: some worlds that share one Kueue, by the seed that they can be had again with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fixtures.manifests import KUEUE
from fixtures.profiles import a_configuration
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.scenario import Scenario
from kueue_dra_ref.target import Manifest
from suites.differential.events import MOST_QUEUES, PRIORITIES, events, lines
from suites.differential.queues import Above, Queues
from suites.differential.templates import ASKED, LATE
from suites.differential.worlds import World

SHORTEST, LONGEST = 6, 10
"""Events of a world."""
MAPPINGS = {"gpus": ["gpu.example.com"], "nics": ["nic.example.com"], "lates": [LATE]}
STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")

Batch = tuple[Scenario, ...]
"""Worlds with one configuration, one inventory and equally many steps."""


@st.composite
def a_world(draw: DrawFn, *, mark: str, length: int, stops: bool) -> tuple[Mapping[str, Any], ...]:
    """Draw the steps of one world."""
    flavors, cohorts = draw(st.integers(1, 2)), draw(st.sampled_from((1, 2, 0)))
    shared = st.none() | st.none() | st.integers(0, 3)
    above = tuple(
        Above(parent=draw(st.none() | st.just(0)) if index else None, shared=draw(shared)) for index in range(cohorts)
    )
    found = draw(st.lists(lines(cohorts=cohorts, flavors=flavors), min_size=min(1 + cohorts, 2), max_size=MOST_QUEUES))
    happens = draw(st.lists(events(ASKED, stops=stops), min_size=length, max_size=length))
    queues = Queues(mark=mark, lines=tuple(found), cohorts=above, flavors=flavors)
    return tuple(World(queues=queues, events=tuple(happens)).steps())


@st.composite
def a_batch(draw: DrawFn, *, of: int) -> Batch:
    """Draw worlds that can be told apart by their names, for one Kueue; ``fairSharing`` is all that is configured."""
    fair = draw(st.sampled_from((None, STRATEGIES, STRATEGIES[:1], STRATEGIES[1:])))
    configuration = {"fairSharing": fair} if fair else {}
    length, stops = draw(st.integers(SHORTEST, LONGEST)), draw(st.booleans())
    told = [draw(a_world(mark=f"w{index}", length=length, stops=stops)) for index in range(of)]
    beginning = tuple(inventory())
    return tuple(Scenario(name="", configuration=configuration, inventory=beginning, steps=steps) for steps in told)


def batches(*, of: int, behaviour: Behaviour, number: int, count: int) -> Sequence[Batch]:
    """Draw ``count`` batches of ``of`` worlds each, the same ones again for the same ``number``."""
    found: list[Batch] = []

    @seed(number)
    @settings(
        max_examples=count, phases=[Phase.generate], database=None, deadline=None, suppress_health_check=[*HealthCheck]
    )
    @given(a_batch(of=of))
    def collect(batch: Batch) -> None:
        found.append(batch)

    collect()
    return [
        tuple(_completed(world, behaviour, f"{number}-{index}-{place}") for place, world in enumerate(batch))
        for index, batch in enumerate(found)
    ]


def _completed(world: Scenario, behaviour: Behaviour, name: str) -> Scenario:
    fair = world.configuration.get("fairSharing", ())
    return replace(world, name=name, configuration=a_configuration(behaviour, MAPPINGS, fair_sharing=fair))


def inventory() -> Iterator[Manifest]:
    """Give what all worlds of a Kueue share: priority classes, device classes and devices."""
    for value in PRIORITIES[1:]:
        meta = {"name": f"priority-{value}"}
        yield {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": meta, "value": value}
    for driver in ("gpu.example.com", "nic.example.com", "unmapped.example.com"):
        yield _resource("DeviceClass", driver, {"selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]})
    devices = [{"name": f"gpu-{i}", "attributes": {"model": {"string": ("A100", "H100")[i % 2]}}} for i in range(4)]
    pool = {"name": "node", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.example.com", "allNodes": True, "pool": pool, "devices": devices}
    yield _resource("ResourceSlice", "gpus", spec)


def _resource(kind: str, name: str, spec: Mapping[str, Any]) -> Manifest:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}
