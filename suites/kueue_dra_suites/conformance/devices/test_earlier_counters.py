"""Counters as Kueue 0.18 charged them: the first set of a device, all drivers' devices, plain numbers."""

from __future__ import annotations

from kueue_dra_fixtures.builders import a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import PARTITIONS, SOURCED, a_partition, partitioned
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible

pytestmark = owns_kueue


@covers("COUNTER-009")
def test_a_counter_of_several_sets_is_charged_at_the_first(lab: Lab) -> None:
    """Kueue ignores what a device consumes of the same counter in other counter sets."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(partitioned("d0", "full", {"memory": "10Gi"}, {"memory": "30Gi"}), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-018")
def test_selectors_are_tried_on_the_devices_of_all_drivers(lab: Lab) -> None:
    """A selector that errs on a device of a driver that is not charged refuses the workload.

    Which slice comes first is chance, and nothing is tried once enough devices match; so more are asked for.
    """
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish({"name": "d0"}, driver="a.example.com")
    lab.publish(a_partition("d1", "small", memory="10Gi"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    small = 'device.attributes["gpu.example.com"].profile == "small"'
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS, count=2, selectors=[small]))]))

    assert lab.verdict(job) == inadmissible(Reason.SELECTOR_ERROR)


@covers("DEVICE-019")
def test_amounts_are_shown_as_plain_numbers(lab: Lab) -> None:
    """Messages print requested and missing amounts without a suffix."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="4Ki"), driver=PARTITIONS)
    queue = lab.queue({"gpu-memory": "6Ki"})
    queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))

    assert lab.requests(job) == [{"name": "main", "resources": {"gpu-memory": "4096"}}]
    assert lab.message(job).endswith("2048 more needed")
