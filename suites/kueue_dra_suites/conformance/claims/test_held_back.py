"""Claims: workloads that were rejected before and now wait for quota, next to others (Kueue 0.14 to 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_missing_template, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import admitted


def submit_high_and_low(lab: Lab, *, swept: bool) -> tuple[Job, Job]:
    """Two Jobs that waited for one device: one of high priority whose template came late, and one of low priority.

    When ``swept``, something else came free before the device did.
    """
    queue = lab.queue({"whole-gpus": 1, "cpu": 8})
    holder = queue.submit(a_job(claims=[a_template(gpu())]))
    beside = queue.submit(a_job(cpu="1"))
    low = queue.submit(a_job(priority=1, claims=[a_template(gpu())]))
    high = queue.submit(a_job(priority=10, claims=[a_missing_template("gpus-to-come")]))
    lab.template(a_template(gpu()), "gpus-to-come", queue.namespace)
    lab.settle()
    if swept:
        lab.delete(beside)

    lab.delete(holder)
    return high, low


@covers("QUEUE-034")
@pytest.mark.parametrize("swept", [pytest.param(False, id="at-once"), pytest.param(True, id="after-a-sweep-in-vain")])
def test_one_sweep_brings_back_what_was_refused_before(lab: Lab, swept: bool) -> None:
    """The higher priority goes first; after a failed attempt, the lower one gets the quota that becomes free."""
    high, low = submit_high_and_low(lab, swept=swept)
    first, other = (low, high) if swept else (high, low)

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.admission(other) is None


@covers("QUEUE-035")
def test_no_sweep_brings_back_what_was_refused_before(lab: Lab) -> None:
    """The lower priority gets the released quota, though the template of the higher one exists already."""
    high, low = submit_high_and_low(lab, swept=False)

    assert lab.verdict(low) == admitted({"whole-gpus": 1})
    assert lab.admission(high) is None
