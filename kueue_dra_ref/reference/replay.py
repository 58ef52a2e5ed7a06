"""Replays a scenario on the reference, with the iteration order of Go maps that was recorded.

No counterpart: the in-memory control plane replays a scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.reference.recorded_target import RecordedTarget
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.details import DETAILS, details
from kueue_dra_ref.scenarios.observation import ObservedState
from kueue_dra_ref.scenarios.playback import known_refs, replayed
from kueue_dra_ref.scenarios.scenario import Observation, Scenario
from kueue_dra_ref.target import Manifest
from kueue_dra_ref.workload.map_order import MapOrder

_DEFAULT_NAMESPACE: Manifest = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "default"},
}
"""The namespace that each cluster has."""


def answers(scenario: Scenario, behaviour: Behaviour) -> Iterator[Observation]:
    """Replay a scenario on a new reference; ``recorded`` settles the order in which Kueue iterates over maps.

    Raises:
        ConfigurationRejected: the reference does not start with the configuration.

    """
    _, observations = replaying(scenario, behaviour)
    return observations


def replaying(
    scenario: Scenario, behaviour: Behaviour
) -> tuple[ReferenceTarget, Iterator[Observation]]:
    """Give the reference that replays a scenario, which advances with its observations, and the observations."""
    map_order = MapOrder(orders=behaviour.random_map_order)
    kind = ReferenceTarget if scenario.workers else RecordedTarget
    target = kind(behaviour, map_order=map_order)
    target.apply([_DEFAULT_NAMESPACE])
    return target, _observations(scenario, target, map_order)


def _observations(
    scenario: Scenario, target: ReferenceTarget, map_order: MapOrder
) -> Iterator[Observation]:
    recorded = iter(scenario.recorded)
    expected = next(recorded, {})
    map_order.seen = _messages(expected)
    for step, observation in enumerate(replayed(scenario, target), 1):
        yield {**observation, **_details(scenario, step, expected, target)}
        expected = next(recorded, {})
        map_order.seen = _messages(expected)


def _details(
    scenario: Scenario, step: int, recorded: Observation, target: ReferenceTarget
) -> Observation:
    """Give the details of an observation if they were recorded."""
    if DETAILS not in recorded:
        return {}
    refs = known_refs(scenario, step)
    return {DETAILS: details(target, ObservedState.by(target), refs)}


def _messages(recorded: Observation) -> Mapping[str, str]:
    """Give the recorded message of each workload's QuotaReserved condition, by name."""
    messages = {}
    workloads = recorded.get("workloads") or {}
    for name, conditions in workloads.items():
        reserved = conditions.get("QuotaReserved") or {}
        message = reserved.get("message", "")
        messages[name] = str(message)
    return messages


def completed(scenario: Scenario, behaviour: Behaviour) -> Scenario:
    """Give a scenario with all device features on, unless its Configuration sets their gates."""
    configuration = scenario.configuration
    gates = configuration.get("featureGates") or {}
    if isinstance(gates, dict):
        is_on = gates.get(behaviour.integration_gate)
        if is_on is False:
            return scenario
    configuration = explicit(configuration, behaviour, on=True)
    workers = {}
    for name, worker in scenario.workers.items():
        own = explicit(worker.configuration, behaviour, on=True)
        workers[name] = replace(worker, configuration=own)
    return replace(scenario, configuration=configuration, workers=workers)


def explicit(
    configuration: Manifest,
    behaviour: Behaviour,
    *,
    on: bool,
) -> Manifest:
    """Give a Configuration that sets the gate of each further device feature that is off by default."""
    own = configuration.get("featureGates") or {}
    if not isinstance(own, dict):
        return configuration
    gates = {}
    table = behaviour.gates.table
    for gate in behaviour.dependent_gates:
        if not table[gate].default:
            gates[gate] = on
    if not gates:
        return configuration
    gates |= own
    return {**configuration, "featureGates": gates}
