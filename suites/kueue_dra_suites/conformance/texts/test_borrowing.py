"""Borrowing where each ClusterQueue names the device classes itself (April 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

GPU = "gpu.example.com"
FPGA = "fpga.example.com"


@covers("KIND-026", "COHORT-001")
@pytest.mark.parametrize(
    ("devices", "verdict"),
    [
        pytest.param(3, admitted({"single-gpu": 3}), id="all-of-both"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_queues_that_agree_on_a_name_lend_to_each_other(lab: Lab, devices: int, verdict: Verdict) -> None:
    """A ClusterQueue may borrow unused quota of another one under the same name."""
    flavor, cohort = lab.flavor(), lab.name("cohort")
    names = {"single-gpu": [GPU]}
    queue = lab.queue(groups=[{flavor: {"single-gpu": 1}}], classes=names, cohortName=cohort)
    lab.queue(groups=[{flavor: {"single-gpu": 2}}], classes=names, cohortName=cohort)
    job = queue.submit(a_job(claims=[a_template(gpu(devices))]))

    assert lab.verdict(job) == verdict


@covers("KIND-027")
def test_queues_that_name_a_class_differently_lend_nothing_of_it(lab: Lab) -> None:
    """Two names are two resources, though the devices behind them are the same."""
    flavor, cohort = lab.flavor(), lab.name("cohort")
    queue = lab.queue(groups=[{flavor: {"single-gpu": 1}}], classes={"single-gpu": [GPU]}, cohortName=cohort)
    lab.queue(groups=[{flavor: {"a100": 2}}], classes={"a100": [GPU]}, cohortName=cohort)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("KIND-028")
def test_a_name_of_two_meanings_is_lent_all_the_same(lab: Lab) -> None:
    """One queue borrows for its own class what the other has for another class: the text does not keep them apart."""
    flavor, cohort = lab.flavor(), lab.name("cohort")
    queue = lab.queue(groups=[{flavor: {"accelerators": 1}}], classes={"accelerators": [GPU]}, cohortName=cohort)
    other = lab.queue(groups=[{flavor: {"accelerators": 2}}], classes={"accelerators": [FPGA]}, cohortName=cohort)
    borrower = queue.submit(a_job(claims=[a_template(gpu(3))]))
    owner = other.submit(a_job(claims=[a_template(a_request(FPGA))]))

    assert lab.verdict(borrower) == admitted({"accelerators": 3})
    assert lab.verdict(owner) == pending(Reason.NO_QUOTA)
