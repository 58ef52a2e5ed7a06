"""Elastic work in ``simulate``, ``explain``, ``what-if``, and in the steps of a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kueue_dra_ref.behaviours import behaviour
from kueue_dra_ref.reference.target import ReferenceTarget
from kueue_dra_ref.scenarios.playback import replayed
from kueue_dra_ref.scenarios.scenario import Scenario
from kueue_dra_ref.target import Manifest
from tests.clusters_live.manifests import a_job, a_world
from tests.commands import kueue_dra
from tests.simulated import simulated
from tests.test_running_cluster import CONFIGURATION


def an_elastic_job(pods: int) -> Manifest:
    """Give an elastic Job, each pod of which requests one GPU."""
    job = a_job("train")
    job["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    job["spec"] |= {"parallelism": pods, "completions": 9}
    return job


def _simulated(*objects: Manifest) -> list[Manifest]:
    return simulated(yaml.safe_dump_all([*objects, CONFIGURATION]))


def _grown(pods: int) -> list[Manifest]:
    """Give a running cluster of four GPUs, in which an elastic Job of two pods has just got another number."""
    cluster = _simulated(*a_world(gpus=4), an_elastic_job(2))
    for each in cluster:
        if each["kind"] == "Job":
            each["spec"]["parallelism"] = pods
    return cluster


def _reserved(cluster: list[Manifest]) -> Any:
    (queue,) = (each for each in cluster if each["kind"] == "ClusterQueue")
    (flavor,) = queue["status"]["flavorsReservation"]
    return {each["name"]: each["total"] for each in flavor["resources"]}["whole-gpus"]


@pytest.mark.parametrize(
    ("pods", "workloads", "reserved"),
    [
        pytest.param(4, 2, "4", id="fits"),
        pytest.param(5, 2, "2", id="does-not-fit"),
        pytest.param(1, 1, "1", id="shrinks"),
    ],
)
def test_a_dump_of_a_job_of_another_size_goes_on(pods: int, workloads: int, reserved: str) -> None:
    """The reference creates the next Workload, or resizes the one that is there."""
    cluster = _simulated(*_grown(pods))

    assert sum(each["kind"] == "Workload" for each in cluster) == workloads
    assert _reserved(cluster) == reserved


def test_the_name_of_an_elastic_job_is_that_of_its_newest_workload() -> None:
    """The explanation says what that replaces, and does not count it as preempted."""
    stdin = yaml.safe_dump_all([*_simulated(*_grown(5)), CONFIGURATION])

    result = kueue_dra("explain", "-f", "-", "train", stdin=stdin)

    assert result.exit_code == 0, result.stderr
    assert "it replaces Workload team/job-train-" in result.stdout
    assert "whole-gpus 3 of 2 available: does not fit now" in result.stdout
    assert "is raised by 1, from 4 to 5" in result.stdout
    assert "preempt Job" not in result.stdout


def test_a_change_of_size_can_be_tried(tmp_path: Path) -> None:
    """Only the difference is needed."""
    cluster, change = tmp_path / "cluster.yaml", tmp_path / "change.yaml"
    cluster.write_text(yaml.safe_dump_all([*_simulated(*a_world(gpus=4), an_elastic_job(2)), CONFIGURATION]))
    change.write_text(yaml.safe_dump(an_elastic_job(4)))

    result = kueue_dra("what-if", cluster, "-f", change, "-o", "json")

    assert result.exit_code == 0, result.stderr
    quotas = json.loads(result.stdout)["quotas"]
    (devices,) = (each for each in quotas if each["resource"] == "whole-gpus")
    assert (devices["before"]["used"], devices["after"]["used"]) == ("2", "4")


def test_the_steps_of_a_scenario_observe_each_workload() -> None:
    """The newest one has the name of the Job, and those before it have numbers."""
    steps = [{"apply": [an_elastic_job(pods)]} for pods in (2, 3, 5)]
    scenario = Scenario(name="grows", configuration=CONFIGURATION, inventory=tuple(a_world(gpus=4)), steps=tuple(steps))

    observed = [each["workloads"] for each in replayed(scenario, ReferenceTarget(behaviour("kueue-0.19")))]

    assert [sorted(each) for each in observed] == [["train"], ["train", "train/1"], ["train", "train/1", "train/2"]]
    last = {name: each["QuotaReserved"]["status"] for name, each in observed[2].items()}
    assert last == {"train": "False", "train/1": "True", "train/2": "True"}
    assert observed[2]["train/2"]["admission"]["podSets"][0]["count"] == 3
