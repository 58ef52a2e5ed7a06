"""Workloads that Kueue admits by quota but the scheduler cannot place: a limit of the KEP, not a failure."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import CLASS, RESOURCE
from kueue_dra_fixtures.builders import Template, a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import admitted

pytestmark = pytest.mark.profile("whole-device")

ALIKE = [{"requests": ["r0"], "matchAttribute": f"{CLASS}/uuid"}]


@pytest.mark.known_limit("quota counts devices; whether they can be had together is the scheduler's to find out")
@pytest.mark.parametrize(
    ("template", "devices"),
    [
        pytest.param(a_template(gpu(9)), 9, id="more-than-the-node-has"),
        pytest.param(a_template(gpu(2), constraints=ALIKE), 2, id="a-constraint-that-no-two-devices-meet"),
    ],
)
def test_admitted_but_not_placed(site: NodeLab, template: Template, devices: int) -> None:
    """The Workload is admitted and charged, and its pod waits as unschedulable."""
    queue = site.queue({RESOURCE: 20})
    job = queue.submit(a_job(claims=[template]))
    job.becomes(admitted({RESOURCE: devices}))

    assert "cannot allocate all claims" in job.stays_unplaced()
    queue.uses({RESOURCE: str(devices)})
    assert not job.is_suspended()


@pytest.mark.known_limit("quota is the cluster's, devices are the node's: they may be enough in all and on no node")
@pytest.mark.nodes(2)
def test_enough_devices_but_on_no_single_node(site: NodeLab) -> None:
    """Nine devices are published and within quota, yet no node has nine."""
    job = site.queue({RESOURCE: 16}).submit(a_job(claims=[a_template(gpu(9))]))
    job.becomes(admitted({RESOURCE: 9}))

    assert "cannot allocate all claims" in job.stays_unplaced()


@pytest.mark.nodes(2)
def test_pods_of_one_job_run_on_several_nodes(site: NodeLab) -> None:
    """Two pods with five devices each need two nodes of eight."""
    job = site.queue({RESOURCE: 10}).submit(a_job(pods=2, claims=[a_template(gpu(5))]))

    job.runs(2)
    assert len({each["pool"] for each in job.devices()}) == 2
