"""The feature gates that no rule reads, and what each is for.

Kueue: pkg/features/kube_features.go (defaultVersionedFeatureGates)
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Reason(StrEnum):
    """Why no rule reads a gate."""

    NOTHING = "decides-nothing"
    """Kueue decides the same with the gate on and off."""
    DEFAULT = "default-is-modelled"
    """The reference decides as Kueue does with the default."""
    LEFT = "not-decided"
    """Kueue decides more with the gate on than the reference does."""


@cache
def purposes() -> Mapping[Reason, Mapping[str, str]]:
    """Give by reason the gates that no rule reads, each with what it is for."""
    text = (files("kueue_dra_ref.features") / "not-read.toml").read_text("utf-8")
    listed = tomllib.loads(text)
    return {reason: listed[reason] for reason in Reason}


def purpose(gate: str) -> str:
    """Say what a gate is for that no rule reads, as far as that is listed."""
    for gates in purposes().values():
        if gate in gates:
            return gates[gate].partition(";")[0]
    return "the feature of this gate"
