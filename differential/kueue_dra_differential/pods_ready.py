"""WaitForPodsReady in generated scenarios: its section, and Jobs whose pods become ready or are lost."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kueue_dra_differential.events import Ready
from kueue_dra_ref.api.pods_ready import CREATION, EVICTION
from kueue_dra_ref.behaviours.behaviour import Behaviour

FAR = "1000h"
"""A time that does not pass while a scenario runs."""
NO_PODS = {"active": 0, "ready": 0}
"""The status of a Job that has no pods."""
_FIRST = "/v1beta1"
_STRATEGIES: tuple[dict[str, Any], ...] = (
    {},
    {"timestamp": CREATION},
    {"timestamp": EVICTION, "backoffLimitCount": 0},
    {"timestamp": CREATION, "backoffBaseSeconds": 0, "backoffMaxSeconds": 0},
)


def section(behaviour: Behaviour, *, blocks: bool) -> SearchStrategy[dict[str, Any]]:
    """Draw the section, without a time that could pass; ``blocks`` is whether Kueue admits nothing while it waits."""
    first = str(next(iter(behaviour.versions))).endswith(_FIRST)
    enabled = {"enable": True} if first else {}
    written = {"timeout": FAR, "blockAdmission": blocks, **enabled}
    recoveries = st.sampled_from(({}, {"recoveryTimeout": FAR}))
    strategies = st.sampled_from(_STRATEGIES)
    return st.builds(
        lambda recovery, strategy: {
            **written,
            **recovery,
            **({"requeuingStrategy": strategy} if strategy else {}),
        },
        recoveries,
        strategies,
    )


def reports(job: SearchStrategy[int]) -> SearchStrategy[Ready]:
    """What becomes of the pods of an earlier Job: mostly all of them are ready."""
    missing = st.sampled_from((0, 0, 0, 1, 2, None))
    return st.builds(Ready, job=job, missing=missing, every=st.booleans())


def status(pods: int, succeeded: int, event: Ready) -> dict[str, Any]:
    """Give the status of a Job of so many pods, of which some have succeeded."""
    if event.missing is None:
        return dict(NO_PODS)
    active = max(pods - succeeded, 0)
    ready = max(active - event.missing, 0)
    return {"active": active, "ready": ready, "succeeded": succeeded}
