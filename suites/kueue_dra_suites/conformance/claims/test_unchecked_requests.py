"""Claims: requests that Kueue 0.14 lets pass, though it cannot count them (Kueue 0.14, claim templates)."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import (
    a_job,
    a_missing_template,
    a_pod_set,
    a_request,
    a_template,
    a_workload,
    first_available,
    gpu,
)
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending
from kueue_dra_ref.verdict import Verdict

MODE_ALL = a_request(mode="All", count=None)


@covers("CLAIM-028")
@pytest.mark.parametrize(
    ("requests", "usage"),
    [
        pytest.param([first_available("gpu.example.com")], {}, id="alone"),
        pytest.param([first_available("gpu.example.com", "fpga.example.com")], {}, id="of-an-unmapped-class"),
        pytest.param([gpu(2), first_available("gpu.example.com")], {"whole-gpus": 2}, id="beside-an-exact-request"),
    ],
)
def test_a_prioritized_list_is_charged_nothing(lab: Lab, requests: list[Any], usage: dict[str, int]) -> None:
    """The request needs no quota, whatever will be allocated for it."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == admitted(usage)


@covers("CLAIM-029")
@pytest.mark.parametrize(
    ("requests", "verdict"),
    [
        pytest.param([MODE_ALL], admitted({"whole-gpus": 0}), id="alone"),
        pytest.param([MODE_ALL, gpu(2)], admitted({"whole-gpus": 2}), id="beside-an-exact-request"),
        pytest.param(
            [a_request("fpga.example.com", mode="All", count=None)], inadmissible(Reason.UNMAPPED), id="unmapped"
        ),
        pytest.param(
            [a_request("ts-shard-gpus.example.com", mode="All", count=None)],
            pending(Reason.NOT_COVERED),
            id="not-covered",
            marks=covers("QUOTA-027"),
        ),
    ],
)
def test_mode_all_is_charged_none_of_its_class(lab: Lab, requests: list[Any], verdict: Verdict) -> None:
    """The request needs no quota, whatever devices it takes, but its class must exist."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(*requests)]))

    assert lab.verdict(job) == verdict


@covers("CLAIM-030")
@pytest.mark.parametrize(
    ("quota", "verdict"),
    [
        pytest.param(2, admitted({"whole-gpus": 2}), id="fits-exactly"),
        pytest.param(1, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_administrative_access_is_charged(lab: Lab, quota: int, verdict: Verdict) -> None:
    """A request for devices that others use is charged as if it took them."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": quota}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(a_request(count=2, admin=True))]))

    assert lab.verdict(job) == verdict


@covers("CEL-018")
@pytest.mark.parametrize(
    "selector",
    [
        pytest.param("true", id="any-device"),
        pytest.param("false", id="no-device"),
        pytest.param('device.attributes["gpu.example.com"].model == "a100"', id="fails-on-every-device"),
    ],
)
def test_selectors_are_not_looked_at(lab: Lab, selector: str) -> None:
    """The count is charged, whether or not a device of the cluster would do."""
    queue = lab.queue({"whole-gpus": 2})
    job = queue.submit(a_job(claims=[a_template(a_request(count=2, selectors=[selector]))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("CLAIM-031")
@pytest.mark.parametrize(
    ("claim", "message", "why"),
    [
        pytest.param(
            a_missing_template("gone"),
            "failed to get claim spec for ResourceClaimTemplate gone in",
            'failed to get claim spec: ResourceClaimTemplate.resource.k8s.io "gone" not found',
            id="missing-template",
        ),
        pytest.param(
            a_template(a_request("fpga.example.com")),
            "DeviceClass fpga.example.com is not mapped in DRA configuration for",
            "DeviceClass is not mapped in DRA configuration",
            id="unmapped-class",
        ),
    ],
)
def test_the_message_names_workload_and_pod_set(lab: Lab, claim: Any, message: str, why: str) -> None:
    """No field is named; the pod set is, so a claim is found by what it asks for."""
    queue = lab.queue({"whole-gpus": 4})
    good = a_pod_set("driver", claims=[a_template(gpu())])
    job = queue.submit(a_workload(good, a_pod_set("workers", claims=[claim])))

    name = lab.workload(job)["metadata"]["name"]
    assert lab.message(job) == f"{message} workload {name} podset workers: {why}"
