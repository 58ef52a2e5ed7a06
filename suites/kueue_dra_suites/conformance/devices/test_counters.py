"""Counters: what partitions of a device charge (Kueue 0.19, counters of partitionable devices)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import ADDED_COUNTERS, NICS, PARTITIONS, SOURCED, TWO_COUNTERS, a_partition, partitioned
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

SMALL = 'device.attributes["gpu.example.com"].profile == "small"'


@covers("DEVICE-001", "DEVICE-002", "COUNTER-001")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param("41Gi", admitted({"gpu-memory": "40Gi"}), id="to-spare"),
        pytest.param("40Gi", admitted({"gpu-memory": "40Gi"}), id="exactly"),
        pytest.param("39Gi", pending(Reason.NEVER_FITS), id="one-short"),
    ],
)
def test_a_device_charges_what_it_consumes_of_the_counter(lab: Lab, quota: str, verdict: Verdict) -> None:
    """Not the number of devices is charged but the amount of the counter."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="40Gi", slices="4"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": quota})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == verdict


@covers("DEVICE-015")
def test_amounts_are_shown_in_bytes(lab: Lab) -> None:
    """Messages print requested, reserved and missing amounts in powers of 1024."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="40Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "60Gi"})
    queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.requests(job) == [{"name": "main", "resources": {"gpu-memory": "40Gi"}}]
    assert lab.message(job).endswith("20Gi more needed")


@covers("DEVICE-015")
def test_devices_are_not_shown_in_bytes(lab: Lab) -> None:
    """A resource that no source charges is a plain number next to one that a source charges."""
    lab.start(**SOURCED)
    lab.device_class(NICS)
    job = lab.queue({"nics": 1024}).submit(a_job(claims=[a_template(a_request(NICS, count=2048))]))

    assert lab.message(job).endswith("maximum capacity (1024)")


@covers("COUNTER-002")
@pytest.mark.parametrize(
    ("selectors", "usage"),
    [
        pytest.param([], "80Gi", id="any-device"),
        pytest.param([SMALL], "10Gi", id="small-devices"),
    ],
)
def test_the_largest_device_is_charged(lab: Lab, selectors: list[str], usage: str) -> None:
    """Which of the matching devices will be allocated is not known, so the largest amount is charged."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(
        a_partition("d0", "small", memory="5Gi"),
        a_partition("d1", memory="80Gi"),
        a_partition("d2", "small", memory="10Gi"),
        driver=PARTITIONS,
    )
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, selectors=selectors))]))

    assert lab.verdict(job) == admitted({"gpu-memory": usage})


@covers("COUNTER-003")
@pytest.mark.parametrize(
    ("memory", "usage"),
    [
        pytest.param("10Gi", "30Gi", id="times-three"),
        pytest.param("1000m", "3", id="thousandths"),
        pytest.param("1001m", "6", id="fractions-are-rounded-up-first"),
        pytest.param("4Ei", "9223372036854775807", id="saturated"),
    ],
)
def test_every_device_of_a_request_is_charged(lab: Lab, memory: str, usage: str) -> None:
    """The amount for one device times the count."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(*[a_partition(f"d{index}", memory=memory) for index in range(3)], driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "9223372036854775807"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, count=3))]))

    assert lab.verdict(job) == admitted({"gpu-memory": usage})


@covers("COUNTER-004")
def test_a_class_may_charge_a_counter_of_each_of_its_mappings(lab: Lab) -> None:
    """Of a class in two mappings each has its own counter and its own resource."""
    lab.start(**SOURCED)
    lab.device_class(TWO_COUNTERS)
    lab.publish(a_partition("d0", memory="40Gi", slices="4"), driver=PARTITIONS)
    queue = lab.queue({"two-memory": "100Gi", "two-slices": 10})
    job = queue.submit(a_job(claims=[a_template(a_request(TWO_COUNTERS))]))

    assert lab.verdict(job) == admitted({"two-memory": "40Gi", "two-slices": 4})


@covers("COUNTER-004")
def test_counters_of_one_mapping_add_up(lab: Lab) -> None:
    """Every source of a mapping charges its resource."""
    lab.start(**SOURCED)
    lab.device_class(ADDED_COUNTERS)
    lab.publish(a_partition("d0", memory="40Mi", slices="4Mi"), driver=PARTITIONS)
    queue = lab.queue({"added-counters": "100Mi"})
    job = queue.submit(a_job(claims=[a_template(a_request(ADDED_COUNTERS, count=1))]))

    assert lab.verdict(job) == admitted({"added-counters": "44Mi"})


@covers("COUNTER-005")
@pytest.mark.parametrize(
    ("consumed", "verdict"),
    [
        pytest.param([{"slices": "4"}, {"slices": "2"}], inadmissible(Reason.NO_COUNTER), id="none-has-it"),
        pytest.param([{}, {}], inadmissible(Reason.NO_COUNTER), id="none-has-any"),
        pytest.param([{"slices": "4"}, {"memory": "5Gi"}], admitted({"gpu-memory": "10Gi"}), id="one-has-it"),
    ],
)
def test_some_device_must_consume_the_counter(lab: Lab, consumed: list[dict[str, str]], verdict: Verdict) -> None:
    """Devices without the counter count as devices, but at least one must have it."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(*[a_partition(f"d{i}", **each) for i, each in enumerate(consumed)], driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, count=2))]))

    assert lab.verdict(job) == verdict


@covers("COUNTER-005")
def test_the_missing_counter_is_named(lab: Lab) -> None:
    """The message has the field of the request and the counter."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.message(job) == (
        "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]: Internal error: "
        'matched devices have no consumesCounters entry for counter "memory"'
    )


@covers("COUNTER-006")
def test_a_negative_counter_charges_nothing(lab: Lab) -> None:
    """A driver that publishes a negative amount gives no quota away."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", "small", memory="-4Gi"), a_partition("d1", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "10Gi"})
    requests = [a_request(PARTITIONS, selectors=[SMALL]), a_request(PARTITIONS)]
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("COUNTER-007")
def test_a_counter_of_several_sets_is_charged_at_its_largest(lab: Lab) -> None:
    """The same counter of two sets is not added up."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(partitioned("d0", "full", {"memory": "30Gi"}, {"memory": "10Gi"}), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "30Gi"})


@covers("COUNTER-008")
def test_counters_add_up_over_requests_claims_pods_and_pod_sets(lab: Lab) -> None:
    """Nothing is remembered from one request to the next: the same device charges each of them."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    twice, once = a_template(a_request(PARTITIONS), a_request(PARTITIONS)), a_template(a_request(PARTITIONS))
    pod_sets = [a_pod_set("driver", claims=[twice, once]), a_pod_set("workers", pods=4, claims=[once])]
    job = queue.submit(a_workload(*pod_sets))

    assert lab.verdict(job) == admitted({"gpu-memory": "70Gi"})
