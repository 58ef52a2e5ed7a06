"""Mapping: what a start and a restart with another mapping change (Drawbacks; Kueue 0.19, start-up)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_request, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Job, Lab, Queue
from kueue_dra_fixtures.marks import breaks_law, covers, owns_kueue
from kueue_dra_fixtures.queue_status import WorkloadCounts
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, pending

pytestmark = owns_kueue


@covers("CFG-001")
@pytest.mark.parametrize(
    "resource", [pytest.param("gpus", id="plain"), pytest.param("example.com/gpus", id="prefixed")]
)
def test_kueue_starts_with_a_mapping_and_charges_by_it(lab: Lab, resource: str) -> None:
    """The resource that the Configuration maps a class to is the one that is charged."""
    lab.start({resource: ["gpu.example.com"]})
    queue = lab.queue({resource: 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({resource: 2})


@covers("MAP-013")
def test_classes_of_one_mapping_share_its_resource(lab: Lab) -> None:
    """Devices of every class that the mapping names are charged together."""
    lab.start({"gpus": ["gpu.example.com", "fast-gpu.example.com"]})
    queue = lab.queue({"gpus": 3})
    job = queue.submit(a_job(claims=[a_template(gpu(2), a_request("fast-gpu.example.com"))]))

    assert lab.verdict(job) == admitted({"gpus": 3})


@covers("GATE-006")
def test_devices_are_charged_without_a_word_about_gates(lab: Lab) -> None:
    """Device integration is on unless it is turned off."""
    lab.start(integration=None)
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("CFG-009")
def test_a_changed_mapping_holds_after_a_restart(lab: Lab) -> None:
    """Work that comes after the restart is charged to the new resource."""
    lab.start({"old-gpus": ["gpu.example.com"]})
    queue = lab.queue({"old-gpus": 1, "new-gpus": 1})
    before = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.start({"new-gpus": ["gpu.example.com"]})
    after = queue.submit(a_job(claims=[a_template(gpu())]))

    assert (lab.verdict(before), lab.verdict(after)) == (admitted({"old-gpus": 1}), admitted({"new-gpus": 1}))


@covers("CFG-010", "CLAIM-014")
def test_work_that_was_unmapped_recovers_by_a_restart(lab: Lab) -> None:
    """Once the Configuration maps its class, a refused workload is admitted."""
    lab.start({"example.com/nics": ["nic.example.com"]})
    queue = lab.queue({"whole-gpus": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)

    lab.start({"whole-gpus": ["gpu.example.com"]})

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("CFG-011")
def test_a_restart_takes_no_quota_away(lab: Lab) -> None:
    """Work that holds quota keeps it over a restart, and what it holds stays counted."""
    lab.start(resources={"excludeResourcePrefixes": ["example.com/unused"]})
    queue = lab.queue({"whole-gpus": 1})
    holder = queue.submit(a_job(claims=[a_template(gpu())]))

    lab.start()
    waiter = queue.submit(a_job(claims=[a_template(gpu())]))

    assert (lab.verdict(holder), lab.verdict(waiter)) == (admitted({"whole-gpus": 1}), pending(Reason.NO_QUOTA))


def a_deactivated_holder(lab: Lab) -> tuple[Queue, Job]:
    """Make a Workload that belongs to no Job, so that its deactivation does not release its reservation."""
    lab.start(resources={"excludeResourcePrefixes": ["example.com/unused"]})
    queue = lab.queue({"whole-gpus": 1})
    holder = queue.submit(a_workload(a_pod_set("main", claims=[a_template(gpu())])))
    lab.activate(holder, False)
    return queue, holder


@covers("QUEUE-028")
def test_a_deactivated_workload_is_not_counted_at_a_start(lab: Lab) -> None:
    """The quota that it used is available to the next workload, before and after."""
    queue, _ = a_deactivated_holder(lab)

    lab.start()

    assert queue.figures.counts == WorkloadCounts()
    assert lab.verdict(queue.submit(a_job(claims=[a_template(gpu())]))) == admitted({"whole-gpus": 1})


_AGAIN = "Kueue counts a deactivated workload again when it starts"


@covers("QUEUE-029")
@breaks_law("holders are counted", _AGAIN)
@breaks_law("charges are reservations", _AGAIN)
@breaks_law("charges are usage", _AGAIN)
def test_a_deactivated_workload_is_counted_again_at_a_start(lab: Lab) -> None:
    """The quota that it used was available, and is used again after the start."""
    queue, _ = a_deactivated_holder(lab)
    assert queue.figures.counts == WorkloadCounts()

    lab.start()

    assert queue.figures.counts == WorkloadCounts(reserving=1, admitted=1)
    assert lab.verdict(queue.submit(a_job(claims=[a_template(gpu())]))) == pending(Reason.NO_QUOTA)


@covers("QUEUE-029")
def test_any_change_of_a_deactivated_workload_lets_it_go(lab: Lab) -> None:
    """The quota that it reserved again is free once Kueue observes the change."""
    queue, holder = a_deactivated_holder(lab)
    lab.start()

    lab.retry(holder)

    assert queue.figures.counts == WorkloadCounts()
    assert lab.verdict(queue.submit(a_job(claims=[a_template(gpu())]))) == admitted({"whole-gpus": 1})


def queued_at_a_start(lab: Lab) -> WorkloadCounts:
    """Count a Job that waited, but that another client ran, when Kueue restarts."""
    lab.start(resources={"excludeResourcePrefixes": ["example.com/unused"]})
    queue = lab.queue({"cpu": 0})
    lab.finish(queue.submit(a_job(cpu="1")))
    assert queue.figures.counts == WorkloadCounts()

    lab.start()
    return queue.figures.counts


@covers("QUEUE-032")
def test_done_work_is_not_queued_at_a_start(lab: Lab) -> None:
    """Each LocalQueue comes when Kueue starts."""
    assert queued_at_a_start(lab) == WorkloadCounts()


@covers("QUEUE-033")
@breaks_law("waiting are counted", "Kueue queues done work when it starts")
def test_done_work_is_queued_at_a_start(lab: Lab) -> None:
    """It is pending like the other workloads that wait."""
    assert queued_at_a_start(lab) == WorkloadCounts(pending=1)
