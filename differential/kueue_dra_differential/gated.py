"""Admission gates in generated scenarios: some work is created with them, and their controllers open them.

Only of work that Kueue does not queue through its pods.  No queue stops: Kueue rewrites gated Workloads of a LocalQueue
that is missing or stopped without a pause (docs/explanation/differences.md).
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.events import Open
from kueue_dra_ref.api.admission_gates import GATED_BY
from kueue_dra_ref.api.metadata import annotations_of
from kueue_dra_ref.behaviours.behaviour import Behaviour
from kueue_dra_ref.target import Manifest

GATE = "AdmissionGatedBy"
OPEN = ""
_FIRST, _SECOND = "example.com/budget", "example.com/images"
_BOTH = f"{_FIRST},{_SECOND}"


def written() -> SearchStrategy[str]:
    """Draw the gates of work: mostly one, or two, now and then none."""
    return st.sampled_from((_FIRST, _BOTH, OPEN))


def openings(earlier: SearchStrategy[int]) -> SearchStrategy[Open]:
    """Mostly open all gates of an earlier job, or one of two; Kueue refuses to add one."""
    left = st.sampled_from((OPEN, OPEN, OPEN, _SECOND))
    return st.builds(Open, job=earlier, left=left)


def gated(made: Manifest, gates: str) -> Manifest:
    """Give work with these gates, or without any."""
    annotations = dict(annotations_of(made))
    annotations.pop(GATED_BY, None)
    if gates:
        annotations[GATED_BY] = gates
    meta = {**made["metadata"], "annotations": annotations}
    return {**made, "metadata": meta}


def gates(behaviour: Behaviour) -> dict[str, bool]:
    """Give the gate that it needs, if a release has it."""
    return {GATE: True} if GATE in behaviour.gates.table else {}
