"""Several resources of one flavor that can never fit: the one that the message names (Kueue 0.18 and 0.19)."""

from __future__ import annotations

import re

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers

NIC = "nic.example.com"


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(2, id="all", marks=covers("QUOTA-022")),
        pytest.param(1, id="one", marks=covers("QUOTA-023")),
    ],
)
def test_resources_that_can_never_be_had_are_told(lab: Lab, message: int) -> None:
    """Two mapped resources are missing; where the message names one of them, the choice is random."""
    queue = lab.queue({"whole-gpus": 1, "example.com/nics": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(2)), a_template(a_request(NIC, count=2))]))

    assert (
        len(re.findall(r"insufficient quota for (whole-gpus|example.com/nics) in flavor", lab.message(job))) == message
    )


@covers("QUEUE-023")
def test_an_equal_of_one_that_is_gone_is_told_for_itself(lab: Lab) -> None:
    """Kueue forgets the result of a deleted workload: it tries an equivalent one again."""
    queue = lab.queue({"whole-gpus": 1})
    gone = queue.submit(a_job(claims=[a_template(gpu(2))]))
    lab.delete(gone)
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert "insufficient quota for whole-gpus" in lab.message(job)
