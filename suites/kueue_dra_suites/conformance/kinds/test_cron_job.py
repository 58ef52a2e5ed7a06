"""CronJobs: each Job that one makes is queued by itself (Kueue, jobframework)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures import frameworks
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.manifests import QUEUE_LABEL, marked, owned
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.api.job_kinds import with_suspend
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

NIGHTLY = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly", "uid": "00000000-0000-0000-0000-000000000002"},
}


def made_by_a_cron_job(lab: Lab, queue: Queue, *, pods: int = 1, named: bool = True) -> Job:
    """A Job as the CronJob controller makes it: owned, running, with the labels of its template."""
    written = lab.written(a_job(pods=pods, claims=[a_template(gpu(2))]), queue)
    made = owned(with_suspend(written, False), NIGHTLY)
    return lab.submit_manifest(made if named else marked(made, {QUEUE_LABEL: None}))


@pytest.mark.parametrize(
    ("pods", "quota", "verdict"),
    [
        pytest.param(2, 5, admitted({"whole-gpus": 4}), id="one-to-spare"),
        pytest.param(2, 4, admitted({"whole-gpus": 4}), id="fits-exactly"),
        pytest.param(2, 3, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
@covers("WORK-033")
def test_a_job_of_a_cron_job_is_charged(lab: Lab, pods: int, quota: int, verdict: Verdict) -> None:
    """Kueue does not know CronJobs, so that the Job stands alone."""
    queue = lab.queue({"whole-gpus": quota})
    job = made_by_a_cron_job(lab, queue, pods=pods)

    assert lab.verdict(job) == verdict
    assert lab.is_suspended(job) is (verdict == pending(Reason.NEVER_FITS))


@covers("WORK-033")
def test_the_next_job_waits_for_the_last(lab: Lab) -> None:
    """Each takes quota of its own, until it has completed."""
    queue = lab.queue({"whole-gpus": 2})
    first = made_by_a_cron_job(lab, queue)
    second = made_by_a_cron_job(lab, queue)
    assert lab.verdict(second) == pending(Reason.NO_QUOTA)

    lab.finish(first)

    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("WORK-033")
def test_a_job_without_a_queue_name_is_not_queued(lab: Lab) -> None:
    """The labels of the CronJob itself do not count."""
    queue = lab.queue({"whole-gpus": 2})
    job = made_by_a_cron_job(lab, queue, named=False)

    assert not lab.workloads(job)
    assert not lab.is_suspended(job)


@covers("WORK-033")
def test_with_all_work_managed_each_job_is_queued(lab: Lab) -> None:
    """The owner is none that Kueue would queue instead."""
    lab.start(integrations=frameworks.all_of(lab.behaviour.kueue), manageJobsWithoutQueueName=True)
    queue = lab.queue({"whole-gpus": 2})
    job = made_by_a_cron_job(lab, queue, named=False)

    assert lab.verdict(job) in {unseen(), pending(Reason.QUEUE_MISSING)}
    assert lab.is_suspended(job)


@covers("WORK-033")
def test_a_job_of_a_cron_job_gets_the_default_queue(lab: Lab) -> None:
    """Unlike work whose controller is of a kind that Kueue queues."""
    queue = lab.local_queue(lab.cluster_queue({"whole-gpus": 2}), name="default")
    job = made_by_a_cron_job(lab, queue, named=False)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
