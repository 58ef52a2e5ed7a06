"""Work of other kinds gets devices, waits, and gives them back: groups of pods, Deployments, StatefulSets, JobSets."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import a_job, a_template, gpu
from kueue_dra_fixtures.node_pods import a_group, a_job_set, a_workload_api, job_set, removed
from kueue_dra_fixtures.on_nodes import NodeLab

pytestmark = pytest.mark.profile("whole-device")


@pytest.mark.devices(2)
def test_a_group_of_pods_gets_devices_together(site: NodeLab) -> None:
    """A second group waits, all of its pods gated and without a claim, until the first one ends."""
    queue = site.queue({RESOURCE: 2})
    work = a_job(claims=[a_template(gpu())])
    first = a_group(site, queue, work, pods=2)
    first.become(running=2, gated=0)
    queue.uses({RESOURCE: "2"})
    assert len(first.devices()) == 2

    second = a_group(site, queue, work, pods=2)
    second.become(running=0, gated=2)
    assert second.devices() == []

    first.end()
    second.become(running=2, gated=0)
    assert len(second.devices()) == 2


@pytest.mark.devices(2)
def test_each_pod_of_a_deployment_waits_for_itself(site: NodeLab) -> None:
    """With quota for two of three pods, the third is gated; with the Deployment the quota is back."""
    queue = site.queue({RESOURCE: 2})
    work = a_job(claims=[a_template(gpu())])
    deployment = a_workload_api(site, queue, work, "Deployment", replicas=3)
    deployment.become(running=2, gated=1)
    queue.uses({RESOURCE: "2"})
    assert len(deployment.devices()) == 2

    removed(site, "Deployment", deployment)
    deployment.become(running=0, gated=0)
    queue.uses({})


@pytest.mark.devices(2)
def test_a_stateful_set_starts_as_a_whole(site: NodeLab) -> None:
    """A second one waits, all of its pods gated, until the first one is deleted."""
    queue = site.queue({RESOURCE: 3})
    work = a_job(claims=[a_template(gpu())])
    first = a_workload_api(site, queue, work, "StatefulSet", replicas=2)
    first.become(running=2, gated=0)
    assert len(first.devices()) == 2

    second = a_workload_api(site, queue, work, "StatefulSet", replicas=2)
    second.become(running=0, gated=2)
    queue.uses({RESOURCE: "2"})

    removed(site, "StatefulSet", first)
    second.become(running=2, gated=0)
    assert len(second.devices()) == 2


@pytest.mark.devices(2)
@pytest.mark.usefixtures("job_sets")
def test_a_job_set_gets_devices_for_all_of_its_jobs(site: NodeLab) -> None:
    """A second one waits, suspended and without a pod, until the first one ends; with it the quota is back."""
    queue = site.queue({RESOURCE: 2})
    work = a_job(claims=[a_template(gpu())])
    first = a_job_set(site, queue, work, jobs=2)
    first.become(running=2, gated=0)
    queue.uses({RESOURCE: "2"})
    assert len(first.devices()) == 2

    second = a_job_set(site, queue, work, jobs=2)
    site.fence()
    assert job_set(site, second)["spec"]["suspend"] is True
    assert second.pods() == []
    queue.uses({RESOURCE: "2"})

    first.end()
    second.become(running=2, gated=0)
    assert len(second.devices()) == 2

    removed(site, "JobSet", second)
    second.become(running=0, gated=0)
    queue.uses({})
