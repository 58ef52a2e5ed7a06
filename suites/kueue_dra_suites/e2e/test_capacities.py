"""Shared devices, charged by the capacity that each claim takes (Kueue: consumable capacity)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import MEMORY
from kueue_dra_fixtures.allocated_amounts import GIB, in_gib, taken
from kueue_dra_fixtures.builders import Template, a_job, a_request, a_template
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("capacity")


def a_share(**requests: str) -> Template:
    """A template that asks for a share of a device."""
    request = a_request()
    if requests:
        request["exactly"]["capacity"] = {"requests": requests}
    return a_template(request)


@pytest.mark.parametrize(
    ("template", "gib"),
    [
        pytest.param(a_share(memory="10Gi"), 10, id="ten"),
        pytest.param(a_share(memory="16Gi", compute="20"), 16, id="with-compute"),
        pytest.param(a_share(memory="1Gi"), 1, id="the-least"),
        pytest.param(a_share(memory="80Gi"), 80, id="all-of-it"),
        pytest.param(a_share(), 80, id="the-default"),
    ],
)
def test_the_charge_is_what_the_claim_consumes(site: NodeLab, template: Template, gib: int) -> None:
    """Kueue charges the consumed capacity in the claim's status."""
    queue = site.queue({MEMORY: "160Gi"})
    job = queue.submit(a_job(claims=[template]))
    job.becomes(admitted({MEMORY: f"{gib}Gi"}))
    job.runs()

    assert taken(job.devices(), "memory") == gib * GIB
    site.wait_equal(lambda: in_gib(queue.usage().get(MEMORY, "0")), gib, "what the queue uses, in GiB")


def test_two_jobs_share_a_device(site: NodeLab) -> None:
    """Two claims that leave room for each other in every capacity may get shares of one device."""
    queue = site.queue({MEMORY: "50Gi"})
    jobs = [queue.submit(a_job(claims=[a_share(memory="10Gi", compute="20")])) for _ in range(4)]
    for job in jobs:
        job.runs()

    results = [each for job in jobs for each in job.devices()]
    assert len({each["shareID"] for each in results}) == 4
    assert len({(each["pool"], each["device"]) for each in results}) <= 2 * site.workers
    site.wait_equal(lambda: in_gib(queue.usage().get(MEMORY, "0")), 40, "what the queue uses, in GiB")


def test_quota_ends_before_the_capacity_does(site: NodeLab) -> None:
    """Of three Jobs two are within quota; the third has no pod though the devices have room."""
    queue = site.queue({MEMORY: "25Gi"})
    for job in [queue.submit(a_job(claims=[a_share(memory="10Gi", compute="10")])) for _ in range(2)]:
        job.runs()
    third = queue.submit(a_job(claims=[a_share(memory="10Gi", compute="10")]))

    third.becomes(pending(Reason.NO_QUOTA))
    assert third.pods_ever() == []


@pytest.mark.alone("takes every device")
@pytest.mark.known_limit("one capacity is charged; another one, which a claim takes by default, may run out first")
def test_admitted_by_memory_and_short_of_compute(site: NodeLab) -> None:
    """Claims that ask for memory alone take all compute of a device: five fit the quota, two the devices of a node."""
    queue = site.queue({MEMORY: "50Gi"})
    jobs = [queue.submit(a_job(claims=[a_share(memory="10Gi")])) for _ in range(6)]
    site.wait_equal(lambda: in_gib(queue.usage().get(MEMORY, "0")), 50, "what the queue uses, in GiB")

    def running() -> int:
        return sum(1 for job in jobs for pod in job.pods() if pod["status"].get("phase") == "Running")

    site.wait_equal(running, 2 * site.workers, "pods that run")
    assert sum(1 for job in jobs if job.pods_ever() == []) == 1
