"""Stop policies of ClusterQueues and LocalQueues (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, evicted, inadmissible, unseen

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])


@covers("QUEUE-008", "STATUS-033")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_a_stopped_cluster_queue_admits_nothing_new(lab: Lab, policy: str, work: Work) -> None:
    """A workload that is created after the stop stays pending, with a message."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1}, stopPolicy=policy)
    job = queue.submit(work)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.condition(job, "QuotaReserved") == ("False", "Inadmissible")


@covers("QUEUE-010", "STATUS-033")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_a_stopped_local_queue_admits_nothing_new(lab: Lab, policy: str) -> None:
    """A workload that is created after the stop stays pending, with a message."""
    queue = lab.queue({"cpu": 1}, local={"stopPolicy": policy})
    job = queue.submit(ORDINARY)

    assert lab.verdict(job) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.condition(job, "QuotaReserved") == ("False", "Inadmissible")


@covers("QUEUE-010", "STATUS-035")
@pytest.mark.parametrize("policy", ["Hold", "HoldAndDrain"])
def test_nothing_is_said_of_device_work_of_a_stopped_local_queue(lab: Lab, policy: str) -> None:
    """Kueue retries to queue it and writes no condition; it is counted nowhere."""
    queue = lab.queue({"whole-gpus": 1}, local={"stopPolicy": policy})
    job = queue.submit(DEVICES)

    assert lab.verdict(job) == unseen()
    assert lab.conditions(job) == {}
    assert queue.figures.counts == WorkloadCounts()


@covers("QUEUE-008")
def test_holding_a_cluster_queue_keeps_what_is_admitted(lab: Lab) -> None:
    """Only new work is held."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(DEVICES)

    queue.change(stopPolicy="Hold")
    later = queue.submit(DEVICES)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.verdict(later) == inadmissible(Reason.QUEUE_STOPPED)


@covers("QUEUE-008", "PREEMPT-028")
def test_holding_a_cluster_queue_leaves_why_a_victim_is_queued(lab: Lab) -> None:
    """The condition Requeued of a preempted workload stays when its queue is stopped."""
    queue = lab.queue({"whole-gpus": 1}, preemption={"withinClusterQueue": "LowerPriority"})
    victim = queue.submit(DEVICES)
    queue.submit(a_job(priority=10, claims=[a_template(gpu())]))

    queue.change(stopPolicy="Hold")

    assert lab.verdict(victim) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.condition(victim, "Requeued") == ("True", "Preempted")


@covers("QUEUE-010")
def test_holding_a_local_queue_keeps_what_is_admitted(lab: Lab) -> None:
    """Only new work of this LocalQueue is held; another of the same ClusterQueue goes on."""
    queue = lab.queue({"cpu": 2})
    other = lab.local_queue(queue.cluster)
    job = queue.submit(ORDINARY)

    queue.change_local(stopPolicy="Hold")
    held = queue.submit(ORDINARY)
    free = other.submit(ORDINARY)

    assert lab.verdict(job) == admitted({"cpu": 1})
    assert lab.verdict(held) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.verdict(free) == admitted({"cpu": 1})


@covers("QUEUE-009")
def test_draining_a_cluster_queue_evicts_every_workload(lab: Lab) -> None:
    """Those of all its LocalQueues, with devices or without."""
    queue = lab.queue({"cpu": 2, "whole-gpus": 2})
    other = lab.local_queue(queue.cluster)
    devices = queue.submit(DEVICES)
    ordinary = other.submit(ORDINARY)

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.verdict(devices) == evicted("ClusterQueueStopped")
    assert lab.verdict(ordinary) == evicted("ClusterQueueStopped")


@covers("QUEUE-011")
def test_draining_a_local_queue_evicts_its_own_workloads(lab: Lab) -> None:
    """Those of another LocalQueue stay."""
    queue = lab.queue({"whole-gpus": 2})
    other = lab.local_queue(queue.cluster)
    drained = queue.submit(DEVICES)
    kept = other.submit(DEVICES)

    queue.change_local(stopPolicy="HoldAndDrain")

    assert lab.verdict(drained) == evicted("LocalQueueStopped")
    assert lab.verdict(kept) == admitted({"whole-gpus": 1})


@covers("QUEUE-036")
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_draining_a_cluster_queue_waits_for_a_local_queue_that_is_held(lab: Lab, work: Work) -> None:
    """A LocalQueue that is held is not followed; whether what it admitted is evicted at its return is a race."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    queue.change_local(stopPolicy="Hold")

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")


@covers("QUEUE-036")
@pytest.mark.parametrize("work", [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")])
def test_draining_a_cluster_queue_waits_for_a_local_queue_that_is_gone(lab: Lab, work: Work) -> None:
    """Nor is one that was deleted."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)
    queue.delete_local()

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.condition(job, "Admitted") == ("True", "Admitted")
