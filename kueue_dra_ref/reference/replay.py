"""What the reference answers to a scenario, with what Kueue leaves to chance falling out as it did where recorded.

No counterpart: the in-memory control plane replays a scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.map_order import MapOrder


def answers(scenario: Scenario, behaviour: Behaviour) -> Iterator[Observation]:
    """Play a scenario on a new reference; ``recorded`` tells how it went where a real Kueue has no order of its own.

    Raises:
        ConfigurationRefused: the reference does not start with the configuration.

    """
    _, observations = replaying(scenario, behaviour)
    return observations


def replaying(
    scenario: Scenario, behaviour: Behaviour
) -> tuple[ReferenceTarget, Iterator[Observation]]:
    """Give the reference that plays a scenario, as far as its answers have been asked for, and the answers."""
    chance = MapOrder(orders=behaviour.random_map_order)
    target = ReferenceTarget(behaviour, chance=chance)
    return target, _observations(scenario, target, chance)


def _observations(
    scenario: Scenario, target: ReferenceTarget, chance: MapOrder
) -> Iterator[Observation]:
    recorded = iter(scenario.recorded)
    chance.seen = _told(next(recorded, {}))
    for observation in replayed(scenario, target):
        yield observation
        chance.seen = _told(next(recorded, {}))


def _told(recorded: Observation) -> Mapping[str, str]:
    """What was recorded of why each workload waits, by name."""
    conditions = {
        name: each.get("QuotaReserved") or {}
        for name, each in (recorded.get("workloads") or {}).items()
    }
    return {
        name: str(condition.get("message", ""))
        for name, condition in conditions.items()
    }


def completed(scenario: Scenario, behaviour: Behaviour) -> Scenario:
    """A scenario with all that Kueue can do with devices switched on, unless its Configuration says otherwise."""
    own = scenario.configuration.get("featureGates") or {}
    if isinstance(own, dict) and own.get(behaviour.integration_gate) is False:
        return scenario
    return replace(
        scenario, configuration=explicit(scenario.configuration, behaviour, on=True)
    )


def explicit(configuration: Manifest, behaviour: Behaviour, *, on: bool) -> Manifest:
    """A Configuration that says of each further device feature that is off by default whether it is on."""
    own = configuration.get("featureGates") or {}
    gates = dict.fromkeys(
        (
            gate
            for gate in behaviour.dependent_gates
            if not behaviour.gates.table[gate].default
        ),
        on,
    )
    if not gates or not isinstance(own, dict):
        return configuration
    return {**configuration, "featureGates": {**gates, **own}}
