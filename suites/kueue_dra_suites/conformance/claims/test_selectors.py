"""Claims: CEL selectors against published devices (Kueue 0.19, claim templates, selectors)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, newer_api_server
from kueue_dra_fixtures.resources import a_slice
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

SHARED = "ts-shard-gpus.example.com"
OURS = 'device.driver == "lab.example.com"'
A100 = 'device.attributes["lab.example.com"].model == "a100"'
LARGE = 'device.capacity["lab.example.com"].memory.compareTo(quantity("40Gi")) >= 0'
FAST = 'device.attributes["lab.example.com"].speed > 1'
ONE_OF_A_LIST = 'device.attributes["lab.example.com"].models.exists(m, m == "a100")'


@covers("CEL-002", "CEL-004")
@pytest.mark.parametrize(
    ("count", "verdict"),
    [
        pytest.param(1, admitted({"shared-gpus": 1}), id="one-to-spare"),
        pytest.param(2, admitted({"shared-gpus": 2}), id="exactly-enough"),
        pytest.param(3, inadmissible(Reason.TOO_FEW_DEVICES), id="one-too-many"),
    ],
)
def test_enough_devices_must_match(lab: Lab, count: int, verdict: Verdict) -> None:
    """A request with a selector passes if as many devices match as it requests."""
    lab.device_class(SHARED, OURS)
    lab.publish(
        a_device("d0", model="a100"),
        a_device("d1", model="h100"),
        a_device("d2", model="a100"),
        driver="lab.example.com",
    )
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=count, selectors=[A100]))]))

    assert lab.verdict(job) == verdict


@covers("CEL-003")
def test_a_selector_that_matches_nothing_is_refused(lab: Lab) -> None:
    """No device matches, and the message has the number."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="h100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)
    assert "0 device(s) match" in lab.message(job)


@covers("CEL-003")
def test_a_selector_beside_a_request_without_one_is_tried(lab: Lab) -> None:
    """The claim is refused, though any device will do for its first request."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="h100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    requests = [a_request(SHARED), a_request(SHARED, selectors=[A100])]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)


@covers("CEL-003")
@pytest.mark.parametrize(
    ("selector", "verdict"),
    [
        pytest.param("device.allowMultipleAllocations", inadmissible(Reason.TOO_FEW_DEVICES), id="shared"),
        pytest.param("!device.allowMultipleAllocations", admitted({"shared-gpus": 1}), id="not-shared"),
    ],
)
def test_a_selector_does_not_see_that_a_device_is_shared(lab: Lab, selector: str, verdict: Verdict) -> None:
    """It compiles, and Kueue never tells it: each device looks as if it were for one claim."""
    lab.device_class(SHARED, OURS)
    lab.publish({"name": "d0", "allowMultipleAllocations": True}, driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[selector]))]))

    assert lab.verdict(job) == verdict


@covers("CEL-003", "CEL-004")
def test_a_selector_may_sum_up_a_list(lab: Lab) -> None:
    """It has the functions that Kubernetes adds for lists."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", speed=2), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=["[1, 2].sum() == 3"]))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 1})


@covers("CEL-003", "CEL-004")
def test_a_selector_without_any_device_is_refused(lab: Lab) -> None:
    """Nothing is published, so nothing matches."""
    lab.device_class(SHARED, OURS)
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)


@covers("CEL-005")
@pytest.mark.parametrize(
    ("count", "verdict"),
    [
        pytest.param(1, admitted({"shared-gpus": 1}), id="enough-before-it"),
        pytest.param(2, inadmissible(Reason.SELECTOR_ERROR), id="device-is-tried"),
    ],
)
def test_a_selector_that_errs_on_a_device_is_refused(lab: Lab, count: int, verdict: Verdict) -> None:
    """A device without the attribute causes an error when it is tried; Kueue does not skip it."""
    lab.device_class(SHARED, OURS)
    lab.publish(
        a_device("d0", speed=2), a_device("d1", model="a100"), a_device("d2", speed=3), driver="lab.example.com"
    )
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=count, selectors=[FAST]))]))

    assert lab.verdict(job) == verdict


@covers("CEL-005")
def test_an_attribute_has_no_fields(lab: Lab) -> None:
    """An attribute may be anything until a device is tried, and then it is a text."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    selector = 'device.attributes["lab.example.com"].model.name == "a100"'
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[selector]))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTOR_ERROR)


@covers("CEL-014")
@pytest.mark.parametrize(
    ("selectors", "verdict"),
    [
        pytest.param([A100], admitted({"shared-gpus": 2}), id="the-first-alone"),
        pytest.param([LARGE], admitted({"shared-gpus": 2}), id="the-second-alone"),
        pytest.param([A100, LARGE], inadmissible(Reason.TOO_FEW_DEVICES), id="both"),
    ],
)
def test_every_selector_must_hold(lab: Lab, selectors: list[str], verdict: Verdict) -> None:
    """A device that one of the selectors leaves out does not count."""
    lab.device_class(SHARED, OURS)
    lab.publish(
        a_device("d0", model="a100", capacity={"memory": "80Gi"}),
        a_device("d1", model="a100", capacity={"memory": "20Gi"}),
        a_device("d2", model="h100", capacity={"memory": "80Gi"}),
        driver="lab.example.com",
    )
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=2, selectors=selectors))]))

    assert lab.verdict(job) == verdict


@covers("CEL-009", "CEL-002")
def test_a_selector_does_not_change_the_charge(lab: Lab) -> None:
    """Charged is what is asked for, not what matches."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), a_device("d1", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[A100]))]))

    assert lab.verdict(job) == admitted({"shared-gpus": 1})


@covers("CEL-001")
@newer_api_server
@pytest.mark.parametrize(
    "selectors",
    [
        pytest.param([ONE_OF_A_LIST], id="alone"),
        pytest.param([OURS, ONE_OF_A_LIST], id="after-a-good-one"),
    ],
)
def test_a_selector_that_does_not_compile_is_refused(lab: Lab, selectors: list[str]) -> None:
    """The API server may know more than Kueue, such as attributes that are lists (on from Kubernetes 1.37)."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=selectors))]))

    assert lab.verdict(job) == inadmissible(Reason.BAD_SELECTOR)


@covers("CEL-020")
@newer_api_server
def test_a_selector_is_told_with_its_quotes_escaped(lab: Lab) -> None:
    """The quoted part of the message is escaped once; text that only looks like markup is not."""
    queue = lab.queue({"shared-gpus": 4})
    selector = 'device.attributes["lab.example.com"].models.exists(m, m == "a<b")'
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, selectors=[selector]))]))

    message = r'Invalid value: "device.attributes[\"lab.example.com\"].models.exists(m, m == \"a<b\")": CEL compilation'
    assert message in lab.message(job)


@covers("CEL-013")
def test_devices_that_come_later_let_the_workload_in(lab: Lab) -> None:
    """A workload that was rejected for too few devices is admitted once enough devices are published."""
    lab.device_class(SHARED, OURS)
    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    queue = lab.queue({"shared-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(SHARED, count=2, selectors=[A100]))]))
    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)

    lab.publish(a_device("d0", model="a100"), driver="lab.example.com")
    lab.retry(job)

    assert lab.verdict(job) == admitted({"shared-gpus": 2})


@covers("CEL-013")
def test_one_fault_that_may_pass_is_retried_with_another(lab: Lab) -> None:
    """A selector that errs is not retried alone; with too few devices it is, and sees the attribute that came."""
    lab.device_class(SHARED, OURS)
    name = lab.name("slice")
    lab.apply(a_slice(name, [a_device("d0", model="a100")], driver="lab.example.com"))
    queue = lab.queue({"shared-gpus": 4})
    requests = a_request(SHARED, selectors=[FAST]), a_request(SHARED, count=2, selectors=[A100])
    job = queue.submit(a_job(claims=[a_template(*requests)]))
    assert "no such key: speed" in lab.message(job)

    devices = [a_device(each, model="a100", speed=2) for each in ("d0", "d1", "d2")]
    lab.apply(a_slice(name, devices, driver="lab.example.com"))
    lab.settle()

    assert lab.verdict(job) == admitted({"shared-gpus": 3})


@covers("CEL-012")
def test_without_selectors_no_device_is_needed(lab: Lab) -> None:
    """Quota alone decides: neither the DeviceClass nor a device has to exist."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(gpu(4))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 4})
