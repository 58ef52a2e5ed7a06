"""Quota: what fits the nominal quota is admitted, what does not waits (Workload Processing Flow, steps 5 to 7)."""

from __future__ import annotations

import pytest

from fixtures.builders import a_job, a_template, gpu
from fixtures.lab import Lab
from fixtures.marks import covers
from fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("QUOTA-001", "QUOTA-003", "QUOTA-004", "CLASS-001", "STATUS-003")
@pytest.mark.parametrize(
    ("asked", "quota", "verdict"),
    [
        pytest.param(1, 2, admitted({"whole-gpus": 1}), id="one-to-spare"),
        pytest.param(2, 2, admitted({"whole-gpus": 2}), id="fits-exactly"),
        pytest.param(3, 2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_devices_are_admitted_up_to_the_quota(lab: Lab, asked: int, quota: int, verdict: Verdict) -> None:
    """A workload is admitted when its devices fit the quota of the resource that their class maps to."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict
