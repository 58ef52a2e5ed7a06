"""Conditions of admitted, waiting and refused workloads (Kueue 0.19, scheduler and workload reconcile)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import (
    ClaimOf,
    Work,
    a_direct_claim,
    a_job,
    a_missing_template,
    a_request,
    a_template,
    gpu,
)
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(a_job(cpu="1"), id="ordinary"),
        pytest.param(a_job(claims=[a_template(gpu())]), id="devices"),
        pytest.param(a_job(cpu="1", claims=[a_template(gpu())]), id="both"),
    ],
)
@covers("STATUS-005", "STATUS-006")
def test_an_admitted_workload_says_that_quota_is_reserved_and_that_it_is_admitted(lab: Lab, work: Work) -> None:
    """Admission shows in two conditions, each with its own name as the reason."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)

    assert lab.conditions(job) == {"QuotaReserved": ("True", "QuotaReserved"), "Admitted": ("True", "Admitted")}


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        pytest.param(a_job(cpu="2"), Reason.NEVER_FITS, id="ordinary"),
        pytest.param(a_job(claims=[a_template(gpu(2))]), Reason.NEVER_FITS, id="devices"),
        pytest.param(
            a_job(claims=[a_template(a_request("nic.example.com"))]),
            Reason.NOT_COVERED,
            id="not-covered",
            marks=covers("QUOTA-005"),
        ),
    ],
)
@covers("STATUS-007", "STATUS-010")
def test_a_workload_that_waits_for_quota_says_that_it_is_pending(lab: Lab, work: Work, reason: Reason) -> None:
    """Waiting shows in one condition, which also says for what; nothing is assigned."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(work)

    assert lab.verdict(job) == pending(reason)
    assert lab.conditions(job) == {"QuotaReserved": ("False", "Pending")}
    assert lab.admission(job) is None


@covers("STATUS-007", "STATUS-010")
def test_a_workload_that_waits_for_another_says_that_it_is_pending(lab: Lab) -> None:
    """Quota that another workload uses makes a workload wait, as missing quota does."""
    queue = lab.queue({"whole-gpus": 1})
    queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.conditions(job) == {"QuotaReserved": ("False", "Pending")}
    assert lab.admission(job) is None


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(a_direct_claim(), id="direct-claim"),
        pytest.param(a_missing_template(), id="missing-template"),
        pytest.param(a_template(a_request("unmapped.example.com")), id="unmapped-class"),
        pytest.param(a_template(a_request(mode="All", count=None)), id="all-devices", marks=covers("CLAIM-010")),
    ],
)
@covers("STATUS-008", "STATUS-009", "STATUS-010")
def test_a_refused_workload_says_that_it_is_inadmissible_and_not_requeued(lab: Lab, claim: ClaimOf) -> None:
    """Refusal shows in two conditions with one reason, and nothing is assigned."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[claim]))

    assert lab.conditions(job) == {"QuotaReserved": ("False", "Inadmissible"), "Requeued": ("False", "Inadmissible")}
    assert lab.admission(job) is None


@covers("STATUS-030")
def test_a_direct_claim_is_told_as_not_supported_where_requeueing_is(lab: Lab) -> None:
    """Requeued of a workload that names a ResourceClaim says that such claims are not supported."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_direct_claim()]))

    assert lab.message(job, "Requeued") == "DRA resource claims not supported"
    assert lab.message(job, "QuotaReserved").endswith(" feature does not support use of resource claims")


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        pytest.param(
            a_missing_template("gone"), 'ResourceClaimTemplate.resource.k8s.io "gone" not found', id="missing"
        ),
        pytest.param(
            a_template(a_request("unmapped.example.com")),
            "is not mapped in DRA configuration",
            id="unmapped",
            marks=covers("CLAIM-035"),
        ),
    ],
)
@covers("STATUS-034")
def test_a_refusal_is_told_in_the_same_words_in_both_conditions(lab: Lab, claim: ClaimOf, words: str) -> None:
    """Why quota is not reserved is also why the workload is not requeued."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[claim]))

    assert words in lab.message(job, "Requeued")
    assert lab.message(job, "Requeued") == lab.message(job, "QuotaReserved")


@covers("STATUS-031")
def test_nothing_is_left_of_a_refusal_after_admission(lab: Lab) -> None:
    """A workload whose template came late carries the conditions of any other admitted one."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_missing_template("late")]))
    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)

    lab.template(a_template(gpu()), "late", queue.namespace)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
    assert lab.conditions(job) == {"QuotaReserved": ("True", "QuotaReserved"), "Admitted": ("True", "Admitted")}
