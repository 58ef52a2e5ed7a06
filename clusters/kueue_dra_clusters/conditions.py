"""Conditions of what a live Kueue shows, beyond whether they are True."""

from __future__ import annotations

from kueue_dra_ref.api.conditions import Condition, condition
from kueue_dra_ref.target import Manifest


def condition_of(manifest: Manifest, kind: str) -> Condition:
    """Give one condition of an object's status, or an empty one."""
    return condition(manifest, kind) or {}


def seen_generation(manifest: Manifest, kind: str) -> int:
    """Give the generation of an object that Kueue had seen when it wrote a condition; 0 before the first time."""
    return int(condition_of(manifest, kind).get("observedGeneration", 0))
