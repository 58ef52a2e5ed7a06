"""Ordinary resources and devices: both have to fit, and neither hides the other (step 5 and Queue Admission)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict


@covers("COUNT-018")
def test_ordinary_resources_are_charged_beside_devices(lab: Lab) -> None:
    """CPU and memory of a DRA workload are charged like those of any other."""
    queue = lab.queue({"cpu": "4", "memory": "4Gi", "whole-gpus": 4})
    job = queue.submit(a_job(requests={"cpu": "1500m", "memory": "2Gi"}, claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": "1500m", "memory": "2Gi", "whole-gpus": 2})


@covers("QUOTA-011", "QUOTA-012", "COUNT-018")
@pytest.mark.parametrize(
    ("cpu", "gpus", "verdict"),
    [
        pytest.param("2", 2, admitted({"cpu": "2", "whole-gpus": 2}), id="both-fit-exactly"),
        pytest.param("1999m", 2, pending(Reason.NEVER_FITS), id="cpu-is-short"),
        pytest.param("2", 1, pending(Reason.NEVER_FITS), id="devices-are-short"),
    ],
)
def test_cpu_and_devices_both_have_to_fit(lab: Lab, cpu: str, gpus: int, verdict: Verdict) -> None:
    """Neither enough CPU nor enough devices alone admits a workload."""
    queue = lab.queue({"cpu": cpu, "whole-gpus": gpus})
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == verdict


@covers("QUOTA-011", "QUOTA-002")
def test_cpu_that_others_hold_keeps_a_device_workload_waiting(lab: Lab) -> None:
    """Devices that are free do not help while the CPU is held by another workload."""
    queue = lab.queue({"cpu": "3", "whole-gpus": 8})
    queue.submit(a_job(cpu="2"))
    job = queue.submit(a_job(cpu="2", claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("QUOTA-012", "QUOTA-002")
def test_devices_that_others_hold_keep_a_workload_with_enough_cpu_waiting(lab: Lab) -> None:
    """CPU that is free does not help while the devices are held by another workload."""
    queue = lab.queue({"cpu": "8", "whole-gpus": 3})
    queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))]))
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("COUNT-014")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(5, admitted({"example.com/nics": 5}), id="fits-exactly"),
        pytest.param(4, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_a_request_under_the_name_of_the_mapping_is_added_to_the_devices(
    lab: Lab, quota: int, verdict: Verdict
) -> None:
    """A container may ask for an extended resource of the same name; both draw on one quota."""
    queue = lab.queue({"example.com/nics": quota})
    claim = a_template(a_request("nic.example.com", count=3))
    job = queue.submit(a_job(requests={"example.com/nics": "2"}, claims=[claim]))

    assert lab.verdict(job) == verdict


@owns_kueue
@covers("COUNT-014")
def test_devices_of_a_mapping_named_cpu_are_added_to_the_cpu(lab: Lab) -> None:
    """If a mapping has the name of an ordinary resource, a device counts as one whole unit of it."""
    lab.start({"cpu": ["gpu.example.com"]})
    queue = lab.queue({"cpu": "3"})
    job = queue.submit(a_job(cpu="500m", claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"cpu": "2500m"})


@owns_kueue
@covers("COUNT-015")
def test_excluded_prefixes_drop_requests_but_no_devices(lab: Lab) -> None:
    """A prefix that is excluded from quota concerns what containers request, not what claims ask for."""
    lab.start(resources={"excludeResourcePrefixes": ["example.com/", "whole-"]})
    queue = lab.queue({"example.com/nics": 1, "whole-gpus": 2})
    claim = a_template(gpu(2), a_request("nic.example.com", count=1))
    job = queue.submit(a_job(requests={"example.com/nics": "7"}, claims=[claim]))

    assert lab.verdict(job) == admitted({"example.com/nics": 1, "whole-gpus": 2})


@owns_kueue
@covers("COUNT-016")
@pytest.mark.parametrize(
    ("strategy", "usage"),
    [
        pytest.param("Replace", {"example.com/credits": 10, "example.com/nics": 3}, id="replace"),
        pytest.param("Retain", {"example.com/credits": 10, "example.com/nics": 5}, id="retain"),
    ],
)
def test_transformations_turn_requests_but_no_devices(lab: Lab, strategy: str, usage: dict[str, str | int]) -> None:
    """A transformation of the mapped resource turns what containers request, not what claims ask for."""
    credits_each = {"input": "example.com/nics", "strategy": strategy, "outputs": {"example.com/credits": "5"}}
    lab.start(resources={"transformations": [credits_each]})
    queue = lab.queue({"example.com/nics": 8, "example.com/credits": 80})
    claim = a_template(a_request("nic.example.com", count=3))
    job = queue.submit(a_job(requests={"example.com/nics": "2"}, claims=[claim]))

    assert lab.verdict(job) == admitted(usage)
