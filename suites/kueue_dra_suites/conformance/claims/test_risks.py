"""Claims: what the September text would charge where the number of devices is not known (Risks and Mitigations)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_request, a_template, first_available, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("RISK-001")
@pytest.mark.parametrize(
    ("shared", "verdict"),
    [
        pytest.param(1, admitted({"whole-gpus": 1, "shared-gpus": 1}), id="quota-for-both"),
        pytest.param(0, pending(Reason.NEVER_FITS), id="quota-for-the-first-only"),
    ],
)
def test_every_alternative_of_a_prioritized_list_is_charged(lab: Lab, shared: int, verdict: Verdict) -> None:
    """Whichever alternative is allocated, it has been paid for."""
    queue = lab.queue({"whole-gpus": 1, "shared-gpus": shared})
    alternatives = first_available("gpu.example.com", "ts-shard-gpus.example.com")
    job = queue.submit(a_job(claims=[a_template(alternatives)]))

    assert lab.verdict(job) == verdict


@covers("RISK-001")
def test_alternatives_of_one_resource_are_added(lab: Lab) -> None:
    """Two classes that share a resource are charged to it twice."""
    queue = lab.queue({"shared-gpus": 2})
    alternatives = first_available("ts-shard-gpus.example.com", "sp-shared-gpus.example.com")
    job = queue.submit(a_job(claims=[a_template(alternatives)]))

    assert lab.verdict(job) == admitted({"shared-gpus": 2})


@covers("RISK-002")
def test_administrative_access_is_not_charged(lab: Lab) -> None:
    """Administrative access does not eat up the quota of users."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": 1}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu(), a_request(count=8, admin=True))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("RISK-003")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="fits-exactly"),
        pytest.param(1, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_mode_all_is_charged_at_its_worst(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A claim for all devices is charged every published device of the class."""
    lab.device_class("gpu.example.com", 'device.driver == "lab.example.com"')
    lab.publish(a_device("d0"), a_device("d1"), driver="lab.example.com")
    lab.publish(a_device("d2"), driver="other.example.com")
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(a_request(mode="All", count=None))]))

    assert lab.verdict(job) == verdict


@covers("RISK-003")
def test_mode_all_is_charged_what_its_selectors_leave(lab: Lab) -> None:
    """Only devices that match the selectors of the request could be allocated."""
    lab.device_class("gpu.example.com", 'device.driver == "lab.example.com"')
    lab.publish(a_device("d0", model="a100"), a_device("d1", model="h100"), driver="lab.example.com")
    queue = lab.queue({"whole-gpus": 2})
    chosen = a_request(mode="All", count=None, selectors=['device.attributes["lab.example.com"].model == "h100"'])
    job = queue.submit(a_job(claims=[a_template(chosen)]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
