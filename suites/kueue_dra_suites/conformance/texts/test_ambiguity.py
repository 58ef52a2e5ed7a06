"""A class of several mappings is resolved top-down (Device Class Mapping Ambiguity, July 2025)."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.builders import a_job, a_pod_set, a_template, a_workload, gpu
from kueue_dra_fixtures.lab import Lab
from kueue_dra_fixtures.marks import covers, owns_kueue
from kueue_dra_fixtures.verdicts import Reason, admitted, pending
from kueue_dra_ref.verdict import Verdict

pytestmark = owns_kueue
TWICE = {"whole-gpus": ["gpu.example.com"], "fast-gpus": ["gpu.example.com"]}


@pytest.mark.parametrize(
    ("first", "second", "devices", "verdict"),
    [
        pytest.param({"whole-gpus": 2}, {"fast-gpus": 3}, 2, admitted({"whole-gpus": 2}), id="first-flavor-has-enough"),
        pytest.param({"fast-gpus": 2}, {"whole-gpus": 3}, 2, admitted({"fast-gpus": 2}), id="first-flavor-not-mapping"),
        pytest.param({"whole-gpus": 2}, {"fast-gpus": 3}, 3, admitted({"fast-gpus": 3}), id="only-the-second-has"),
        pytest.param({"whole-gpus": 2}, {"fast-gpus": 3}, 4, pending(Reason.NEVER_FITS), id="none-has-enough"),
    ],
)
@covers("CRD-011", "CRD-010")
def test_the_first_flavor_with_enough_quota_is_selected(
    lab: Lab, first: dict[str, str | int], second: dict[str, str | int], devices: int, verdict: Verdict
) -> None:
    """The order of the flavors decides, not that of the mappings."""
    lab.start(TWICE)
    queue = lab.queue(groups=[{lab.flavor("zone-a"): first, lab.flavor("zone-b"): second}])
    job = queue.submit(a_job(claims=[a_template(gpu(devices))]))

    assert lab.verdict(job) == verdict


@covers("CRD-012", "CRD-013")
def test_an_exhausted_flavor_is_followed_by_the_next_and_then_work_waits(lab: Lab) -> None:
    """The example of the text: two of the one, three of the other, and then nothing is left."""
    lab.start(TWICE)
    queue = lab.queue(groups=[{lab.flavor("zone-a"): {"whole-gpus": 2}, lab.flavor("zone-b"): {"fast-gpus": 3}}])
    jobs = [queue.submit(a_job(claims=[a_template(gpu(count))])) for count in (2, 3, 1)]

    assert [lab.verdict(job) for job in jobs] == [
        admitted({"whole-gpus": 2}),
        admitted({"fast-gpus": 3}),
        pending(Reason.NO_QUOTA),
    ]


@covers("CRD-014")
@pytest.mark.parametrize(
    ("devices", "usage"),
    [
        pytest.param(1, {"whole-gpus": 1}, id="first-resource"),
        pytest.param(2, {"fast-gpus": 2}, id="second-resource-before-the-next-flavor"),
    ],
)
def test_every_resource_of_a_flavor_comes_before_the_next_flavor(
    lab: Lab, devices: int, usage: dict[str, str | int]
) -> None:
    """A flavor is left only when none of its matching resources has enough."""
    lab.start(TWICE)
    first, second = lab.flavor("zone-a"), lab.flavor("zone-b")
    queue = lab.queue(groups=[{first: {"whole-gpus": 1, "fast-gpus": 2}, second: {"whole-gpus": 8, "fast-gpus": 8}}])
    job = queue.submit(a_job(claims=[a_template(gpu(devices))]))

    assert lab.verdict(job) == admitted(usage)
    assert lab.flavors(job) == {"main": dict.fromkeys(usage, first)}


@covers("CRD-014", "QUOTA-010")
def test_pods_without_devices_take_any_flavor(lab: Lab) -> None:
    """Which flavor is examined for a class concerns the pods that ask for it."""
    lab.start(TWICE)
    first, second = lab.flavor("zone-a"), lab.flavor("zone-b")
    queue = lab.queue(groups=[{first: {"cpu": 1, "whole-gpus": 0}, second: {"cpu": 1, "fast-gpus": 1}}])
    leader = a_pod_set("leader", cpu="1")
    job = queue.submit(a_workload(leader, a_pod_set("workers", claims=[a_template(gpu())])))

    assert lab.flavors(job) == {"leader": {"cpu": first}, "workers": {"fast-gpus": second}}


@covers("CRD-015")
@pytest.mark.parametrize("resource", ["whole-gpus", "fast-gpus"])
def test_a_resource_that_the_queue_lists_serves(lab: Lab, resource: str) -> None:
    """Mappings to other resources do not matter to this ClusterQueue."""
    lab.start(TWICE)
    queue = lab.queue({resource: 2})
    job = queue.submit(a_job(claims=[a_template(gpu(2))]))

    assert lab.verdict(job) == admitted({resource: 2})


@covers("CRD-015", "QUOTA-005")
def test_a_queue_that_lists_none_of_its_resources_keeps_the_workload_waiting(lab: Lab) -> None:
    """The class is mapped, but there is no quota for it here."""
    lab.start(TWICE)
    queue = lab.queue({"cpu": 2})
    job = queue.submit(a_job(claims=[a_template(gpu())]))

    assert lab.verdict(job) == pending(Reason.NOT_COVERED)
    assert lab.message(job).endswith("resource whole-gpus unavailable in ClusterQueue")


@covers("CRD-014", "QUOTA-010")
def test_other_resources_have_the_flavors_of_their_own_group(lab: Lab) -> None:
    """Which flavor is examined for a class concerns the group of that flavor."""
    lab.start(TWICE)
    first, second, plain = lab.flavor("zone-a"), lab.flavor("zone-b"), lab.flavor("plain")
    queue = lab.queue(groups=[{first: {"whole-gpus": 0}, second: {"fast-gpus": 1}}, {plain: {"cpu": 1}}])
    job = queue.submit(a_job(cpu="1", claims=[a_template(gpu())]))

    assert lab.flavors(job) == {"main": {"cpu": plain, "fast-gpus": second}}


@covers("CRD-016")
@pytest.mark.parametrize(
    ("released", "usage"),
    [
        pytest.param(0, {"whole-gpus": 1}, id="first-flavor"),
        pytest.param(1, {"fast-gpus": 1}, id="second-flavor"),
    ],
)
def test_whatever_is_released_first_admits_what_waits(lab: Lab, released: int, usage: dict[str, str | int]) -> None:
    """A workload that waits is bound to neither resource."""
    lab.start(TWICE)
    queue = lab.queue(groups=[{lab.flavor("zone-a"): {"whole-gpus": 1}, lab.flavor("zone-b"): {"fast-gpus": 1}}])
    holders = [queue.submit(a_job(claims=[a_template(gpu())])) for _ in range(2)]
    waiter = queue.submit(a_job(claims=[a_template(gpu())]))
    assert lab.verdict(waiter) == pending(Reason.NO_QUOTA)

    lab.finish(holders[released])

    assert lab.verdict(waiter) == admitted(usage)


@covers("CRD-012", "PREEMPT-001")
def test_the_next_flavor_is_taken_before_anybody_is_preempted(lab: Lab) -> None:
    """Unused quota in a later flavor is enough; the workload in the first flavor keeps it."""
    lab.start(TWICE)
    preemption = {"withinClusterQueue": "LowerPriority"}
    groups = [{lab.flavor("zone-a"): {"whole-gpus": 1}, lab.flavor("zone-b"): {"fast-gpus": 1}}]
    queue = lab.queue(groups=groups, preemption=preemption)
    holder = queue.submit(a_job(claims=[a_template(gpu())]))
    urgent = queue.submit(a_job(priority=100, claims=[a_template(gpu())]))

    assert lab.verdict(holder) == admitted({"whole-gpus": 1})
    assert lab.verdict(urgent) == admitted({"fast-gpus": 1})


@covers("CRD-013", "PREEMPT-001")
def test_the_first_flavor_is_freed_when_none_has_quota(lab: Lab) -> None:
    """A workload of higher priority preempts where it was examined first."""
    lab.start(TWICE)
    preemption = {"withinClusterQueue": "LowerPriority"}
    groups = [{lab.flavor("zone-a"): {"whole-gpus": 1}, lab.flavor("zone-b"): {"fast-gpus": 1}}]
    queue = lab.queue(groups=groups, preemption=preemption)
    holders = [queue.submit(a_job(claims=[a_template(gpu())])) for _ in range(2)]
    urgent = queue.submit(a_job(priority=100, claims=[a_template(gpu())]))

    assert lab.verdict(urgent) == admitted({"whole-gpus": 1})
    assert [lab.verdict(holder) for holder in holders] == [pending(Reason.NO_QUOTA), admitted({"fast-gpus": 1})]
