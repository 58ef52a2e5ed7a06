"""Claims that are allocated already: the map admittedResourceClaims (Workloads, step 4.1, of July 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_direct_claim, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

CLAIM = a_direct_claim("a-claim")


@covers("REUSE-001", "REUSE-002")
def test_a_claim_in_use_is_not_charged_again(lab: Lab) -> None:
    """The second workload is admitted although the first has used up the quota, and uses nothing of it."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)
    first = queue.submit(a_job(claims=[CLAIM]))
    second = queue.submit(a_job(claims=[CLAIM]))

    assert lab.verdict(first) == admitted({"whole-gpus": 2})
    assert lab.verdict(second) == admitted()


@covers("REUSE-003")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="quota-there"),
        pytest.param(1, pending(Reason.NEVER_FITS), id="too-little-there"),
    ],
)
def test_another_cluster_queue_charges_the_claim(lab: Lab, quota: int, verdict: object) -> None:
    """Kueue enforces quota between ClusterQueues, whichever workload was charged for the claim elsewhere."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)
    queue.submit(a_job(claims=[CLAIM]))
    other = lab.queue({"whole-gpus": quota}, namespace=queue.namespace)

    assert lab.verdict(other.submit(a_job(claims=[CLAIM]))) == verdict


@covers("REUSE-004")
def test_a_claim_of_the_same_name_elsewhere_is_another_claim(lab: Lab) -> None:
    """Namespace and name together make the claim, also inside one ClusterQueue."""
    queue = lab.queue({"whole-gpus": 3})
    elsewhere = lab.local_queue(queue.cluster)
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)
    lab.claim(a_template(gpu(1)), "a-claim", elsewhere.namespace, allocated=True)
    queue.submit(a_job(claims=[CLAIM]))

    assert lab.verdict(elsewhere.submit(a_job(claims=[CLAIM]))) == admitted({"whole-gpus": 1})


@covers("REUSE-001")
def test_another_local_queue_of_the_cluster_queue_uses_the_claim_too(lab: Lab) -> None:
    """The key names the ClusterQueue, not the LocalQueue."""
    queue = lab.queue({"whole-gpus": 1})
    lab.claim(a_template(gpu()), "a-claim", queue.namespace, allocated=True)
    queue.submit(a_job(claims=[CLAIM]))
    beside = lab.local_queue(queue.cluster, queue.namespace)

    assert lab.verdict(beside.submit(a_job(claims=[CLAIM]))) == admitted()


@covers("REUSE-005")
def test_a_claim_that_is_not_allocated_is_charged_to_everyone(lab: Lab) -> None:
    """Only what is allocated is known to be shared."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace)
    queue.submit(a_job(claims=[CLAIM]))

    assert lab.verdict(queue.submit(a_job(claims=[CLAIM]))) == pending(Reason.NO_QUOTA)


@covers("REUSE-006")
def test_an_allocated_claim_that_nobody_here_uses_is_charged(lab: Lab) -> None:
    """A claim may have been allocated without Kueue."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)

    assert lab.verdict(queue.submit(a_job(claims=[CLAIM]))) == admitted({"whole-gpus": 2})


@covers("REUSE-007")
@pytest.mark.parametrize(
    ("cpu", "verdict"),
    [
        pytest.param("1", admitted({"cpu": 1, "whole-gpus": 1}), id="the-rest-fits"),
        pytest.param("2", pending(Reason.NO_QUOTA), id="the-rest-does-not"),
    ],
)
def test_what_a_workload_asks_for_beside_the_claim_is_charged(lab: Lab, cpu: str, verdict: object) -> None:
    """Its other claims and its ordinary resources have to fit."""
    queue = lab.queue({"cpu": 2, "whole-gpus": 3})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)
    queue.submit(a_job(cpu="1", claims=[CLAIM]))
    job = queue.submit(a_job(cpu=cpu, claims=[CLAIM, a_template(gpu())]))

    assert lab.verdict(job) == verdict


@covers("REUSE-008")
def test_once_nobody_uses_the_claim_it_is_charged_again(lab: Lab) -> None:
    """With the last workload that uses it a claim leaves the map."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu(2)), "a-claim", queue.namespace, allocated=True)
    lab.finish(queue.submit(a_job(claims=[CLAIM])))

    assert lab.verdict(queue.submit(a_job(claims=[CLAIM]))) == admitted({"whole-gpus": 2})
