"""Partitioned devices, charged by the memory that they take of a shared counter (Kueue: partitionable devices)."""

from __future__ import annotations

import pytest

from kueue_dra_clusters.kind.profiles import MEMORY
from kueue_dra_fixtures.allocated_amounts import GIB, consumed, in_gib, shared
from kueue_dra_fixtures.builders import GPU, Template, Work, a_job, a_request, a_template
from kueue_dra_fixtures.on_nodes import NodeLab
from kueue_dra_fixtures.verdicts import Reason, admitted, pending

pytestmark = pytest.mark.profile("counter")

PARTITION = f"has(device.attributes['{GPU}'].partition)"
FULL = f"has(device.attributes['{GPU}'].full)"


def of_partitions(count: int = 1) -> Template:
    """A template that asks for partitions only."""
    return a_template(a_request(count=count, selectors=[PARTITION]))


FULL_DEVICE = a_template(a_request(selectors=[FULL]))


@pytest.mark.parametrize(
    ("work", "gib"),
    [
        pytest.param(a_job(claims=[of_partitions()]), 20, id="a-partition"),
        pytest.param(a_job(claims=[of_partitions(3)]), 60, id="three-partitions"),
        pytest.param(a_job(pods=2, claims=[of_partitions()]), 40, id="two-pods"),
        pytest.param(a_job(claims=[FULL_DEVICE]), 80, id="a-full-device"),
    ],
)
def test_the_charge_is_what_the_devices_consume(site: NodeLab, work: Work, gib: int) -> None:
    """Kueue charges the sum of the counters that the allocated devices consume."""
    queue = site.queue({MEMORY: "160Gi"})
    job = queue.submit(work)
    job.becomes(admitted({MEMORY: f"{gib}Gi"}))
    job.runs(work.pod_sets[0].count)

    assert consumed(site.slices(), job.devices(), "memory") == gib * GIB
    site.wait_equal(lambda: in_gib(queue.usage().get(MEMORY, "0")), gib, "what the queue uses, in GiB")


def test_quota_ends_before_the_devices_do(site: NodeLab) -> None:
    """Of three Jobs of one partition two run within 50Gi; the third has no pod."""
    queue = site.queue({MEMORY: "50Gi"})
    jobs = [queue.submit(a_job(claims=[of_partitions()])) for _ in range(2)]
    for job in jobs:
        job.runs()
    third = queue.submit(a_job(claims=[of_partitions()]))

    third.becomes(pending(Reason.NO_QUOTA))
    assert third.pods_ever() == []
    site.wait_equal(lambda: in_gib(queue.usage().get(MEMORY, "0")), 40, "what the queue uses, in GiB")


@pytest.mark.alone("takes every device")
def test_what_runs_never_exceeds_the_shared_counters(site: NodeLab) -> None:
    """The devices of everything that runs consume no more than each counter set has."""
    job = site.queue({MEMORY: f"{160 * site.workers}Gi"}).submit(a_job(pods=8 * site.workers, claims=[of_partitions()]))
    job.runs(8 * site.workers)

    assert shared(site.slices(), "memory") == 160 * GIB * site.workers
    assert consumed(site.slices(), job.devices(), "memory") == 160 * GIB * site.workers


@pytest.mark.known_limit("one counter is charged per request, the most that any matching device consumes")
def test_a_request_without_a_selector_is_charged_as_the_largest(site: NodeLab) -> None:
    """Partitions and full devices are of one class: the charge is that of a full one, whichever is allocated."""
    job = site.queue({MEMORY: "160Gi"}).submit(a_job(claims=[a_template(a_request())]))
    job.becomes(admitted({MEMORY: "80Gi"}))
    job.runs()

    assert consumed(site.slices(), job.devices(), "memory") <= 80 * GIB
