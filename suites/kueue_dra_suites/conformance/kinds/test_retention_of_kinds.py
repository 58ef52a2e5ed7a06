"""Retention: Kueue deletes deactivated work of each kind, and finished Workloads (Kueue, integrations)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_pod_set, a_template, gpu, work_of
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.manifests import KUEUE
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.pod_groups import a_group_of
from kueue_dra_ref.target import Ref

pytestmark = owns_kueue

CARDS = a_pod_set("workers", pods=2, claims=[a_template(gpu())])
CARD = a_pod_set("workers", claims=[a_template(gpu())])
SECOND = "1s"


def deactivate(lab: Lab, integrations: dict[str, Any]) -> None:
    """Run a Kueue that deactivates work whose pods are not ready after a second, and deletes it a second later."""
    waiting: dict[str, Any] = {"timeout": SECOND, "requeuingStrategy": {"backoffLimitCount": 0}}
    if next(iter(lab.behaviour.versions)).endswith("/v1beta1"):
        waiting |= {"enable": True, "blockAdmission": False}
    retention = {"workloads": {"afterDeactivatedByKueue": SECOND}}
    lab.start(integrations=integrations, waitForPodsReady=waiting, objectRetentionPolicies=retention)


@covers("RETAIN-005")
@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob", "RayCluster"])
def test_deactivated_work_of_a_kind_is_deleted(lab: Lab, kind: str) -> None:
    """Its pods were never ready."""
    deactivate(lab, frameworks.all_of(lab.behaviour.kueue))
    queue = lab.queue({"whole-gpus": 2})

    job = queue.submit(work_of(kind, CARDS))

    assert not lab.is_there(job.ref)
    assert lab.workloads(job) == []
    lab.seen.remove(job)
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-005")
@pytest.mark.parametrize("pods", [pytest.param(1, id="one"), pytest.param(2, id="two")])
def test_deactivated_pods_of_a_group_are_deleted(lab: Lab, pods: int) -> None:
    """All of them."""
    deactivate(lab, frameworks.WITH_PODS)
    queue = lab.queue({"whole-gpus": 2})

    group = a_group_of(lab, queue, a_pod_set("workers", pods=pods, claims=[a_template(gpu())]))

    assert [lab.is_there(Ref.of(pod)) for pod in group.pods] == [False] * pods
    assert lab.target.list(KUEUE, "Workload", queue.namespace) == []
    assert queue.figures.counts.reserving == 0


@covers("RETAIN-001", "RETAIN-003")
@pytest.mark.parametrize("kind", ["JobSet", "PyTorchJob", "Pod"])
def test_a_finished_workload_of_a_kind_is_deleted(lab: Lab, kind: str) -> None:
    """The work stays."""
    retention = {"workloads": {"afterFinished": SECOND}}
    integrations = frameworks.WITH_PODS if kind == "Pod" else frameworks.all_of(lab.behaviour.kueue)
    lab.start(integrations=integrations, objectRetentionPolicies=retention)
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(work_of(kind, CARD))

    lab.finish(job)

    assert lab.workloads(job) == []
    assert lab.is_there(job.ref)
    assert queue.figures.counts.reserving == 0
