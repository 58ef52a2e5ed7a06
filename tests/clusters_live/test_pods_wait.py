"""What a live target waits for while Kueue waits for pods."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kueue_dra_clusters.pods_wait import PodsWait
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_workload

FIRST, SECOND = "config.kueue.x-k8s.io/v1beta1", "config.kueue.x-k8s.io/v1beta2"
BLOCKED = "waiting for all admitted workloads to be in PodsReady condition"


def _waiting(version: str = SECOND, **section: Any) -> PodsWait:
    found = PodsWait()
    found.configure({"apiVersion": version, "waitForPodsReady": {"timeout": "10s", **section}})
    return found


def _admitted(seconds: float, **conditions: str) -> Manifest:
    """Give a Workload of a Job that was admitted some seconds ago."""
    found = a_workload(owner="job")
    found["metadata"]["uid"] = "admitted"
    since = (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    statuses = {"QuotaReserved": "True", "Admitted": "True", **conditions}
    found["status"]["conditions"] = [
        {"type": kind, "status": status, "lastTransitionTime": since} for kind, status in statuses.items()
    ]
    return found


@pytest.mark.parametrize(
    ("seconds", "conditions", "soon"),
    [
        pytest.param(9, {"PodsReady": "False"}, True, id="ends"),
        pytest.param(5, {"PodsReady": "False"}, False, id="later"),
        pytest.param(20, {"PodsReady": "False"}, False, id="long-over"),
        pytest.param(9, {"PodsReady": "True"}, False, id="ready"),
        pytest.param(9, {"PodsReady": "False", "Finished": "True"}, False, id="finished"),
    ],
)
def test_a_timeout_that_ends_soon_is_waited_for(seconds: float, conditions: dict[str, str], soon: bool) -> None:
    """Of a Workload that is admitted and whose pods are not ready."""
    assert any(_waiting().ends_soon([_admitted(seconds, **conditions)])) is soon


def test_a_kueue_that_does_not_wait_ends_nothing() -> None:
    """The section of the first version is not enabled."""
    settings = _waiting(FIRST, enable=False)

    assert not any(settings.ends_soon([_admitted(9, PodsReady="False")]))
    assert not any(settings.unwritten([_admitted(9)]))


@pytest.mark.parametrize(
    ("conditions", "missing"),
    [pytest.param({}, True, id="none"), pytest.param({"PodsReady": "False"}, False, id="one")],
)
def test_a_condition_that_kueue_has_to_write_is_missing(conditions: dict[str, str], missing: bool) -> None:
    """Of an admitted Workload of a Job, after a start of Kueue."""
    assert any(_waiting().unwritten([_admitted(1, **conditions)])) is missing


@pytest.mark.parametrize(
    ("version", "section", "blocks"),
    [
        pytest.param(SECOND, {}, False, id="second"),
        pytest.param(SECOND, {"blockAdmission": True}, True, id="second-blocks"),
        pytest.param(FIRST, {"enable": True}, True, id="first"),
        pytest.param(FIRST, {"enable": True, "blockAdmission": False}, False, id="first-does-not"),
    ],
)
def test_the_scheduler_waits_for_pods(version: str, section: dict[str, Any], blocks: bool) -> None:
    """While a Workload says so, and pods of another one are not ready."""
    running, waiting = _admitted(1, PodsReady="False"), a_workload("waits", QuotaReserved="False")
    waiting["status"]["conditions"][0]["message"] = BLOCKED
    settings = _waiting(version, **section)

    assert settings.blocks([running, waiting]) is blocks
    assert not settings.blocks([_admitted(1, PodsReady="True"), waiting])


def test_the_scheduler_waits_on_although_a_workload_is_gone() -> None:
    """Until the pods that it waits for are ready, or Kueue starts."""
    running, waiting = _admitted(1, PodsReady="False"), a_workload("waits", QuotaReserved="False")
    waiting["status"]["conditions"][0]["message"] = BLOCKED
    settings = _waiting(blockAdmission=True)
    assert not settings.blocks([running])

    assert settings.blocks([running, waiting])
    assert settings.blocks([running])
    other = _admitted(1, PodsReady="False")
    other["metadata"]["uid"] = "other"
    assert not settings.blocks([other])
    settings.configure({"apiVersion": SECOND, "waitForPodsReady": {"blockAdmission": True}})
    assert not settings.blocks([running])
