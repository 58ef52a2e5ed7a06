"""Shared devices, charged by the capacity that each claim takes (Kueue: consumable capacity)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.driver_description import Ask
from kueue_dra_clusters.kind.profiles import MEMORY
from kueue_dra_fixtures.allocated_amounts import taken
from kueue_dra_fixtures.builders import Template, a_job, a_template
from kueue_dra_fixtures.described_driver import request_for, times, units
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("capacity")


def ask_for(site: NodeLab, name: str) -> Ask:
    """A request of the driver's description."""
    return site.driver.profile("capacity").asks[name]


def a_share(site: NodeLab, name: str = "share") -> Template:
    """A template that asks for a share of a device."""
    return a_template(request_for(ask_for(site, name)))


@pytest.mark.parametrize("ask", ["share", "two-capacities", "least", "all", "default"])
def test_the_charge_is_what_the_claim_consumes(site: NodeLab, ask: str) -> None:
    """Kueue charges the consumed capacity in the claim's status."""
    amount = ask_for(site, ask).amount
    queue = site.queue({MEMORY: times(amount, 2)})
    job = queue.submit(a_job(claims=[a_share(site, ask)]))
    job.becomes(admitted({MEMORY: amount}))
    job.runs()

    assert taken(job.devices(), site.driver.profile("capacity").dimension) == units(amount)
    site.wait_equal(lambda: units(queue.usage().get(MEMORY, "0")), units(amount), "what the queue uses")


@pytest.mark.asks("share", 2)
def test_jobs_share_a_device(site: NodeLab) -> None:
    """Claims that leave room for each other in every capacity may get shares of one device."""
    share = ask_for(site, "share")
    number = min(share.per_node, 4)
    queue = site.queue({MEMORY: times(share.amount, number + 1)})
    jobs = [queue.submit(a_job(claims=[a_share(site)])) for _ in range(number)]
    for job in jobs:
        job.runs()

    results = [each for job in jobs for each in job.devices()]
    assert len({each["shareID"] for each in results}) == number
    assert len({(each["pool"], each["device"]) for each in results}) <= devices_in_all(site)
    used = units(share.amount) * number
    site.wait_equal(lambda: units(queue.usage().get(MEMORY, "0")), used, "what the queue uses")


def devices_in_all(site: NodeLab) -> int:
    """The number of devices of all nodes."""
    return site.driver.profile("capacity").devices * site.workers


@pytest.mark.asks("share", 2)
def test_quota_ends_before_the_capacity_does(site: NodeLab) -> None:
    """Of three Jobs two are within quota; the third has no pod though the devices have room."""
    queue = site.queue({MEMORY: times(ask_for(site, "share").amount, 2)})
    for job in [queue.submit(a_job(claims=[a_share(site)])) for _ in range(2)]:
        job.runs()
    third = queue.submit(a_job(claims=[a_share(site)]))

    third.becomes(pending(Reason.NO_QUOTA))
    assert third.pods_ever() == []


@pytest.mark.alone("takes every device")
@pytest.mark.asks("lopsided", 1)
@pytest.mark.known_limit("one capacity is charged; another one, which a claim takes by default, may run out first")
def test_admitted_by_memory_and_short_of_compute(site: NodeLab) -> None:
    """Claims that ask for memory alone take all compute of a device: more fit the quota than devices are there."""
    lopsided = ask_for(site, "lopsided")
    places = lopsided.per_node * site.workers
    queue = site.queue({MEMORY: times(lopsided.amount, places + 3)})
    jobs = [queue.submit(a_job(claims=[a_share(site, "lopsided")])) for _ in range(places + 4)]
    used = units(lopsided.amount) * (places + 3)
    site.wait_equal(lambda: units(queue.usage().get(MEMORY, "0")), used, "what the queue uses")

    def running() -> int:
        return sum(1 for job in jobs for pod in job.pods() if pod["status"].get("phase") == "Running")

    site.wait_equal(running, places, "pods that run")
    assert sum(1 for job in jobs if job.pods_ever() == []) == 1
