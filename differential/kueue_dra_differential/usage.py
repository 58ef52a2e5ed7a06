"""Admission fair sharing in generated scenarios: two LocalQueues of a ClusterQueue, by what each has used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.cohort_tree import LocalQueueUsage
from kueue_dra_ref.api.admission_fair_sharing import USAGE_BASED

GATE = "AdmissionFairSharing"
SETTINGS: dict[str, Any] = {
    "usageHalfLifeTime": "1000h",
    "usageSamplingInterval": "1000h",
}
"""Each admission adds half of what it requests, and nothing of it decays while a scenario runs."""
_WEIGHTS = st.sampled_from((None, None, "2", "500m", "0"))


def some_usage() -> SearchStrategy[LocalQueueUsage | None]:
    """Two LocalQueues, whose usage mostly decides; now and then one as without admission fair sharing."""
    orders = st.sampled_from((True, True, True, False))
    both = st.builds(
        LocalQueueUsage, orders=orders, weights=st.tuples(_WEIGHTS, _WEIGHTS)
    )
    return both | both | st.none()


def spec_of(usage: LocalQueueUsage | None) -> dict[str, Any]:
    """Give the fields of a ClusterQueue."""
    if usage is None or not usage.orders:
        return {}
    return {"admissionScope": {"admissionMode": USAGE_BASED}}


def weight_of(usage: LocalQueueUsage | None, second: int) -> str | None:
    """Give the weight of the first LocalQueue of a ClusterQueue, or of the ``second`` one (1)."""
    return None if usage is None else usage.weights[second]


def recast(
    before: LocalQueueUsage | None, later: LocalQueueUsage | None
) -> LocalQueueUsage | None:
    """Give what decides later between the same LocalQueues."""
    if before is None or later is None:
        return before
    return replace(later, weights=before.weights)
