"""Kueue 0.20 (provisional): administrative access, and the message about devices that cannot be charged."""

from __future__ import annotations

from typing import Any

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_direct_claim, a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

OBSERVED = {"UnadmittedWorkloadsObservability": True}
PLAIN = {"UnadmittedWorkloadsObservability": False}
CLAIM = "spec.podSets[0].template.spec.resourceClaims[0]"


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(a_request(count=8, admin=True), id="count", marks=covers("CLAIM-032")),
        pytest.param(a_request(mode="All", count=None, admin=True), id="mode-all", marks=covers("CLAIM-033")),
        pytest.param(a_request("unmapped.example.com", admin=True), id="unmapped", marks=covers("CLAIM-032")),
    ],
)
def test_administrative_access_is_charged_nothing(lab: Lab, request_: dict[str, Any]) -> None:
    """Kueue charges the other requests as before."""
    namespace = lab.namespace(**{"resource.kubernetes.io/admin-access": "true"})
    queue = lab.queue({"whole-gpus": 1}, namespace=namespace)
    job = queue.submit(a_job(claims=[a_template(gpu(), request_)]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("CLAIM-034")
def test_an_unmapped_class_is_not_found(lab: Lab) -> None:
    """The message has the field of the class and its name only."""
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(a_request("fpga.example.com"))]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)
    assert lab.message(job) == f'{CLAIM}.resourceClaimTemplateName.deviceClassName: Not found: "fpga.example.com"'


@owns_kueue
@covers("OBSERVE-019", "OBSERVE-020")
@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(a_direct_claim(), Reason.DIRECT_CLAIM, id="direct-claim"),
        pytest.param(a_missing_template(), Reason.NO_TEMPLATE, id="missing-template"),
        pytest.param(a_template(a_request("unmapped.example.com")), Reason.UNMAPPED, id="unmapped-class"),
    ],
)
def test_unresolved_devices_have_a_reason_of_their_own(lab: Lab, claim: ClaimOf, reason: Reason) -> None:
    """Both conditions carry it."""
    lab.start(gates=OBSERVED)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[claim]))

    assert lab.verdict(job) == inadmissible(reason)
    assert lab.condition(job, "QuotaReserved") == ("False", "DRAResourcesUnresolved")
    assert lab.condition(job, "Requeued") == ("False", "DRAResourcesUnresolved")
    words = "DRA resource claims not supported" if reason is Reason.DIRECT_CLAIM else lab.message(job)
    assert lab.message(job, "Requeued") == words


@owns_kueue
@covers("STATUS-054")
@pytest.mark.parametrize("gates", [pytest.param(OBSERVED, id="observed"), pytest.param(PLAIN, id="plain")])
def test_devices_that_resolve_are_told(lab: Lab, gates: dict[str, bool]) -> None:
    """A template that came late leaves a trace of the refusal."""
    lab.start(gates=gates)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_missing_template("late")]))

    lab.template(a_template(gpu(2)), "late", queue.namespace)
    lab.retry(job)

    assert lab.condition(job, "Requeued") == ("True", "DRAResourcesResolved")


@owns_kueue
@covers("GATE-023")
def test_reasons_are_told_apart_by_default(lab: Lab) -> None:
    """A Configuration that names no gate."""
    lab.start(observed_by_default=True)
    queue = lab.queue({"cpu": 1})
    job = queue.submit(a_job(cpu="2"))

    assert lab.condition(job, "QuotaReserved") == ("False", "ExceedsMaxQuota")
