"""Pending workloads are admitted once there is quota: a workload is deleted or ends, or the quota is raised."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@pytest.mark.parametrize("strategy", ["StrictFIFO", "BestEffortFIFO"])
@covers("QUEUE-006", "QUOTA-002")
def test_a_waiting_workload_gets_in_after_a_deletion(lab: Lab, strategy: str) -> None:
    """The third workload waits, and is admitted once one of the first two is deleted."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy=strategy)
    first = queue.submit(a_job(claims=[a_template(gpu(1))]))
    second = queue.submit(a_job(claims=[a_template(gpu(1))]))
    third = queue.submit(a_job(claims=[a_template(gpu(1))]))
    waited = lab.verdict(third)

    lab.delete(first)

    assert waited == pending(Reason.NO_QUOTA)
    assert lab.verdict(third) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("QUEUE-007", "QUOTA-002")
def test_a_waiting_workload_gets_in_after_an_end(lab: Lab) -> None:
    """The second workload waits, and is admitted once the Job of the first completes."""
    queue = lab.queue({"whole-gpus": 2})
    first = queue.submit(a_job(claims=[a_template(gpu(2))]))
    second = queue.submit(a_job(claims=[a_template(gpu(1))]))
    waited = lab.verdict(second)

    lab.finish(first)

    assert waited == pending(Reason.NO_QUOTA)
    assert lab.verdict(second) == admitted({"whole-gpus": 1})


@covers("QUEUE-006", "QUOTA-002")
def test_too_small_a_release_does_not_help(lab: Lab) -> None:
    """A workload that still asks for more than what is left goes on waiting."""
    queue = lab.queue({"whole-gpus": 4})
    first = queue.submit(a_job(claims=[a_template(gpu(1))]))
    queue.submit(a_job(claims=[a_template(gpu(3))]))
    waiting = queue.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(first)

    assert lab.verdict(waiting) == pending(Reason.NO_QUOTA)


@covers("QUEUE-006")
def test_one_release_may_let_several_in(lab: Lab) -> None:
    """All workloads that fit the released quota are admitted."""
    queue = lab.queue({"whole-gpus": 3})
    held = queue.submit(a_job(claims=[a_template(gpu(3))]))
    first = queue.submit(a_job(claims=[a_template(gpu(1))]))
    second = queue.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(held)

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == admitted({"whole-gpus": 2})


@covers("QUOTA-021")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(2, pending(Reason.NEVER_FITS), id="still-one-too-few"),
        pytest.param(3, admitted({"whole-gpus": 3}), id="just-enough"),
    ],
)
def test_a_raised_quota_lets_a_waiting_workload_in(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Kueue admits a workload that could never fit when the quota is raised."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    job = queue.submit(a_job(claims=[a_template(gpu(3))]))

    queue.regroup({flavor: {"whole-gpus": quota}})

    assert lab.verdict(job) == verdict


@covers("QUOTA-021", "QUOTA-005")
def test_a_resource_that_comes_to_be_covered_lets_a_waiting_workload_in(lab: Lab) -> None:
    """Kueue admits a workload of an uncovered resource when the ClusterQueue covers the resource."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"cpu": "1"}}])
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))

    queue.regroup({flavor: {"cpu": "1", "whole-gpus": 1}})

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("QUOTA-002")
def test_a_lowered_quota_does_not_take_back(lab: Lab) -> None:
    """An admitted workload keeps its devices when the quota is lowered; the next workload stays pending."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 4}}])
    held = queue.submit(a_job(claims=[a_template(gpu(3))]))

    queue.regroup({flavor: {"whole-gpus": 2}})
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(held) == admitted({"whole-gpus": 3})
    assert lab.verdict(job) == pending(Reason.NO_QUOTA)
