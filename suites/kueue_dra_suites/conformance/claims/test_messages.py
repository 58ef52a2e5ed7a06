"""Claims: what a refusal says, and that it tells the first failing claim only (Kueue 0.19, claim templates)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kueue_dra_fixtures.builders import (
    ClaimOf,
    Pods,
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
from kueue_dra_fixtures.marks import covers, newer_api_server
from kueue_dra_fixtures.verdicts import Reason, inadmissible
from kueue_dra_ref.verdict import Verdict

UNMAPPED = a_request("fpga.example.com")
MODE_ALL = a_request(mode="All", count=None)
ONE_OF_A_LIST = 'device.attributes["lab.example.com"].models.exists(m, m == "a100")'
BAD_SELECTOR = a_request(selectors=[ONE_OF_A_LIST])
CLAIM = "spec.podSets[0].template.spec.resourceClaims[1]"


@covers("CLAIM-020")
@pytest.mark.parametrize(
    ("claim", "field"),
    [
        pytest.param(a_missing_template(), f"{CLAIM}: ", id="template"),
        pytest.param(
            a_template(UNMAPPED), f"{CLAIM}.resourceClaimTemplateName: ", id="class", marks=covers("CLAIM-035")
        ),
        pytest.param(
            a_template(gpu(), first_available("gpu.example.com")), f"{CLAIM}.devices.requests[1]: ", id="request"
        ),
        pytest.param(
            a_template(MODE_ALL), f"{CLAIM}.devices.requests[0].exactly.allocationMode: ", id="mode-of-a-request"
        ),
        pytest.param(
            a_template(gpu(), gpu(), BAD_SELECTOR),
            f"{CLAIM}.devices.requests[2].exactly.selectors: ",
            id="selector-of-a-request",
            marks=newer_api_server,
        ),
    ],
)
def test_the_message_names_the_field(lab: Lab, claim: ClaimOf, field: str) -> None:
    """The pod set, the claim and, where a request is at fault, the request."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=[a_template(gpu()), claim]))

    assert lab.message(job).startswith(field)


@covers("CLAIM-020")
def test_the_message_names_the_pod_set(lab: Lab) -> None:
    """A claim of a later pod set is found by the number of the pod set, and of the claim inside it."""
    queue = lab.queue({"whole-gpus": 4})
    good = a_pod_set("driver", claims=[a_template(gpu())])
    job = queue.submit(a_workload(good, a_pod_set("workers", claims=[a_template(gpu()), a_template(MODE_ALL)])))

    assert lab.message(job).startswith("spec.podSets[1].template.spec.resourceClaims[1].devices.requests[0]")


@covers("CLAIM-015")
@pytest.mark.parametrize(
    ("claims", "verdict"),
    [
        pytest.param(
            [a_missing_template(), a_template(MODE_ALL)], inadmissible(Reason.NO_TEMPLATE), id="template-before-mode"
        ),
        pytest.param(
            [a_template(MODE_ALL), a_missing_template()],
            inadmissible(Reason.MODE_ALL),
            id="mode-before-template",
            marks=covers("CLAIM-010"),
        ),
        pytest.param(
            [a_template(UNMAPPED), a_template(MODE_ALL)], inadmissible(Reason.UNMAPPED), id="class-before-mode"
        ),
        pytest.param(
            [a_template(UNMAPPED, MODE_ALL)],
            inadmissible(Reason.MODE_ALL),
            id="mode-before-class-inside-a-claim",
            marks=covers("CLAIM-010"),
        ),
    ],
)
def test_the_first_failing_claim_is_told(lab: Lab, claims: list[ClaimOf], verdict: Verdict) -> None:
    """Kueue checks claims in order; inside one, it checks every request before any class."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_job(claims=claims))

    assert lab.verdict(job) == verdict


@covers("CLAIM-015")
@pytest.mark.parametrize(
    ("pod_sets", "verdict"),
    [
        pytest.param(
            [a_pod_set("one", claims=[a_template(UNMAPPED)]), a_pod_set("two", claims=[a_missing_template()])],
            inadmissible(Reason.UNMAPPED),
            id="class-first",
        ),
        pytest.param(
            [a_pod_set("one", claims=[a_missing_template()]), a_pod_set("two", claims=[a_template(UNMAPPED)])],
            inadmissible(Reason.NO_TEMPLATE),
            id="template-first",
        ),
    ],
)
def test_the_first_failing_pod_set_is_told(lab: Lab, pod_sets: list[Pods], verdict: Verdict) -> None:
    """Kueue checks pod sets in order."""
    queue = lab.queue({"whole-gpus": 4})
    job = queue.submit(a_workload(*pod_sets))

    assert lab.verdict(job) == verdict


@covers("CLAIM-015")
@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        pytest.param(
            a_request(mode="All", count=None, admin=True),
            inadmissible(Reason.ADMIN_ACCESS),
            id="admin-before-mode",
            marks=covers("CLAIM-013"),
        ),
        pytest.param(
            a_request(mode="All", count=None, selectors=[ONE_OF_A_LIST]),
            inadmissible(Reason.BAD_SELECTOR),
            id="selector-before-mode",
            marks=[newer_api_server, covers("CEL-001")],
        ),
        pytest.param(
            a_request(admin=True, selectors=[ONE_OF_A_LIST]),
            inadmissible(Reason.BAD_SELECTOR),
            id="selector-before-admin",
            marks=[newer_api_server, covers("CEL-001")],
        ),
        pytest.param(
            a_request("fpga.example.com", admin=True),
            inadmissible(Reason.ADMIN_ACCESS),
            id="class-last",
            marks=covers("CLAIM-013"),
        ),
    ],
)
def test_the_first_fault_of_a_request_is_told(lab: Lab, request_: Mapping[str, Any], verdict: Verdict) -> None:
    """Selectors, administrative access, mode: Kueue reports the first error only."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": 4}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(request_)]))

    assert lab.verdict(job) == verdict
