"""Changes of devices: what they do to workloads that are refused, that wait, that run (Kueue 0.19)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template
from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.sources import (
    NICS,
    PARTITIONS,
    SHARES,
    SOURCED,
    a_partition,
    a_share,
    a_shared_gpu,
    some_values,
)
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending

pytestmark = owns_kueue


@covers("DEVICE-013")
def test_it_is_admitted_once_devices_are_published(lab: Lab) -> None:
    """Too few devices is nothing final."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    queue = lab.queue({"gpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-016")
def test_a_waiting_workload_keeps_its_charge(lab: Lab) -> None:
    """New devices change what is charged only once something of the workload itself changes."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="40Gi"), driver=PARTITIONS, pool="pool", generation=1)
    queue = lab.queue({"gpu-memory": "30Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="pool", generation=2)
    lab.settle()
    assert lab.verdict(job) == pending(Reason.NEVER_FITS)

    lab.retry(job)

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("DEVICE-017")
def test_an_admitted_workload_keeps_its_charge(lab: Lab) -> None:
    """New, changed or deleted devices do not affect admitted workloads."""
    lab.start(**SOURCED)
    lab.device_class(PARTITIONS)
    lab.publish(a_partition("d0", memory="10Gi"), driver=PARTITIONS, pool="pool", generation=1)
    queue = lab.queue({"gpu-memory": "30Gi"})
    job = queue.submit(a_job(claims=[a_template(a_request(PARTITIONS))]))
    lab.publish(a_partition("d0", memory="40Gi"), driver=PARTITIONS, pool="pool", generation=2)
    lab.retry(job)

    assert lab.verdict(job) == admitted({"gpu-memory": "10Gi"})


@covers("CAPACITY-015")
def test_a_share_that_no_device_gives_is_refused_for_good(lab: Lab) -> None:
    """A device that would give it is not noticed, until something of the workload itself changes."""
    lab.start(**SOURCED)
    lab.device_class(SHARES)
    lab.publish(a_shared_gpu("d0", some_values("8Gi"), memory="80Gi"), driver=SHARES)
    queue = lab.queue({"vgpu-memory": "100Gi"})
    job = queue.submit(a_job(claims=[a_template(a_share(memory="9Gi"))]))
    lab.publish(a_shared_gpu("d0", memory="80Gi"), driver=SHARES)
    lab.settle()
    assert lab.verdict(job) == inadmissible(Reason.BAD_SHARE)

    lab.retry(job)

    assert lab.verdict(job) == admitted({"vgpu-memory": "9Gi"})


SOURCED_TOO: dict[str, str | int] = {"nics": 4, "gpu-memory": "100Gi"}
UNSOURCED = {"nics": 4}


def message_after_a_slice(lab: Lab, queue: Queue, driver: str) -> str:
    """The message of a workload that lacked one nic, then two, once a slice was published that frees nothing."""
    queue.submit(a_job(claims=[a_template(a_request(NICS, count=2))]))
    waits = queue.submit(a_job(claims=[a_template(a_request(NICS, count=3))]))
    queue.submit(a_job(claims=[a_template(a_request(NICS))]))
    assert "1 more needed" in lab.message(waits)

    lab.publish(a_partition("d0", memory="10Gi"), driver=driver)
    lab.settle()

    return lab.message(waits)


@covers("DEVICE-022")
@pytest.mark.parametrize(
    ("driver", "missing"),
    [
        pytest.param(PARTITIONS, "2 more needed", id="a-source-names-it"),
        pytest.param("other.example.com", "1 more needed", id="nobody-names-it"),
    ],
)
def test_a_slice_has_whatever_waits_tried_again(lab: Lab, driver: str, missing: str) -> None:
    """A pending workload gets a new message about the missing amount, though no quota was released."""
    lab.start(**SOURCED)
    lab.device_class(NICS)
    queue = lab.queue(SOURCED_TOO)

    assert missing in message_after_a_slice(lab, queue, driver)


@pytest.mark.parametrize(
    "missing",
    [
        pytest.param("2 more needed", id="tried-again", marks=covers("DEVICE-026")),
        pytest.param("1 more needed", id="not-tried", marks=covers("DEVICE-027")),
    ],
)
def test_a_slice_and_a_queue_without_sourced_resources(lab: Lab, missing: str) -> None:
    """Up to Kueue 0.19 each ClusterQueue tries its workloads again, whether a slice may matter to them or not."""
    lab.start(**SOURCED)
    lab.device_class(NICS)
    queue = lab.queue(UNSOURCED)

    assert missing in message_after_a_slice(lab, queue, PARTITIONS)


@covers("DEVICE-027")
def test_a_slice_has_the_cohort_of_sourced_resources_tried_again(lab: Lab) -> None:
    """A ClusterQueue without sourced resources may get quota of one that has them, so its workloads are tried too."""
    lab.start(**SOURCED)
    lab.device_class(NICS)
    cohort, flavor = lab.name("cohort"), lab.flavor()
    lab.queue(groups=[{flavor: {"gpu-memory": "100Gi"}}], cohortName=cohort)
    queue = lab.queue(groups=[{flavor: UNSOURCED}], cohortName=cohort)

    assert "2 more needed" in message_after_a_slice(lab, queue, PARTITIONS)
