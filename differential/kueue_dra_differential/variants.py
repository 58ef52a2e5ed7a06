"""Concurrent admission in generated scenarios: ClusterQueues whose work has a variant for each flavor."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.cohort_tree import VariantPolicy
from kueue_dra_ref.behaviours.behaviour import Behaviour

GATE = "ConcurrentAdmission"
TRY, RETAIN = "TryPreferredFlavors", "RetainFirstAdmission"


def some_policy() -> SearchStrategy[VariantPolicy | None]:
    """Mostly variants that migrate to any flavor before their own; now and then no variants."""
    retains = st.sampled_from((False, False, True))
    bounded = st.sampled_from((False, False, True))
    policies = st.builds(VariantPolicy, retains=retains, bounded=bounded)
    return policies | policies | policies | st.none()


def spec_of(policy: VariantPolicy | None, last: str) -> dict[str, Any]:
    """Give the field of a ClusterQueue; ``last`` is the last acceptable flavor of one that is bounded."""
    if policy is None:
        return {}
    migration: dict[str, Any] = {"mode": RETAIN if policy.retains else TRY}
    if policy.bounded and not policy.retains:
        migration["constraints"] = {"lastAcceptableFlavorName": last}
    return {"concurrentAdmissionPolicy": {"migration": migration}}


def gates(behaviour: Behaviour) -> dict[str, bool]:
    """Give the gate that it needs, if a release has it."""
    return {GATE: True} if GATE in behaviour.gates.table else {}
