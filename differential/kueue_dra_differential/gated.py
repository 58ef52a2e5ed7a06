"""Admission gates in generated scenarios: some work is created with them, and their controllers open them.

Only of work that Kueue does not queue through its pods.  No queue stops: Kueue rewrites gated Workloads of a LocalQueue
that is missing or stopped without a pause (docs/explanation/differences.md).
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.events import Open
from kueue_dra_fixtures.manifests import marked
from kueue_dra_ref.api.admission_gates import GATED_BY
from kueue_dra_ref.target import Manifest

GATE = "AdmissionGatedBy"
_OPEN = ""
_FIRST, _SECOND = "example.com/budget", "example.com/images"
_BOTH = f"{_FIRST},{_SECOND}"


def written() -> SearchStrategy[str]:
    """Draw the gates of work: mostly one, or two, now and then none."""
    return st.sampled_from((_FIRST, _BOTH, _OPEN))


def openings(earlier: SearchStrategy[int]) -> SearchStrategy[Open]:
    """Mostly open all gates of an earlier job, or one of two; Kueue refuses to add one."""
    left = st.sampled_from((_OPEN, _OPEN, _OPEN, _SECOND))
    return st.builds(Open, job=earlier, left=left)


def gated(made: Manifest, gates: str) -> Manifest:
    """Give work with these gates, or without any."""
    return marked(made, annotations={GATED_BY: gates or None})
