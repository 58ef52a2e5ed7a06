"""The queue order: priority, creation, and workloads behind a head that does not fit (Queue Admission)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_request, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen

BOTH = pytest.mark.parametrize("strategy", ["StrictFIFO", "BestEffortFIFO"])


@covers("QUEUE-001", "QUEUE-006")
def test_a_device_workload_is_queued_with_all_others(lab: Lab) -> None:
    """A DRA workload waits in the queue for ordinary work to end, and is admitted from it."""
    queue = lab.queue({"cpu": "1", "whole-gpus": 1})
    held = queue.submit(a_job(cpu="1"))
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))
    waited = lab.verdict(job)

    lab.delete(held)

    assert waited == pending(Reason.NO_QUOTA)
    assert lab.verdict(job) == admitted({"cpu": "1", "whole-gpus": 1})


@covers("QUEUE-001", "QUEUE-004")
def test_a_device_workload_keeps_ordinary_work_behind_it_waiting(lab: Lab) -> None:
    """In a StrictFIFO queue a DRA workload that waits blocks ordinary work that would fit."""
    queue = lab.queue({"cpu": "4", "whole-gpus": 1}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(claims=[a_template(gpu())]))
    queue.submit(a_job(claims=[a_template(gpu())]))
    job = queue.submit(a_job(cpu="1"))

    assert lab.verdict(job) == unseen()


@BOTH
@covers("QUEUE-002")
def test_the_higher_priority_is_admitted_first(lab: Lab, strategy: str) -> None:
    """Of two workloads that wait for the same devices, the one with the higher priority gets them."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy=strategy)
    held = queue.submit(a_job(claims=[a_template(gpu(2))]))
    low = queue.submit(a_job(priority=1, claims=[a_template(gpu(2))]))
    high = queue.submit(a_job(priority=2, claims=[a_template(gpu(2))]))

    lab.delete(held)

    assert lab.verdict(high) == admitted({"whole-gpus": 2})
    assert lab.verdict(low) == pending(Reason.NO_QUOTA)


@covers("QUEUE-002", "QUEUE-004")
def test_a_higher_priority_goes_past_a_head_that_waits(lab: Lab) -> None:
    """In a StrictFIFO queue a head that does not fit blocks what is behind it, not what goes before it."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    queue.submit(a_job(priority=1, claims=[a_template(gpu(2))]))
    high = queue.submit(a_job(priority=2, claims=[a_template(gpu(1))]))

    assert lab.verdict(high) == admitted({"whole-gpus": 1})


@BOTH
@covers("QUEUE-003")
def test_of_equal_priority_the_older_is_admitted_first(lab: Lab, strategy: str) -> None:
    """Of workloads with equal priority that wait for the same devices, the one created first gets them."""
    queue = lab.queue({"whole-gpus": 3}, queueingStrategy=strategy)
    held = queue.submit(a_job(claims=[a_template(gpu(3))]))
    first = queue.submit(a_job(claims=[a_template(gpu(3))]))
    second = queue.submit(a_job(claims=[a_template(gpu(2))]))

    lab.delete(held)

    assert lab.verdict(first) == admitted({"whole-gpus": 3})
    assert lab.flavors(second) == {}


@covers("QUEUE-004", "QUEUE-005")
def test_strict_order_keeps_later_work_waiting(lab: Lab) -> None:
    """In a StrictFIFO queue a workload that would fit waits behind a head that does not."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    head = queue.submit(a_job(claims=[a_template(gpu(2))]))
    small = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(head) == pending(Reason.NO_QUOTA)
    assert lab.verdict(small) == unseen()


@covers("QUEUE-005")
def test_best_effort_lets_later_work_pass(lab: Lab) -> None:
    """In a BestEffortFIFO queue a workload that fits is admitted past a head that does not."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy="BestEffortFIFO")
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    head = queue.submit(a_job(claims=[a_template(gpu(2))]))
    small = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(head) == pending(Reason.NO_QUOTA)
    assert lab.verdict(small) == admitted({"whole-gpus": 1})


@covers("QUEUE-004", "QUOTA-004")
def test_strict_order_keeps_later_work_waiting_behind_what_never_fits(lab: Lab) -> None:
    """In a StrictFIFO queue even a head that could never fit blocks what is behind it."""
    queue = lab.queue({"whole-gpus": 2}, queueingStrategy="StrictFIFO")
    head = queue.submit(a_job(claims=[a_template(gpu(3))]))
    small = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(head) == pending(Reason.NEVER_FITS)
    assert lab.verdict(small) == unseen()


@covers("QUEUE-004", "CLASS-002")
def test_a_refused_workload_does_not_block_a_strict_queue(lab: Lab) -> None:
    """A workload whose claims are refused never comes to the head of the queue."""
    queue = lab.queue({"whole-gpus": 1}, queueingStrategy="StrictFIFO")
    queue.submit(a_job(claims=[a_template(a_request("unknown.example.com"))]))
    job = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 1})
