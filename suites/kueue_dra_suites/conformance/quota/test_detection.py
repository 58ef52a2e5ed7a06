"""DRA detection: which workloads are charged for devices at all (Workload Processing Flow, step 1)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Template, a_direct_claim, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending


@covers("DET-001")
def test_a_claim_from_a_template_makes_a_device_workload(lab: Lab) -> None:
    """A pod that lists a ResourceClaimTemplate is charged for its devices, in a Job."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("DET-001")
def test_a_claim_from_a_template_makes_a_device_workload_of_a_plain_workload(lab: Lab) -> None:
    """A pod that lists a ResourceClaimTemplate is charged for its devices, in a Workload without a Job."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_workload(a_pod_set("main", claims=[a_template(gpu())])))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("DET-002", "CLAIM-001")
def test_a_claim_that_is_named_directly_makes_a_device_workload(lab: Lab) -> None:
    """A pod that lists a ResourceClaim is not taken for one without devices: it is refused, and never queued."""
    queue = lab.queue({"cpu": "4"})
    job = queue.submit(a_job(cpu="1", claims=[a_direct_claim()]))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)
    assert queue.figures.counts == WorkloadCounts()


@covers("DET-003")
@pytest.mark.parametrize(
    "quota",
    [
        pytest.param({"cpu": "4"}, id="devices-not-covered"),
        pytest.param({"cpu": "4", "whole-gpus": 0}, id="no-devices"),
        pytest.param({"cpu": "4", "whole-gpus": 8}, id="many-devices"),
    ],
)
def test_a_workload_without_claims_needs_ordinary_resources_only(lab: Lab, quota: dict[str, str | int]) -> None:
    """A workload without claims is charged no device, whatever the mappings and quotas say of devices."""
    queue = lab.queue(quota)
    job = queue.submit(a_job(cpu="3"))

    assert lab.verdict(job) == admitted({"cpu": "3"})


@covers("DET-003")
def test_a_workload_without_claims_waits_for_ordinary_resources(lab: Lab) -> None:
    """Free devices do not help a workload without claims whose CPU is short."""
    queue = lab.queue({"cpu": "2", "whole-gpus": 8})
    job = queue.submit(a_job(cpu="3"))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("DET-005")
@pytest.mark.parametrize(
    ("leader_claims", "worker_claims", "devices"),
    [
        pytest.param([a_template(gpu(2))], [], 2, id="first-pod-set-has-the-claim"),
        pytest.param([], [a_template(gpu(2))], 6, id="last-pod-set-has-the-claim"),
    ],
)
def test_one_pod_set_with_a_claim_makes_the_whole_a_device_workload(
    lab: Lab, leader_claims: list[Template], worker_claims: list[Template], devices: int
) -> None:
    """Kueue charges the ordinary resources of pod sets without claims, next to the one with a claim."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 8})
    leader = a_pod_set("leader", cpu="1", claims=leader_claims)
    workers = a_pod_set("workers", pods=3, cpu="2", claims=worker_claims)
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == admitted({"cpu": "7", "whole-gpus": devices})


@covers("DET-005", "DET-002", "CLAIM-002")
def test_one_pod_set_with_a_direct_claim_refuses_the_whole(lab: Lab) -> None:
    """A directly named claim in any pod set concerns the whole workload."""
    queue = lab.queue({"cpu": "8"})
    leader = a_pod_set("leader", cpu="1")
    workers = a_pod_set("workers", cpu="1", claims=[a_direct_claim()])
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == inadmissible(Reason.DIRECT_CLAIM)
