"""Quota: what fits the nominal quota is admitted, what does not waits (Workload Processing Flow, steps 5 to 7)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import Pods, Work, a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import breaks_law, covers
from kueue_dra_fixtures.verdicts import Reason, admitted, pending, unseen
from kueue_dra_ref.verdict import Verdict


@covers("QUOTA-001", "QUOTA-003", "QUOTA-004", "CLASS-001", "STATUS-003")
@pytest.mark.parametrize(
    ("asked", "quota", "verdict"),
    [
        pytest.param(1, 2, admitted({"whole-gpus": 1}), id="one-to-spare"),
        pytest.param(2, 2, admitted({"whole-gpus": 2}), id="fits-exactly"),
        pytest.param(3, 2, pending(Reason.NEVER_FITS), id="one-too-many"),
    ],
)
def test_devices_are_admitted_up_to_the_quota(lab: Lab, asked: int, quota: int, verdict: Verdict) -> None:
    """A workload is admitted when its devices fit the quota of the resource that their class maps to."""
    queue = lab.queue({"whole-gpus": quota})
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("QUOTA-002", "QUOTA-003")
@pytest.mark.parametrize(
    ("asked", "verdict"),
    [
        pytest.param(1, admitted({"whole-gpus": 1}), id="one-less-than-is-left"),
        pytest.param(2, admitted({"whole-gpus": 2}), id="exactly-what-is-left"),
        pytest.param(3, pending(Reason.NO_QUOTA), id="one-more-than-is-left"),
    ],
)
def test_devices_are_admitted_up_to_what_is_left(lab: Lab, asked: int, verdict: Verdict) -> None:
    """Quota that earlier workloads use is not available to later ones."""
    queue = lab.queue({"whole-gpus": 5})
    queue.submit(a_job(claims=[a_template(gpu(3))]))
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == verdict


@covers("QUOTA-004")
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param(2, Reason.NO_QUOTA, id="could-fit-later"),
        pytest.param(3, Reason.NEVER_FITS, id="could-never-fit"),
    ],
)
def test_a_workload_that_could_never_fit_is_told_so(lab: Lab, asked: int, reason: Reason) -> None:
    """The message distinguishes more than the nominal quota from more than what is unused now."""
    queue = lab.queue({"whole-gpus": 2})
    queue.submit(a_job(claims=[a_template(gpu(1))]))
    job = queue.submit(a_job(claims=[a_template(gpu(asked))]))

    assert lab.verdict(job) == pending(reason)


@covers("QUOTA-002")
def test_many_workloads_fill_the_quota_one_by_one(lab: Lab) -> None:
    """Workloads are admitted until the quota is used up; the next one waits."""
    queue = lab.queue({"whole-gpus": 3})
    first = queue.submit(a_job(claims=[a_template(gpu(1))]))
    second = queue.submit(a_job(claims=[a_template(gpu(2))]))
    third = queue.submit(a_job(claims=[a_template(gpu(1))]))

    assert lab.verdict(first) == admitted({"whole-gpus": 1})
    assert lab.verdict(second) == admitted({"whole-gpus": 2})
    assert lab.verdict(third) == pending(Reason.NO_QUOTA)


@covers("QUOTA-016", "QUOTA-001")
def test_no_published_device_is_needed(lab: Lab) -> None:
    """Quota counts what is asked for; without any ResourceSlice the workload is admitted all the same."""
    queue = lab.queue({"whole-gpus": 8})
    job = queue.submit(a_job(claims=[a_template(gpu(8))]))

    assert lab.verdict(job) == admitted({"whole-gpus": 8})


@covers("QUOTA-016")
def test_published_devices_do_not_raise_the_quota(lab: Lab) -> None:
    """Devices that exist do not let in what the quota does not allow."""
    queue = lab.queue({"whole-gpus": 1})
    lab.publish({"name": "gpu-0"}, {"name": "gpu-1"}, {"name": "gpu-2"})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == pending(Reason.NEVER_FITS)


@covers("QUOTA-005")
def test_a_resource_that_the_queue_does_not_cover_keeps_a_workload_out(lab: Lab) -> None:
    """A ClusterQueue without the mapped resource admits nothing that asks for it, and names the resource."""
    queue = lab.queue({"cpu": "8"})
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)
    assert "whole-gpus" in lab.message(job)


@covers("QUOTA-048")
def test_of_several_uncovered_resources_the_first_by_hash_is_told(lab: Lab) -> None:
    """Neither the first by name, nor the first that the pod names: each name has one place, in every message."""
    fruits = {f"example.com/{each}": "1" for each in ("bananas", "oranges", "hazelnuts")}
    job = lab.queue({"cpu": "1"}).submit(a_workload(a_pod_set("main", requests=fruits)))

    assert lab.message(job) == (
        "couldn't assign flavors to pod set main: resource example.com/hazelnuts unavailable in ClusterQueue"
    )


_ASKS_FOR_NONE = [
    pytest.param(a_workload(a_pod_set("main", requests={"cpu": "1", "example.com/fpga": "0"})), id="none-is-written"),
    pytest.param(
        a_workload(
            a_pod_set("none", pods=0, requests={"cpu": "1", "example.com/fpga": "1"}),
            a_pod_set("main", cpu="1"),
        ),
        id="no-pods",
    ),
    pytest.param(
        a_workload(a_pod_set("main", cpu="1"), a_pod_set("none", pods=0, requests={"example.com/fpga": "1"})),
        id="no-pods-and-nothing-else-in-the-last",
    ),
]


@covers("QUOTA-026")
@pytest.mark.parametrize("work", _ASKS_FOR_NONE)
def test_none_of_an_uncovered_resource_may_be_asked_for(lab: Lab, work: Work) -> None:
    """The ClusterQueue need not cover a resource of which a workload requests zero."""
    job = lab.queue({"cpu": "1"}).submit(work)

    assert lab.verdict(job) == admitted({"cpu": "1"})


@covers("QUOTA-027")
@pytest.mark.parametrize("work", _ASKS_FOR_NONE)
def test_even_none_of_an_uncovered_resource_keeps_a_workload_out(lab: Lab, work: Work) -> None:
    """A workload that names an uncovered resource waits, though it requests zero of it."""
    job = lab.queue({"cpu": "1"}).submit(work)

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)


@covers("QUOTA-029")
@breaks_law("holders are counted", "Kueue counts a workload whose admission the API server refuses, over and over")
@pytest.mark.parametrize(
    "none",
    [
        pytest.param(a_pod_set("none", pods=0, requests={"example.com/fpga": "1"}), id="no-pods"),
        pytest.param(a_pod_set("none", requests={"example.com/fpga": "0"}), id="none-is-written"),
    ],
)
def test_who_needs_nothing_hides_the_pod_sets_behind(lab: Lab, none: Pods) -> None:
    """Kueue writes no status to the workload, though all of it fits, and admits later workloads."""
    queue = lab.queue({"cpu": "2"})
    hindered = queue.submit(a_workload(none, a_pod_set("main", cpu="1")))
    later = queue.submit(a_job(cpu="1"))

    assert lab.verdict(hindered) == unseen()
    assert lab.verdict(later) == admitted({"cpu": "1"})


@covers("QUOTA-028")
def test_all_that_pod_sets_ask_for_is_told_as_one_sum(lab: Lab) -> None:
    """The message about more than the quota can ever give has the maximum too."""
    queue = lab.queue({"whole-gpus": 4})
    leader, workers = (a_pod_set(name, claims=[a_template(gpu(3))]) for name in ("leader", "workers"))
    job = queue.submit(a_workload(leader, workers))

    assert lab.message(job).endswith(", request > maximum capacity (6 > 4)")
