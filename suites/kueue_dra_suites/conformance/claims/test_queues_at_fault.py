"""Claims: Kueue reports a rejection before any problem with the queues (Kueue 0.19, workload reconcile)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_direct_claim, a_job, a_missing_template, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, inadmissible
from kueue_dra_ref.verdict import Verdict

REFUSED = pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        pytest.param(a_direct_claim(), inadmissible(Reason.DIRECT_CLAIM), id="direct-claim"),
        pytest.param(a_missing_template(), inadmissible(Reason.NO_TEMPLATE), id="missing-template"),
        pytest.param(a_template(a_request("fpga.example.com")), inadmissible(Reason.UNMAPPED), id="unmapped-class"),
    ],
)


@covers("CLAIM-019")
@REFUSED
def test_a_refusal_is_told_without_a_local_queue(lab: Lab, claim: ClaimOf, verdict: Verdict) -> None:
    """The LocalQueue need not exist."""
    job = lab.missing_queue().submit(a_job(claims=[claim]))

    assert lab.verdict(job) == verdict


@covers("CLAIM-019")
@REFUSED
def test_a_refusal_is_told_without_a_cluster_queue(lab: Lab, claim: ClaimOf, verdict: Verdict) -> None:
    """The ClusterQueue need not exist."""
    job = lab.local_queue("no-such-cluster-queue").submit(a_job(claims=[claim]))

    assert lab.verdict(job) == verdict


@covers("CLAIM-019")
@REFUSED
def test_a_refusal_is_told_while_the_cluster_queue_is_stopped(lab: Lab, claim: ClaimOf, verdict: Verdict) -> None:
    """The ClusterQueue need not run."""
    job = lab.queue({"whole-gpus": 4}, stopPolicy="Hold").submit(a_job(claims=[claim]))

    assert lab.verdict(job) == verdict


@covers("CLAIM-019")
@REFUSED
def test_a_refusal_is_told_while_the_local_queue_is_stopped(lab: Lab, claim: ClaimOf, verdict: Verdict) -> None:
    """The LocalQueue need not run."""
    job = lab.queue({"whole-gpus": 4}, local={"stopPolicy": "Hold"}).submit(a_job(claims=[claim]))

    assert lab.verdict(job) == verdict
