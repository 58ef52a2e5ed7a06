"""Reads conditions of objects of a live Kueue, with their observed generation."""

from __future__ import annotations

from kueue_dra_ref.api.conditions import Condition, condition
from kueue_dra_ref.target import Manifest


def condition_of(manifest: Manifest, kind: str) -> Condition:
    """Give one condition of an object's status, or an empty one."""
    return condition(manifest, kind) or {}


def seen_generation(manifest: Manifest, kind: str) -> int:
    """Give the observedGeneration of a condition; 0 without one."""
    return int(condition_of(manifest, kind).get("observedGeneration", 0))
