"""waitForPodsReady in ``simulate``, ``explain`` and ``config check``, and in dumps of running clusters."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import kueue_dra
from tests.test_running_cluster import CONFIGURATION

BLOCKED = "waiting for all admitted workloads to be in PodsReady condition"


def _text(section: dict[str, Any], *objects: Manifest) -> str:
    return yaml.safe_dump_all([*objects, {**CONFIGURATION, "waitForPodsReady": section}])


def _simulated(text: str) -> list[Manifest]:
    result = kueue_dra("simulate", "-f", "-", "-o", "json", stdin=text)
    assert result.exit_code == 0, result.stderr
    found: list[Manifest] = json.loads(result.stdout)["items"]
    return found


def _workloads(cluster: list[Manifest]) -> dict[str, Manifest]:
    """Give each Workload by the name of its Job."""
    return {each["metadata"]["ownerReferences"][0]["name"]: each for each in cluster if each["kind"] == "Workload"}


def test_blocked_work_is_explained() -> None:
    """Its pods fit, and those of another Job are not ready."""
    text = _text({"timeout": "5m", "blockAdmission": True}, *a_world(gpus=4), a_job("first"), a_job("second"))

    result = kueue_dra("explain", "-f", "-", "job/second", stdin=text)

    assert result.exit_code == 0, result.stderr
    assert "pending, the pods of all workloads with quota have to be ready first" in result.stdout
    assert "it fits, and waits until the pods of all workloads with quota are ready" in result.stdout
    assert "waitForPodsReady.blockAdmission: Not decided: pods that get ready later than in the input" in result.stderr


@pytest.mark.parametrize(
    ("ready", "admitted"), [pytest.param(0, False, id="not-ready"), pytest.param(1, True, id="ready")]
)
def test_ready_pods_in_a_dump_unblock(ready: int, admitted: bool) -> None:
    """The status of the running Job says how many of its pods are ready."""
    section = {"timeout": "5m", "blockAdmission": True}
    cluster = _simulated(_text(section, *a_world(gpus=4), a_job("first")))
    (job,) = (each for each in cluster if each["kind"] == "Job")
    job["status"] = {"active": 1, "ready": ready}

    waiting = _workloads(_simulated(_text(section, *cluster, a_job("second"))))["second"]

    reserved = condition(waiting, "QuotaReserved") or {}
    assert (reserved["status"] == "True") is admitted
    assert (reserved["message"] == BLOCKED) is not admitted


def test_a_dump_keeps_what_has_waited_for_longer_than_the_timeout() -> None:
    """Kueue has not evicted it there, and dumps may lack the status of its Job."""
    cluster = _simulated(_text({"timeout": "5m"}, *a_world(gpus=1), a_job("first")))
    for each in cluster:
        for found in (each.get("status") or {}).get("conditions") or ():
            found["lastTransitionTime"] = "2025-09-17T09:00:00Z"

    found = _workloads(_simulated(_text({"timeout": "5m"}, *cluster, a_job("second"))))

    assert (condition(found["first"], "Admitted") or {})["status"] == "True"
    assert (condition(found["second"], "QuotaReserved") or {})["status"] == "False"


def test_a_negative_timeout_is_found(tmp_path: Any) -> None:
    """With its field, as Kueue prints it."""
    file = tmp_path / "config.yaml"
    file.write_text(_text({"timeout": "-5m"}), "utf-8")

    result = kueue_dra("config", "check", file)

    assert result.exit_code == 1
    assert "waitForPodsReady.timeout: Invalid value" in result.stdout + result.stderr
