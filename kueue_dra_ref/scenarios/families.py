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
_PAST = ("Evicted", "Preempted", "Requeued")
_PENDING = "pending"


def without_history(observation: Observation) -> Observation:
    """Leave out what tells how the variants of work came to be as they are."""
    variants = observation.get(VARIANTS) or {}
    workloads = dict(observation.get("workloads") or {})
    for name in observation.get(PARENTS) or ():
        if name in workloads:
            workloads[name] = _present(workloads[name], is_pending=False)
    states = {}
    for name, variant in variants.items():
        is_pending = variant["state"] == _PENDING
        states[name] = variant if is_pending else {"state": variant["state"]}
        if name in workloads:
            workloads[name] = _present(workloads[name], is_pending)
    return {**observation, "workloads": workloads, VARIANTS: states}


def _present(workload: Mapping[str, Any], is_pending: bool) -> Observation:
    """Give what a Workload has, and what it waits for if it is a variant that does."""
    found = {}
    for key, shown in workload.items():
        if key == "admission" or _is_shown(key, shown, is_pending):
            found[key] = shown
    return found


def _is_shown(key: str, shown: Mapping[str, Any], is_pending: bool) -> bool:
    """Whether a part of a Workload is no history: requests stay where an attempt has written them."""
    if key == "requests" or key in _PAST:
        return False
    return is_pending or shown["status"] == "True"
