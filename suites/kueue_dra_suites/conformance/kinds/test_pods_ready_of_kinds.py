"""WaitForPodsReady: what tells that the pods of each kind of work are ready (Kueue, integrations)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import STARTED
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.pod_groups import PodGroup, a_group_of
from kueue_dra_ref.api.conditions import condition
from kueue_dra_ref.target import Ref

pytestmark = owns_kueue

CARDS = a_pod_set("workers", pods=2, claims=[a_template(gpu())])
CARD = a_pod_set("workers", claims=[a_template(gpu())])
WAITS, READY = ("False", "WaitForStart"), ("True", "Started")
FIRST = "config.kueue.x-k8s.io/v1beta1"


def wait_for_pods(lab: Lab, integrations: dict[str, Any]) -> None:
    """Run a Kueue that waits for pods for ten minutes."""
    section: dict[str, Any] = {"timeout": "10m", "blockAdmission": False}
    if next(iter(lab.behaviour.versions)) == FIRST:
        section["enable"] = True
    lab.start(integrations=integrations, waitForPodsReady=section)


@pytest.fixture(autouse=True)
def every_kind(lab: Lab) -> None:
    """Kueue runs with every framework, and waits for pods."""
    wait_for_pods(lab, frameworks.all_of(lab.behaviour.kueue))


def true(kind: str) -> dict[str, Any]:
    """A status with a condition."""
    shown = {"type": kind, "status": "True", "reason": "Case", "message": "", "lastTransitionTime": STARTED}
    return {"conditions": [shown]}


@covers("READY-024", "READY-002")
@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        pytest.param(
            "JobSet",
            {
                "replicatedJobsStatus": [
                    {"name": "workers", "ready": 1, "succeeded": 0, "failed": 0, "active": 2, "suspended": 0}
                ]
            },
            {
                "replicatedJobsStatus": [
                    {"name": "workers", "ready": 1, "succeeded": 1, "failed": 0, "active": 1, "suspended": 0}
                ]
            },
            id="jobset",
        ),
        pytest.param("PyTorchJob", true("Created"), true("Running"), id="pytorchjob"),
        pytest.param("MPIJob", true("Created"), true("Running"), id="mpijob"),
        pytest.param("RayCluster", {"state": "suspended"}, {"state": "ready"}, id="raycluster"),
        pytest.param(
            "RayJob",
            {"jobDeploymentStatus": "Initializing"},
            {"jobDeploymentStatus": "Running", "rayClusterStatus": {"state": "ready"}},
            id="rayjob",
        ),
        pytest.param("AppWrapper", true("QuotaReserved"), true("PodsReady"), id="appwrapper"),
    ],
)
def test_the_status_of_the_work_tells(lab: Lab, kind: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Not ready first, then ready."""
    job = lab.queue({"whole-gpus": 4}).submit(work_of(kind, CARDS))

    lab.report(job, **before)
    assert lab.pods_ready(job) == WAITS

    lab.report(job, **after)
    assert lab.pods_ready(job) == READY


def reported(group: PodGroup) -> tuple[str, str]:
    """Status and reason of PodsReady of a group."""
    found = condition(group.workload, "PodsReady")
    assert found is not None
    return found["status"], found["reason"]


def run(lab: Lab, group: PodGroup, *numbers: int) -> None:
    """Act as the kubelet: some pods of a group run, and are ready."""
    for number in numbers:
        pod = lab.read(Ref.of(group.pods[number]))
        lab.apply({**pod, "status": {"phase": "Running", **true("Ready")}})
    lab.settle()


@pytest.fixture
def with_pods(lab: Lab) -> None:
    """Kueue runs with pods."""
    wait_for_pods(lab, frameworks.WITH_PODS)


@covers("READY-024")
@pytest.mark.usefixtures("with_pods")
def test_all_pods_of_a_group_have_to_be_ready(lab: Lab) -> None:
    """One of two is not enough."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), CARDS)
    assert reported(group) == WAITS

    run(lab, group, 0)
    assert reported(group) == WAITS

    run(lab, group, 1)
    assert reported(group) == READY


@covers("READY-025")
@pytest.mark.usefixtures("with_pods")
def test_a_group_is_not_ready_before_all_its_pods_are_there(lab: Lab) -> None:
    """It is admitted with the first of two pods."""
    group = a_group_of(lab, lab.queue({"whole-gpus": 2}), CARD, total=2, fast=True)
    run(lab, group, 0)
    assert reported(group) == WAITS

    group.add(CARD)
    run(lab, group, 1)
    assert reported(group) == READY
