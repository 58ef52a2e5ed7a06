"""The map from device classes to names is that of the target ClusterQueue (Workloads, step 4, of April 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_direct_claim, a_job, a_template, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, inadmissible, unseen

GPU = "gpu.example.com"


@covers("KIND-012")
def test_two_queues_may_give_a_class_different_names(lab: Lab) -> None:
    """Each workload is charged under the name that its own queue gives."""
    one = lab.queue({"single-gpu": 2}, classes={"single-gpu": [GPU]})
    other = lab.queue({"a100": 2}, classes={"a100": [GPU]})

    assert lab.verdict(one.submit(a_job(claims=[a_template(gpu())]))) == admitted({"single-gpu": 1})
    assert lab.verdict(other.submit(a_job(claims=[a_template(gpu())]))) == admitted({"a100": 1})


@covers("KIND-011")
def test_a_class_that_only_another_queue_names_is_unmapped(lab: Lab) -> None:
    """Quota of another ClusterQueue does not help."""
    lab.queue({"single-gpu": 2}, classes={"single-gpu": [GPU]})
    queue = lab.queue({"cpu": 2, "single-gpu": 2}, classes={"single-gpu": ["fpga.example.com"]})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)


@covers("KIND-011")
def test_a_name_may_stand_for_other_classes_elsewhere(lab: Lab) -> None:
    """A name means what the ClusterQueue says that it means."""
    one = lab.queue({"gpus": 1}, classes={"gpus": [GPU]})
    other = lab.queue({"gpus": 1}, classes={"gpus": ["fpga.example.com"]})

    assert lab.verdict(one.submit(a_job(claims=[a_template(gpu())]))) == admitted({"gpus": 1})
    assert lab.verdict(other.submit(a_job(claims=[a_template(gpu())]))) == inadmissible(Reason.UNMAPPED)


@covers("KIND-017")
def test_a_queue_that_learns_of_a_class_admits_it(lab: Lab) -> None:
    """The map is made when the workload is processed again."""
    queue = lab.queue({"cpu": 1})
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(job) == inadmissible(Reason.UNMAPPED)

    queue.regroup({lab.flavor(): {"whole-gpus": 1}})
    lab.retry(job)

    assert lab.verdict(job) == admitted({"whole-gpus": 1})


@covers("KIND-018")
def test_without_its_queue_a_workload_is_not_decided(lab: Lab) -> None:
    """No class is unmapped before there is a map."""
    queue = lab.local_queue(lab.name("late"))
    job = queue.submit(a_job(claims=[a_template(gpu())]))
    ordinary = queue.submit(a_job(cpu="1"))

    assert lab.verdict(job) == unseen()
    assert lab.conditions(job) == {}
    assert lab.verdict(ordinary) == inadmissible(Reason.QUEUE_MISSING)


@covers("KIND-016")
def test_a_claim_that_two_workloads_name_is_charged_twice(lab: Lab) -> None:
    """The text knows nothing of claims that are charged already."""
    queue = lab.queue({"whole-gpus": 2})
    lab.claim(a_template(gpu()), "a-claim", queue.namespace, allocated=True)
    queue.submit(a_job(claims=[a_direct_claim("a-claim")]))
    queue.submit(a_job(claims=[a_direct_claim("a-claim")]))

    assert queue.figures.used == {next(iter(queue.figures.used)): {"whole-gpus": "2"}}


@owns_kueue
@covers("KIND-019")
@pytest.mark.parametrize(
    ("gate", "usage"),
    [
        pytest.param("KueueDynamicResourceAllocation", {"cpu": 1, "whole-gpus": 1}, id="its-own"),
        pytest.param("DynamicResourceAllocation", {"cpu": 1}, id="a-later-name"),
    ],
)
def test_one_gate_switches_the_feature(lab: Lab, gate: str, usage: dict[str, str | int]) -> None:
    """The gate has the name that the text gives it."""
    lab.start(gates={gate: True})
    queue = lab.queue({"cpu": 1, "whole-gpus": 1})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == admitted(usage)
