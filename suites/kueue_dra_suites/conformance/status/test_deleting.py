"""ClusterQueues and ResourceFlavors that are deleted while they are in use (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.api.conditions import condition

ORDINARY = a_job(cpu="1")
DEVICES = a_job(claims=[a_template(gpu())])
ONE_OF_EACH = {"cpu": 1, "whole-gpus": 1}
WORK = [pytest.param(ORDINARY, id="ordinary"), pytest.param(DEVICES, id="devices")]


@covers("QUEUE-049")
@pytest.mark.parametrize("work", WORK)
def test_a_cluster_queue_stays_until_its_last_job_is_done(lab: Lab, work: Work) -> None:
    """Two hold quota; it goes with the second."""
    queue = lab.queue({"cpu": 2, "whole-gpus": 2})
    first, second = queue.submit(work), queue.submit(work)
    queue.delete()
    assert lab.is_there(queue.ref)

    lab.finish(first)
    assert lab.is_there(queue.ref)
    assert lab.condition(second, "Admitted") == ("True", "Admitted")

    lab.finish(second)
    assert not lab.is_there(queue.ref)


@covers("QUEUE-049")
def test_a_cluster_queue_stays_until_its_last_job_is_deleted(lab: Lab) -> None:
    """However quota is released."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(DEVICES)
    queue.delete()
    assert lab.is_there(queue.ref)

    lab.delete(job)

    assert not lab.is_there(queue.ref)


@covers("QUEUE-049", "STATUS-050")
def test_a_cluster_queue_without_reservations_goes_at_once(lab: Lab) -> None:
    """A pending workload does not keep the ClusterQueue, and is admitted when another one has its name."""
    queue = lab.queue({"cpu": 0})
    job = queue.submit(ORDINARY)

    queue.delete()
    assert not lab.is_there(queue.ref)
    assert lab.verdict(job) == inadmissible(Reason.QUEUE_MISSING)

    lab.cluster_queue({"cpu": 1}, name=queue.cluster)
    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("QUEUE-050")
@pytest.mark.parametrize("work", WORK)
def test_a_deleted_cluster_queue_admits_nothing_new(lab: Lab, work: Work) -> None:
    """Neither a pending workload nor a new one that would fit."""
    queue = lab.queue({"cpu": 2, "whole-gpus": 2})
    job = queue.submit(work)
    waiting = queue.submit(a_job(cpu="3"))
    queue.delete()
    later = queue.submit(work)

    assert lab.condition(job, "Admitted") == ("True", "Admitted")
    assert lab.verdict(waiting) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.verdict(later) == inadmissible(Reason.QUEUE_STOPPED)
    assert lab.message(later) == f"ClusterQueue {queue.cluster} is inactive"


@covers("QUEUE-051")
def test_a_deleted_cluster_queue_that_is_written_again_admits_nothing_and_goes(lab: Lab) -> None:
    """Written with a quota that would do: it is the same object, and goes with what holds its quota."""
    queue = lab.queue(groups=[{(flavor := lab.flavor()): {"cpu": 1}}])
    job, waiting = queue.submit(ORDINARY), queue.submit(ORDINARY)
    queue.delete()

    queue.regroup({flavor: {"cpu": 2}})
    assert lab.verdict(waiting) == inadmissible(Reason.QUEUE_STOPPED)

    lab.finish(job)
    assert not lab.is_there(queue.ref)


@covers("QUEUE-051")
def test_what_a_deleted_cluster_queue_is_given_is_not_lent(lab: Lab) -> None:
    """It lends what it had: of one CPU beyond its own, the borrower gets what is not in use."""
    flavor, cohort = lab.flavor(), lab.name("cohort")
    lender = lab.queue(groups=[{flavor: {"cpu": 2}}], cohortName=cohort)
    borrower = lab.queue(groups=[{flavor: {"cpu": 0}}], cohortName=cohort)
    job = lender.submit(ORDINARY)
    lender.delete()

    lender.regroup({flavor: {"cpu": 4}})
    too_much, enough = borrower.submit(a_job(cpu="2")), borrower.submit(ORDINARY)

    assert lab.verdict(too_much) == pending(Reason.NO_QUOTA)
    assert lab.verdict(enough) == admitted({"cpu": 1})
    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("QUEUE-052")
@pytest.mark.parametrize("work", WORK)
def test_a_deleted_cluster_queue_is_drained(lab: Lab, work: Work) -> None:
    """Kueue evicts its workload, and then the object is deleted."""
    queue = lab.queue(ONE_OF_EACH)
    job = queue.submit(work)
    queue.delete()

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.condition(job, "Evicted") == ("True", "ClusterQueueStopped")
    assert not lab.is_there(queue.ref)


@covers("QUEUE-053", "QUEUE-054")
@pytest.mark.parametrize("work", WORK)
def test_a_flavor_stays_until_no_cluster_queue_names_it(lab: Lab, work: Work) -> None:
    """It is given out until then."""
    flavor, other = lab.flavor(), lab.flavor()
    queue = lab.queue(groups=[{flavor: ONE_OF_EACH}])
    lab.remove(lab.flavor_ref(flavor))
    job = queue.submit(work)
    assert lab.is_there(lab.flavor_ref(flavor))
    assert set(lab.flavors(job)["main"].values()) == {flavor}

    queue.regroup({other: ONE_OF_EACH})

    assert not lab.is_there(lab.flavor_ref(flavor))


@covers("QUEUE-053")
def test_a_flavor_goes_with_the_cluster_queue_that_names_it(lab: Lab) -> None:
    """And that with its last reservation."""
    queue = lab.queue(groups=[{(flavor := lab.flavor()): {"cpu": 1}}])
    job = queue.submit(ORDINARY)
    lab.remove(lab.flavor_ref(flavor))
    queue.delete()
    assert lab.is_there(lab.flavor_ref(flavor))

    lab.finish(job)

    assert not lab.is_there(lab.flavor_ref(flavor))


@covers("QUEUE-053")
def test_a_flavor_that_nobody_names_goes_at_once(lab: Lab) -> None:
    """Nothing keeps it."""
    flavor = lab.flavor()
    lab.queue({"cpu": 1})

    lab.remove(lab.flavor_ref(flavor))

    assert not lab.is_there(lab.flavor_ref(flavor))


@covers("QUEUE-054")
def test_taints_that_a_deleted_flavor_is_given_keep_nobody_out(lab: Lab) -> None:
    """It counts as it was when it was deleted."""
    queue = lab.queue(groups=[{(flavor := lab.flavor()): {"cpu": 1}}])
    lab.remove(lab.flavor_ref(flavor))

    lab.change(lab.flavor_ref(flavor), nodeTaints=[{"key": "spot", "value": "yes", "effect": "NoSchedule"}])

    assert lab.verdict(queue.submit(ORDINARY)) == admitted({"cpu": 1})


@covers("STATUS-048")
def test_a_deleted_cluster_queue_says_that_it_is_terminating(lab: Lab) -> None:
    """It still counts its workloads, and its LocalQueue reports that it is inactive."""
    queue = lab.queue({"cpu": 1})
    queue.submit(ORDINARY)
    queue.delete()
    queue.submit(ORDINARY)

    assert queue.figures.active == ("False", "Terminating")
    said = condition(lab.read(queue.ref), "Active") or {}
    assert said["message"] == "Can't admit new workloads; clusterQueue is terminating"
    assert queue.figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)
    assert queue.local_figures.active == ("False", "ClusterQueueIsInactive")
    assert queue.local_figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)


@covers("STATUS-049")
def test_the_status_of_a_deleted_cluster_queue_stays_as_it_was(lab: Lab) -> None:
    """Only the LocalQueue counts a new workload."""
    queue = lab.queue({"cpu": 1})
    queue.submit(ORDINARY)
    assert queue.figures.active == ("True", "Ready")
    queue.delete()
    queue.submit(ORDINARY)

    assert queue.figures.active == ("True", "Ready")
    assert queue.figures.counts == WorkloadCounts(reserving=1, admitted=1)
    assert queue.local_figures.active == ("True", "Ready")
    assert queue.local_figures.counts == WorkloadCounts(pending=1, reserving=1, admitted=1)


@covers("STATUS-050")
def test_a_local_queue_says_when_its_deleted_cluster_queue_is_gone(lab: Lab) -> None:
    """It counts the pending workloads, and none of those that reserved quota."""
    queue = lab.queue({"cpu": 1})
    job, waiting = queue.submit(ORDINARY), queue.submit(ORDINARY)
    queue.delete()
    lab.finish(job)

    assert queue.local_figures.active == ("False", "ClusterQueueDoesNotExist")
    assert queue.local_figures.counts == WorkloadCounts(pending=1)
    assert lab.verdict(waiting) == inadmissible(Reason.QUEUE_MISSING)
