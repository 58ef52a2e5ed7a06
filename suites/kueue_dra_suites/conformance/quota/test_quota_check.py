"""Resources that a ClusterQueue does not cover, and the Configuration that has them ignored (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue


@pytest.mark.parametrize(
    ("strategy", "gate", "verdict"),
    [
        pytest.param("IgnoreUndeclared", True, admitted({"cpu": "1"}), id="ignored", marks=covers("QUOTA-035")),
        pytest.param("BlockUndeclared", True, pending(Reason.NOT_COVERED), id="blocked", marks=covers("QUOTA-035")),
        pytest.param("IgnoreUndeclared", False, pending(Reason.NOT_COVERED), id="gate-off", marks=covers("GATE-022")),
    ],
)
def test_devices_that_are_not_covered(lab: Lab, strategy: str, gate: bool, verdict: Verdict) -> None:
    """Devices without quota in the ClusterQueue keep a workload pending, unless the Configuration ignores them."""
    lab.start(gates={"QuotaCheckStrategy": gate}, resources={"quotaCheckStrategy": strategy})
    queue = lab.queue({"cpu": "4"})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == verdict
