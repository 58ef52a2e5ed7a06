"""Devices of a source: which published devices decide what counters charge (Kueue 0.19, counters and capacity)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_request, a_template
from kueue_dra_fixtures.lab import Job, Lab
from kueue_dra_fixtures.marks import covers, newer_api_server, owns_kueue
from kueue_dra_fixtures.sources import NICS, PARTITIONS, SHARES, SOURCED, a_partition, a_share, a_shared_gpu
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

FULL = 'device.attributes["gpu.example.com"].profile == "full"'
A_NIC = 'device.driver == "nic.example.com"'
LARGE = 'quantity(device.attributes["gpu.example.com"].model).isGreaterThan(quantity("1"))'
ONE_OF_A_LIST = 'device.attributes["lab.example.com"].models.exists(m, m == "a100")'
CLAIM = "spec.podSets[0].template.spec.resourceClaims[0]"
REQUEST = f"{CLAIM}.devices.requests[0]"


@covers("DEVICE-003")
def test_selectors_are_not_tried_on_other_drivers(lab: Lab) -> None:
    """A device of a driver that is none of the source's is not tried, so nothing errs on it."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_device("a0"), a_device("a1"), driver="another.example.com")
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, selectors=[FULL]))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


def with_a_nic(lab: Lab, *requests: dict[str, Any]) -> Job:
    """A Job with one claim, where there is a partition of ten gibibytes, and a device of a class without sources."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.device_class(NICS, A_NIC)
    lab.publish(a_device("n0"), driver=NICS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi", "nics": 1})
    return queue.submit(a_job(claims=[a_template(*requests)]))


@covers("DEVICE-003")
def test_a_request_without_selectors_has_nothing_tried(lab: Lab) -> None:
    """Its class has no sources, but the selectors are those of another request."""
    job = with_a_nic(lab, a_request(NICS), a_request(PARTITIONS, selectors=[FULL]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi", "nics": 1})


@covers("DEVICE-003")
def test_beside_a_class_without_sources_every_device_is_tried(lab: Lab) -> None:
    """A claim that asks for a class without sources as well is compared with the devices of all drivers."""
    job = with_a_nic(lab, a_request(NICS, selectors=["true"]), a_request(PARTITIONS, selectors=["true"]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi", "nics": 1})


@covers("DEVICE-004")
def test_devices_of_other_drivers_charge_nothing(lab: Lab) -> None:
    """Another driver's device may match the class; the source is for the devices of its driver."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver="another.example.com")
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@pytest.mark.parametrize(
    ("large", "class_selectors", "selectors"),
    [
        pytest.param("spare", [], [], id="source", marks=covers("DEVICE-007")),
        pytest.param("other", [FULL], [], id="class", marks=covers("DEVICE-008")),
        pytest.param("other", [], [FULL], id="request", marks=covers("DEVICE-009")),
    ],
)
def test_only_devices_that_match_are_charged(
    lab: Lab, large: str, class_selectors: list[str], selectors: list[str]
) -> None:
    """Source, class and request narrow the devices; what they leave out charges nothing."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS, *class_selectors)
    lab.publish(a_partition("d0", memory="10Gi"), a_partition("d1", large, memory="80Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, selectors=selectors))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-010")
def test_the_class_must_exist(lab: Lab) -> None:
    """A class with sources needs its object, though the request has no selectors."""
    lab.start(**SOURCED)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == inadmissible(Reason.NO_CLASS)
    assert f": Internal error: failed to get DeviceClass {PARTITIONS}: " in lab.message(job)


@pytest.mark.parametrize(
    "field",
    [
        pytest.param(f"{CLAIM}.devices.requests[1]", id="the-request", marks=covers("DEVICE-021")),
        pytest.param(
            f"{CLAIM}.devices.requests[1].devices.requests[0]", id="below-the-request", marks=covers("DEVICE-020")
        ),
    ],
)
def test_a_missing_class_is_told_at_its_field(lab: Lab, field: str) -> None:
    """The field that is named leads to the request."""
    lab.start(**SOURCED)
    queue = lab.queue({"gpu-memory": "100Gi", "nics": 1})
    job = queue.submit(a_job(claims=[a_template(a_request(NICS), a_request(PARTITIONS))]))

    assert lab.message(job).startswith(f"{field}: Internal error: ")


@newer_api_server
@covers("DEVICE-023")
@pytest.mark.parametrize(
    "field",
    [
        pytest.param(f"{CLAIM}.devices.requests[1][0]", id="the-request", marks=covers("DEVICE-024")),
        pytest.param(
            f"{CLAIM}.devices.requests[1].devices.requests[0][0]", id="below-the-request", marks=covers("DEVICE-025")
        ),
    ],
)
def test_a_class_that_does_not_compile_is_told_at_its_field(lab: Lab, field: str) -> None:
    """Kueue compiles the selector of the class before it tries a device, so the error comes without any device too."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS, ONE_OF_A_LIST)
    queue = lab.queue({"gpu-memory": "100Gi", "nics": 1})
    job = queue.submit(a_job(claims=[a_template(a_request(NICS), a_request(PARTITIONS))]))

    assert lab.verdict(job) == inadmissible(Reason.BAD_SELECTOR)
    assert lab.message(job).startswith(f"{field}.cel.expression: Invalid value: ")


@covers("DEVICE-011")
@pytest.mark.parametrize(
    ("device_class", "class_selectors", "selectors", "where"),
    [
        pytest.param(PARTITIONS, [], [], "deviceSelector", id="source"),
        pytest.param(SHARES, [FULL], [], "DeviceClass selector", id="class", marks=covers("CAPACITY-001")),
        pytest.param(SHARES, [], [FULL], "request selector", id="request", marks=covers("CAPACITY-001")),
    ],
)
def test_a_selector_that_errs_on_a_device_refuses(
    lab: Lab, device_class: str, class_selectors: list[str], selectors: list[str], where: str
) -> None:
    """Kueue tries all devices: one without the attribute blocks the workload, though another one matches."""
    lab.start(**SOURCED)
    lab.device_class(device_class, *class_selectors)
    profile = {"gpu.example.com/profile": "full"}
    found = a_device("d0", capacity={"memory": "10Gi"}, **profile)
    lab.publish(found, a_device("d1", capacity={"memory": "10Gi"}), driver=device_class)
    queue = lab.queue({"gpu-memory": "100Gi", "vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(device_class, selectors=selectors))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTOR_ERROR)
    assert lab.message(job).startswith(f"{REQUEST}: Internal error: CEL evaluation error in {where} for device d1: ")


@covers("DEVICE-011")
@pytest.mark.parametrize(
    ("model", "fault"),
    [
        pytest.param("Ei", "unable to parse numeric part of quantity", id="number"),
        pytest.param("1e", "unable to parse quantity's suffix", id="suffix"),
    ],
)
def test_an_attribute_that_is_no_quantity_refuses(lab: Lab, model: str, fault: str) -> None:
    """The message says what is wrong with the text."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_device("d0", model=model), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, selectors=[LARGE]))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTOR_ERROR)
    assert lab.message(job).endswith(f": {fault}")


@covers("DEVICE-012")
@pytest.mark.parametrize(
    ("count", "verdict"),
    [
        pytest.param(1, admitted({"gpu-memory": "10Gi"}), id="one-to-spare"),
        pytest.param(2, admitted({"gpu-memory": "20Gi"}), id="exactly-enough"),
        pytest.param(3, inadmissible(Reason.TOO_FEW_DEVICES), id="one-too-many"),
    ],
)
def test_enough_devices_must_match(lab: Lab, count: int, verdict: Verdict) -> None:
    """A request without selectors, too, needs as many devices as it asks for."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), a_partition("d1", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, count=count))]))

    assert lab.verdict(job) == verdict


@covers("DEVICE-012")
@pytest.mark.parametrize(
    ("device", "request_", "kind"),
    [
        pytest.param(a_partition("d0", memory="10Gi"), a_request(PARTITIONS, count=2), "counter", id="counter"),
        pytest.param(
            a_shared_gpu("d0", memory="10Gi"),
            a_share(SHARES, count=2),
            "capacity",
            id="capacity",
            marks=covers("CAPACITY-002"),
        ),
    ],
)
def test_too_few_devices_are_counted(lab: Lab, device: dict[str, Any], request_: dict[str, Any], kind: str) -> None:
    """The message has what the source charges and both numbers."""
    lab.start(**SOURCED)
    lab.device_class(request_["exactly"]["deviceClassName"])
    lab.publish(device, driver=request_["exactly"]["deviceClassName"])
    queue = lab.queue({"gpu-memory": "100Gi", "vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(request_)]))

    message = f"insufficient matching devices for {kind} driver: 1 device(s) match but 2 requested"
    assert lab.message(job) == f"{REQUEST}: Internal error: {message}"


@covers("DEVICE-012", "CAPACITY-002")
def test_counters_are_looked_at_before_capacities(lab: Lab) -> None:
    """There are too few devices for both; the pod asks for a share of capacity first."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.device_class(SHARES)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    lab.publish(a_shared_gpu("d0", memory="80Gi"), driver=SHARES)
    queue = lab.queue({"gpu-memory": "100Gi", "vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(count=2)), a_template(a_request(PARTITIONS, count=2))]))

    message = "insufficient matching devices for counter driver: 1 device(s) match but 2 requested"
    second = REQUEST.replace("resourceClaims[0]", "resourceClaims[1]")
    assert lab.message(job) == f"{second}: Internal error: {message}"


@covers("STATUS-055")
def test_work_is_admitted_with_the_conditions_that_it_was_queued_with(lab: Lab) -> None:
    """Its class is deleted while it is pending after a preemption; its quota comes back before the class does."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "10Gi"}, preemption={"withinClusterQueue": "LowerPriority"})
    low, high = (queue.submit(a_job(priority=each, claims=[a_template(a_request(PARTITIONS))])) for each in (1, 2))
    lab.remove_class(PARTITIONS)
    lab.retry(low)
    assert lab.condition(low, "Requeued") == ("False", "Inadmissible")

    lab.delete(high)

    assert lab.verdict(low) == admitted({"gpu-memory": "10Gi"})
    assert lab.condition(low, "Requeued") == ("True", "Preempted")
