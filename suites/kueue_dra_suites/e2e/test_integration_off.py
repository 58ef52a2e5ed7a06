"""Kueue's device integration is off: work with claims is refused, other work runs (gate KueueDRAIntegration)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.pods import AT_ONCE
from kueue_dra_fixtures.verdicts import Reason, inadmissible

pytestmark = pytest.mark.profile("integration-off")


def test_work_with_claims_is_refused(site: NodeLab) -> None:
    """Its message says that the gate is off, and it has no pod."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())]))

    job.becomes(inadmissible(Reason.GATE_OFF))
    assert job.pods_ever() == []


def test_other_work_runs(site: NodeLab) -> None:
    """Work that asks for no device is admitted, runs and ends."""
    site.queue({"cpu": "1"}).submit(a_job(cpu="100m"), script=AT_ONCE).completes()
