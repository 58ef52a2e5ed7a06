"""The whole status of queues: nothing is in it but what a case names (Kueue 0.19)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.cohorts import a_cohort
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_ref.target import Ref

STRATEGY = "LessThanOrEqualToFinalShare"


def status_of(lab: Lab, ref: Ref) -> dict[str, Any]:
    """The status of an object, its conditions by type and without times."""
    status = dict(lab.read(ref).get("status") or {})
    conditions = status.pop("conditions", [])
    status.pop("flavors", None)  # up to 0.14
    return {**status, **{each["type"]: (each["status"], each["reason"], each["message"]) for each in conditions}}


def listed(flavor: str, total: str, borrowed: str = "") -> list[dict[str, Any]]:
    """What a status lists of one flavor."""
    amount = {"name": "whole-gpus", "total": total, **({"borrowed": borrowed} if borrowed else {})}
    return [{"name": flavor, "resources": [amount]}]


@owns_kueue
@covers("STATUS-016")
@pytest.mark.parametrize("shared", [pytest.param(False, id="quota"), pytest.param(True, id="fair-sharing")])
def test_cluster_queues_and_cohorts(lab: Lab, shared: bool) -> None:
    """A share is only shown under fair sharing."""
    lab.start(fair_sharing=[STRATEGY] if shared else None)
    cohort = a_cohort(lab)
    cohort.write()
    cohort.queue({"whole-gpus": 2})
    queue = cohort.queue({"whole-gpus": 1})
    queue.submit(a_job(claims=[a_template(gpu(2))]))
    queue.submit(a_job(claims=[a_template(gpu(4))]))
    share = {"fairSharing": {"weightedShare": 334}} if shared else {}

    assert status_of(lab, queue.ref) == {
        "pendingWorkloads": 1,
        "reservingWorkloads": 1,
        "admittedWorkloads": 1,
        "flavorsReservation": listed(cohort.flavor, "2", "1"),
        "flavorsUsage": listed(cohort.flavor, "2", "1"),
        "Active": ("True", "Ready", "Can admit new workloads"),
        **share,
    }
    assert status_of(lab, cohort.ref) == ({"fairSharing": {"weightedShare": 0}} if shared else {})


@covers("STATUS-019")
def test_local_queues(lab: Lab) -> None:
    """One that is stopped counts nothing as pending, and one without a ClusterQueue lists nothing."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    queue.submit(a_job(claims=[a_template(gpu())]))
    beside = queue.beside()
    for each in (queue, beside):
        each.submit(a_job(claims=[a_template(gpu())]))
    beside.change_local(stopPolicy="Hold")
    lone = lab.local_queue(lab.name("missing"))

    assert status_of(lab, queue.local_ref) == {
        "pendingWorkloads": 1,
        "reservingWorkloads": 1,
        "admittedWorkloads": 1,
        "flavorsReservation": listed(flavor, "1"),
        "flavorsUsage": listed(flavor, "1"),
        "Active": ("True", "Ready", "Can submit new workloads to localQueue"),
    }
    assert status_of(lab, beside.local_ref) == {
        "pendingWorkloads": 0,
        "reservingWorkloads": 0,
        "admittedWorkloads": 0,
        "flavorsReservation": listed(flavor, "0"),
        "flavorsUsage": listed(flavor, "0"),
        "Active": ("False", "Stopped", "LocalQueue is stopped"),
    }
    assert status_of(lab, lone.local_ref) == {
        "pendingWorkloads": 0,
        "reservingWorkloads": 0,
        "admittedWorkloads": 0,
        "Active": ("False", "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue"),
    }
