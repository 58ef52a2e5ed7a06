"""Counting over pods: the number of pods, several pod sets, none, and pods that need their quota no more (step 5)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("COUNT-006")
@pytest.mark.parametrize(
    ("pods", "quota", "verdict"),
    [
        pytest.param(1, 2, admitted({"whole-gpus": 2}), id="one-pod"),
        pytest.param(3, 7, admitted({"whole-gpus": 6}), id="one-to-spare"),
        pytest.param(3, 6, admitted({"whole-gpus": 6}), id="fits-exactly"),
        pytest.param(3, 5, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_devices_are_charged_for_each_pod(lab: Lab, pods: int, quota: int, verdict: Verdict) -> None:
    """Each pod of a Job gets claims of its own, so its charge is multiplied by the number of pods."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(pods=pods, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@covers("COUNT-006", "COUNT-004", "COUNT-018")
def test_every_claim_and_the_cpu_are_charged_for_each_pod(lab: Lab) -> None:
    """Several claims and ordinary requests are multiplied alike."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 8, "example.com/nics": 8})
    nics = a_template(a_request("nic.example.com", count=1))
    job = queue.submit(a_job(pods=3, cpu="500m", claims=[a_template(gpu(2)), nics]))

    assert lab.verdict(job) == admitted({"cpu": "1500m", "whole-gpus": 6, "example.com/nics": 3})


@covers("QUOTA-030")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(4, admitted({"pods": 3, "whole-gpus": 6}), id="one-to-spare"),
        pytest.param(3, admitted({"pods": 3, "whole-gpus": 6}), id="fits-exactly"),
        pytest.param(2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_pods_are_counted_where_they_are_covered(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A ClusterQueue may have quota for pods, though pods do not request it; without it Kueue does not count them."""
    queue = lab.queue({"pods": quota, "whole-gpus": 6})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param({"whole-gpus": "6"}, id="devices-alone", marks=covers("STATUS-039")),
        pytest.param({"whole-gpus": "6", "pods": "3"}, id="with-the-pods", marks=covers("STATUS-040")),
    ],
)
def test_what_a_waiting_job_asks_for_is_shown(lab: Lab, shown: dict[str, str]) -> None:
    """Whether the pods that are counted are among it depends on the release."""
    queue = lab.queue({"pods": 2, "whole-gpus": 6})
    job = queue.submit(a_job(pods=3, claims=[a_template(gpu(2))]))

    assert lab.requests(job) == [{"name": "main", "resources": shown}]


@covers("COUNT-011", "COUNT-006")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(9, admitted({"whole-gpus": 8}), id="one-to-spare"),
        pytest.param(8, admitted({"whole-gpus": 8}), id="fits-exactly"),
        pytest.param(7, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_pod_sets_add_up(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A workload of several pod sets needs the sum of what each of them asks for."""
    queue = lab.queue({"whole-gpus": quota})
    leader = a_pod_set("leader", claims=[a_template(gpu(2))])
    workers = a_pod_set("workers", pods=2, claims=[a_template(gpu(3))])
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == verdict


@covers("COUNT-011")
def test_pod_sets_that_name_one_template_are_charged_each(lab: Lab) -> None:
    """Each pod of each pod set gets a claim of its own from the template."""
    queue = lab.queue({"whole-gpus": 6})
    template = a_template(gpu(2))
    leader = a_pod_set("leader", claims=[template])
    workers = a_pod_set("workers", pods=2, claims=[template])
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == admitted({"whole-gpus": 6})


@covers("COUNT-011", "CLASS-003")
def test_pod_sets_may_ask_for_different_resources(lab: Lab) -> None:
    """Each pod set is charged for its own claims only."""
    queue = lab.queue({"whole-gpus": 2, "example.com/nics": 3})
    leader = a_pod_set("leader", claims=[a_template(gpu(2))])
    workers = a_pod_set("workers", pods=3, claims=[a_template(a_request("nic.example.com"))])
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == admitted({"whole-gpus": 2, "example.com/nics": 3})


@covers("COUNT-011", "QUOTA-002")
def test_an_earlier_pod_set_may_leave_too_little_for_a_later_one(lab: Lab) -> None:
    """Pod sets that would fit one by one do not fit when their sum is more than what is left."""
    queue = lab.queue({"whole-gpus": 4})
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    leader = a_pod_set("leader", claims=[a_template(gpu(2))])
    workers = a_pod_set("workers", claims=[a_template(gpu(2))])
    job = queue.submit(a_workload(leader, workers))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("COUNT-013")
def test_a_pod_set_without_pods_is_charged_nothing(lab: Lab) -> None:
    """No pods make no claims, even where no device could be had."""
    queue = lab.queue({"cpu": "1", "whole-gpus": 0})
    none = a_pod_set("none", pods=0, claims=[a_template(gpu(3))])
    some = a_pod_set("some", cpu="1")
    job = queue.submit(a_workload(none, some))

    assert lab.verdict(job) == admitted({"cpu": "1", "whole-gpus": 0})


@covers("COUNT-013")
def test_a_job_without_pods_is_charged_nothing(lab: Lab) -> None:
    """A Job without pods is admitted next to one that uses the whole quota."""
    queue = lab.queue({"whole-gpus": 1})
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    job = queue.submit(a_job(pods=0, claims=[a_template(gpu(1))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 0})


@covers("COUNT-012")
@pytest.mark.parametrize(
    ("reclaimed", "verdict"),
    [
        pytest.param(1, pending(Reason.NO_QUOTA), id="one-pod-too-few"),
        pytest.param(2, admitted({"whole-gpus": 4}), id="just-enough-pods"),
    ],
)
def test_reclaimable_pods_are_not_charged(lab: Lab, reclaimed: int, verdict: Verdict) -> None:
    """Devices of pods that have ended are free for others before the whole workload ends."""
    queue = lab.queue({"whole-gpus": 6})
    held = queue.submit(a_workload(a_pod_set("workers", pods=3, claims=[a_template(gpu(2))])))
    job = queue.submit(a_job(claims=[a_template(gpu(4))]))

    lab.reclaim(held, workers=reclaimed)

    assert lab.verdict(job) == verdict
