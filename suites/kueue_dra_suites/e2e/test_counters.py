"""Partitioned devices, charged by the memory that they take of a shared counter (Kueue: partitionable devices)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.driver_description import Ask
from kueue_dra_clusters.kind.profiles import MEMORY
from kueue_dra_fixtures.allocated_amounts import consumed, shared
from kueue_dra_fixtures.builders import Template, a_job, a_request, a_template
from kueue_dra_fixtures.described_driver import request_for, times, units
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("counter")


def ask(site: NodeLab, name: str) -> Ask:
    """A request of the driver's description."""
    return site.driver.profile("counter").asks[name]


def counter(site: NodeLab) -> str:
    """The counter that is charged."""
    return site.driver.profile("counter").dimension


def of_parts(site: NodeLab, count: int = 1) -> Template:
    """A template that asks for the smallest devices only."""
    return a_template(request_for(ask(site, "part"), count=count))


@pytest.mark.parametrize(
    ("ask_for", "count", "pods"),
    [
        pytest.param("part", 1, 1, id="a-partition", marks=pytest.mark.asks("part", 1)),
        pytest.param("part", 3, 1, id="three-partitions", marks=pytest.mark.asks("part", 3)),
        pytest.param("part", 1, 2, id="two-pods", marks=pytest.mark.asks("part", 2)),
        pytest.param("whole", 1, 1, id="a-full-device", marks=pytest.mark.asks("whole", 1)),
    ],
)
def test_the_charge_is_what_the_devices_consume(site: NodeLab, ask_for: str, count: int, pods: int) -> None:
    """Kueue charges the sum of the counters that the allocated devices consume."""
    asked = ask(site, ask_for)
    charge = times(asked.amount, count * pods)
    queue = site.queue({MEMORY: times(asked.amount, 2 * count * pods)})
    job = queue.submit(a_job(pods=pods, claims=[a_template(request_for(asked, count=count))]))
    job.becomes(admitted({MEMORY: charge}))
    job.runs(pods)

    assert consumed(site.slices(), job.devices(), counter(site)) == units(charge)
    site.wait_equal(lambda: units(queue.usage().get(MEMORY, "0")), units(charge), "what the queue uses")


@pytest.mark.asks("part", 2)
def test_quota_ends_before_the_devices_do(site: NodeLab) -> None:
    """Of three Jobs of one partition two run within the quota of two and a half; the third has no pod."""
    amount = ask(site, "part").amount
    queue = site.queue({MEMORY: times(amount, 2.5)})
    jobs = [queue.submit(a_job(claims=[of_parts(site)])) for _ in range(2)]
    for job in jobs:
        job.runs()
    third = queue.submit(a_job(claims=[of_parts(site)]))

    third.becomes(pending(Reason.NO_QUOTA))
    assert third.pods_ever() == []
    site.wait_equal(lambda: units(queue.usage().get(MEMORY, "0")), 2 * units(amount), "what the queue uses")


@pytest.mark.alone("takes every device")
@pytest.mark.asks("part", 1)
def test_what_runs_never_exceeds_the_shared_counters(site: NodeLab) -> None:
    """The devices of everything that runs consume no more than each counter set has."""
    part = ask(site, "part")
    pods = part.per_node * site.workers
    total = times(part.amount, pods)
    job = site.queue({MEMORY: total}).submit(a_job(pods=pods, claims=[of_parts(site)]))
    job.runs(pods)

    assert consumed(site.slices(), job.devices(), counter(site)) == units(total)
    assert shared(site.slices(), counter(site)) >= units(total)


@pytest.mark.known_limit("one counter is charged per request, the most that any matching device consumes")
@pytest.mark.asks("whole", 1)
def test_a_request_without_a_selector_is_charged_as_the_largest(site: NodeLab) -> None:
    """Partitions and full devices are of one class: the charge is that of a full one, whichever is allocated."""
    most = ask(site, "whole").amount
    job = site.queue({MEMORY: times(most, 2)}).submit(a_job(claims=[a_template(a_request())]))
    job.becomes(admitted({MEMORY: most}))
    job.runs()

    assert consumed(site.slices(), job.devices(), counter(site)) <= units(most)
