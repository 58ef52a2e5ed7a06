"""Jobs and their Workloads: what Kueue makes of a Job, and when the Job runs (Kueue 0.19, job reconcile)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import Work, a_direct_claim, a_job, a_missing_template, a_template, gpu
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers

TOLERATED = {"key": "spot", "operator": "Exists"}


@covers("STATUS-024")
@pytest.mark.parametrize(
    "work",
    [
        pytest.param(a_job(claims=[a_template(gpu(2))]), id="waits"),
        pytest.param(a_job(claims=[a_direct_claim()]), id="refused-for-good"),
        pytest.param(a_job(claims=[a_missing_template()]), id="refused-for-now"),
    ],
)
def test_a_job_that_is_not_admitted_is_suspended(lab: Lab, work: Work) -> None:
    """No pod may be made before quota is there."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(work)

    assert lab.is_suspended(job)


@covers("STATUS-024")
def test_a_job_whose_quota_is_taken_back_is_suspended_again(lab: Lab) -> None:
    """An evicted Job is as suspended as one that was never admitted."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert not lab.is_suspended(job)

    queue.change(stopPolicy="HoldAndDrain")

    assert lab.is_suspended(job)


@covers("STATUS-025")
def test_admission_releases_the_job(lab: Lab) -> None:
    """A Job that is admitted at once runs at once."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert not lab.is_suspended(job)


@covers("STATUS-024", "STATUS-025")
def test_a_job_that_waited_is_released_when_it_is_admitted(lab: Lab) -> None:
    """The second Job stays suspended while the first one holds the quota, and no longer."""
    queue = lab.queue({"whole-gpus": 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.is_suspended(second)

    lab.finish(first)

    assert not lab.is_suspended(second)


def reservation(lab: Lab, job: Job) -> tuple[object, object, bool]:
    """Give QuotaReserved and Admitted of a workload, and whether it has an admission."""
    has = "admission" in lab.workload(job)["status"]
    return lab.condition(job, "QuotaReserved"), lab.condition(job, "Admitted"), has


@covers("STATUS-036")
def test_who_is_done_keeps_its_reservation(lab: Lab) -> None:
    """The admission can still be read, though the workload is no longer charged."""
    job = lab.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))
    before = reservation(lab, job)

    lab.finish(job)

    assert reservation(lab, job) == before == (("True", "QuotaReserved"), ("True", "Admitted"), True)


@covers("STATUS-037")
def test_who_is_done_gives_its_reservation_back(lab: Lab) -> None:
    """Both conditions say so, and what was admitted cannot be read any more."""
    job = lab.queue({"whole-gpus": 1}).submit(a_job(claims=[a_template(gpu())]))

    lab.finish(job)

    assert reservation(lab, job) == (("False", "Finished"), ("False", "Finished"), False)
    assert lab.message(job) == lab.message(job, "Admitted") == "Workload has finished"


@covers("STATUS-038")
@pytest.mark.parametrize(
    ("work", "flavor"),
    [
        pytest.param(a_job(pods=2, least=1, claims=[a_template(gpu())]), {}, id="with-fewer-pods"),
        pytest.param(a_job(claims=[a_template(gpu())]), {"tolerations": [TOLERATED]}, id="with-tolerations"),
    ],
)
def test_who_is_done_and_unlike_its_job_is_deleted(lab: Lab, work: Work, flavor: Mapping[str, Any]) -> None:
    """The Job ran with fewer pods or more tolerations than its Workload asked for, and nothing tells why any more."""
    queue = lab.queue(groups=[{lab.flavor(**flavor): {"whole-gpus": 1}}])
    job = queue.submit(work)
    assert lab.counts(job) == {"main": 1}

    lab.finish(job)

    assert not lab.workloads(job)


@covers("STATUS-063")
@pytest.mark.parametrize(
    ("parallelism", "left"),
    [pytest.param(1, 0, id="other-pods"), pytest.param(3, 1, id="more-than-completions")],
)
def test_who_is_done_and_gets_other_pods_loses_its_workload(lab: Lab, parallelism: int, left: int) -> None:
    """No more pods run than there are completions, so that the second change is none."""
    job = lab.queue({"whole-gpus": 2}).submit(a_job(pods=2, claims=[a_template(gpu())]))
    lab.finish(job)

    lab.change(job.ref, parallelism=parallelism)

    assert len(lab.workloads(job)) == left
    assert not lab.is_suspended(job)


@covers("STATUS-037")
def test_labels_of_its_flavor_do_not_make_a_workload_unlike_its_job(lab: Lab) -> None:
    """The pods ran on nodes of the flavor; that is not compared."""
    queue = lab.queue(groups=[{lab.flavor(nodeLabels={"pool": "spot"}): {"whole-gpus": 1}}])
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.finish(job)

    assert reservation(lab, job) == (("False", "Finished"), ("False", "Finished"), False)


@covers("STATUS-029")
@pytest.mark.parametrize("pods", [pytest.param(1, id="one-pod"), pytest.param(3, id="three-pods")])
def test_a_job_is_one_pod_set_with_its_pods(lab: Lab, pods: int) -> None:
    """The pod set is called main and counts the pods that run at once."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(pods=pods, claims=[a_template(gpu())]))

    (main,) = lab.workload(job)["spec"]["podSets"]
    assert (main["name"], main["count"]) == ("main", pods)


@covers("STATUS-029")
def test_a_pod_set_carries_the_claims_of_the_job(lab: Lab) -> None:
    """Claims arrive as the Job names them, in its order, whether Kueue can charge them or not."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_missing_template("some-gpus"), a_direct_claim("my-gpu")]))

    (main,) = lab.workload(job)["spec"]["podSets"]
    assert main["template"]["spec"]["resourceClaims"] == [
        {"name": "c0", "resourceClaimTemplateName": "some-gpus"},
        {"name": "c1", "resourceClaimName": "my-gpu"},
    ]
