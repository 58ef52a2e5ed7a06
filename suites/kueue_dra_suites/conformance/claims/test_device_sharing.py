"""Claims: which published devices may serve which requests (Kueue 0.19, claim templates, selectors)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_pod_set, a_request, a_template, a_workload
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

SHARED = "ts-shard-gpus.example.com"
OTHER = "sp-shared-gpus.example.com"
OURS = 'device.driver == "lab.example.com"'
A100 = 'device.attributes["lab.example.com"].model == "a100"'
LARGE = 'device.attributes["lab.example.com"].size >= 80'
ANY = "true"


@covers("CEL-006")
@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        pytest.param([1, 1], admitted({"shared-gpus": 2}), id="a-device-for-each"),
        pytest.param([2, 1], inadmissible(Reason.TOO_FEW_DEVICES), id="one-device-short"),
        pytest.param([1, 1, 1], inadmissible(Reason.TOO_FEW_DEVICES), id="one-request-too-many"),
    ],
)
def test_a_device_serves_one_request_of_a_claim(lab: Lab, counts: list[int], verdict: Verdict) -> None:
    """Inside a claim a device that an earlier request got is gone."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), a_device("d1", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    requests = [a_request(SHARED, count=count, selectors=[A100]) for count in counts]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == verdict


@covers("CEL-006")
def test_a_device_serves_one_class_of_a_claim(lab: Lab) -> None:
    """A device that belongs to two classes is counted once inside a claim."""
    lab.device_class(SHARED, OURS)
    lab.device_class(OTHER, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    requests = [a_request(SHARED, selectors=[A100]), a_request(OTHER, selectors=[A100])]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)


@covers("CEL-006")
def test_a_request_without_selectors_takes_no_device(lab: Lab) -> None:
    """Only requests with selectors are compared with devices."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    requests = [a_request(SHARED, count=3), a_request(SHARED, selectors=[A100])]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == admitted({"shared-gpus": 4})


@covers("CEL-007")
def test_a_device_may_serve_several_claims(lab: Lab) -> None:
    """Kueue does not track which devices a claim got: the quota is the limit, not the devices."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    claims = [a_template(a_request(SHARED, selectors=[A100])) for _ in range(2)]
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == admitted({"shared-gpus": 2})


@covers("CEL-007")
def test_a_device_may_serve_several_pod_sets(lab: Lab) -> None:
    """A device of one pod set counts again for the next pod set."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    template = a_template(a_request(SHARED, selectors=[A100]))
    job = queue.submit(a_workload(a_pod_set("driver", claims=[template]), a_pod_set("workers", claims=[template])))

    assert lab.verdict(job) == admitted({"shared-gpus": 2})


@covers("CEL-008")
def test_pods_do_not_need_a_device_each(lab: Lab) -> None:
    """Each pod is charged, but the devices have to suffice for one pod only."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(pods=3, claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 3})


@covers("CEL-015")
@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        pytest.param(LARGE, ANY, admitted({"shared-gpus": 2}), id="choosy-first"),
        pytest.param(ANY, LARGE, inadmissible(Reason.TOO_FEW_DEVICES), id="choosy-last"),
    ],
)
def test_devices_are_taken_in_the_order_of_the_requests(lab: Lab, first: str, second: str, verdict: Verdict) -> None:
    """Each request takes the first devices that match, though a later one may need just these."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", size=80), a_device("d1", size=40), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    requests = [a_request(SHARED, selectors=[first]), a_request(SHARED, selectors=[second])]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == verdict


@covers("CEL-016")
def test_stale_and_partial_pools_count(lab: Lab) -> None:
    """A slice of an older generation, and one of a pool whose other slices are missing, count like any other."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com", pool="pool", generation=1)
    lab.publish(a_device("d1", model="a100"), driver="lab.example.com", pool="pool", generation=2, of=2)
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=2, selectors=[A100]))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 2})
