"""Concurrent admission in generated scenarios: ClusterQueues whose work has a variant for each flavor.

Which of several variants that fit is tried first is chance. So work never retains its first flavor, but migrates, and
does not preempt, since it would do so in the first flavor that needs it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.cohort_tree import LocalQueueLine, VariantPolicy

GATE = "ConcurrentAdmission"
_TRY = "TryPreferredFlavors"
_NEVER = "Never"


def some_policy() -> SearchStrategy[VariantPolicy | None]:
    """Mostly variants that migrate to any flavor before their own; now and then no variants."""
    bounded = st.sampled_from((False, False, True))
    policies = st.builds(VariantPolicy, bounded=bounded)
    return policies | policies | policies | st.none()


def spec_of(policy: VariantPolicy | None, last: str) -> dict[str, Any]:
    """Give the field of a ClusterQueue; ``last`` is the last acceptable flavor of one that is bounded."""
    if policy is None:
        return {}
    migration: dict[str, Any] = {"mode": _TRY}
    if policy.bounded:
        migration["constraints"] = {"lastAcceptableFlavorName": last}
    return {"concurrentAdmissionPolicy": {"migration": migration}}


def patient(line: LocalQueueLine) -> LocalQueueLine:
    """Give a ClusterQueue that does not preempt, if its work has variants."""
    if line.policy is None:
        return line
    return replace(line, within=_NEVER, reclaim=_NEVER)
