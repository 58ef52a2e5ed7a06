"""ResourceClaims that are named directly are looked up and charged (Workloads, step 2, of April and July 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_direct_claim, a_job, a_pod_set, a_request, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict


@covers("DIRECT-001", "DIRECT-003")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(3, admitted({"whole-gpus": 3}), id="fits-exactly"),
        pytest.param(2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_claim_that_is_named_directly_is_charged(lab: Lab, quota: int, verdict: Verdict) -> None:
    """The spec of the claim says which devices are asked for, and how many."""
    queue = lab.queue({"whole-gpus": quota})
    lab.claim(a_template(gpu(3)), "a-claim", queue.namespace)
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert lab.verdict(job) == verdict


@covers("DET-002", "DIRECT-001")
def test_a_workload_with_nothing_but_a_direct_claim_is_a_device_workload(lab: Lab) -> None:
    """Without quota for its devices it waits, though it asks for no ordinary resource."""
    queue = lab.queue({"whole-gpus": 0})
    lab.claim(a_template(gpu()), "a-claim", queue.namespace)
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("DIRECT-003", "CLASS-002")
def test_every_request_of_a_direct_claim_is_looked_up(lab: Lab) -> None:
    """A class without a mapping makes the workload inadmissible, as in a template."""
    queue = lab.queue({"whole-gpus": 4})
    lab.claim(a_template(gpu(), a_request("unknown.example.com")), "a-claim", queue.namespace)
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("DIRECT-002", "DIRECT-005")
def test_a_claim_of_another_namespace_does_not_serve(lab: Lab) -> None:
    """The claim is looked up where the workload lives, and the message names it."""
    queue = lab.queue({"whole-gpus": 4})
    lab.claim(a_template(gpu()), "a-claim", lab.namespace())
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert lab.verdict(job) == inadmissible(Reason.NO_CLAIM)
    assert "a-claim" in lab.message(job)


@covers("DIRECT-006")
def test_a_workload_is_admitted_once_its_claim_comes(lab: Lab) -> None:
    """A claim that is missing may be made later."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_direct_claim("late")]))
    assert lab.verdict(job) == inadmissible(Reason.NO_CLAIM)

    lab.claim(a_template(gpu()), "late", queue.namespace)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("DIRECT-004", "CLAIM-004")
def test_direct_claims_and_templates_are_charged_together(lab: Lab) -> None:
    """Either kind of claim is read, in one pod."""
    queue = lab.queue({"whole-gpus": 5})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    job = queue.submit(a_job(claims=[a_direct_claim("a-claim"), a_template(gpu(3))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 5})


@covers("DIRECT-007")
@pytest.mark.parametrize("pods", [pytest.param(1, id="one-pod"), pytest.param(3, id="three-pods")])
def test_pods_share_a_direct_claim(lab: Lab, pods: int) -> None:
    """A claim exists once, so its devices are charged once; those of a template are each pod's own."""
    queue = lab.queue({"whole-gpus": 8})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    job = queue.submit(a_job(pods=pods, claims=[a_direct_claim("a-claim"), a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2 + pods})


@covers("DIRECT-007")
def test_fewer_pods_share_a_direct_claim(lab: Lab) -> None:
    """Of four pods with a device each, the three that fit are charged three devices and the two that they share."""
    queue = lab.queue({"whole-gpus": 5})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    job = queue.submit(a_job(pods=4, least=1, claims=[a_direct_claim("a-claim"), a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 5})


@covers("DIRECT-007")
def test_without_pods_a_direct_claim_is_free(lab: Lab) -> None:
    """Once no pod of the pod set that names the claim is left."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    leader = a_pod_set("leader", claims=[a_direct_claim("a-claim")])
    job = queue.submit(a_workload(leader, a_pod_set("workers", cpu="0")))
    other = queue.submit(a_job(claims=[a_template(gpu(2))]))
    assert lab.admission(other) is None

    lab.reclaim(job, leader=1)

    assert lab.verdict(other) == admitted({"whole-gpus": 2})


@covers("DIRECT-007")
def test_a_pod_set_without_pods_uses_no_direct_claim(lab: Lab) -> None:
    """The claim needs more devices than there are."""
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    leader = a_pod_set("leader", pods=0, claims=[a_direct_claim("a-claim")])
    job = queue.submit(a_workload(leader, a_pod_set("workers", cpu="1")))

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("DIRECT-007")
def test_pod_sets_share_a_direct_claim(lab: Lab) -> None:
    """A second pod set that names the claim adds nothing."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    leader = a_pod_set("leader", claims=[a_direct_claim("a-claim")])
    job = queue.submit(a_workload(leader, a_pod_set("workers", pods=2, claims=[a_direct_claim("a-claim")])))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
