"""Device class resolution: from the class of a request to the resource that is charged (step 4 of the flow)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict


@covers("CLASS-001")
@pytest.mark.parametrize(
    ("device_class", "resource"),
    [
        pytest.param("gpu.example.com", "whole-gpus", id="only-class-of-a-mapping"),
        pytest.param("ts-shard-gpus.example.com", "shared-gpus", id="first-class-of-a-mapping"),
        pytest.param("sp-shared-gpus.example.com", "shared-gpus", id="last-class-of-a-mapping"),
        pytest.param("nic.example.com", "example.com/nics", id="resource-with-a-domain"),
    ],
)
def test_a_class_charges_the_resource_of_its_mapping(lab: Lab, device_class: str, resource: str) -> None:
    """The resource that is charged is the name of the mapping that lists the class."""
    queue = lab.queue({"whole-gpus": 4, "shared-gpus": 4, "example.com/nics": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(device_class, count=3))]))

    assert lab.verdict(job) == admitted({resource: 3})


@covers("CLASS-003")
def test_classes_of_different_mappings_charge_different_resources(lab: Lab) -> None:
    """Requests of one claim for classes of two mappings are charged to two resources."""
    queue = lab.queue({"whole-gpus": 2, "example.com/nics": 1})
    job = queue.submit(a_job(claims=[a_template(gpu(2), a_request("nic.example.com"))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2, "example.com/nics": 1})


@covers("CLASS-003", "QUOTA-012")
@pytest.mark.parametrize(
    ("gpus", "nics", "verdict"),
    [
        pytest.param(2, 3, admitted({"whole-gpus": 2, "example.com/nics": 3}), id="both-fit"),
        pytest.param(1, 3, pending(Reason.NEVER_FITS), id="first-is-short"),
        pytest.param(2, 2, pending(Reason.NEVER_FITS), id="second-is-short"),
    ],
)
def test_every_resource_of_a_workload_has_to_fit(lab: Lab, gpus: int, nics: int, verdict: Verdict) -> None:
    """A workload that asks for devices of two mappings needs quota of both."""
    queue = lab.queue({"whole-gpus": gpus, "example.com/nics": nics})
    job = queue.submit(a_job(claims=[a_template(gpu(2)), a_template(a_request("nic.example.com", count=3))]))

    assert lab.verdict(job) == verdict


@covers("CLASS-002")
@pytest.mark.parametrize(
    "classes",
    [
        pytest.param(["unknown.example.com"], id="alone"),
        pytest.param(["unknown.example.com", "gpu.example.com"], id="first-of-two"),
        pytest.param(["gpu.example.com", "unknown.example.com"], id="last-of-two"),
    ],
)
def test_one_unmapped_class_refuses_the_workload(lab: Lab, classes: list[str]) -> None:
    """Every request of a claim is looked up, so one class without a mapping makes the workload inadmissible."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(*map(a_request, classes))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-002")
def test_an_unmapped_class_of_a_second_claim_refuses_the_workload(lab: Lab) -> None:
    """Every claim of a pod is looked up."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(gpu()), a_template(a_request("unknown.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-004")
@pytest.mark.parametrize(
    "device_class",
    [
        pytest.param("gpu.example.co", id="one-character-less"),
        pytest.param("gpu.example.comm", id="one-character-more"),
        pytest.param("gpu.example.com.eu", id="longer-domain"),
        pytest.param("a.gpu.example.com", id="subdomain"),
    ],
)
def test_a_class_is_looked_up_by_its_whole_name(lab: Lab, device_class: str) -> None:
    """A class whose name merely resembles a mapped one is unmapped."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request(device_class))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("CLASS-005", "QUOTA-005")
def test_the_name_of_a_class_is_no_resource_of_the_quota(lab: Lab) -> None:
    """Quota under the name of the class serves no request for it; the name of the mapping is what counts."""
    queue = lab.queue({"gpu.example.com": 4})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)


@covers("CLASS-005")
def test_the_name_of_a_mapping_is_no_class(lab: Lab) -> None:
    """A request that names the resource of a mapping as its class is for a class without mapping."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(a_request("whole-gpus"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@owns_kueue
@covers("CLASS-001")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("accelerators", id="plain-name"),
        pytest.param("vendor.example.com/gpu", id="with-a-domain"),
    ],
)
def test_the_configuration_chooses_the_resource(lab: Lab, name: str) -> None:
    """The same class charges whatever resource the configuration maps it to."""
    lab.start({name: ["gpu.example.com"]})
    queue = lab.queue({name: 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({name: 2})
