"""Claims: which ResourceClaimTemplate is read, and what happens while it is missing (Workload Processing Flow)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible


@covers("CLAIM-004", "DET-001")
def test_a_template_is_processed(lab: Lab) -> None:
    """A workload that names a ResourceClaimTemplate is charged for its devices."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("CLAIM-005")
def test_a_template_is_read_from_the_namespace_of_the_workload(lab: Lab) -> None:
    """Of two templates with one name, Kueue charges the one in the workload's namespace."""
    queue = lab.queue({"whole-gpus": 4})
    lab.template(a_template(gpu(3)), "gpus", lab.namespace())
    lab.template(a_template(gpu(2)), "gpus", queue.namespace)
    job = queue.submit(a_job(claims=[a_missing_template("gpus")]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CLAIM-005")
def test_a_template_of_another_namespace_does_not_serve(lab: Lab) -> None:
    """A template of the right name elsewhere is as good as none."""
    queue = lab.queue({"whole-gpus": 4})
    lab.template(a_template(gpu()), "gpus", lab.namespace())
    job = queue.submit(a_job(claims=[a_missing_template("gpus")]))

    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)


@covers("CLAIM-006")
def test_a_missing_template_is_refused_by_name(lab: Lab) -> None:
    """A workload whose template does not exist is inadmissible, and the message names the template."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_missing_template("gpus-to-come")]))

    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)
    assert "gpus-to-come" in lab.message(job)


@covers("CLAIM-007")
def test_a_template_that_comes_later_lets_the_workload_in(lab: Lab) -> None:
    """A workload whose template was missing is retried."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_missing_template("gpus-to-come")]))
    assert lab.verdict(job) == inadmissible(Reason.NO_TEMPLATE)

    lab.template(a_template(gpu(2)), "gpus-to-come", queue.namespace)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CLAIM-018")
@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_a_template_is_read_alike_in_every_version(lab: Lab, version: str) -> None:
    """It does not matter in which served version of resource.k8s.io a template was written."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2), api_version=f"resource.k8s.io/{version}")]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CLAIM-016")
def test_constraints_do_not_change_the_charge(lab: Lab) -> None:
    """Devices that have to match each other are charged like any others."""
    queue = lab.queue({"whole-gpus": 3})
    matching = [{"requests": ["r0", "r1"], "matchAttribute": "gpu.example.com/numaNode"}]
    job = queue.submit(a_job(claims=[a_template(gpu(2), gpu(1), constraints=matching)]))

    assert lab.verdict(job) == admitted({"whole-gpus": 3})


@covers("CLAIM-017")
@pytest.mark.parametrize(
    "requests",
    [pytest.param({}, id="for-every-request"), pytest.param({"requests": ["r0"]}, id="for-one-request")],
)
def test_configuration_of_devices_does_not_change_the_charge(lab: Lab, requests: dict[str, Any]) -> None:
    """Device configuration for a driver does not affect quota."""
    queue = lab.queue({"whole-gpus": 2})
    message = [{**requests, "opaque": {"driver": "gpu.example.com", "parameters": {"kind": "GpuConfig", "count": 8}}}]
    job = queue.submit(a_job(claims=[a_template(gpu(2), config=message)]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CLAIM-012")
@pytest.mark.parametrize(
    ("mode", "count"),
    [
        pytest.param(None, 2, id="no-mode"),
        pytest.param("ExactCount", 2, id="exact-count"),
    ],
)
def test_a_request_asks_for_an_exact_count(lab: Lab, mode: str | None, count: int) -> None:
    """Unless it says otherwise, a request asks for as many devices as its count."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(a_request(mode=mode, count=count))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})
