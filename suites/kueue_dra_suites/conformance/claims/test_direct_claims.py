"""Claims: Kueue does not admit a workload that names a ResourceClaim directly (Workload Processing Flow, step 3)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import (
    ClaimOf,
    a_direct_claim,
    a_job,
    a_missing_template,
    a_pod_set,
    a_template,
    a_workload,
    gpu,
)
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, inadmissible


@covers("CLAIM-001", "DET-002")
def test_a_direct_claim_is_refused(lab: Lab) -> None:
    """A workload that names a ResourceClaim is inadmissible, however much quota there is."""
    queue = lab.queue({"whole-gpus": 4, "cpu": 4})
    job = queue.submit(a_job(cpu="1", claims=[a_direct_claim()]))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)


@covers("CLAIM-001")
def test_a_direct_claim_that_exists_is_refused_too(lab: Lab) -> None:
    """It does not matter whether the ResourceClaim is there."""
    queue = lab.queue({"whole-gpus": 4})
    lab.claim(a_template(gpu()), "a-claim", queue.namespace)
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)


@covers("CLAIM-002")
@pytest.mark.parametrize(
    "claims",
    [
        pytest.param([a_direct_claim(), a_template(gpu())], id="direct-first"),
        pytest.param([a_template(gpu()), a_direct_claim()], id="template-first"),
    ],
)
def test_a_direct_claim_beside_a_template_is_refused(lab: Lab, claims: list[ClaimOf]) -> None:
    """One direct ResourceClaim is enough, wherever it stands."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)


@covers("CLAIM-002", "DET-002")
def test_a_direct_claim_in_one_of_several_pod_sets_is_refused(lab: Lab) -> None:
    """One pod set with a direct ResourceClaim keeps the whole workload out."""
    queue = lab.queue({"whole-gpus": 4, "cpu": 4})
    workers = a_pod_set("workers", claims=[a_template(gpu())])
    job = queue.submit(a_workload(workers, a_pod_set("driver", claims=[a_direct_claim()])))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)


@covers("CLAIM-003")
def test_the_refusal_of_a_direct_claim_says_so(lab: Lab) -> None:
    """The status says that resource claims are not supported."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_direct_claim()]))

    assert "does not support use of resource claims" in lab.message(job)


@covers("CLAIM-022")
@pytest.mark.parametrize(
    "claims",
    [
        pytest.param([a_missing_template(), a_direct_claim()], id="after-a-missing-template"),
        pytest.param([a_direct_claim(), a_missing_template()], id="before-a-missing-template"),
    ],
)
def test_a_direct_claim_is_told_before_templates_are_read(lab: Lab, claims: list[ClaimOf]) -> None:
    """A template that is not there is not looked for when a ResourceClaim is named directly."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)
