"""Scenarios: manifests in steps for any target, with what was observed after each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.target import Manifest

Observation = dict[str, Any]
API_VERSION = "kueue-dra.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A configuration, the initial objects, steps, and what was observed after each step."""

    name: str
    configuration: Manifest
    inventory: tuple[Manifest, ...]
    steps: tuple[Mapping[str, Any], ...]
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
    spec = {
        "configuration": scenario.configuration,
        "inventory": [*scenario.inventory],
        "steps": [*scenario.steps],
    }
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
