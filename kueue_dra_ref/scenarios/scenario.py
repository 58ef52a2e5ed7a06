"""Scenarios: manifests in steps for any target, with what was observed after each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kueue_dra_ref.target import WORKERS, Manifest

Observation = dict[str, Any]
API_VERSION = "kueue-dra.dev/v1alpha1"


WORKER_NAMES = tuple(f"worker{number + 1}" for number in range(WORKERS))
"""How scenarios name the workers of MultiKueue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCluster:
    """A worker of MultiKueue: the Configuration of its Kueue, and its initial objects."""

    configuration: Manifest
    inventory: tuple[Manifest, ...] = ()

    def as_document(self) -> Manifest:
        """Give a worker in the format of files."""
        inventory = [*self.inventory]
        return {"configuration": self.configuration, "inventory": inventory}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A configuration, the initial objects, steps, and what was observed after each step."""

    name: str
    configuration: Manifest
    inventory: tuple[Manifest, ...]
    steps: tuple[Mapping[str, Any], ...]
    workers: Mapping[str, WorkerCluster] = field(default_factory=dict)
    """The workers of a manager of MultiKueue, by name; empty without MultiKueue."""
    kueue: str = ""
    """The release of Kueue that was recorded."""
    behaviour: str = ""
    """The behaviour of the reference, if the reference was recorded."""
    recorded: tuple[Observation, ...] = ()


def as_document(scenario: Scenario, **status: Any) -> Manifest:
    """Give a scenario in the format of files; ``status`` are further fields of the status."""
    recorded_on = {"kueue": scenario.kueue}
    if scenario.behaviour:
        recorded_on = {"behaviour": scenario.behaviour}
    spec: Manifest = {
        "configuration": scenario.configuration,
        "inventory": [*scenario.inventory],
    }
    if scenario.workers:
        workers = scenario.workers.items()
        spec["workers"] = {name: each.as_document() for name, each in workers}
    spec["steps"] = [*scenario.steps]
    observations = [*scenario.recorded]
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": scenario.name},
        "spec": spec,
        "status": {**recorded_on, "observations": observations, **status},
    }


def is_comparable(recorded: Observation) -> bool:
    """Whether a recorded step can be compared: it had settled, and real Kueues agree on it."""
    return not recorded.get("unsettled") and not recorded.get("race")
