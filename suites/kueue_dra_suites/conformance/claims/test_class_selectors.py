"""Claims: the DeviceClass behind a request with selectors (Kueue 0.19, claim templates, selectors)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, newer_api_server
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

SHARED = "ts-shard-gpus.example.com"
OURS = 'device.driver == "lab.example.com"'
A100 = 'device.attributes["lab.example.com"].model == "a100"'
ONE_OF_A_LIST = 'device.attributes["lab.example.com"].models.exists(m, m == "a100")'
LARGE = 'device.attributes["lab.example.com"].size >= 80'


@covers("CEL-010")
@pytest.mark.parametrize(
    ("selectors", "verdict"),
    [
        pytest.param([OURS], admitted({"shared-gpus": 2}), id="wide-class"),
        pytest.param([OURS, A100], inadmissible(Reason.TOO_FEW_DEVICES), id="narrow-class"),
    ],
)
def test_the_class_narrows_the_devices(lab: Lab, selectors: list[str], verdict: Verdict) -> None:
    """A device must match the selectors of the class as well as those of the request."""
    lab.device_class(SHARED, *selectors)
    lab.publish(a_device("d0", model="a100", size=80), a_device("d1", model="h100", size=80), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=2, selectors=[LARGE]))]))

    assert lab.verdict(job) == verdict


@covers("CEL-010")
def test_the_class_is_asked_before_the_request(lab: Lab) -> None:
    """A selector of the request cannot err on a device that is not of the class."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0"), driver="other.example.com")
    lab.publish(a_device("d1", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 1})


@covers("CEL-005")
def test_a_selector_of_the_class_that_errs_is_refused(lab: Lab) -> None:
    """An error counts whether the class or the request asks for the attribute."""
    lab.device_class(SHARED, OURS, A100)
    lab.publish(a_device("d0", size=80), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[LARGE]))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTOR_ERROR)


@covers("CEL-011")
def test_a_request_with_selectors_needs_its_class(lab: Lab) -> None:
    """Without the DeviceClass object a request with selectors is refused, whatever is published."""
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == inadmissible(Reason.NO_CLASS)


@covers("CEL-011")
def test_a_class_that_comes_later_lets_the_workload_in(lab: Lab) -> None:
    """A workload whose DeviceClass was missing is retried."""
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[OURS]))]))
    assert lab.verdict(job) == inadmissible(Reason.NO_CLASS)

    lab.device_class(SHARED, OURS)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"shared-gpus": 1})


@covers("CEL-019")
@newer_api_server
@pytest.mark.parametrize("devices", [pytest.param([], id="none"), pytest.param([a_device("d0")], id="one")])
def test_a_class_that_does_not_compile_refuses(lab: Lab, devices: list[dict[str, Any]]) -> None:
    """Kueue compiles the selector of the class before it tries a device, so the error comes without any device too."""
    lab.device_class(SHARED, OURS, ONE_OF_A_LIST)
    lab.publish(*devices, driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[OURS]))]))

    assert lab.verdict(job) == inadmissible(Reason.BAD_SELECTOR)
    assert ".devices.requests[0][1].cel.expression: Invalid value: " in lab.message(job)
