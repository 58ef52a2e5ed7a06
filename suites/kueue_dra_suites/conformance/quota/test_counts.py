"""Counting devices of one pod: requests, claims and classes add up (Workload Processing Flow, step 5)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("COUNT-001")
@pytest.mark.parametrize("count", [1, 7])
def test_a_request_is_charged_its_count(lab: Lab, count: int) -> None:
    """A request for n devices is charged n."""
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(claims=[a_template(gpu(count))]))

    assert lab.verdict(job) == admitted({"whole-gpus": count})


@covers("COUNT-002")
@pytest.mark.parametrize(
    "mode",
    [pytest.param(None, id="no-mode-either"), pytest.param("ExactCount", id="mode-exact-count")],
)
def test_a_request_without_a_count_is_charged_one(lab: Lab, mode: str | None) -> None:
    """A request that does not say how many is for one device."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(a_request(count=None, mode=mode))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COUNT-003", "CLASS-001")
@pytest.mark.parametrize(
    ("counts", "quota", "verdict"),
    [
        pytest.param([2, 1], 4, admitted({"whole-gpus": 3}), id="one-to-spare"),
        pytest.param([2, 1], 3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param([2, 1], 2, pending(Reason.NEVER_FITS), id="one-too-many"),
        pytest.param([1, 1, 1, 1], 4, admitted({"whole-gpus": 4}), id="four-requests"),
    ],
)
def test_requests_of_one_claim_add_up(lab: Lab, counts: list[int], quota: int, verdict: Verdict) -> None:
    """Counts of every request of a claim for one class add up before quota is checked."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(*map(gpu, counts))]))

    assert lab.verdict(job) == verdict


@covers("COUNT-004")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"whole-gpus": 4}), id="one-to-spare"),
        pytest.param(4, admitted({"whole-gpus": 4}), id="fits-exactly"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_claims_of_one_pod_add_up(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Devices of every claim of a pod add up before quota is checked."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(gpu(3)), a_template(gpu(1))]))

    assert lab.verdict(job) == verdict


@covers("COUNT-003", "COUNT-004")
def test_requests_and_claims_add_up_together(lab: Lab) -> None:
    """Several claims of several requests each are charged for all of them."""
    queue = lab.queue({"whole-gpus": 10})
    job = queue.submit(a_job(claims=[a_template(gpu(1), gpu(2)), a_template(gpu(3), gpu(4))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 10})


@covers("COUNT-005")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(6, admitted({"shared-gpus": 5}), id="one-to-spare"),
        pytest.param(5, admitted({"shared-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_classes_of_one_resource_add_up_in_a_claim(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Two classes that map to one resource draw on the same quota, also within one claim."""
    queue = lab.queue({"shared-gpus": quota})
    claim = a_template(
        a_request("ts-shard-gpus.example.com", count=2), a_request("sp-shared-gpus.example.com", count=3)
    )
    job = queue.submit(a_job(claims=[claim]))

    assert lab.verdict(job) == verdict


@covers("COUNT-005", "COUNT-004")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"shared-gpus": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_classes_of_one_resource_add_up_over_claims(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Two classes that map to one resource draw on the same quota, also when asked for by different claims."""
    queue = lab.queue({"shared-gpus": quota})
    sliced = a_template(a_request("ts-shard-gpus.example.com", count=4))
    partitioned = a_template(a_request("sp-shared-gpus.example.com", count=1))
    job = queue.submit(a_job(claims=[sliced, partitioned]))

    assert lab.verdict(job) == verdict


@covers("COUNT-005", "QUOTA-002")
def test_classes_of_one_resource_share_its_quota_between_workloads(lab: Lab) -> None:
    """Devices that a workload uses of one class are missing for another class of the same resource."""
    queue = lab.queue({"shared-gpus": 2})
    queue.submit(a_job(claims=[a_template(a_request("ts-shard-gpus.example.com", count=2))]))
    job = queue.submit(a_job(claims=[a_template(a_request("sp-shared-gpus.example.com"))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("COUNT-010")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(4, admitted({"whole-gpus": 4}), id="fits-exactly"),
        pytest.param(3, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_template_named_by_two_claims_is_charged_twice(lab: Lab, quota: int, verdict: Verdict) -> None:
    """Two claims from one template are two claims."""
    queue = lab.queue({"whole-gpus": quota})
    template = a_template(gpu(2))
    job = queue.submit(a_job(claims=[template, template]))

    assert lab.verdict(job) == verdict
