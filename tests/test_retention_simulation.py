"""objectRetentionPolicies in ``simulate``, ``explain``, ``audit`` and ``config check``."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import kueue_dra
from tests.simulated import simulated
from tests.test_running_cluster import CONFIGURATION

NOW = "2025-09-17T14:00:00Z"
FINISHED = {"type": "Complete", "status": "True", "reason": "CompletionsReached", "message": ""}


def _text(times: dict[str, str], *objects: Manifest) -> str:
    section = {"objectRetentionPolicies": {"workloads": times}}
    return yaml.safe_dump_all([*objects, {**CONFIGURATION, **section}])


def _ended(at: str, *, by_kueue: bool = False, has_status: bool = True) -> list[Manifest]:
    """Give a cluster with a Job that ended at a time: it is finished, or was deactivated by Kueue."""
    cluster = simulated(_text({}, *a_world(gpus=1), a_job("first")))
    ended = {"status": "True", "lastTransitionTime": at, "message": ""}
    for each in cluster:
        if each["kind"] == "Workload" and by_kueue:
            each["spec"]["active"] = False
            evicted = {**ended, "type": "Evicted", "reason": "DeactivatedDueToRequeuingLimitExceeded"}
            each["status"] = {"conditions": [evicted]}
        elif each["kind"] == "Workload":
            each["status"]["conditions"].append({**ended, "type": "Finished", "reason": "Succeeded"})
        elif each["kind"] == "Job" and by_kueue:
            each["spec"]["suspend"] = True
            each["status"] = {}
        elif each["kind"] == "Job" and has_status:
            each["status"] = {"conditions": [FINISHED], "succeeded": 1}
        elif each["kind"] == "LocalQueue":
            each["status"] = {"conditions": [{"type": "Active", "status": "True", "lastTransitionTime": NOW}]}
    return cluster


def _kinds(cluster: list[Manifest]) -> list[str]:
    return sorted(each["kind"] for each in cluster if each["kind"] in ("Job", "Workload"))


@pytest.mark.parametrize(
    ("times", "left"),
    [
        pytest.param({"afterFinished": "1h"}, ["Job"], id="over"),
        pytest.param({"afterFinished": "3h"}, ["Job", "Workload"], id="not-yet"),
        pytest.param({"afterDeactivatedByKueue": "1h"}, ["Job", "Workload"], id="another-time"),
    ],
)
def test_finished_workloads_of_a_cluster_are_deleted(times: dict[str, str], left: list[str]) -> None:
    """Two hours after their end, by the newest time in the input."""
    assert _kinds(simulated(_text(times, *_ended("2025-09-17T12:00:00Z")))) == left


def test_a_workload_is_kept_if_its_job_has_no_status() -> None:
    """The input may lack it, and Kueue would not create another one."""
    cluster = _ended("2025-09-17T12:00:00Z", has_status=False)

    assert _kinds(simulated(_text({"afterFinished": "1h"}, *cluster))) == ["Job", "Workload"]


@pytest.mark.parametrize(
    ("time", "left"), [pytest.param("1h", [], id="over"), pytest.param("3h", ["Job", "Workload"], id="not-yet")]
)
def test_deactivated_work_of_a_cluster_is_deleted(time: str, left: list[str]) -> None:
    """With its Workload."""
    cluster = _ended("2025-09-17T12:00:00Z", by_kueue=True)

    assert _kinds(simulated(_text({"afterDeactivatedByKueue": time}, *cluster))) == left


@pytest.mark.parametrize(
    ("by_kueue", "step"),
    [
        pytest.param(
            False, "finished: Kueue deletes the Workload at 2025-09-17T15:00:00Z   [RETAIN-001]", id="finished"
        ),
        pytest.param(
            True, "deactivated: Kueue deletes the Job at 2025-09-17T15:00:00Z   [RETAIN-005]", id="deactivated"
        ),
    ],
)
def test_when_it_is_deleted_is_explained(by_kueue: bool, step: str) -> None:
    """With the requirement."""
    cluster = _ended("2025-09-17T12:00:00Z", by_kueue=by_kueue)
    text = _text({"afterFinished": "3h", "afterDeactivatedByKueue": "3h"}, *cluster)

    result = kueue_dra("explain", "-f", "-", "job/first", stdin=text)

    assert result.exit_code == 0, result.stderr
    assert step in result.stdout


@pytest.mark.parametrize(
    ("by_kueue", "times", "found"),
    [
        pytest.param(False, {"afterFinished": "1h"}, ["RETAIN-001"], id="finished"),
        pytest.param(False, {"afterFinished": "2h"}, [], id="finished-in-time"),
        pytest.param(True, {"afterDeactivatedByKueue": "1h"}, ["RETAIN-005"], id="deactivated"),
        pytest.param(True, {"afterFinished": "1h"}, [], id="deactivated-without-a-time"),
    ],
)
def test_an_audit_finds_what_is_overdue(by_kueue: bool, times: dict[str, str], found: list[str]) -> None:
    """Kueue should have deleted it."""
    text = _text(times, *_ended("2025-09-17T12:00:00Z", by_kueue=by_kueue))

    result = kueue_dra("audit", "-", "-o", "json", stdin=text)

    findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    retained = [each for each in findings if each["requirement"].startswith("RETAIN")]
    assert [each["requirement"] for each in retained] == found
    assert all(each["follows"] == "Kueue deletes it at 2025-09-17T13:00:00Z" for each in retained)


def test_finished_work_needs_no_workload() -> None:
    """It was deleted; the JobSet is not suspended and holds no quota."""
    done = {
        "type": "Completed",
        "status": "True",
        "reason": "AllJobsCompleted",
        "message": "",
        "lastTransitionTime": NOW,
    }
    meta = {"name": "set", "namespace": "team", "uid": "1", "labels": {"kueue.x-k8s.io/queue-name": "main"}}
    job_set = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {**meta, "creationTimestamp": "2025-09-17T12:00:00Z"},
        "spec": {"suspend": False, "replicatedJobs": []},
        "status": {"conditions": [done]},
    }
    integrations = {"integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]}}
    world = [*_ended("2025-09-17T12:00:00Z"), job_set, {**CONFIGURATION, **integrations}]

    result = kueue_dra("audit", "-", "-o", "json", stdin=yaml.safe_dump_all(world))

    assert [each for each in json.loads(result.stdout)["findings"] if each["object"] == "JobSet team/set"] == []


def test_a_negative_time_is_found(tmp_path: Any) -> None:
    """With its field, as Kueue prints it."""
    file = tmp_path / "config.yaml"
    file.write_text(_text({"afterFinished": "-5m"}), "utf-8")

    result = kueue_dra("config", "check", file)

    assert result.exit_code == 1
    assert "objectRetentionPolicies.workloads.afterFinished: Invalid value" in result.stdout + result.stderr
