"""The sections of a Configuration that the features of a batch need, drawn for each Kueue that starts."""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import DrawFn, composite

from kueue_dra_differential import pods_ready, retention
from kueue_dra_differential.swarm import SwarmConfig
from kueue_dra_ref.api.pods_ready import WAIT_FOR_PODS_READY
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.target import Manifest


@composite
def with_sections(
    draw: DrawFn, configuration: Manifest, swarm: SwarmConfig, behaviour: Behaviour
) -> Manifest:
    """Give a Configuration that waits for pods, and deletes what is over, if the batch has that."""
    found: dict[str, Any] = dict(configuration)
    if swarm.waits:
        section = pods_ready.section(behaviour, blocks=swarm.blocks)
        found[WAIT_FOR_PODS_READY] = draw(section)
    if swarm.retained:
        found |= draw(retention.policies())
    return found
