"""Which quota a workload uses: ClusterQueues, LocalQueues, namespaces and resources (Queue Admission)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending


@covers("QUOTA-006")
def test_cluster_queues_do_not_share(lab: Lab) -> None:
    """Workloads of one ClusterQueue do not use another ClusterQueue's quota of the same flavor."""
    flavor = lab.flavor()
    full = lab.queue(groups=[{flavor: {"whole-gpus": 2}}])
    free = lab.queue(groups=[{flavor: {"whole-gpus": 2}}])
    full.submit(a_job(claims=[a_template(gpu(2))]))
    job = free.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("QUOTA-006", "QUOTA-002")
def test_a_cluster_queue_does_not_borrow_from_another(lab: Lab) -> None:
    """Unused quota of another ClusterQueue does not help."""
    flavor = lab.flavor()
    lab.queue(groups=[{flavor: {"whole-gpus": 8}}])
    small = lab.queue(groups=[{flavor: {"whole-gpus": 1}}])
    job = small.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-015")
def test_local_queues_of_one_namespace_share_their_cluster_queue(lab: Lab) -> None:
    """Two LocalQueues of one namespace draw on the same quota."""
    first = lab.queue({"whole-gpus": 3})
    second = lab.local_queue(first.cluster, first.namespace)
    first.submit(a_job(claims=[a_template(gpu(2))]))
    job = second.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("QUOTA-015")
def test_local_queues_of_several_namespaces_share_their_cluster_queue(lab: Lab) -> None:
    """LocalQueues of two namespaces draw on the same quota."""
    first = lab.queue({"whole-gpus": 3})
    second = lab.local_queue(first.cluster)
    first.submit(a_job(claims=[a_template(gpu(2))]))
    job = second.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NO_QUOTA)


@covers("QUOTA-015", "QUEUE-006")
def test_what_one_local_queue_releases_another_gets(lab: Lab) -> None:
    """Quota that a workload of one LocalQueue releases admits a pending workload of another one."""
    first = lab.queue({"whole-gpus": 2})
    second = lab.local_queue(first.cluster)
    held = first.submit(a_job(claims=[a_template(gpu(2))]))
    job = second.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(held)

    assert lab.verdict(job) == admitted({"whole-gpus": 2})


@covers("QUOTA-020")
@pytest.mark.parametrize(
    ("held", "asked", "resource"),
    [
        pytest.param("gpu.example.com", "nic.example.com", "example.com/nics", id="gpus-are-used-up"),
        pytest.param("nic.example.com", "gpu.example.com", "whole-gpus", id="nics-are-used-up"),
    ],
)
def test_a_used_up_resource_does_not_keep_out_work_for_another(lab: Lab, held: str, asked: str, resource: str) -> None:
    """Quota of each mapped resource is kept apart."""
    queue = lab.queue({"whole-gpus": 1, "example.com/nics": 1})
    queue.submit(a_job(claims=[a_template(a_request(held))]))
    job = queue.submit(a_job(claims=[a_template(a_request(asked))]))

    assert lab.verdict(job) == admitted({resource: 1})


@covers("QUOTA-020", "DET-003")
def test_used_up_devices_do_not_keep_out_work_without_devices(lab: Lab) -> None:
    """A workload that asks for CPU only is admitted while no device is left."""
    queue = lab.queue({"cpu": "2", "whole-gpus": 1})
    queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))
    job = queue.submit(a_job(cpu="1"))

    assert lab.verdict(job) == admitted({"cpu": "1"})
