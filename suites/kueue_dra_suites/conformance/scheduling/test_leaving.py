"""The effect of deleting a pending workload on other pending workloads (Kueue 0.14 to 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(3, id="tried-again", marks=covers("QUEUE-055")),
        pytest.param(1, id="left-alone", marks=covers("QUEUE-056")),
    ],
)
def test_who_waits_beside_a_workload_that_is_deleted(lab: Lab, more: int) -> None:
    """It lacked one device when it was tried; since then two more are used, which its next message shows."""
    flavor = lab.flavor()
    queue = lab.queue(groups=[{flavor: {"whole-gpus": 4}}])
    queue.submit(a_job(claims=[a_template(gpu())]))
    waiting = queue.submit(a_job(claims=[a_template(gpu(4))]))
    queue.submit(a_job(claims=[a_template(gpu(2))]))
    beside = queue.submit(a_job(claims=[a_template(gpu(3))]))

    lab.delete(beside)

    short = f"insufficient unused quota for whole-gpus in flavor {flavor}, {more} more needed"
    assert lab.message(waiting) == f"couldn't assign flavors to pod set main: {short}"
