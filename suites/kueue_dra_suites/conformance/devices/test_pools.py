"""Pools: which published slices decide what a source charges (Kueue 0.19, counters and capacity)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import PARTITIONS, SOURCED, a_partition
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue


@covers("DEVICE-005")
@pytest.mark.parametrize(
    ("large", "small"), [pytest.param(1, 2, id="larger-before"), pytest.param(2**40, 2**40 + 1, id="high-numbers")]
)
def test_the_newest_generation_of_a_pool_counts(lab: Lab, large: int, small: int) -> None:
    """Devices of an older generation are stale, though their slice still exists."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver=PARTITIONS, pool="pool", generation=large)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="pool", generation=small)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-005")
def test_generations_of_different_pools_are_not_compared(lab: Lab) -> None:
    """Each pool has its own newest generation."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver=PARTITIONS, pool="one", generation=1)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="other", generation=2)
    queue = lab.queue({"gpu-memory": "200Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, count=2))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "160Gi"})


@covers("DEVICE-006")
@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        pytest.param(1, inadmissible(Reason.TOO_FEW_DEVICES), id="one-too-many"),
        pytest.param(2, admitted({"gpu-memory": "20Gi"}), id="complete"),
        pytest.param(3, inadmissible(Reason.TOO_FEW_DEVICES), id="one-short"),
    ],
)
def test_an_incomplete_pool_does_not_count(lab: Lab, of: int, verdict: Verdict) -> None:
    """A pool counts when it has exactly as many slices as they say."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="pool", of=of)
    lab.publish(a_partition("d1", memory="20Gi"), driver=PARTITIONS, pool="pool", of=of)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == verdict


@covers("DEVICE-006")
def test_a_complete_pool_counts_beside_an_incomplete_one(lab: Lab) -> None:
    """Devices of the incomplete pool are as good as not there."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver=PARTITIONS, pool="incomplete", of=2)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="complete")
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-006")
def test_a_newer_generation_that_is_incomplete_hides_the_older(lab: Lab) -> None:
    """The pool is in the middle of a change, so it has no devices for now."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver=PARTITIONS, pool="pool", generation=1)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="pool", generation=2, of=2)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == inadmissible(Reason.TOO_FEW_DEVICES)


@covers("DEVICE-014")
def test_a_request_with_selectors_is_first_compared_with_every_slice(lab: Lab) -> None:
    """A device of an incomplete pool passes the comparison of selectors, and then the source has too few."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="80Gi"), driver=PARTITIONS, pool="pool", of=2)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, selectors=["true"]))]))

    assert "insufficient matching devices for counter driver: 0 device(s) match but 1 requested" in lab.message(job)
