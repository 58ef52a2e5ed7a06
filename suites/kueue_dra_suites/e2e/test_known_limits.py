"""Workloads that Kueue admits by quota but the scheduler cannot place: a limit of the KEP, not a failure."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import Template, a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import admitted

pytestmark = pytest.mark.profile("whole-device")

LIMIT = "quota counts devices; whether they can be had together is the scheduler's to find out"


def more_than_a_node(site: NodeLab) -> int:
    """One device more than a node publishes."""
    return site.driver.profile("whole-device").devices + 1


def admitted_and_not_placed(site: NodeLab, template: Template, devices: int) -> None:
    """The Workload is admitted and charged, and its pod waits as unschedulable."""
    queue = site.queue({RESOURCE: devices + 11})
    job = queue.submit(a_job(claims=[template]))
    job.becomes(admitted({RESOURCE: devices}))

    assert "cannot allocate all claims" in job.stays_unplaced()
    queue.uses({RESOURCE: str(devices)})
    assert not job.is_suspended()


@pytest.mark.known_limit(LIMIT)
def test_more_than_the_node_has_is_admitted(site: NodeLab) -> None:
    """A claim for one device more than a node has is admitted, and no node can allocate it."""
    devices = more_than_a_node(site)
    admitted_and_not_placed(site, a_template(gpu(devices)), devices)


@pytest.mark.known_limit(LIMIT)
@pytest.mark.needs("unique_attribute")
def test_a_constraint_that_no_two_devices_meet_is_admitted(site: NodeLab) -> None:
    """A claim for two devices with one value of an attribute that differs on each is admitted, too."""
    alike = [{"requests": ["r0"], "matchAttribute": site.driver.unique_attribute}]
    admitted_and_not_placed(site, a_template(gpu(2), constraints=alike), 2)


@pytest.mark.known_limit("quota is the cluster's, devices are the node's: they may be enough in all and on no node")
@pytest.mark.nodes(2)
def test_enough_devices_but_on_no_single_node(site: NodeLab) -> None:
    """One device more than a node has is published and within quota, yet no node has them."""
    devices = more_than_a_node(site)
    job = site.queue({RESOURCE: 2 * devices}).submit(a_job(claims=[a_template(gpu(devices))]))
    job.becomes(admitted({RESOURCE: devices}))

    assert "cannot allocate all claims" in job.stays_unplaced()


@pytest.mark.devices(2)
@pytest.mark.nodes(2)
def test_pods_of_one_job_run_on_several_nodes(site: NodeLab) -> None:
    """Two pods with more than half of a node's devices each need two nodes."""
    devices = more_than_a_node(site) // 2 + 1
    job = site.queue({RESOURCE: 2 * devices}).submit(a_job(pods=2, claims=[a_template(gpu(devices))]))

    job.runs(2)
    assert len({each["pool"] for each in job.devices()}) == 2
