"""Eviction: why quota is taken back, when it is free again, and deactivated workloads (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, pending

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])


@covers("STATUS-027", "QUEUE-009")
def test_eviction_by_a_drained_cluster_queue_is_told(lab: Lab) -> None:
    """The condition says that the ClusterQueue was stopped."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.verdict(job) == evicted("ClusterQueueStopped")
    assert lab.condition(job, "Evicted") == ("True", "ClusterQueueStopped")
    assert lab.message(job, "Evicted") == "The ClusterQueue is stopped"


@covers("STATUS-027", "QUEUE-009")
def test_evictions_of_one_reason_are_counted(lab: Lab) -> None:
    """The status has each reason once."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    for policy in ("HoldAndDrain", "None", "HoldAndDrain"):
        queue.change(stopPolicy=policy)

    assert lab.evictions(job) == [("ClusterQueueStopped", "", 2)]


@covers("STATUS-027", "QUEUE-011")
def test_eviction_by_a_drained_local_queue_is_told(lab: Lab) -> None:
    """The condition says that the LocalQueue was stopped."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    queue.change_local(stopPolicy="HoldAndDrain")

    assert lab.verdict(job) == evicted("LocalQueueStopped")
    assert lab.condition(job, "Evicted") == ("True", "LocalQueueStopped")
    assert lab.message(job, "Evicted") == "The LocalQueue is stopped"


@covers("STATUS-027", "QUEUE-020")
def test_eviction_by_deactivation_is_told(lab: Lab) -> None:
    """The condition says that the workload was deactivated."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.activate(job, False)

    assert lab.verdict(job) == evicted("Deactivated")
    assert lab.condition(job, "Evicted") == ("True", "Deactivated")
    assert lab.message(job, "Evicted") == "The workload is deactivated"


@covers("STATUS-026", "STATUS-028")
def test_quota_is_given_back_when_the_pods_are_gone(lab: Lab) -> None:
    """While pods of an evicted Job run, their devices are taken, so the admission stands."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 2}}])
    job = queue.submit(a_job(pods=2, claims=[a_template(gpu())]))
    lab.run(job, pods=2)

    queue.change(stopPolicy="HoldAndDrain")
    assert lab.condition(job, "Evicted") == ("True", "ClusterQueueStopped")
    assert lab.condition(job, "QuotaReserved") == ("True", "QuotaReserved")
    assert lab.workload(job)["status"]["admission"]["clusterQueue"] == queue.cluster
    assert queue.figures.reserved == {flavor: {"whole-gpus": "2"}}

    lab.run(job, pods=0)
    assert lab.admission(job) is None
    assert lab.condition(job, "Admitted") == ("False", "NoReservation")
    assert lab.verdict(job) == evicted("ClusterQueueStopped")
    assert queue.figures.reserved == {flavor: {"whole-gpus": "0"}}


@covers("STATUS-026", "QUEUE-009")
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_quota_is_given_back_at_once_without_pods(lab: Lab, work: Work) -> None:
    """A Job that has not started a pod holds nothing after its eviction; it is counted as waiting."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.admission(job) is None
    assert lab.condition(job, "Admitted") == ("False", "NoReservation")
    assert queue.figures.counts == WorkloadCounts(pending=1)


@covers("QUEUE-020")
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_a_workload_that_is_deactivated_while_it_waits_is_not_admitted(lab: Lab, work: Work) -> None:
    """It stays out although quota has come free."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    first = queue.submit(work)
    second = queue.submit(work)

    lab.activate(second, False)
    lab.delete(first)

    assert lab.admission(second) is None
    assert lab.verdict(second) == evicted("Deactivated")
    assert queue.figures.counts == WorkloadCounts()


@covers("QUEUE-020", "STATUS-028")
def test_the_quota_of_a_deactivated_workload_is_free_for_the_next(lab: Lab) -> None:
    """The pending workload is admitted."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.activate(first, False)

    assert lab.verdict(first) == evicted("Deactivated")
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("QUEUE-021")
@pytest.mark.parametrize(
    ("work", "requeued"),
    [
        pytest.param(ORDINARY, {"Requeued": ("True", "Reactivated")}, id="ordinary"),
        pytest.param(DEVICES, {}, id="devices"),
    ],
)
def test_a_workload_that_is_made_active_again_is_admitted(
    lab: Lab, work: Work, requeued: dict[str, tuple[str, str]]
) -> None:
    """It fits, so it gets its quota back; its eviction is over. Of device work Kueue 0.19 forgets Requeued."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    lab.activate(job, False)
    assert lab.verdict(job) == evicted("Deactivated")

    lab.activate(job, True)

    assert lab.conditions(job) == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("True", "Admitted"),
        "Evicted": ("False", "QuotaReserved"),
        **requeued,
    }


@covers("QUEUE-021")
def test_a_workload_that_is_made_active_again_waits_when_it_does_not_fit(lab: Lab) -> None:
    """Its quota has gone to another meanwhile."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    lab.activate(first, False)
    second = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.activate(first, True)

    assert lab.verdict(first) == pending(Reason.NO_QUOTA)
    assert lab.verdict(second) == admitted({"whole-gpus": 1})
