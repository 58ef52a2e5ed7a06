"""Retention in generated scenarios: finished Workloads, and work that Kueue deactivated, go at once or never."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.pods_ready import FAR
from kueue_dra_ref.api.retention import SECTION

_TIMES = st.sampled_from(("0s", "0s", "0s", FAR, None))


def policies() -> SearchStrategy[dict[str, Any]]:
    """Draw the section of a Configuration."""
    return st.builds(_section, finished=_TIMES, deactivated=_TIMES)


def _section(finished: str | None, deactivated: str | None) -> dict[str, Any]:
    times = {"afterFinished": finished, "afterDeactivatedByKueue": deactivated}
    kept = {name: time for name, time in times.items() if time is not None}
    return {SECTION: {"workloads": kept}}
