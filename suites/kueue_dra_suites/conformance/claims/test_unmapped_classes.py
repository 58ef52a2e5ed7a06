"""Claims: a device class without a mapping makes the workload inadmissible (Workload Processing Flow, step 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_device, a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible


@covers("CLAIM-014")
def test_an_unmapped_class_is_refused_by_name(lab: Lab) -> None:
    """A request for a class that no mapping names is inadmissible, and the message names the class."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request("fpga.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)
    assert "fpga.example.com" in lab.message(job)


@covers("CLASS-002")
@pytest.mark.parametrize(
    "requests",
    [
        pytest.param([a_request("fpga.example.com"), gpu()], id="unmapped-first"),
        pytest.param([gpu(), a_request("fpga.example.com")], id="mapped-first"),
    ],
)
def test_one_unmapped_class_among_mapped_ones_is_enough(lab: Lab, requests: list[Mapping[str, Any]]) -> None:
    """Every request of a template is looked up."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-002")
def test_one_claim_with_an_unmapped_class_is_enough(lab: Lab) -> None:
    """The classes of every claim are looked up."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(gpu()), a_template(a_request("fpga.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-004")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("gpu.example.co", id="shorter"),
        pytest.param("gpu.example.com.org", id="longer"),
        pytest.param("a.gpu.example.com", id="ending-alike"),
    ],
)
def test_a_class_is_looked_up_by_its_whole_name(lab: Lab, name: str) -> None:
    """A name that merely resembles that of a mapped class is unmapped."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(name))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-005", "CLAIM-014")
def test_quota_under_the_name_of_a_class_does_not_help(lab: Lab) -> None:
    """A ClusterQueue may cover a resource that is called like the class; the class is unmapped nevertheless."""
    queue = lab.queue({"fpga.example.com": 4})
    job = queue.submit(a_job(claims=[a_template(a_request("fpga.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLAIM-021")
def test_new_templates_classes_and_devices_do_not_wake_it(lab: Lab) -> None:
    """Even a better template of the same name is not noticed, nor is another queue that stops."""
    queue = lab.queue({"whole-gpus": 4})
    lab.template(a_template(a_request("fpga.example.com")), "devices", queue.namespace)
    job = queue.submit(a_job(claims=[a_missing_template("devices")]))
    lab.remove_template("devices", queue.namespace)
    lab.template(a_template(gpu()), "devices", queue.namespace)
    lab.device_class("fpga.example.com")
    lab.publish(a_device("d0"), driver="fpga.example.com")
    lab.queue({"whole-gpus": 4}).change(stopPolicy="Hold")
    lab.settle()
    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)

    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("CLAIM-023")
@pytest.mark.parametrize("strategy", ["BestEffortFIFO", "StrictFIFO"])
def test_a_refused_workload_blocks_nobody(lab: Lab, strategy: str) -> None:
    """A workload behind a rejected one is admitted, also in a StrictFIFO queue."""
    queue = lab.queue({"whole-gpus": 1}, queueingStrategy=strategy)
    refused = queue.submit(a_job(claims=[a_template(a_request("fpga.example.com"))]))
    after = queue.submit(a_job(claims=[a_template(gpu())]))

    assert (lab.verdict(refused), lab.verdict(after)) == (
        inadmissible(Reason.UNMAPPED),
        admitted({"whole-gpus": 1}),
    )
