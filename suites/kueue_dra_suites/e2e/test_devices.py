"""Claims and devices: made for each pod from its template, allocated, reserved, seen inside, gone (DRA concepts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kueue_dra_clusters.kind.profiles import RESOURCE
from kueue_dra_fixtures.builders import Work, a_job, a_template, gpu
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.pods import AT_ONCE
from kueue_dra_fixtures.verdicts import admitted

pytestmark = pytest.mark.profile("whole-device")

SEEN = pytest.mark.needs("environment")
SHARED = pytest.mark.needs("shares_claims")
SHARED_BY_TWO = a_job(claims=[a_template(gpu())], users=(("c0",), ("c0",)))
SHARED_WITH_INIT = a_job(claims=[a_template(gpu())], init_users=(("c0",),))


@pytest.mark.parametrize(("pods", "devices"), [pytest.param(n, n, id=str(n)) for n in (1, 2, 3)])
def test_each_pod_gets_a_claim_of_its_own(site: NodeLab, pods: int, devices: int) -> None:
    """Kubernetes makes a ResourceClaim for each pod from the template, named after the pod and owned by it."""
    job = site.queue({RESOURCE: 8}).submit(a_job(pods=pods, claims=[a_template(gpu())]))
    job.runs(pods)

    owners = sorted(claim["metadata"]["ownerReferences"][0]["name"] for claim in job.claims())
    assert owners == job.pods_ever()
    assert len(owners) == pods == devices


@pytest.mark.parametrize(
    ("work", "devices"),
    [
        pytest.param(a_job(claims=[a_template(gpu())]), 1, id="one"),
        pytest.param(a_job(claims=[a_template(gpu(2))]), 2, id="two-of-one-request"),
        pytest.param(a_job(claims=[a_template(gpu(), gpu(2))]), 3, id="two-requests"),
        pytest.param(a_job(claims=[a_template(gpu()), a_template(gpu(2))]), 3, id="two-claims"),
        pytest.param(a_job(pods=2, claims=[a_template(gpu(2))]), 4, id="two-pods"),
        pytest.param(SHARED_BY_TWO, 1, id="shared-by-containers", marks=SHARED),
        pytest.param(SHARED_WITH_INIT, 1, id="init-container-too", marks=SHARED),
        pytest.param(a_job(claims=[a_template(gpu())], users=((),)), 1, id="used-by-no-container"),
    ],
)
def test_the_charge_is_what_the_scheduler_allocates(site: NodeLab, work: Work, devices: int) -> None:
    """Kueue charges the number of devices in the status of claims for whole devices."""
    queue = site.queue({RESOURCE: 8})
    job = queue.submit(work)
    job.becomes(admitted({RESOURCE: devices}))
    job.runs(work.pod_sets[0].count)

    assert len({(each["pool"], each["device"]) for each in job.devices()}) == devices
    queue.uses({RESOURCE: str(devices)})


@SEEN
@pytest.mark.parametrize(
    ("users", "containers"),
    [
        pytest.param((("c0",),), ["main-0"], id="one-container"),
        pytest.param((("c0",), ("c0",)), ["main-0", "main-1"], id="both-containers", marks=SHARED),
    ],
)
def test_the_device_is_seen_inside(site: NodeLab, users: Any, containers: Sequence[str]) -> None:
    """Each container that uses a claim sees the device that was allocated, and no other."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())], users=users))
    job.runs()

    allocated = {each["device"] for each in job.devices()}
    assert [site.devices_in(job.log(container)) for container in containers] == [allocated] * len(containers)


@SEEN
def test_a_container_that_uses_no_claim_sees_no_device(site: NodeLab) -> None:
    """A claim that a pod names is given only to the containers that use it."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())], users=(("c0",), ())))
    job.runs()

    assert site.devices_in(job.log("main-1")) == set()


@SEEN
@SHARED
def test_the_init_container_sees_the_same_device(site: NodeLab) -> None:
    """One claim serves an init container and a regular one of the same pod."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())], init_users=(("c0",),)))
    job.runs()

    assert site.devices_in(job.log("init-0")) == site.devices_in(job.log("main-0")) == {job.devices()[0]["device"]}


def test_a_claim_is_reserved_for_its_pod_and_gone_with_it(site: NodeLab) -> None:
    """The claim is reserved for the pod; when the pod is gone, so are the claim and the reservation."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())]))
    job.runs()
    (claim,) = job.claims()
    assert [each["name"] for each in claim["status"]["reservedFor"]] == job.pods_ever()

    job.delete()
    site.wait_equal(lambda: site.claims(), [], "claims that are left")


@pytest.mark.needs("reports_devices")
def test_the_driver_reports_the_device(site: NodeLab) -> None:
    """A driver that reports devices does so in the claim's status, under the pool and device that were allocated."""
    job = site.queue({RESOURCE: 8}).submit(a_job(claims=[a_template(gpu())]))
    job.runs()

    site.wait_equal(
        lambda: [(each["pool"], each["device"]) for each in site.claims()[0]["status"].get("devices") or ()],
        [(each["pool"], each["device"]) for each in job.devices()],
        "the devices in the claim's status",
    )


@pytest.mark.devices(6)
def test_two_jobs_never_share_a_device(site: NodeLab) -> None:
    """Whole devices are allocated to one claim each."""
    queue = site.queue({RESOURCE: 8})
    jobs = [queue.submit(a_job(claims=[a_template(gpu(2))])) for _ in range(3)]
    for job in jobs:
        job.runs()

    found = [(each["pool"], each["device"]) for job in jobs for each in job.devices()]
    assert len(set(found)) == 6


def test_a_job_runs_and_finishes(site: NodeLab) -> None:
    """An admitted Job runs with its device and ends; its quota is free again."""
    queue = site.queue({RESOURCE: 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]), script=AT_ONCE)
    job.completes()

    queue.uses({})


@SEEN
def test_a_job_that_ended_has_seen_its_device(site: NodeLab) -> None:
    """The output of a container that ended at once has the device."""
    job = site.queue({RESOURCE: 1}).submit(a_job(claims=[a_template(gpu())]), script=AT_ONCE)
    job.completes()

    assert len(site.devices_in(job.log())) == 1
