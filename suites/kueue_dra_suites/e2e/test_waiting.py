"""Work that waits has no pod at all, and gets in when quota is freed (KEP-2941, story of a shared accelerator pool)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.node_work import NodeJob, NodeQueue
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("whole-device")


def has_no_pod(job: NodeJob) -> bool:
    """Whether the Job is suspended and never had a pod, by a watch that began before the Job was created."""
    return job.is_suspended() and job.pods_ever() == []


@pytest.mark.parametrize(
    ("quota", "spec", "work", "reason"),
    [
        pytest.param(
            {RESOURCE: 2}, {}, a_job(claims=[a_template(gpu(3))]), Reason.NEVER_FITS, id="more-than-the-quota"
        ),
        pytest.param({RESOURCE: 0}, {}, a_job(claims=[a_template(gpu())]), Reason.NEVER_FITS, id="no-quota"),
        pytest.param(
            {RESOURCE: 3}, {}, a_job(pods=2, claims=[a_template(gpu(2))]), Reason.NEVER_FITS, id="all-pods-or-none"
        ),
        pytest.param({}, {}, a_job(claims=[a_template(gpu())]), Reason.NOT_COVERED, id="resource-not-covered"),
        pytest.param(
            {RESOURCE: 2},
            {"cpu": "50m"},
            a_job(cpu="100m", claims=[a_template(gpu())]),
            Reason.NEVER_FITS,
            id="cpu-short",
        ),
    ],
)
def test_what_cannot_be_admitted_has_no_pod(
    site: NodeLab, quota: dict[str, Any], spec: dict[str, Any], work: Work, reason: Reason
) -> None:
    """The Job stays suspended, and no pod of it was ever created."""
    job = site.queue({**quota, **spec}).submit(work)
    job.becomes(pending(reason))

    assert has_no_pod(job)


def test_a_held_queue_starts_nothing(site: NodeLab) -> None:
    """A Job in a ClusterQueue on hold waits without a pod, and runs when the queue is resumed."""
    queue = site.queue({RESOURCE: 1}, stopPolicy="Hold")
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    site.fence()
    assert has_no_pod(job)

    queue.change(stopPolicy="None")
    job.runs()


def two_and_one(queue: NodeQueue) -> tuple[NodeJob, NodeJob, NodeJob]:
    """Two Jobs that take the whole quota, and a third that waits."""
    first, second = (queue.submit(a_job(claims=[a_template(gpu())])) for _ in range(2))
    first.runs()
    second.runs()
    third = queue.submit(a_job(claims=[a_template(gpu())]))
    third.becomes(pending(Reason.NO_QUOTA))
    assert has_no_pod(third)
    return first, second, third


@pytest.mark.devices(2)
def test_the_third_starts_when_one_ends(site: NodeLab) -> None:
    """A Job that ends releases its quota to the pending one, and its device to the next pod."""
    first, _, third = two_and_one(site.queue({RESOURCE: 2}))
    first.end()

    third.runs()
    assert third.verdict() == admitted({RESOURCE: 1})


@pytest.mark.devices(2)
def test_the_third_starts_when_one_is_deleted(site: NodeLab) -> None:
    """A Job that is deleted gives its quota back too."""
    first, _, third = two_and_one(site.queue({RESOURCE: 2}))
    first.delete()

    third.runs()


@pytest.mark.devices(3)
def test_the_third_starts_when_quota_is_added(site: NodeLab) -> None:
    """More quota admits pending workloads, and running ones continue."""
    queue = site.queue({RESOURCE: 2})
    first, second, third = two_and_one(queue)
    queue.resize({RESOURCE: 3})

    third.runs()
    assert [len(job.pods_ever()) for job in (first, second)] == [1, 1]
    queue.uses({RESOURCE: "3"})


@pytest.mark.devices(2)
def test_less_quota_leaves_what_runs(site: NodeLab) -> None:
    """Quota below the usage stops no workload, and admits none."""
    queue = site.queue({RESOURCE: 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))
    job.runs()
    queue.resize({RESOURCE: 1})
    late = queue.submit(a_job(claims=[a_template(gpu())]))

    late.becomes(pending(Reason.NO_QUOTA))
    assert has_no_pod(late)
    job.runs()


def test_two_queues_do_not_share(site: NodeLab) -> None:
    """Quota that one ClusterQueue has left is of no use to another outside its cohort."""
    site.queue({RESOURCE: 4})
    job = site.queue({RESOURCE: 1}).submit(a_job(claims=[a_template(gpu(2))]))

    job.becomes(pending(Reason.NEVER_FITS))
    assert has_no_pod(job)


@pytest.mark.devices(3)
def test_what_is_borrowed_is_a_real_device(site: NodeLab) -> None:
    """Within a cohort a Job runs on devices that another queue's quota pays for."""
    site.queue({RESOURCE: 4}, cohortName=site.cohort)
    queue = site.queue({RESOURCE: 1}, cohortName=site.cohort)
    job = queue.submit(a_job(claims=[a_template(gpu(3))]))

    job.runs()
    assert len(job.devices()) == 3
