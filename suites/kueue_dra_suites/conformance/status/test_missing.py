"""Queues and flavors that do not exist, and their later arrival (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, unseen
from kueue_dra_ref.verdict import Verdict

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])
ONE_OF_EACH = {"cpu": 1, "whole-gpus": 1}


@covers("QUEUE-017", "STATUS-032")
def test_work_whose_local_queue_is_missing_is_inadmissible(lab: Lab) -> None:
    """The condition names the LocalQueue."""
    queue = lab.missing_queue()
    job = queue.submit(ORDINARY)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_MISSING)
    assert lab.condition(job, "QuotaReserved") == ("False", "Inadmissible")
    assert lab.message(job) == f"LocalQueue {queue.local} doesn't exist"


@covers("QUEUE-018", "STATUS-032")
def test_work_whose_cluster_queue_is_missing_is_inadmissible(lab: Lab) -> None:
    """The condition names the ClusterQueue."""
    queue = lab.local_queue(lab.name("missing"))
    job = queue.submit(ORDINARY)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_MISSING)
    assert lab.condition(job, "QuotaReserved") == ("False", "Inadmissible")
    assert lab.message(job) == f"ClusterQueue {queue.cluster} doesn't exist"


@covers("QUEUE-017", "STATUS-035")
def test_nothing_is_said_of_device_work_whose_local_queue_is_missing(lab: Lab) -> None:
    """Kueue retries to queue it and writes no condition; its Job stays suspended."""
    job = lab.missing_queue().submit(DEVICES)

    assert lab.verdict(job) == unseen()
    assert lab.conditions(job) == {}
    assert lab.is_suspended(job)


@covers("QUEUE-018", "STATUS-035")
def test_nothing_is_said_of_device_work_whose_cluster_queue_is_missing(lab: Lab) -> None:
    """Kueue retries to queue it and writes no condition; its Job stays suspended."""
    job = lab.local_queue(lab.name("missing")).submit(DEVICES)

    assert lab.verdict(job) == unseen()
    assert lab.conditions(job) == {}
    assert lab.is_suspended(job)


@covers("QUEUE-017")
@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="ordinary"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="devices"),
    ],
)
def test_work_is_admitted_once_its_local_queue_comes(lab: Lab, work: Work, verdict: Verdict) -> None:
    """Only the LocalQueue was missing."""
    queue = lab.missing_queue(lab.cluster_queue(ONE_OF_EACH))
    job = queue.submit(work)

    lab.local_queue(queue.cluster, queue.namespace, name=queue.local)

    assert lab.verdict(job) == verdict


@covers("QUEUE-032")
def test_done_work_is_not_queued_when_its_local_queue_comes(lab: Lab) -> None:
    """Another client ran it all the same; only the workload that still waits is admitted."""
    done, waiting = done_and_waiting(lab)

    assert lab.verdict(waiting) == admitted({"cpu": 1})
    assert lab.admission(done) is None


@covers("QUEUE-033")
def test_done_work_is_queued_when_its_local_queue_comes(lab: Lab) -> None:
    """It is admitted before the workloads that still wait."""
    done, waiting = done_and_waiting(lab)

    assert lab.verdict(waiting) == admitted({"cpu": 1})
    assert lab.admission(done) is not None


def done_and_waiting(lab: Lab) -> tuple[Job, Job]:
    """Two Jobs behind a LocalQueue that comes once the first of them is done; there is quota for both."""
    queue = lab.missing_queue(lab.cluster_queue({"cpu": 2}))
    done, waiting = queue.submit(ORDINARY), queue.submit(ORDINARY)
    lab.finish(done)
    lab.local_queue(queue.cluster, queue.namespace, name=queue.local)
    lab.settle()
    return done, waiting


@covers("QUEUE-018")
@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="ordinary"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="devices"),
    ],
)
def test_work_is_admitted_once_its_cluster_queue_comes(lab: Lab, work: Work, verdict: Verdict) -> None:
    """The LocalQueue was there before it."""
    queue = lab.local_queue(lab.name("late"))
    job = queue.submit(work)

    lab.cluster_queue(ONE_OF_EACH, name=queue.cluster)
    lab.settle()

    assert lab.verdict(job) == verdict


@covers("QUEUE-019", "STATUS-033")
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_a_missing_flavor_keeps_all_work_out(lab: Lab, work: Work) -> None:
    """Although another flavor of the ClusterQueue is there, and has room."""
    known, unknown = lab.flavor(), lab.name("unknown")
    queue = lab.queue(groups=[{known: ONE_OF_EACH, unknown: ONE_OF_EACH}])
    job = queue.submit(work)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert queue.figures.active == ("False", "FlavorNotFound")


@covers("QUEUE-019")
@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        pytest.param(ORDINARY, admitted({"cpu": 1}), id="ordinary"),
        pytest.param(DEVICES, admitted({"whole-gpus": 1}), id="devices"),
    ],
)
def test_work_is_admitted_once_the_flavor_comes(lab: Lab, work: Work, verdict: Verdict) -> None:
    """With its last flavor the ClusterQueue becomes active."""
    flavor = lab.name("late")
    queue = lab.queue(groups=[{flavor: ONE_OF_EACH}])
    job = queue.submit(work)

    lab.flavor(name=flavor)
    lab.settle()

    assert lab.verdict(job) == verdict


@covers("STATUS-015")
def test_quota_of_a_cluster_queue_that_does_not_exist(lab: Lab) -> None:
    """A client has written it; the ClusterQueue counts it once it is there."""
    name = lab.name("cq")
    queue = lab.local_queue(name)
    job = lab.submit_manifest(lab.written(a_workload(a_pod_set("main", cpu="1")), queue))
    flavor = lab.flavor()
    assigned = {"name": "main", "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "1"}, "count": 1}
    reserved = {
        "type": "QuotaReserved",
        "status": "True",
        "reason": "QuotaReserved",
        "message": "",
        "lastTransitionTime": "2025-09-17T12:00:00Z",
    }
    lab.write_status(job, admission={"clusterQueue": name, "podSetAssignments": [assigned]}, conditions=[reserved])

    lab.cluster_queue(name=name, groups=[{flavor: {"cpu": 2}}])
    lab.settle()

    assert queue.figures.counts.reserving == 1
