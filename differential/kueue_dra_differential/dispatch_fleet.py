"""Draws the clusters of a batch of scenarios with MultiKueue: the Configuration of the manager and of each worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from kueue_dra_differential.config_profiles import Step
from kueue_dra_differential.events import class_of
from kueue_dra_differential.strategies import PRIORITIES
from kueue_dra_differential.whole_devices import MAPPINGS, WHOLE
from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.lab.clusters import MANAGES_JOBS
from kueue_dra_fixtures.manifests import a_priority_class
from kueue_dra_fixtures.profiles import a_configuration
from kueue_dra_ref.api.job_kinds import JOB, JOB_KINDS, is_in
from kueue_dra_ref.api.multikueue import MANAGED_BY
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.scenarios.scenario import WORKER_NAMES, Scenario, WorkerCluster
from kueue_dra_ref.target import Manifest

FEWEST, MOST = 5, 9
"""The number of events of a scenario after the first submission."""
CARDS = "gpus"
"""What the usual mapping makes of the contested class."""
RENAMED_CARDS = "cards"
_RENAMED = {RENAMED_CARDS: MAPPINGS[CARDS], "nics": MAPPINGS["nics"]}
"""A mapping that has another resource for the contested class."""
_WITHOUT = {"nics": MAPPINGS["nics"]}
"""A mapping without the contested class."""
_MAPPINGS = (MAPPINGS, MAPPINGS, MAPPINGS, _RENAMED, _RENAMED, _WITHOUT)
_LOST_TIMEOUTS: tuple[dict[str, str], ...] = ({}, {"workerLostTimeout": "1s"})
_INTERVALS: tuple[dict[str, str], ...] = ({"gcInterval": "0s"}, {"gcInterval": "1s"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """What the scenarios of a batch have in common: the Configuration of each cluster, and the kinds of work."""

    configurations: tuple[Manifest, Manifest, Manifest]
    contested: tuple[str, str, str]
    """The resource that the mapping of each cluster makes of the contested class."""
    kinds: tuple[str, ...]
    events: int

    def scenario(self, steps: Sequence[Step]) -> Scenario:
        """Give a scenario of these clusters."""
        own, *others = self.configurations
        inventory = (*_priority_classes(), *WHOLE.inventory)
        workers = {}
        for name, each in zip(WORKER_NAMES, others, strict=True):
            workers[name] = WorkerCluster(configuration=each, inventory=inventory)
        return Scenario(
            name="",
            configuration=own,
            inventory=inventory,
            steps=tuple(steps),
            workers=workers,
        )


def _priority_classes() -> Iterator[Manifest]:
    for value in PRIORITIES[1:]:
        name = class_of(value)
        yield a_priority_class(name, value)


@st.composite
def a_fleet(draw: DrawFn, behaviour: Behaviour) -> Fleet:
    """Draw the Configurations: those of the workers have mappings of their own."""
    mapping = st.sampled_from(_MAPPINGS)
    first = draw(mapping)
    second = draw(mapping)
    options = draw(_options(behaviour))
    own = _manager(behaviour, options)
    workers = (_worker(behaviour, first), _worker(behaviour, second))
    jobs = (JOB.name,)
    all_kinds = (*jobs, *jobs, *_kinds(behaviour))
    return Fleet(
        configurations=(own, *workers),
        contested=(CARDS, _contested(first), _contested(second)),
        kinds=draw(st.sampled_from((jobs, all_kinds))),
        events=draw(st.integers(FEWEST, MOST)),
    )


def _contested(mapping: Mapping[str, Sequence[str]]) -> str:
    return RENAMED_CARDS if mapping is _RENAMED else CARDS


def _manager(behaviour: Behaviour, options: Mapping[str, Any]) -> Manifest:
    kinds = frameworks.all_of(behaviour.kueue)
    return a_configuration(behaviour, MAPPINGS, integrations=kinds, **options)


def _worker(behaviour: Behaviour, mapping: Mapping[str, Sequence[str]]) -> Manifest:
    kinds = frameworks.all_of(behaviour.kueue)
    return a_configuration(behaviour, mapping, integrations=kinds)


@st.composite
def _options(draw: DrawFn, behaviour: Behaviour) -> dict[str, Any]:
    """Draw the times of the manager, and whether it is the manager of Jobs."""
    timeout = draw(st.sampled_from(_LOST_TIMEOUTS))
    interval = draw(st.sampled_from(_INTERVALS))
    manages = draw(_may_manage(behaviour))
    switched = {MANAGES_JOBS: True} if manages else {}
    return {"multiKueue": {**timeout, **interval}, "switched": switched}


def _may_manage(behaviour: Behaviour) -> SearchStrategy[bool]:
    """Whether to switch on the gate by which MultiKueue manages Jobs, where it is off by default."""
    table = behaviour.gates.table
    gate = table.get(MANAGES_JOBS)
    is_off = gate is not None and not gate.default
    return st.booleans() if is_off else st.just(False)


def _kinds(behaviour: Behaviour) -> tuple[str, ...]:
    """Name the kinds that a manager dispatches, without Jobs."""
    found = []
    for name in MANAGED_BY:
        kind = JOB_KINDS[name]
        if name != JOB.name and is_in(kind, behaviour.kueue):
            found.append(name)
    return tuple(found)
