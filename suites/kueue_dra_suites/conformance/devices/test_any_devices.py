"""Classes with sources where the published devices make no difference: no slices are needed, and any may exist.

These cases apply to a cluster of others, where only the drivers publish devices.
"""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload, first_available
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import any_devices, covers, owns_kueue
from kueue_dra_fixtures.sources import NICS, PARTITIONS, SHARES, SOURCED
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

pytestmark = [owns_kueue, any_devices]

MANY = 1_000_000
"""More devices than a cluster has."""
NO_DEVICE = "false"
CLAIM = "spec.podSets[0].template.spec.resourceClaims[0]"
REQUEST = f"{CLAIM}.devices.requests"
KINDS = [
    pytest.param(PARTITIONS, "gpu-memory", "counter", id="counter"),
    pytest.param(SHARES, "vgpu-memory", "capacity", id="capacity", marks=covers("CAPACITY-002")),
]


@covers("DEVICE-002", "DEVICE-012")
@pytest.mark.parametrize(("device_class", "resource", "kind"), KINDS)
def test_more_devices_than_match_are_refused_whatever_the_quota(
    lab: Lab, device_class: str, resource: str, kind: str
) -> None:
    """The number of devices is not charged: quota for each of them admits nothing."""
    lab.start(**SOURCED)
    lab.device_class(device_class)
    queue = lab.queue({resource: 2 * MANY})
    job = queue.submit(a_job(claims=[a_template(a_request(device_class, count=MANY))]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)
    message = lab.message(job)
    assert message.startswith(f"{REQUEST}[0]: Internal error: insufficient matching devices for {kind} driver: ")
    assert message.endswith(f" device(s) match but {MANY} requested")


@covers("DEVICE-012")
@pytest.mark.parametrize(("device_class", "resource", "kind"), KINDS)
def test_a_selector_that_no_device_matches_refuses(lab: Lab, device_class: str, resource: str, kind: str) -> None:
    """The selectors of a claim are tried before its sources."""
    lab.start(**SOURCED)
    lab.device_class(device_class)
    queue = lab.queue({resource: MANY})
    job = queue.submit(a_job(claims=[a_template(a_request(device_class, selectors=[NO_DEVICE]))]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)
    counted = f"insufficient matching devices for CEL selector in DeviceClass {device_class}: 0 device(s) match"
    assert lab.message(job).startswith(f"{REQUEST}[0].exactly.selectors: Internal error: ")
    assert lab.message(job).endswith(f": {counted} in the cluster but 1 requested"), kind


@covers("DEVICE-012", "CLAIM-020")
@pytest.mark.parametrize(("device_class", "resource", "kind"), KINDS)
def test_the_request_at_fault_is_named(lab: Lab, device_class: str, resource: str, kind: str) -> None:
    """Of the second pod set, the second claim, after a class that is counted."""
    lab.start(**SOURCED)
    lab.device_class(device_class)
    queue = lab.queue({resource: MANY, "nics": 10})
    counted = a_template(a_request(NICS))
    both = a_template(a_request(NICS), a_request(device_class, count=MANY))
    workers = a_pod_set("workers", pods=2, claims=[counted, both])
    job = queue.submit(a_workload(a_pod_set("driver", claims=[counted]), workers))

    field = "spec.podSets[1].template.spec.resourceClaims[1].devices.requests[1]"
    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)
    assert lab.message(job).startswith(f"{field}: Internal error: "), kind


@covers("DEVICE-002")
@pytest.mark.parametrize(("device_class", "resource", "kind"), KINDS)
@pytest.mark.parametrize(
    ("of_class", "reason"),
    [
        pytest.param(
            lambda name: a_request(name, count=None, mode="All"),
            Reason.MODE_ALL,
            id="mode-all",
            marks=covers("CLAIM-010"),
        ),
        pytest.param(first_available, Reason.FIRST_AVAILABLE, id="first-available", marks=covers("CLAIM-008")),
    ],
)
def test_an_unsupported_request_is_refused_before_devices_are_looked_for(
    lab: Lab, device_class: str, resource: str, kind: str, of_class: Any, reason: Reason
) -> None:
    """As for a class that is counted."""
    lab.start(**SOURCED)
    lab.device_class(device_class)
    queue = lab.queue({resource: MANY})
    job = queue.submit(a_job(claims=[a_template(of_class(device_class))]))

    assert lab.verdict(job) == inadmissible(reason), kind


@covers("DEVICE-012")
@pytest.mark.parametrize(("device_class", "resource", "kind"), KINDS)
def test_a_refused_workload_holds_nothing(lab: Lab, device_class: str, resource: str, kind: str) -> None:
    """Neither the devices of the class that is counted, nor its place in the queue."""
    lab.start(**SOURCED)
    lab.device_class(device_class)
    queue = lab.queue({resource: MANY, "nics": 1})
    both = a_template(a_request(NICS), a_request(device_class, count=MANY))
    refused = queue.submit(a_job(claims=[both]))
    next_one = queue.submit(a_job(claims=[a_template(a_request(NICS))]))

    assert lab.verdict(refused) == inadmissible(Reason.TOO_FEW_DEVICES), kind
    assert lab.admission(refused) is None
    assert lab.verdict(next_one) == admitted({"nics": 1})
