"""The maximum execution time of work in ``simulate`` and ``explain``."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.api.execution_time import BEFORE, LIMIT_LABEL
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import kueue_dra
from tests.simulated import simulated
from tests.test_running_cluster import CONFIGURATION

NOW = "2025-09-17T14:00:00Z"


def _limited(seconds: int) -> Manifest:
    job = a_job("first")
    job["metadata"]["labels"][LIMIT_LABEL] = str(seconds)
    return job


def _text(*objects: Manifest) -> str:
    return yaml.safe_dump_all([*objects, CONFIGURATION])


def _running_since(at: str, seconds: int, before: int = 0) -> list[Manifest]:
    """Give a cluster with a Job that was admitted at a time, and before that for some seconds."""
    cluster = simulated(_text(*a_world(gpus=1), _limited(seconds)))
    for each in cluster:
        if each["kind"] == "Workload":
            each["status"][BEFORE] = before
        for found in each.get("status", {}).get("conditions", ()):
            if found["type"] == "Admitted":
                found["lastTransitionTime"] = at
        if each["kind"] == "LocalQueue":
            each["status"] = {"conditions": [{"type": "Active", "status": "True", "lastTransitionTime": NOW}]}
    return cluster


def _of_kind(cluster: list[Manifest], kind: str) -> Any:
    (found,) = [each for each in cluster if each["kind"] == kind]
    return found


@pytest.mark.parametrize(
    ("seconds", "over"), [pytest.param(3600, True, id="over"), pytest.param(10800, False, id="not-yet")]
)
def test_work_of_a_cluster_is_deactivated(seconds: int, over: bool) -> None:
    """It runs for two hours, by the newest time in the input."""
    cluster = simulated(_text(*_running_since("2025-09-17T12:00:00Z", seconds)))

    assert _of_kind(cluster, "Workload")["spec"]["active"] is not over
    assert is_true(_of_kind(cluster, "Workload"), "Admitted") is not over
    assert _of_kind(cluster, "Job")["spec"]["suspend"] is over


@pytest.mark.parametrize("before", [pytest.param(0, id="first-admission"), pytest.param(1800, id="second-admission")])
def test_when_it_is_deactivated_is_explained(before: int) -> None:
    """With the requirement; the time of an earlier admission counts."""
    text = _text(*_running_since("2025-09-17T12:00:00Z", before + 10800, before))

    result = kueue_dra("explain", "-f", "-", "job/first", stdin=text)

    assert result.exit_code == 0, result.stderr
    assert (
        "admitted: Kueue deactivates it at 2025-09-17T15:00:00Z, when its maximum execution time is over   [EXEC-002]"
        in result.stdout
    )
