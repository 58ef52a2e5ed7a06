"""Capacity: what a share of a device charges (Kueue 0.19, consumable capacity)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import (
    ADDED_SHARES,
    SHARES,
    SOURCED,
    a_range,
    a_share,
    a_shared_gpu,
    shares,
    some_values,
)
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue

REQUEST = "spec.podSets[0].template.spec.resourceClaims[0].devices.requests[0]"


@covers("CAPACITY-001")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param("13Gi", admitted({"vgpu-memory": "12Gi"}), id="to-spare"),
        pytest.param("12Gi", admitted({"vgpu-memory": "12Gi"}), id="exactly"),
        pytest.param("11Gi", pending(Reason.NEVER_FITS), id="one-short"),
    ],
)
def test_the_share_that_is_asked_for_is_charged(lab: Lab, quota: str, verdict: Verdict) -> None:
    """Not the number of devices and not their whole capacity is charged, but the share."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": quota})
    job = queue.submit(a_job(claims=[a_template(a_share(memory="12Gi"))]))

    assert lab.verdict(job) == verdict


@covers("CAPACITY-002")
@pytest.mark.parametrize(
    ("memory", "usage"),
    [
        pytest.param("10Gi", "20Gi", id="times-two"),
        pytest.param("1001m", "4", id="fractions-are-rounded-up-first"),
        pytest.param("7Ei", "9223372036854775807", id="saturated"),
    ],
)
def test_every_device_of_a_request_is_charged(lab: Lab, memory: str, usage: str) -> None:
    """Kueue charges the share times the count; without a policy, the share may exceed the device."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", memory="8Gi"), a_shared_gpu("d1", memory="8Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "9223372036854775807"})
    job = queue.submit(a_job(claims=[a_template(a_share(count=2, memory=memory))]))

    assert lab.verdict(job) == admitted({"vgpu-memory": usage})


@pytest.mark.parametrize(
    ("policy", "usage"),
    [
        pytest.param(a_range("1Gi", default="8Gi"), "8Gi", id="range", marks=covers("CAPACITY-003")),
        pytest.param(
            some_values("4Gi", "6Gi", default="6Gi"), "6Gi", id="one-of-the-values", marks=covers("CAPACITY-003")
        ),
        pytest.param({"default": "5Gi"}, "5Gi", id="nothing-else", marks=covers("CAPACITY-003")),
        pytest.param({}, "80Gi", id="empty-policy", marks=covers("CAPACITY-004")),
        pytest.param(None, "80Gi", id="no-policy", marks=covers("CAPACITY-004")),
    ],
)
def test_who_asks_for_no_share_is_charged_the_default(lab: Lab, policy: dict[str, Any] | None, usage: str) -> None:
    """The default of the policy, or the whole capacity where there is none."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", policy, memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share())]))

    assert lab.verdict(job) == admitted({"vgpu-memory": usage})


@covers("CAPACITY-004")
def test_a_capacity_without_a_value_is_zero(lab: Lab) -> None:
    """The API server stores it with the value 0, and so do selectors see it."""
    lab.start(**SOURCED)
    lab.device_class(SHARES, 'device.capacity["vgpu.example.com"].memory.isLessThan(quantity("1"))')
    lab.publish({**a_shared_gpu("d0"), "capacity": {"memory": {}}}, driver=SHARES)
    job = lab.queue({"vgpu-memory": "0"}).submit(a_job(claims=[a_template(a_share())]))

    assert lab.verdict(job) == admitted({"vgpu-memory": "0"})


@covers("CAPACITY-008")
@pytest.mark.parametrize(
    ("asked", "usage"),
    [
        pytest.param({}, "40Gi", id="defaults"),
        pytest.param({"memory": "9Gi"}, "16Gi", id="rounded-by-each"),
        pytest.param({"memory": "17Gi"}, "40Gi", id="one-cannot"),
    ],
)
def test_the_largest_share_is_charged(lab: Lab, asked: dict[str, str], usage: str) -> None:
    """Each device rounds by its own policy; which will be allocated is not known, so the worst is charged."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(
        a_shared_gpu("d0", some_values("10Gi"), memory="80Gi"),
        a_shared_gpu("d1", some_values("4Gi", "16Gi", "40Gi", default="40Gi"), memory="80Gi"),
        a_shared_gpu("d2", some_values("2Gi", "12Gi"), memory="80Gi"),
        driver=SHARES,
    )
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(shares(SHARES, asked))]))

    assert lab.verdict(job) == admitted({"vgpu-memory": usage})


@covers("CAPACITY-009")
def test_capacities_of_one_mapping_add_up(lab: Lab) -> None:
    """Every source of a mapping charges its resource, each with its own share."""
    lab.start(**SOURCED)
    lab.device_class(ADDED_SHARES)
    lab.publish(a_shared_gpu("d0", memory="80Gi", disk="100Gi"), driver=SHARES)
    queue = lab.queue({"added-shares": "200Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(ADDED_SHARES, memory="10Gi"))]))

    assert lab.verdict(job) == admitted({"added-shares": "110Gi"})


@covers("CAPACITY-010")
@pytest.mark.parametrize(
    ("asked", "usage"),
    [
        pytest.param({"memory": "10Gi"}, "10Gi", id="same-name"),
        pytest.param({"vgpu.example.com/memory": "10Gi"}, "80Gi", id="with-its-domain"),
        pytest.param({"disk": "10Gi"}, "80Gi", id="another-capacity"),
        pytest.param({"disk": "20Gi", "memory": "10Gi"}, "10Gi", id="beside-another"),
    ],
)
def test_names_of_capacities_are_compared_as_written(lab: Lab, asked: dict[str, str], usage: str) -> None:
    """A name with the domain of the driver is another name than the one without."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(shares(SHARES, asked))]))

    assert lab.verdict(job) == admitted({"vgpu-memory": usage})


@covers("CAPACITY-013")
@pytest.mark.parametrize(
    ("capacity", "verdict"),
    [
        pytest.param({"disk": "10Gi"}, inadmissible(Reason.NO_CAPACITY), id="none-has-it"),
        pytest.param({"vgpu.example.com/memory": "10Gi"}, inadmissible(Reason.NO_CAPACITY), id="with-its-domain"),
        pytest.param({"disk": "10Gi", "memory": "10Gi"}, admitted({"vgpu-memory": "20Gi"}), id="one-has-it"),
    ],
)
def test_some_device_must_have_the_capacity(lab: Lab, capacity: dict[str, str], verdict: Verdict) -> None:
    """Devices without the capacity count as devices, but at least one must have it."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", disk="9Gi"), a_shared_gpu("d1", **capacity), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(count=2))]))

    assert lab.verdict(job) == verdict


@covers("CAPACITY-011", "CAPACITY-013")
@pytest.mark.parametrize(
    ("device", "message"),
    [
        pytest.param(
            a_shared_gpu("d0", disk="80Gi"),
            'Internal error: matched devices have no capacity dimension "memory"',
            id="absent",
        ),
        pytest.param(
            a_shared_gpu("d0", some_values("1Gi"), memory="80Gi"),
            "Invalid value: null: capacity request cannot be satisfied by any matched device's RequestPolicy for "
            'dimension "memory"',
            id="no-such-share",
        ),
    ],
)
def test_the_capacity_is_named(lab: Lab, device: dict[str, Any], message: str) -> None:
    """The message has the field of the request and the capacity."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(device, driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(memory="2Gi"))]))

    assert lab.message(job) == f"{REQUEST}: {message}"


@covers("CAPACITY-014")
def test_shares_add_up_over_requests_claims_pods_and_pod_sets(lab: Lab) -> None:
    """Kueue charges each request by itself and ignores how much of the device is free."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", memory="10Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    two, one = a_template(a_share(memory="5Gi"), a_share(memory="6Gi")), a_template(a_share())
    pod_sets = [a_pod_set("driver", claims=[two, one]), a_pod_set("workers", pods=4, claims=[one])]
    job = queue.submit(a_workload(*pod_sets))

    assert lab.verdict(job) == admitted({"vgpu-memory": "61Gi"})
