"""Scenarios: a story in manifests for any target, and what a judge was seen to answer to each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kueue_dra_ref.target import Manifest

Observation = dict[str, Any]
API_VERSION = "kueue-dra.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One story: a configuration, what exists at first, steps, and what a judge observed."""

    name: str
    configuration: Manifest
    inventory: tuple[Manifest, ...]
    steps: tuple[Mapping[str, Any], ...]
    kueue: str = ""
    """The release of Kueue that was recorded."""
    behaviour: str = ""
    """The behaviour of the reference, where that was recorded."""
    recorded: tuple[Observation, ...] = ()


def as_document(scenario: Scenario, **status: Any) -> Manifest:
    """Give a scenario in the form that files hold; ``status`` are further fields beside what was recorded."""
    who = (
        {"behaviour": scenario.behaviour}
        if scenario.behaviour
        else {"kueue": scenario.kueue}
    )
    spec = {
        "configuration": scenario.configuration,
        "inventory": [*scenario.inventory],
        "steps": [*scenario.steps],
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "Scenario",
        "metadata": {"name": scenario.name},
        "spec": spec,
        "status": {**who, "observations": [*scenario.recorded], **status},
    }


def is_comparable(recorded: Observation) -> bool:
    """Whether a recorded step can be compared: it had settled, and real Kueues agree on it."""
    return not recorded.get("unsettled") and not recorded.get("race")
