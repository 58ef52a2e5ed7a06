"""Claims: what Kueue up to 0.16 refused of a template, how it added up counts and what it tried again."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

LARGEST = 9223372036854775807
MATCHING = [{"requests": ["r0"], "matchAttribute": "gpu.example.com/numaNode"}]
TOLD = [{"opaque": {"driver": "gpu.example.com", "parameters": {"kind": "GpuConfig"}}}]
ANY_DEVICE = "true"


@covers("CLAIM-025")
def test_constraints_are_refused(lab: Lab) -> None:
    """Devices that have to match each other cannot be asked for."""
    queue = lab.queue({"whole-gpus": 3})
    job = queue.submit(a_job(claims=[a_template(gpu(2), constraints=MATCHING)]))

    assert lab.verdict(job) == inadmissible(Reason.CONSTRAINTS)
    assert "resourceClaims[0].devices.constraints: Invalid value" in lab.message(job)


@pytest.mark.parametrize(
    "requests",
    [pytest.param({}, id="for-every-request"), pytest.param({"requests": ["r0"]}, id="for-one-request")],
)
@covers("CLAIM-026")
def test_configuration_of_devices_is_refused(lab: Lab, requests: dict[str, Any]) -> None:
    """Requests with device configuration are rejected, though configuration does not affect quota."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2), config=[{**requests, **TOLD[0]}])]))

    assert lab.verdict(job) == inadmissible(Reason.DEVICE_CONFIG)


@covers("CEL-017")
@pytest.mark.parametrize(
    "selector",
    [
        pytest.param(ANY_DEVICE, id="any-device"),
        pytest.param('device.driver == "gpu.example.com"', id="of-the-driver"),
    ],
)
def test_selectors_are_refused(lab: Lab, selector: str) -> None:
    """Devices cannot be selected, not even all of them."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(a_request(selectors=[selector]))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTORS)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(
            a_template(a_request(mode="All", count=None), constraints=MATCHING, config=TOLD),
            Reason.CONSTRAINTS,
            id="constraints-first",
            marks=covers("CLAIM-025"),
        ),
        pytest.param(
            a_template(a_request(mode="All", count=None), config=TOLD),
            Reason.DEVICE_CONFIG,
            id="config-before-requests",
            marks=covers("CLAIM-026"),
        ),
        pytest.param(
            a_template(a_request(mode="All", count=None, admin=True, selectors=[ANY_DEVICE])),
            Reason.SELECTORS,
            id="selectors-before-the-rest",
            marks=covers("CEL-017"),
        ),
    ],
)
def test_the_first_fault_of_a_template_is_told(lab: Lab, claim: Any, reason: Reason) -> None:
    """Kueue checks constraints, configuration, then each request, and reports the first error only."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": 4}, namespace=namespace)
    job = queue.submit(a_job(claims=[claim]))

    assert lab.verdict(job) == inadmissible(reason)


@covers("CLAIM-027")
def test_a_better_template_is_noticed(lab: Lab) -> None:
    """A workload that was refused for an unmapped class is tried again until its template suits."""
    queue = lab.queue({"whole-gpus": 4})
    lab.template(a_template(a_request("fpga.example.com")), "devices", queue.namespace)
    job = queue.submit(a_job(claims=[a_missing_template("devices")]))
    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)

    lab.remove_template("devices", queue.namespace)
    lab.template(a_template(gpu()), "devices", queue.namespace)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("COUNT-020")
def test_counts_of_one_claim_wrap_around(lab: Lab) -> None:
    """Counts beyond the largest 64-bit integer overflow and look small."""
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(claims=[a_template(gpu(LARGEST), gpu(LARGEST), gpu(3))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
