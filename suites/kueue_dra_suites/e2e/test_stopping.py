"""Preemption, hold and drain stop real pods and free real devices (Kueue: preemption, stop policy)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import admitted

pytestmark = pytest.mark.profile("whole-device")

BY_PRIORITY = {"withinClusterQueue": "LowerPriority"}
IN_THE_COHORT = {"reclaimWithinCohort": "Any"}


def test_preemption_stops_the_pod_and_frees_the_device(site: NodeLab) -> None:
    """The Job of lower priority is suspended, its pod and claim are gone, and the other runs."""
    queue = site.queue({RESOURCE: 1}, preemption=BY_PRIORITY)
    low = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    low.runs()
    high = queue.submit(a_job(priority=2, claims=[a_template(gpu())]))

    high.runs()
    assert low.is_suspended()
    site.wait_equal(low.pods, [], "pods of the preempted Job")
    site.wait_equal(lambda: len(site.claims()), 1, "claims")


def test_the_preempted_runs_again(site: NodeLab) -> None:
    """When the other has ended, the preempted Job gets a new pod and a device."""
    queue = site.queue({RESOURCE: 1}, preemption=BY_PRIORITY)
    low = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    low.runs()
    high = queue.submit(a_job(priority=2, claims=[a_template(gpu())]))
    high.runs()
    high.end()

    low.runs()
    assert len(low.pods_ever()) == 2


@pytest.mark.devices(2)
def test_a_queue_takes_back_what_it_lent(site: NodeLab) -> None:
    """A Job on borrowed devices is stopped when their owner wants them."""
    owner = site.queue({RESOURCE: 2}, cohortName=site.cohort, preemption=IN_THE_COHORT)
    other = site.queue({RESOURCE: 0}, cohortName=site.cohort)
    borrower = other.submit(a_job(claims=[a_template(gpu(2))]))
    borrower.runs()
    job = owner.submit(a_job(claims=[a_template(gpu(2))]))

    job.runs()
    assert borrower.is_suspended()
    owner.uses({RESOURCE: "2"})
    other.uses({})


def test_a_drained_queue_stops_pods_and_resumes(site: NodeLab) -> None:
    """HoldAndDrain takes the pod and the device away; resumed, the Job runs again."""
    queue = site.queue({RESOURCE: 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    job.runs()
    queue.change(stopPolicy="HoldAndDrain")
    site.wait_equal(job.pods, [], "pods of the drained Job")
    site.wait_equal(site.claims, [], "claims")

    queue.change(stopPolicy="None")
    job.runs()
    assert job.verdict() == admitted({RESOURCE: 1})


def test_a_held_queue_leaves_what_runs(site: NodeLab) -> None:
    """Hold stops new work only."""
    queue = site.queue({RESOURCE: 2})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    job.runs()
    queue.change(stopPolicy="Hold")
    queue.submit(a_job(claims=[a_template(gpu())]))
    site.fence()

    job.runs()
    assert len(job.pods_ever()) == 1
    queue.uses({RESOURCE: "1"})
