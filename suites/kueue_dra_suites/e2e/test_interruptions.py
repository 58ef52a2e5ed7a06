"""Kueue, the driver and the slices go away in the middle, and come back; what runs goes on."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("whole-device")


@pytest.mark.alone("Kueue restarts")
def test_kueue_restarts_in_the_middle(site: NodeLab) -> None:
    """A restarted Kueue counts running workloads, keeps pending ones out, and admits them when there is quota."""
    queue = site.queue({RESOURCE: 1})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    first.runs()
    second = queue.submit(a_job(claims=[a_template(gpu())]))
    second.becomes(pending(Reason.NO_QUOTA))
    site.rollout.restart_kueue()
    third = queue.submit(a_job(claims=[a_template(gpu())]))
    third.becomes(pending(Reason.NO_QUOTA))
    queue.uses({RESOURCE: "1"})
    assert len(first.pods_ever()) == 1

    third.delete()
    first.end()
    second.runs()


@pytest.mark.devices(2)
@pytest.mark.alone("the driver restarts")
def test_the_driver_restarts_in_the_middle(site: NodeLab) -> None:
    """A restarted driver takes no device from a running pod, and serves the next pod."""
    queue = site.queue({RESOURCE: 2})
    first = queue.submit(a_job(claims=[a_template(gpu())]))
    first.runs()
    site.rollout.restart_driver()
    second = queue.submit(a_job(claims=[a_template(gpu())]))

    second.runs()
    assert len(first.pods_ever()) == 1
    assert first.devices() != second.devices()


@pytest.mark.alone("no device is left")
@pytest.mark.usefixtures("driver_back")
def test_slices_are_withdrawn_and_published_again(site: NodeLab) -> None:
    """Without slices quota still admits, and the pod waits for the scheduler; published again, it runs."""
    queue = site.queue({RESOURCE: 1})
    site.rollout.withdraw_driver()
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    job.becomes(admitted({RESOURCE: 1}))
    assert "cannot allocate all claims" in job.stays_unplaced()

    site.rollout.bring_driver_back()
    job.runs()
