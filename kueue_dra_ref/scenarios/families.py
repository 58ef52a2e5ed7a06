"""Observations of Workloads with variants, without what depends on the variant that Kueue happened to try first.

New variants have the same second of creation, so which of them the scheduler tries first is chance. Work migrates to
the most preferred flavor that fits, but the conditions that it has afterwards tell of the way there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kueue_dra_ref.scenarios.scenario import Observation

PARENTS, VARIANTS = "parents", "variants"
"""The parts of an observation."""
_PAST = ("Evicted", "Preempted", "Requeued", "requests")
"""Requests stay where an attempt has written them."""
_PENDING = "pending"


def without_history(observation: Observation) -> Observation:
    """Leave out what tells how the variants of work came to be as they are."""
    variants = observation.get(VARIANTS) or {}
    parents = observation.get(PARENTS) or ()
    workloads = dict(observation.get("workloads") or {})
    for name, shown in workloads.items():
        if name in variants:
            state = variants[name].get("state")
            workloads[name] = _present(shown, state == _PENDING)
        elif name in parents:
            workloads[name] = _present(shown, False)
    states = {}
    for name, variant in variants.items():
        states[name] = _state(variant)
    return {**observation, "workloads": workloads, VARIANTS: states}


def _state(variant: Observation) -> Observation:
    """Give the state of a variant, and its gate if it waits."""
    state = variant.get("state")
    return variant if state == _PENDING else {"state": state}


def _present(workload: Mapping[str, Any], is_pending: bool) -> Observation:
    """Give what a Workload has, and what it waits for if it is a variant that does."""
    found = {}
    for kind, shown in workload.items():
        if kind == "admission":
            found[kind] = shown
            continue
        if kind in _PAST:
            continue
        if is_pending or shown["status"] == "True":
            found[kind] = shown
    return found
