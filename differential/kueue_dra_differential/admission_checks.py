"""Admission checks in generated scenarios: which ClusterQueues name them, and what their controllers answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.events import Answer
from kueue_dra_differential.queue_events import Inspect
from kueue_dra_fixtures.manifests import an_object
from kueue_dra_ref.api.admission_checks import (
    ADMISSION_CHECK,
    PENDING,
    READY,
    REJECTED,
    RETRY,
)
from kueue_dra_ref.target import Manifest

COUNT = 2
"""The AdmissionChecks of a scenario."""
CONTROLLER = "kueue-dra.dev/generated"
NamedChecks = tuple[tuple[int, bool], ...]
"""The checks that a ClusterQueue names, each with whether it is for the first flavor alone."""
PLACES: tuple[NamedChecks, ...] = (
    ((0, False),),
    ((0, False),),
    ((0, False), (1, True)),
    ((0, True),),
    (),
    ((1, False), (0, False)),
)
_STATES = (READY, READY, READY, READY, RETRY, RETRY, REJECTED, PENDING)
_MESSAGES = ("", "by the check")
UPDATES: dict[str, dict[str, Any]] = {
    "": {},
    "label": {"labels": {"example.com/pool": "a"}},
    "zone-a": {"nodeSelector": {"zone": "a"}},
    "spot": {"tolerations": [{"key": "spot", "operator": "Exists"}]},
}
"""What a check that is Ready adds to the pods of a Job."""


def answers(job: SearchStrategy[int]) -> SearchStrategy[Answer]:
    """What the controller of a check answers for an earlier job."""
    return st.builds(
        Answer,
        job=job,
        check=st.integers(0, COUNT - 1),
        state=st.sampled_from(_STATES),
        every=st.booleans(),
        message=st.sampled_from(_MESSAGES),
        update=st.sampled_from(("", "", *UPDATES)),
    )


def inspections() -> SearchStrategy[Inspect]:
    """A check whose controller goes, or comes back."""
    check = st.integers(0, COUNT - 1)
    return st.builds(Inspect, check=check, active=st.booleans())


def a_check(name: str, *, active: bool) -> Manifest:
    """Give an AdmissionCheck with what its controller says of it."""
    condition = {"type": "Active", "status": str(active), "reason": "Generated"}
    found = an_object(ADMISSION_CHECK, name, controllerName=CONTROLLER)
    return {**found, "status": {"conditions": [condition]}}


def strategy(
    checks: NamedChecks, names: Sequence[str], first: str
) -> dict[str, Any] | None:
    """Give the checks of a ClusterQueue whose first flavor has this name; None without one."""
    found = []
    for index, is_for_first in checks:
        rule: dict[str, Any] = {"name": names[index]}
        if is_for_first:
            rule["onFlavors"] = [first]
        found.append(rule)
    return {"admissionChecks": found} if found else None
