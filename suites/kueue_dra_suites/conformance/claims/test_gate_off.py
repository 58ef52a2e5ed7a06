"""Claims: what becomes of them while device integration is off (Workload Processing Flow, step 2)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import ClaimOf, a_direct_claim, a_job, a_missing_template, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

pytestmark = owns_kueue

CLAIMS = pytest.mark.parametrize(
    "claim",
    [
        pytest.param(a_template(gpu(8)), id="template"),
        pytest.param(a_direct_claim(), id="direct-claim"),
        pytest.param(a_missing_template(), id="missing-template"),
        pytest.param(a_template(a_request("fpga.example.com")), id="unmapped-class"),
    ],
)


@covers("GATE-004")
@CLAIMS
def test_claims_are_refused_while_integration_is_off(lab: Lab, claim: ClaimOf) -> None:
    """Devices that could not be charged keep the workload out, and the message names the gate."""
    lab.start(integration=False)
    queue = lab.queue({"cpu": 4, "whole-gpus": 8})
    job = queue.submit(a_job(cpu="1", claims=[claim]))

    assert lab.verdict(job) == inadmissible(Reason.GATE_OFF)
    assert "KueueDRAIntegration" in lab.message(job)


@covers("GATE-005")
@CLAIMS
def test_claims_are_not_charged_while_both_gates_are_off(lab: Lab, claim: ClaimOf) -> None:
    """Without the gate that rejects, work is admitted on its ordinary resources."""
    lab.start(integration=False, rejects=False)
    queue = lab.queue({"cpu": 4, "whole-gpus": 0})
    job = queue.submit(a_job(cpu="1", claims=[claim]))

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("GATE-003")
@CLAIMS
def test_claims_are_not_charged_while_the_gate_of_the_text_is_off(lab: Lab, claim: ClaimOf) -> None:
    """The text leaves work as it was before: admitted on its ordinary resources."""
    lab.start(integration=False)
    queue = lab.queue({"cpu": 4, "whole-gpus": 0})
    job = queue.submit(a_job(cpu="1", claims=[claim]))

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("GATE-010")
def test_work_without_claims_is_admitted_while_integration_is_off(lab: Lab) -> None:
    """Workloads without devices do not depend on the gate."""
    lab.start(integration=False)
    queue = lab.queue({"cpu": 4})
    job = queue.submit(a_job(cpu="1"))

    assert lab.verdict(job) == admitted({"cpu": 1})


@covers("GATE-011")
def test_refused_work_recovers_once_integration_is_on(lab: Lab) -> None:
    """After a restart with the gate on, what was refused is charged and admitted."""
    lab.start(integration=False)
    queue = lab.queue({"cpu": 4, "whole-gpus": 2})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu(2))]))
    assert lab.verdict(job) == inadmissible(Reason.GATE_OFF)

    lab.start()

    assert lab.verdict(job) == admitted({"cpu": 1, "whole-gpus": 2})
